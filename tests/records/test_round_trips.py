"""What is written is read back the same: drawn records, through every format and every frame."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from drawn_records import pages, plain_rows, sessions, utterances
from hypothesis import given
from hypothesis import strategies as st

from purport.errors import FormatError
from purport.records.checks import KNOWN
from purport.records.formats import plain
from purport.records.pages import Pages
from purport.records.records import Records
from purport.records.session_checks import STEP
from purport.records.sessions import Sessions
from purport.records.streams import write_batches
from purport.records.utterances import Utterances

EXACT = ("jsonl", "jsonl.gz", "parquet", "arrow")
KINDS: dict[type[Records], st.SearchStrategy[list[dict[str, Any]]]] = {
    Utterances: utterances(),
    Sessions: sessions(),
    Pages: pages(),
}
POSITIONS = {Utterances: "tokens", Sessions: "steps", Pages: "docs"}


def again(records: Records, ending: str, size: int | None = None) -> Records:
    """Write and read, whole or in batches."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"records.{ending}"
        if size is None:
            records.write(path)
            return type(records).read(path)
        write_batches(
            (records[at : at + size] for at in range(0, len(records), size)),
            path,
            kind=type(records),
        )
        return type(records).concatenate(type(records).batches(path, size))


@pytest.mark.parametrize("ending", EXACT)
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_exact_formats_hold_everything(
    kind: type[Records], ending: str, data: st.DataObject
) -> None:
    records = kind.from_rows(data.draw(KINDS[kind]))
    assert again(records, ending) == records
    assert again(records, ending, size=2) == records


@pytest.mark.filterwarnings("ignore:.* has text alone")
@pytest.mark.parametrize("ending", ["tsv", "iob"])
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_other_formats_hold_it_or_say_why_not(
    kind: type[Records], ending: str, data: st.DataObject
) -> None:
    rows = data.draw(KINDS[kind])
    for row in rows:  # others' meanings of these names are text there, which reads as ours
        if ending == "tsv" and (kind is Pages or not isinstance(row.get("labels"), list)):
            row.pop("labels", None)
        row.pop("probability", None)
    records = kind.from_rows(rows)
    try:
        told = again(records, ending)
    except FormatError as error:
        assert "cannot carry" in str(error) or "cannot be written as" in str(error)
    else:
        assert as_text(told) == as_text(records)
        assert as_text(again(records, ending, size=2)) == as_text(records)


@pytest.mark.parametrize("ending", ["tsv", "tsv.gz", "iob", *EXACT])
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_every_format_holds_usual_records(
    kind: type[Records], ending: str, data: st.DataObject
) -> None:
    if kind is not Utterances and ending == "iob":
        return
    records = kind.from_rows(data.draw(plain_rows(POSITIONS[kind])))
    assert again(records, ending) == records
    assert again(records, ending, size=2) == records


def as_polars(table: pa.Table) -> Any:
    return pl.from_arrow(table)


FRAMES: dict[str, Callable[[pa.Table], Any]] = {
    "pyarrow": lambda table: table,
    "pyarrow in batches": lambda table: pa.Table.from_batches(
        table.to_batches(max_chunksize=1), table.schema
    ),
    "polars": as_polars,
    "polars, lazy": lambda table: as_polars(table).lazy(),
    "pandas": lambda table: table.to_pandas(),
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_every_frame_holds_usual_records(
    kind: type[Records], frame: str, data: st.DataObject
) -> None:
    records = kind.from_rows(data.draw(plain_rows(POSITIONS[kind])))
    given_ = FRAMES[frame](records.to_arrow())
    assert kind.read(given_) == records
    assert kind.concatenate(kind.batches(given_, 2)) == records


def test_duckdb_relations_hold_records() -> None:
    duckdb = pytest.importorskip("duckdb")
    talk = Utterances.from_lists([["to", "rome"], ["stop"]], slots=[["O", "B-city"], ["O"]])
    table = talk.to_arrow()
    with duckdb.connect() as connection:
        assert Utterances.read(connection.from_arrow(table)) == talk
        steps = pa.table({"id": ["a", "a", "b"], "obs": ["x", "y", "z"]})
        log = Sessions.read(connection.from_arrow(steps))
    assert log == Sessions.from_lists([["x", "y"], ["z"]], ids=["a", "b"])


def as_text(records: Records) -> list[dict[str, Any]]:
    """Return the rows with all that purport does not know as the text that it is written as."""
    rows = []
    for row in records.rows():
        told = {
            name: value if name in {*KNOWN, "steps"} else plain(value)
            for name, value in row.items()
        }
        if "steps" in row:
            told["steps"] = [
                {name: value if name in STEP else plain(value) for name, value in step.items()}
                for step in row["steps"]
            ]
        rows.append(told)
    return rows
