"""Result pages: what is read, kept and refused, and how fast columns are taken as they stand."""

from __future__ import annotations

import gzip
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purport
from purport.errors import FormatError, InputError, RecordError, ShapeError, SkippedRowsWarning
from purport.records.ids import Ids
from purport.records.pages import UNTIMED, Pages
from purport.records.streams import write_batches
from purport.records.telling import told_records

HEADER = "sid\tt\tqid\tdocs\tclicks\n"
PAGES = Pages.from_lists(
    ["cats", "dogs", "cats"],
    [["a", "b", "a"], ["c"], ["b", "a"]],
    [[0, 1, 0], [1], [0, 0]],
    times=[60, None, 30.5],
    sessions=["s", "s", None],
)


def good(**changed: Any) -> dict[str, Any]:
    return {"qid": 7, "docs": [1, 2], "clicks": [0, 1]} | changed


def test_pages_are_columns() -> None:
    assert PAGES.shape == (3,)
    assert PAGES.offsets.tolist() == [0, 3, 4, 6]
    assert PAGES.queries.strings() == ["cats", "dogs", "cats"]
    assert PAGES.docs.strings() == ["a", "b", "a", "c", "b", "a"]
    assert PAGES.clicks.tolist() == [False, True, False, True, False, False]
    assert PAGES.times is not None
    assert PAGES.times.tolist() == [60, UNTIMED, 30]
    assert PAGES.timed.tolist() == [True, False, True]
    assert repr(PAGES) == "Pages(3 records, 6 results; with sid, t)"
    assert purport.Pages is Pages


@pytest.mark.parametrize("name", ["offsets", "clicks", "times"])
def test_columns_cannot_be_changed(name: str) -> None:
    for pages in (PAGES, PAGES[1:], Pages.concatenate([PAGES, PAGES])):
        with pytest.raises(ValueError, match="read-only"):
            getattr(pages, name)[0] = 1
        with pytest.raises(ValueError, match="read-only"):
            pages.docs.codes[0] = 1


def test_parts_and_the_whole() -> None:
    assert Pages.concatenate([PAGES[:1], PAGES[1:]]) == PAGES
    assert PAGES[[2, 0]].docs.strings() == ["b", "a", "a", "b", "a"]
    assert PAGES[[True, False, True]] == PAGES[[0, 2]]
    assert PAGES[-1].clicks.tolist() == [False, False]
    assert [page.queries.strings() for page in PAGES] == [["cats"], ["dogs"], ["cats"]]
    assert len(Pages.concatenate([])) == 0
    assert PAGES[:2] != PAGES
    assert PAGES[0] != PAGES[2]
    assert PAGES != "pages"


def test_fields_and_parting_by_them() -> None:
    assert PAGES.field("sid") == ["s", "s", None]
    assert PAGES.field("t") == [60, None, 30.5]
    assert PAGES.field("clicks") == [[0, 1, 0], [1], [0, 0]]
    with pytest.raises(InputError, match=r"no field 'page'\. They have: .*qid"):
        PAGES.field("page")
    pages = Pages.from_lists(
        range(40), [[1]] * 40, [[0]] * 40, sessions=[n // 4 for n in range(40)]
    )
    train, test = pages.split(0.5, 0.5, by="sid")
    assert len(train) == len(test) == 20
    assert not set(train.field("sid")) & set(test.field("sid"))


def test_a_number_and_its_text_are_the_same_id() -> None:
    numbers = Pages.from_lists([7], [[1, 12]], [[0, 1]])
    text = Pages.from_lists(["x", "7"], [["a"], ["1", "12"]], [[0], [0, 1]])
    assert numbers.docs.names is None
    assert text.docs.names == ["a", "1", "12"]
    assert text[1] == numbers
    both = Pages.concatenate([numbers, text])
    assert both.docs.strings() == ["1", "12", "a", "1", "12"]
    assert both.docs.codes.tolist() == [0, 1, 2, 0, 1]
    assert Pages.from_lists(["7"], [["1", "12"]], [[0, 1]]).docs.names is None
    assert Pages.from_lists(["7"], [["01", "12"]], [[0, 1]]) != numbers


def test_ids_are_made_of_session_query_and_number() -> None:
    pages = Pages.from_lists(
        [7, 7, 8, 7, 7],
        [[1]] * 5,
        [[0]] * 5,
        sessions=["a", "a", "a", "b", None],
        ids=[None, None, None, "named", None],
    )
    made = ["a/7/1", "a/7/2", "a/8/1", "named", None]
    assert pages.ids == made
    assert pages.field("id") == made
    assert pages[1:].ids == made[1:]
    assert pages[[3, 1]][1].ids == [made[1]]
    assert Pages.concatenate([pages[3:], pages[:3]]).ids == made[3:] + made[:3]
    assert Pages.from_lists([7], [[1]], [[0]]).ids is None
    # Made ids are not written: they come again when the file is read.
    assert next(pages.rows()) == {"sid": "a", "qid": 7, "docs": [1], "clicks": [0]}


def test_made_ids_of_different_pages_differ() -> None:
    pages = Pages.from_lists(
        ["c", "b/c", "c"], [[1]] * 3, [[0]] * 3, sessions=["a/b", "a", "a%2Fb"]
    )
    assert pages.ids is not None
    assert len(set(pages.ids)) == 3


def test_ids_of_large_numbers() -> None:
    largest = (1 << 63) - 1
    pages = Pages.from_lists([largest] * 2, [[1]] * 2, [[0]] * 2, sessions=[largest] * 2)
    assert pages.ids == [f"{largest}/{largest}/1", f"{largest}/{largest}/2"]


def test_from_arrays_takes_whole_columns() -> None:
    docs = np.array([5, 6, 5])
    pages = Pages.from_arrays(
        np.array([0, 2, 3]), np.array([1, 2]), docs, np.array([0, 1, 1]), times=[60, UNTIMED]
    )
    docs[0] = 99
    assert pages == Pages.from_lists([1, 2], [[5, 6], [5]], [[0, 1], [1]], times=[60, None])
    again = Pages.from_arrays(
        PAGES.offsets, PAGES.queries, PAGES.docs, PAGES.clicks, [60, np.nan, 30.5], PAGES.sessions
    )
    assert again == PAGES


@pytest.mark.parametrize(
    ("changed", "error", "reason"),
    [
        ({"offsets": [0, 2, 2]}, InputError, "offsets must begin with 0 and grow"),
        ({"offsets": [1, 2, 3]}, InputError, "offsets must begin with 0 and grow"),
        ({"offsets": []}, InputError, "offsets must begin with 0 and grow"),
        ({"queries": [1]}, ShapeError, "queries has length 1"),
        ({"docs": [1]}, ShapeError, "docs has length 1"),
        ({"clicks": [1]}, ShapeError, "clicks has length 1"),
        ({"clicks": [0, 1, 2]}, InputError, "must be 0 or 1"),
        ({"docs": [1, None, 3]}, InputError, "must be known"),
        ({"docs": [1, 0.5, 3]}, InputError, "a string or a whole number; got float"),
        ({"times": ["a", "b"]}, InputError, "times must be numbers"),
        ({"times": [0.0, np.inf]}, InputError, "too far from the present"),
        ({"sessions": ["\ud800", "a"]}, InputError, "half of a surrogate pair"),
    ],
)
def test_bad_columns(changed: dict[str, Any], error: type[InputError], reason: str) -> None:
    columns = {"offsets": [0, 2, 3], "queries": [1, 2], "docs": [1, 2, 3], "clicks": [0, 1, 1]}
    with pytest.raises(error, match=reason):
        Pages.from_arrays(**(columns | changed))


ALL = ("jsonl", "tsv", "parquet")
BAD = [
    (good(clicks=[0, 1, 0]), "there are 2 docs but 3 clicks", ALL),
    (good(clicks=[0]), "there are 2 docs but 1 clicks", ALL),
    (good(clicks=[0, 2]), "clicks[1] is neither 0 nor 1", ALL),
    (good(clicks=[-1, 0]), "clicks[0] is neither 0 nor 1", ALL),
    (good(clicks=[0, None]), "clicks[1] is neither 0 nor 1", ("jsonl", "parquet")),
    (good(clicks=[0.5, 1]), "clicks[0] is neither 0 nor 1", ("jsonl", "tsv")),
    (good(docs=[], clicks=[]), "it has no docs", ALL),
    (good(docs=None), "it has no docs", ALL),
    (good(clicks=None), "it has no clicks", ALL),
    (good(docs=3), "docs is a number, not an array", ("jsonl",)),
    (good(qid=None), "it has no qid", ALL),
    (good(qid=""), "qid is an empty string", ("jsonl",)),
    (good(qid=0.5), "qid is a number, neither a string nor a whole number", ("jsonl",)),
    (good(docs=[1, None]), "docs[1] is null", ("jsonl", "parquet")),
    (good(t="noon"), "t is text that is no number of seconds since 1970", ALL),
    (good(t="1_000"), "t is text that is no number of seconds since 1970", ALL),
    (good(t=1e17), "t is too far from the present", ALL),
    (good(t=True), "t is true or false, not seconds since 1970", ("jsonl", "parquet")),
]


@pytest.mark.parametrize(
    ("ending", "row", "reason"),
    [(ending, row, reason) for row, reason, endings in BAD for ending in endings],
)
def test_bad_rows(tmp_path: Path, ending: str, row: dict[str, Any], reason: str) -> None:
    path = tmp_path / f"pages.{ending}"
    rows = [good(), row, good()]
    if ending == "parquet":
        parquet.write_table(pa.Table.from_pylist([{"t": None} | row for row in rows]), path)
    elif ending == "tsv":
        path.write_text(HEADER + "".join(map(as_cells, rows)), encoding="utf-8")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    expected = (str(path), 3 if ending == "tsv" else 2, reason)
    for read in (Pages.read, lambda path: list(Pages.batches(path, 2))):
        with pytest.raises(RecordError) as told:
            read(path)
        assert (told.value.source, told.value.row, told.value.reason) == expected
    with pytest.warns(SkippedRowsWarning, match="1 bad rows were left out"):
        kept = Pages.read(path, on_error="skip")
    assert kept.skipped == 1
    assert kept == Pages.from_rows([good(), good()])


def as_cells(row: dict[str, Any]) -> str:
    cells = [row.get(name) for name in HEADER.split()]
    text = [
        " ".join(map(str, cell)) if isinstance(cell, list) else "" if cell is None else str(cell)
        for cell in cells
    ]
    return "\t".join(text) + "\n"


def test_what_is_not_wrong(tmp_path: Path) -> None:
    path = tmp_path / "pages.tsv"
    many = " ".join(map(str, range(10_000)))
    rows = [
        "s\t90\tq\t1 1 1\t0 1 0\n",  # documents twice
        "s\t60\tq\t1\t1\n",  # one result, and time that goes backwards
        f"s\t70\tq\t{many}\t{' '.join('0' * 10_000)}\n",
    ]
    path.write_text(HEADER + "".join(rows), encoding="utf-8")
    pages = Pages.read(path)
    assert np.diff(pages.offsets).tolist() == [3, 1, 10_000]
    assert pages.field("t") == [90, 60, 70]
    assert pages[0].docs.strings() == ["1", "1", "1"]
    assert pages.docs.names is None


@pytest.mark.parametrize("missing", ["qid", "docs", "clicks"])
def test_needed_columns(tmp_path: Path, missing: str) -> None:
    path = tmp_path / "pages.tsv"
    path.write_text(HEADER.replace(missing, "x") + "\t\t7\t1\t0\n", encoding="utf-8")
    for size in (1, 5000):
        with pytest.raises(FormatError, match=f"the header names no column '{missing}'"):
            list(Pages.batches(path, size))
        read = list(Pages.batches(path, size, columns={missing: "x"}))
        assert Pages.concatenate(read) == Pages.from_lists([7], [[1]], [[0]])
    frame = good()
    del frame[missing]
    with pytest.raises(FormatError, match=f"the header names no column '{missing}'"):
        Pages.read(pa.Table.from_pylist([frame]))


def test_a_file_without_rows(tmp_path: Path) -> None:
    for text in ("", HEADER):
        path = tmp_path / "pages.tsv"
        path.write_text(text, encoding="utf-8")
        assert len(Pages.read(path)) == 0
    for ending in ("tsv", "jsonl", "parquet", "arrow"):
        Pages.read(path).write(tmp_path / f"none.{ending}")
        assert Pages.read(tmp_path / f"none.{ending}") == Pages.from_lists([], [], [])


DOCS = {
    "int32": pa.array([[1, 2]], pa.list_(pa.int32())),
    "uint64": pa.array([[1, 2]], pa.large_list(pa.uint64())),
    "fixed": pa.array([[1, 2]], pa.list_(pa.int64(), 2)),
    "text": pa.array([["1", "2"]], pa.list_(pa.large_string())),
    "categories": pa.array([["1", "2"]], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
    "cells": pa.array(["1 2"]),
}
CLICKS = {
    "int8": pa.array([[0, 1]], pa.list_(pa.int8())),
    "truths": pa.array([[False, True]]),
    "floats": pa.array([[0.0, 1.0]]),
    "text": pa.array([["0", "1"]]),
    "cells": pa.array(["0 1"]),
}


@pytest.mark.parametrize("docs", DOCS)
@pytest.mark.parametrize("clicks", CLICKS)
def test_columns_of_many_kinds(docs: str, clicks: str) -> None:
    table = pa.table({"qid": [7], "docs": DOCS[docs], "clicks": CLICKS[clicks]})
    pages = Pages.read(table)
    assert pages == Pages.from_lists([7], [[1, 2]], [[0, 1]])
    assert pages.docs.names is None


def test_frames_hold_whole_numbers_as_floats_and_dates_as_such() -> None:
    frame = pd.DataFrame(
        {
            "sid": [3.0, np.nan],
            "t": [datetime(1970, 1, 1, 0, 1), pd.NaT],
            "qid": pd.Categorical(["cats", "dogs"]),
            "docs": [[1], [2]],
            "clicks": [[0], [1]],
        }
    )
    expected = Pages.from_lists(
        ["cats", "dogs"], [[1], [2]], [[0], [1]], times=[60, None], sessions=[3, None]
    )
    assert Pages.read(frame) == expected
    frame["clicks"] = [[0], [2]]
    with pytest.warns(SkippedRowsWarning):
        assert Pages.read(frame, on_error="skip") == expected[:1]


def test_what_categories_hold_beside() -> None:
    names = pa.array(["a", "a", None, "7"])

    def read(codes: list[int], names: pa.Array = names) -> list[str]:
        column = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), names)
        docs = pa.ListArray.from_arrays([0, len(codes)], column)
        table = pa.table({"qid": [1], "docs": docs, "clicks": [[0] * len(codes)]})
        return Pages.read(table).docs.strings()

    assert read([0, 1, 3]) == ["a", "a", "7"]
    assert read([1, 0, 1, 0], pa.array(["7", "8"])) == ["8", "7", "8", "7"]
    assert read([0], pa.array(["a", "b", "c"])) == ["a"]
    with pytest.raises(RecordError, match=r"docs\[1\] is null"):
        read([0, 2, 0, 0])


@given(
    st.lists(
        st.lists(st.integers(0, 1 << 64) | st.sampled_from(["a", "b", "07", "7", None]), max_size=4)
    )
)
def test_joined_ids_are_those_of_the_whole(parts: list[list[str | int | None]]) -> None:
    whole = Ids.of([value for part in parts for value in part])
    joined = Ids.joined([Ids.of(part) for part in parts])
    assert joined.same_as(whole)
    assert joined.named().strings() == whole.named().strings()
    assert (joined.names is None) == (whole.names is None)


@pytest.mark.parametrize("count", [10, 9000])
def test_many_names_are_joined_as_few_are(count: int) -> None:
    parts = [Ids.of([f"d{n}", None, f"d{n // 2}"]) for n in range(count)]
    joined = Ids.joined(parts)
    assert joined.named().strings() == [one for part in parts for one in part.named().strings()]
    assert joined.names is not None
    assert len(set(joined.names)) == len(joined.names)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "jsonl", "tsv", "tsv.gz"])
def test_batches_of_numbers_and_of_names_are_written_into_one_file(
    tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"pages.{ending}"
    numbers = Pages.from_lists([1], [[2, 3]], [[0, 1]], sessions=[4])
    names = Pages.from_lists(["a"], [["b", "3"]], [[1, 0]], sessions=["c"])
    assert write_batches([numbers, names], path) == 2
    assert Pages.read(path) == Pages.concatenate([numbers, names])
    if ending == "parquet":
        assert parquet.read_schema(path).field("qid").type == pa.string()
        assert not any(parquet.read_schema(path).field(at).metadata for at in range(4))


def test_what_tsv_cannot_hold(tmp_path: Path) -> None:
    pages = Pages.from_lists([7], [["a b"]], [[0]])
    with pytest.raises(FormatError, match="TSV cannot carry record 1: one of the docs"):
        pages.write(tmp_path / "pages.tsv")
    with pytest.raises(FormatError, match="cannot be written as iob"):
        pages.write(tmp_path / "pages.iob")


def test_other_fields_are_kept(tmp_path: Path) -> None:
    rows = [good(page=2, labels=["x"]), good(), good(probability="high")]
    pages = Pages.from_rows(rows)
    assert list(pages.rows()) == rows
    assert pages.field("page") == [2, None, None]
    for ending in ("parquet", "jsonl"):
        pages.write(tmp_path / f"pages.{ending}")
        assert Pages.read(tmp_path / f"pages.{ending}") == pages
    assert Pages.concatenate([pages[2:], pages[:1]]).field("labels") == [None, ["x"]]


def test_a_source_tells_that_it_holds_pages(tmp_path: Path) -> None:
    for ending in ("tsv", "jsonl", "parquet"):
        PAGES.write(tmp_path / f"pages.{ending}")
        assert told_records(tmp_path / f"pages.{ending}") == PAGES
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text('{"tokens":["a"],"qid":1,"docs":[1],"clicks":[0]}\n', encoding="utf-8")
    with pytest.raises(FormatError, match="--as sessions or --as pages"):
        told_records(mixed)
    # One column of that name alone tells nothing.
    mixed.write_text('{"tokens":["a"],"docs":[1]}\n', encoding="utf-8")
    assert type(told_records(mixed)) is purport.Utterances


@pytest.mark.parametrize(
    ("name", "pages", "results"),
    [
        ("clicks-sogou-thuir", 8809, 88090),
        ("clicks-retrotech", 65000, 1775000),
        ("clicks-yandex-onequery", 513, 5130),
    ],
)
def test_real_pages(real_data: Path, tmp_path: Path, name: str, pages: int, results: int) -> None:
    path = real_data / name / "pages.tsv.gz"
    read = Pages.read(path)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        header, *rows = [line.rstrip("\n").split("\t") for line in lines]
    cells = {name: [row[place] for row in rows] for place, name in enumerate(header)}
    assert (len(read), len(read.docs)) == (pages, results)
    assert read.docs.names is None
    assert read.docs.strings() == " ".join(cells["docs"]).split(" ")
    assert list(map(int, " ".join(cells["clicks"]).split(" "))) == read.clicks.tolist()
    assert list(map(str, read.field("sid"))) == cells["sid"]
    assert list(map(str, read.field("qid"))) == cells["qid"]
    told = [float(time) if time else None for time in cells["t"]]
    assert [page.get("t") for page in read.rows()] == told
    for name in set(header) - {"sid", "t", "qid", "docs", "clicks"}:
        assert [value or "" for value in read.field(name)] == cells[name]
    for ending in ("parquet", "arrow"):
        read.write(tmp_path / f"pages.{ending}")
        assert Pages.read(tmp_path / f"pages.{ending}") == read
