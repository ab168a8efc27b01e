"""Sessions: what each format gives, how they are cut, joined and parted, and what is refused."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import warnings
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from drawn_records import sessions, utterances
from hypothesis import given
from hypothesis import strategies as st

from purport.errors import (
    FormatError,
    InputError,
    ParameterError,
    RecordError,
    ShapeError,
    SkippedRowsWarning,
)
from purport.records.records import Records
from purport.records.sessions import Sessions
from purport.records.streams import write_batches
from purport.records.utterances import Utterances

ROWS: list[dict[str, Any]] = [
    {
        "id": "a",
        "steps": [
            {"obs": "cheap flights", "label": "buy", "t": "2026-01-31 23:59:59", "who": "u1"},
            {"obs": "rome", "features": {"tabs": 3, "new": True}, "clicked": ["d1", "d2"]},
        ],
        "day": "3",
    },
    {"id": "b", "steps": [{"obs": {"source": "mail"}, "label": "read", "page": "7"}]},
]
LOG = Sessions.from_rows(ROWS)
TSV = (
    "id\tobs\tobs.tabs\tobs.source\tclicked\tlabel\tt\twho\tpage\tsession.day\n"
    "a\tcheap flights\t\t\t\tbuy\t2026-01-31 23:59:59\tu1\t\t3\n"
    "a\trome\t3\t\td1 d2\t\t\t\t\t\n"
    "b\t\t\tmail\t\tread\t\t\t7\t\n"
)


def put(path: Path, content: str) -> Path:
    data = content.encode("utf-8")
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def test_json_lines_give_all_columns(tmp_path: Path) -> None:
    log = Sessions.read(put(tmp_path / "log.jsonl", "\n".join(map(json.dumps, ROWS))))
    assert (len(log), log.shape, log.offsets.tolist()) == (2, (2,), [0, 2, 3])
    assert log.ids == ["a", "b"]
    assert log.texts == [["cheap flights", "rome"], [None]]
    assert log.known_labels == [["buy", None], ["read"]]
    assert log.who == [["u1", None], [None]]
    assert log.times is not None
    assert log.times[0] == datetime.fromisoformat("2026-01-31 23:59:59+00:00").timestamp()
    assert np.isnan(log.times[1:]).all()
    assert log.named is not None
    assert log.named.vocabulary == ["tabs", "new", "source:mail"]
    assert log.named.dicts() == [{}, {"tabs": 3, "new": True}, {"source": "mail"}]
    assert log.clicked is not None
    assert log.clicked.lists() == [[], ["d1", "d2"], []]
    assert log.step_field("page") == [[None, None], ["7"]]
    assert log.step_field("label") == log.known_labels
    assert log.field("day") == ["3", None]
    assert list(log.rows()) == ROWS
    assert log.step_field("pages") is None


def test_tsv_gives_the_same(tmp_path: Path) -> None:
    log = Sessions.read(put(tmp_path / "log.tsv.gz", TSV))
    told = list(log.rows())
    assert told[0]["steps"][1]["features"] == {"tabs": 3}
    del told[0]["steps"][1]["features"]
    given_ = json.loads(json.dumps(ROWS))
    del given_[0]["steps"][1]["features"]
    assert told == given_


def test_words_that_look_like_numbers_stay_words(tmp_path: Path) -> None:
    features = {
        "a": "3",
        "b": 3,
        "c": "true",
        "d": True,
        "e": '"x"',
        "f": "NaN",
        "g": " x",
        "h": "",
    }
    log = Sessions.from_rows([{"steps": [{"features": features}]}])
    log.write(tmp_path / "log.tsv")
    assert Sessions.read(tmp_path / "log.tsv") == log


def test_tsv_refuses_what_would_read_as_one_session(tmp_path: Path) -> None:
    twice = Sessions.from_lists([["a"], ["b"]], ids=["x", "x"])
    for parts in ([twice], list(twice)):
        with pytest.raises(FormatError, match=r"cannot carry record \d: .* the same id"):
            write_batches(parts, tmp_path / "log.tsv")
    with pytest.raises(FormatError, match="several steps and no id"):
        Sessions.from_lists([["a", "b"]]).write(tmp_path / "log.tsv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("ending", ["jsonl", "tsv", "parquet", "arrow"])
def test_batches_are_the_whole_in_pieces(tmp_path: Path, ending: str, size: int) -> None:
    log = Sessions.from_rows(
        [{"id": f"s{n}", "steps": [{"obs": f"w{n % 3}"}] * (n % 4 + 1)} for n in range(10)]
    )
    log.write(tmp_path / f"log.{ending}")
    parts = list(Sessions.batches(tmp_path / f"log.{ending}", size))
    assert [len(part) for part in parts] == [size] * (10 // size) + [10 % size] * (10 % size > 0)
    assert Sessions.concatenate(parts) == log


@pytest.mark.parametrize("rows", [1, 2, 5, 100])
def test_tables_of_steps_are_joined_over_their_parts(tmp_path: Path, rows: int) -> None:
    table = pa.table(
        {
            "id": ["a"] * 5 + ["b"] + [None] * 2 + ["c"] * 4,
            "obs": [f"o{n}" for n in range(12)],
            "obs.n": range(12),
            "t": np.arange(12).astype("datetime64[s]"),
            "more": [None, {"x": 1}] * 6,
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "log.parquet", row_group_size=rows)
    log = Sessions.read(tmp_path / "log.parquet")
    assert log.ids == ["a", "b", None, None, "c"]
    assert np.diff(log.offsets).tolist() == [5, 1, 1, 1, 4]
    assert log[1].named is not None
    assert log[1].named.dicts() == [{"n": 5}]
    assert log[1].step_field("more") == [[{"x": 1}]]
    assert log.times is not None
    assert log.times.tolist() == list(range(12))
    for frame in (table, table.to_pandas(), pa.Table.from_batches(table.to_batches(rows))):
        assert Sessions.read(frame) == log
    assert Sessions.concatenate(Sessions.batches(tmp_path / "log.parquet", 2)) == log


@pytest.mark.parametrize("ending", ["tsv", "parquet", "arrow"])
def test_steps_that_were_torn_apart(tmp_path: Path, ending: str) -> None:
    ids, obs = ["a", "b", "a", "c"], ["1", "2", "3", "4"]
    path = tmp_path / f"log.{ending}"
    if ending == "tsv":
        lines = [f"{id_}\t{text}" for id_, text in zip(ids, obs, strict=True)]
        put(path, "\n".join(["id\tobs", *lines]))
    elif ending == "parquet":
        pyarrow.parquet.write_table(pa.table({"id": ids, "obs": obs}), path, row_group_size=1)
    else:
        table = pa.table({"id": ids, "obs": obs})
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=1)
    row = 4 if ending == "tsv" else 3
    with pytest.raises(RecordError, match=rf"row {row}: its session has ended further up: sort"):
        Sessions.read(path)
    with pytest.warns(SkippedRowsWarning, match="1 bad rows"):
        log = Sessions.read(path, on_error="skip")
    assert (log.ids, log.skipped) == (["a", "b", "c"], 1)


BAD_STEPS: dict[str, tuple[Any, str]] = {
    "no steps": ({}, "it has no steps"),
    "steps a string": ({"steps": "secret"}, "steps is a string"),
    "step a string": ({"steps": ["secret"]}, r"steps\[0\]: it is a string, not an object"),
    "obs a number": ({"steps": [{}, {"obs": 3}]}, r"steps\[1\]: obs is a number"),
    "feature a list": ({"steps": [{"obs": {"secret": [1]}}]}, "a feature of obs is an array"),
    "two kinds": ({"steps": [{"obs": {"a": 1}, "features": {}}]}, "both obs and features"),
    "features text": ({"steps": [{"features": "secret"}]}, "features is a string"),
    "clicked text": ({"steps": [{"clicked": "secret"}]}, "clicked is a string"),
    "clicked null": ({"steps": [{"clicked": [None]}]}, r"clicked\[0\] is null"),
    "label": ({"steps": [{"label": 3}]}, "label is a number"),
    "who": ({"steps": [{"who": True}]}, "who is true or false"),
    "time": ({"steps": [{"t": "secret"}]}, "t is no date"),
    "time true": ({"steps": [{"t": True}]}, "t is true or false"),
    "time far": ({"steps": [{"t": "9999-12-31 23:59:59.9"}]}, "too far from the present"),
    "time early": ({"steps": [{"t": "0001-01-01 00:00:00+23:00"}]}, "too far"),
    "id": ({"id": [], "steps": []}, "id is an array"),
}


@pytest.mark.parametrize("case", BAD_STEPS)
def test_bad_sessions(tmp_path: Path, case: str) -> None:
    bad, reason = BAD_STEPS[case]
    rows = [{"id": "x", "steps": [{"obs": "good"}]}, bad, {"id": "y", "steps": []}]
    path = put(tmp_path / "log.jsonl", "\n".join(map(json.dumps, rows)))
    with pytest.raises(RecordError, match=rf"row 2: .*{reason}") as caught:
        Sessions.read(path)
    assert "secret" not in str(caught.value)
    with pytest.warns(SkippedRowsWarning, match=f"{path}, row 2: "):
        log = Sessions.read(path, on_error="skip")
    assert (log.ids, log.skipped) == (["x", "y"], 1)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "frame"])
def test_bad_rows_of_tables(tmp_path: Path, ending: str) -> None:
    kind = pa.list_(pa.struct({"obs": pa.string(), "t": pa.string()}))
    steps = [[{"obs": "a"}], None, [None], [{"obs": "b", "t": "secret"}], [{"obs": "c"}]]
    table = pa.table({"id": list("vwxyz"), "steps": pa.array(steps, kind)})
    talk = pa.table({"id": list("vwxyz"), "tokens": [["a"], None, [None], ["b"], ["c"]]})
    talk = talk.append_column("slots", pa.array([["O"], None, None, ["O", "O"], None]))
    for class_, given_ in ((Sessions, table), (Utterances, talk)):
        source: Any = given_
        if ending == "parquet":
            source = tmp_path / "t.parquet"
            pyarrow.parquet.write_table(given_, source, row_group_size=2)
        elif ending == "arrow":
            source = tmp_path / "t.arrow"
            with pa.ipc.new_file(source, given_.schema) as writer:
                writer.write_table(given_, max_chunksize=2)
        with pytest.raises(RecordError, match="row 2: it has n") as caught:
            class_.read(source)
        assert "secret" not in str(caught.value)
        with pytest.warns(SkippedRowsWarning, match="3 bad rows") as told:
            records = class_.read(source, on_error="skip")
        assert (records.ids, records.skipped) == (["v", "z"], 3)
        for row in (2, 3, 4):
            assert f"row {row}: " in str(told[0].message)
        with pytest.warns(SkippedRowsWarning, match="3 bad rows"):
            parts = list(class_.batches(source, 1, on_error="skip"))
        assert sum(part.skipped for part in parts) <= 3


def test_tables_of_other_columns(tmp_path: Path) -> None:
    table = pa.table({"query": ["rome"], "qid": [7]})
    for class_, missing in ((Sessions, "'steps' or 'obs'"), (Utterances, "'tokens' or 'text'")):
        with pytest.raises(FormatError, match=missing):
            class_.read(table)
    assert Utterances.read(table, columns={"text": "query"}).tokens == [["rome"]]
    assert Sessions.read(table, columns={"obs": "query", "id": "qid"}).ids == ["7"]
    with pytest.raises(FormatError, match="names no column 'other'"):
        Sessions.read(table, columns={"obs": "other"})
    with pytest.raises(FormatError, match="names a column twice"):
        Sessions.read(table, columns={"qid": "query"})


@pytest.mark.parametrize(
    "column",
    [
        pa.array([b"x"]),
        pa.array([3], pa.duration("s")),
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
        pa.array([2**62], pa.timestamp("us")),
        pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
        pa.array([3], pa.decimal128(9, 2)),
        pa.array(["x"]).dictionary_encode(),
        pa.array(["x"], pa.string_view()),
        pa.array([float("inf")]),
    ],
)
def test_columns_of_odd_types_are_read_or_refused(tmp_path: Path, column: pa.Array) -> None:
    flat = pa.table({"obs": ["a"], "odd": column})
    nested = pa.table({"steps": pa.array([[0]]), "odd": column})
    struct = pa.StructArray.from_arrays([pa.array(["a"]), column], names=["obs", "odd"])
    nested = pa.table({"steps": pa.ListArray.from_arrays([0, 1], struct)})
    times = pa.table({"obs": ["a"], "t": column})
    for table in (flat, nested, times):
        try:
            log = Sessions.read(table)
        except InputError:
            continue
        log.write(tmp_path / "log.jsonl")
        assert Sessions.read(tmp_path / "log.jsonl") == log


@pytest.mark.parametrize("class_", [Sessions, Utterances])
@given(data=st.data())
def test_cut_and_joined_as_lists_are(class_: type[Records], data: st.DataObject) -> None:
    drawn = sessions() if class_ is Sessions else utterances()
    one, two = (class_.from_rows(data.draw(drawn)) for _ in range(2))
    rows = [*one.rows(), *two.rows()]
    both = class_.concatenate([one, two])
    assert list(both.rows()) == rows
    numbers = np.array(
        data.draw(st.lists(st.integers(-len(rows), len(rows) - 1)) if rows else st.just([])),
        np.int64,
    )
    assert list(both[numbers].rows()) == [rows[number] for number in numbers]
    keep = np.array([number % 2 == 0 for number in range(len(rows))], np.bool_)
    assert list(both[keep].rows()) == rows[::2]
    part = data.draw(st.slices(len(rows)))
    assert list(both[part].rows()) == rows[part]
    assert class_.concatenate([both[:1], both[1:]]) == both
    assert list(class_.concatenate(both).rows()) == rows
    # A part is written like any other, though it shares the columns of the whole.
    assert class_.read(both[part].to_arrow()) == both[part]


def test_columns_of_some_parts_only() -> None:
    parts = [Sessions.from_rows([row]) for row in ROWS]
    bare = Sessions.from_lists([["x"]])
    both = Sessions.concatenate([bare, *parts, bare[:0]])
    assert list(both.rows()) == [{"steps": [{"obs": "x"}]}, *ROWS]
    assert both[0].times is not None
    assert np.isnan(both[0].times).all()
    assert Sessions.concatenate([bare, bare]).times is None
    assert len(Sessions.concatenate([])) == 0
    with pytest.raises(InputError, match=r"Sessions\.concatenate takes Sessions; got Utterances"):
        Sessions.concatenate([bare, Utterances.from_lists([["x"]])])  # type: ignore[list-item]


def test_columns_do_not_change() -> None:
    assert LOG.named is not None
    assert LOG.clicked is not None
    for array in (LOG.offsets, LOG.times, LOG.obs_codes, LOG.named.values, LOG.clicked.codes):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert "flights" not in repr(LOG)
    assert (
        repr(LOG[:0]) == "Sessions(0 records, 0 steps; with obs, features, clicked, label, t, who)"
    )


@pytest.mark.parametrize("shares", [(0.8, 0.2), (0.5, 0.25, 0.25), (1.0,)])
def test_parts_have_their_shares_and_hold_everything(shares: tuple[float, ...]) -> None:
    talk = Utterances.from_lists([["a"]] * 100, ids=[str(n) for n in range(100)])
    parts = talk.split(*shares)
    assert [len(part) for part in parts] == [round(100 * share) for share in shares]
    assert sorted(id_ or "" for part in parts for id_ in part.ids or []) == sorted(talk.ids or [])
    assert all(part.ids == sorted(part.ids or [], key=lambda id_: int(id_ or 0)) for part in parts)
    assert list(talk.split(*shares)) == list(parts)
    assert len(shares) == 1 or list(talk.split(*shares, random_state=1)) != list(parts)


@given(
    groups=st.lists(st.sampled_from("abcde") | st.none(), max_size=30),
    seed=st.integers(0, 9),
    by_name=st.booleans(),
)
def test_no_group_is_torn(groups: list[str | None], seed: int, by_name: bool) -> None:
    rows = [{"steps": [], "id": str(n), "user": user} for n, user in enumerate(groups)]
    log = Sessions.from_rows(rows)
    if by_name and not any(groups):
        return
    by: Any = "user" if by_name else groups
    parts = log.split(0.6, 0.4, by=by, random_state=seed)
    users = [{row["user"] for row in part.rows() if "user" in row} for part in parts]
    assert not users[0] & users[1]
    assert sum(map(len, parts)) == len(log)


@pytest.mark.parametrize(
    "shares", [(), (0.5,), (0.5, 0.6), (1.5, -0.5), (1.0, 0.0), (float("nan"),)]
)
def test_bad_shares(shares: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="positive numbers that add up to 1"):
        LOG.split(*shares)


def test_readers_of_batches_are_frames() -> None:
    table = LOG.to_arrow()
    assert Sessions.read(pa.RecordBatchReader.from_batches(table.schema, table.to_batches())) == LOG


def test_bad_groups() -> None:
    with pytest.raises(ShapeError, match="by has length 1, but the list of records has length"):
        LOG.split(0.5, 0.5, by=["a"])
    with pytest.raises(InputError, match="by must be a field, or one value a record; got int"):
        LOG.split(0.5, 0.5, by=5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="Groups must be single values"):
        LOG.split(0.5, 0.5, by=[[1]] * len(LOG))
    for wrong in ("x", -1, 1.5, True):
        with pytest.raises(ParameterError, match="split: parameter 'random_state' must be"):
            LOG.split(0.5, 0.5, random_state=wrong)
    with pytest.raises(InputError, match="no field 'user'"):
        LOG.split(0.5, 0.5, by="user")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"labels": [["a"]]}, "labels has length 1|label has length 1"),
        ({"labels": [["a"], ["b"]]}, r"label\[0\] has length 1"),
        ({"ids": ["a"]}, "ids has length 1"),
        ({"times": [[1, "x"], None]}, r"row 1: steps\[1\]: t is no date"),
        ({"features": [[{}, {"a": [1]}], None]}, "a feature of features is an array"),
        ({"who": [["\ud800", None], None]}, "surrogate"),
    ],
)
def test_lists_that_do_not_fit(columns: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Sessions.from_lists([["x", "y"], ["z"]], **columns)


def test_fields_that_no_file_can_hold() -> None:
    for row in (
        {"steps": [{"more": {1, 2}}]},
        {"steps": [], "more": np.int64(3)},
        {"steps": [], "more": "\ud800"},
    ):
        with pytest.raises(InputError, match=r"JSON has no word|surrogate"):
            Sessions.from_rows([row])


def test_a_field_of_steps_is_one_of_sessions_where_they_agree() -> None:
    log = Sessions.from_lists(
        [["a", "b"], ["a"], ["b"], []], who=[["ann", None], ["bob"], ["ann"], []]
    )
    assert log.field("who") == ["ann", "bob", "ann", None]
    parts = log[:3].split(0.5, 0.5, by="who")
    assert sorted(sorted(set(part.field("who"))) for part in parts) == [["ann"], ["bob"]]
    assert Sessions.from_rows([{"who": "all", "steps": [{"who": "ann"}]}]).field("who") == ["all"]
    with pytest.raises(InputError, match=r"Record 2: its steps differ in 'obs'"):
        Sessions.from_lists([["a"], ["a", "b"]]).field("obs")
    with pytest.raises(InputError, match="have no field 'whose'"):
        log.field("whose")


def test_labels_are_added(tmp_path: Path) -> None:
    told = LOG.with_labels([["x", None], ["y"]], [[0.5, 0.25], 1.0])
    assert told.known_labels == LOG.known_labels
    for ending in ("jsonl", "parquet", "arrow"):
        told.write(tmp_path / f"log.{ending}")
        again = Sessions.read(tmp_path / f"log.{ending}")
        assert (again, again.labels) == (told, [["x", None], ["y"]])
        assert again.probability == [[0.5, 0.25], 1.0]
    told.write(tmp_path / "log.tsv")
    assert Sessions.read(tmp_path / "log.tsv").labels == told.labels


def test_batches_hold_no_more_than_one_batch(tmp_path: Path) -> None:
    """Read a million steps in every format; only some megabytes are held."""
    log = Sessions.from_rows([{"id": "x", "steps": [{"obs": f"w{n}"} for n in range(50)]}])
    rows = next(log.rows())

    def many() -> Any:
        for number in range(20):
            yield Sessions.from_rows([rows | {"id": f"{number}-{n}"} for n in range(100)])

    for ending in ("jsonl.gz", "tsv", "parquet", "arrow"):
        assert write_batches(many(), tmp_path / f"log.{ending}") == 2000
        tracemalloc.start()
        count = sum(len(part) for part in Sessions.batches(tmp_path / f"log.{ending}", 100))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count == 2000
        assert peak < 12e6, ending


def test_no_warning_without_a_cause(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ending in ("jsonl", "tsv", "parquet", "arrow"):
            LOG[:0].write(tmp_path / f"none.{ending}")
            assert len(Sessions.read(tmp_path / f"none.{ending}")) == 0
            assert list(Sessions.batches(tmp_path / f"none.{ending}")) == []
