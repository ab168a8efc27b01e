"""Lines that are taken many at once give the same records, bits and faults as one by one."""

from __future__ import annotations

import dataclasses
import gzip
import io
import json
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from drawn_records import pages, plain_rows, sessions, utterances
from hypothesis import given
from hypothesis import strategies as st

from bench.records.mutations import MUTATIONS
from purport.errors import FormatError, PurportError, SkippedRowsWarning
from purport.records import plain_lines, sources
from purport.records import records as all_records
from purport.records.formats import DEEPEST
from purport.records.pages import Pages
from purport.records.plain_lines import PlainLines
from purport.records.records import Records
from purport.records.sessions import Sessions
from purport.records.utterances import Utterances

KINDS = {Utterances: "tokens", Sessions: "steps", Pages: "docs"}
ANY = {Utterances: utterances(), Sessions: sessions(), Pages: pages()}
NOT_ONE = 1 << 63


@contextmanager
def taken(at_once: bool, block: int = 1 << 20) -> Iterator[list[int]]:
    """Take lines many at once or not; yields a list of how many were, piece by piece."""
    counts: list[int] = []
    made = PlainLines.__init__

    def counted(self: PlainLines, *given_: Any) -> None:
        made(self, *given_)
        counts.append(self.table.num_rows)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_lines, "FEWEST", 0)
        patch.setattr(sources, "BLOCK", block)
        patch.setattr(all_records, "FEWEST_AT_ONCE", 0 if at_once else NOT_ONE)
        patch.setattr(PlainLines, "__init__", counted)
        yield counts


def bits(value: Any) -> Any:
    """Return all that records hold as plain values; arrays as bytes."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {field.name: bits(getattr(value, field.name)) for field in fields}
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        # Fields that purport does not know have no order: tables name them in that of columns.
        value = [item and dict(sorted(item.items())) for item in value]
    return repr(value)


def outcome(kind: type[Records], path: Path, size: int | None, on_error: Any) -> Any:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            if size is None:
                found = [kind.read(path, on_error=on_error)]
            else:
                found = list(kind.batches(path, size, on_error=on_error))
        except PurportError as error:
            return str(error)
    return [bits(one) for one in found], [str(warning.message) for warning in told]


def check_both_ways(kind: type[Records], data: bytes, ending: str, size: int | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"records.{ending}"
        path.write_bytes(gzip.compress(data) if ending.endswith(".gz") else data)
        for on_error in ("raise", "skip"):
            with taken(at_once=False):
                expected = outcome(kind, path, size, on_error)
            for block in (1, 60, 1 << 20):
                with taken(at_once=True, block=block):
                    assert outcome(kind, path, size, on_error) == expected


def written(records: Records, ending: str) -> bytes:
    return "".join(records.lines("tsv" if ending == "tsv" else "jsonl")).encode("utf-8")


@pytest.mark.parametrize("ending", ["jsonl", "tsv"])
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), size=st.none() | st.integers(1, 4))
def test_usual_records_are_the_same(
    kind: type[Records], ending: str, data: st.DataObject, size: int | None
) -> None:
    records = kind.from_rows(data.draw(plain_rows(KINDS[kind])))
    check_both_ways(kind, written(records, ending), ending, size)


@pytest.mark.filterwarnings("ignore:.* has text alone")
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), size=st.none() | st.integers(1, 4))
def test_any_records_are_the_same(
    kind: type[Records], data: st.DataObject, size: int | None
) -> None:
    records = kind.from_rows(data.draw(ANY[kind]))
    check_both_ways(kind, written(records, "jsonl"), "jsonl", size)
    try:
        lines = written(records, "tsv")
    except FormatError:
        return
    check_both_ways(kind, lines, "tsv", size)


@pytest.mark.parametrize("ending", ["jsonl", "tsv", "jsonl.gz"])
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), size=st.none() | st.integers(1, 3), seed=st.integers(0, 1 << 30))
def test_spoilt_files_are_the_same(
    kind: type[Records], ending: str, data: st.DataObject, size: int | None, seed: int
) -> None:
    records = kind.from_rows(data.draw(plain_rows(KINDS[kind])))
    spoilt, random = written(records, ending.removesuffix(".gz")), Random(seed)
    for _ in range(random.choice((1, 1, 2, 4))):
        spoilt = random.choice(MUTATIONS)(spoilt, random)
    check_both_ways(kind, spoilt, ending, size)


JSON_LINES = {
    Utterances: [
        {"tokens": ["a"], "id": 7}, {"text": " a\u3000b "}, {"tokens": ["a"], "fold": 3},
        {"tokens": ["a"], "fold": 3.0}, {"tokens": ["\U0001f600"], "x": None}, {"tokens": []},
        {"tokens": ["a"], "slots": [None]}, {"tokens": ["a"], "tags": ["x", None], "on": True},
        {"tokens": ["a"], "when": "2026-01-31 23:59:59"}, {"tokens": ["a"], "d": {"n": None}},
        {"tokens": ["a"], "labels": ["O", "O"]}, {"tokens": ["a"], "fold": 1 << 70}, {"tokens": 3},
    ],
    Sessions: [
        {"steps": [{"obs": "a", "t": 3}], "id": -1}, {"steps": [{"t": 0.5}, {"t": None}, {}]},
        {"steps": [{"t": "2026-01-31 23:59:59"}]}, {"steps": [{"t": "2026-01-31"}]},
        {"steps": [{"t": "0000-01-01 00:00:00"}]}, {"steps": [{"t": "2026-02-30 00:00:00"}]},
        {"steps": [{"t": "2026-01-01 24:00:00"}]}, {"steps": [{"t": "2026-01-01 23:59:60"}]},
        {"steps": [{"t": 1e300}, {"t": (1 << 53) + 1}]}, {"steps": [{"obs": {"n": 1}}]},
        {"steps": [{"clicked": []}, {"clicked": ["d"]}]}, {"steps": [{"obs": "a", "page": 7}]},
        {"steps": [], "day": "3"}, {"steps": None}, {"steps": [None]}, {"steps": [{"who": 4}]},
    ],
    Pages: [
        {"qid": 7, "docs": [1, 2], "clicks": [0, 1]}, {"qid": 7, "docs": [], "clicks": []},
        {"qid": "7", "docs": ["7"], "clicks": [True]}, {"qid": 7.0, "docs": [1], "clicks": [0]},
        {"qid": 7, "docs": [1], "clicks": [0], "t": 0.5}, {"qid": 7, "docs": [True]},
        {"qid": 7, "docs": ["07"], "clicks": [0], "t": 3}, {"qid": 0.5, "docs": [1], "clicks": [0]},
        {"qid": 7, "docs": [1], "clicks": [0], "sid": "s", "id": 4}, {"docs": [1], "clicks": [0]},
        {"qid": 7, "docs": [1, 1], "clicks": [0]}, {"qid": None, "docs": [1], "clicks": [0]},
        {"qid": 7, "docs": [None], "clicks": [0]}, {"qid": 7, "docs": [1], "clicks": [2]},
        {"qid": 7, "docs": [1], "clicks": [0], "t": "x"}, {"qid": -1, "docs": [1], "clicks": [0]},
        {"qid": "", "docs": [1], "clicks": [0]}, {"qid": 7, "docs": [""], "clicks": [0]},
        {"qid": 7, "docs": [1], "clicks": [0], "t": 1 << 60}, {"qid": 7, "docs": "1 b"},
        {"qid": 7, "docs": [1], "clicks": [0], "page": 2}, {"qid": 7, "docs": [1], "clicks": [-1]},
        {"qid": "a", "docs": ["7", "b"], "clicks": [1, 0]}, {"qid": 7, "docs": "b", "clicks": "1"},
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), size=st.none() | st.integers(1, 3))
def test_values_of_all_kinds_are_the_same(
    kind: type[Records], data: st.DataObject, size: int | None
) -> None:
    rows = data.draw(st.lists(st.sampled_from(JSON_LINES[kind]), max_size=5))
    lines = "".join(json.dumps(row, ensure_ascii=data.draw(st.booleans())) + "\n" for row in rows)
    check_both_ways(kind, lines.encode("utf-8"), "jsonl", size)


CELLS = ["", "0", "0 1", "7 8", "a", "b", "a b", " a", "_", "O _", "1", "1.5", "-0", "01", "1e3",
         "true", '"x', "NaN", "2026-01-31 23:59:59", "20260131", "東京",
         "a\r", "9" * 20, "\u3000"]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "header"),
    [
        (Utterances, ["tokens", "slots", "intent"]),
        (Utterances, ["text", "id", "tokens"]),
        (Utterances, ["text", "labels"]),
        (Sessions, ["id", "obs", "t"]),
        (Sessions, ["id", "obs", "clicked", "label", "who", "page"]),
        (Sessions, ["obs", "obs.n", "t"]),
        (Sessions, ["id", "obs", "steps"]),
        (Pages, ["qid", "docs", "clicks"]),
        (Pages, ["sid", "t", "qid", "docs", "clicks", "page"]),
        (Pages, ["docs", "clicks"]),
    ],
)
@given(data=st.data(), size=st.none() | st.integers(1, 3), end=st.sampled_from(["\n", "\r\n"]))
def test_cells_of_all_kinds_are_the_same(
    kind: type[Records], header: list[str], data: st.DataObject, size: int | None, end: str
) -> None:
    cells = st.lists(st.sampled_from(CELLS), min_size=len(header), max_size=len(header))
    rows = data.draw(st.lists(cells, max_size=6))
    lines = "".join("\t".join(row) + end for row in [header, *rows])
    check_both_ways(kind, lines.encode("utf-8"), "tsv", size)


@pytest.mark.parametrize("ending", ["jsonl", "tsv"])
@pytest.mark.parametrize("kind", KINDS)
def test_usual_lines_are_taken_at_once(tmp_path: Path, kind: type[Records], ending: str) -> None:
    rows: dict[type[Records], list[dict[str, Any]]] = {
        Utterances: [{"id": f"{n}", "tokens": ["a", "b"], "slots": ["O", None]} for n in range(99)],
        Sessions: [
            {"id": f"{n}", "steps": [{"obs": "a", "t": n, "label": "x"}, {"obs": "b"}]}
            for n in range(99)
        ],
        Pages: [{"qid": n, "docs": ["a", "7"], "clicks": [0, 1], "t": n} for n in range(99)],
    }
    path = tmp_path / f"x.{ending}"
    records = kind.from_rows(rows[kind])
    records.write(path)
    with taken(at_once=True) as counts:
        assert kind.read(path) == records
    steps = 2 if kind is Sessions and ending == "tsv" else 1
    # The last session of a table of steps waits for lines that might still come.
    assert sum(counts) == 99 * steps - (2 if steps == 2 else 0)


def test_a_line_too_long_is_told_in_a_block_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "LONGEST_LINE", 40)
    monkeypatch.setattr(plain_lines, "LONGEST_LINE", 40)
    lines = ['{"text":"a"}', '{"text":"' + "b" * 200 + '"}', '{"text":"c"}', "d" * 41]
    for end in ("\n", ""):
        check_both_ways(Utterances, ("\n".join(lines) + end).encode(), "jsonl", None)
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    with taken(at_once=True, block=5), pytest.warns(match="2 bad rows .* row 2: .* row 4: "):
        assert len(Utterances.read(path, on_error="skip")) == 2


def test_what_is_looked_at_stays_to_be_read() -> None:
    lines = sources.Lines(io.BytesIO(b"\xef\xbb\xbfa\nb\nc"), "x")
    assert lines.look(2) == [(1, "a"), (2, "b")]
    assert list(lines) == [(1, "a"), (2, "b"), (3, "c")]


def test_files_cut_short_say_where_in_both_ways() -> None:
    data = "".join(f'{{"text":"{Random(n).random()}"}}\n' for n in range(3000)).encode()
    packed = gzip.compress(data)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.jsonl.gz"
        path.write_bytes(packed[: len(packed) * 2 // 3])
        with taken(at_once=False):
            expected = outcome(Utterances, path, None, "raise")
        for block in (1, 5000, 1 << 20):
            with taken(at_once=True, block=block):
                assert outcome(Utterances, path, None, "raise") == expected
    assert "end or break after row" in expected


@pytest.mark.parametrize(("depth", "fits"), [(DEEPEST - 1, True), (DEEPEST, False), (5000, False)])
def test_how_deep_json_may_be_nested_does_not_depend_on_the_caller(
    tmp_path: Path, depth: int, fits: bool
) -> None:
    path = tmp_path / "x.jsonl"
    in_string = json.dumps('"' + "[" * 300)  # does not count
    nested = "[" * depth + "]" * depth
    path.write_text(f'{{"text":"a","x":{in_string},"y":{nested}}}\n', encoding="utf-8")

    def read_from(deeper: int) -> Utterances:
        return read_from(deeper - 1) if deeper else Utterances.read(path, on_error="skip")

    for deeper in (0, 400):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkippedRowsWarning)
            assert len(read_from(deeper)) == fits
