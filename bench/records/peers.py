"""How others read the same files into the same ragged arrays, on one thread.

Each peer returns `Ragged`: what an estimator needs of records, with every different string once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from purport.records.sessions import Sessions
from purport.records.utterances import Utterances

PYARROW, DUCKDB, FLOOR = "pyarrow", "duckdb", "json of Python, objects only"
STEP, TOKEN = ("obs", "label"), ("tokens", "slots")
"""The columns of strings."""


class Ragged(NamedTuple):
    """Ids, where each record starts, the coded strings of each column, and times."""

    ids: Sequence[Any]
    offsets: Any
    columns: dict[str, tuple[Any, Any]]
    times: Any

    def plain(self) -> list[Any]:
        """Return everything as lists, to be compared."""
        columns = [
            np.asarray(strings, dtype=object)[np.asarray(codes)].tolist()
            for codes, strings in self.columns.values()
        ]
        times = [] if self.times is None else np.asarray(self.times).tolist()
        return [list(self.ids), np.asarray(self.offsets).tolist(), *columns, times]


def ours(path: Path, is_log: bool) -> Ragged:
    if is_log:
        log = Sessions.read(path)
        assert log._obs is not None
        assert log._given is not None
        columns = {"obs": log._obs, "label": log._given}
        offsets, ids, times = log.offsets, log.ids, log.times
    else:
        talk = Utterances.read(path)
        assert talk._slots is not None
        columns = {"tokens": talk._tokens, "slots": talk._slots}
        offsets, ids, times = talk.offsets, talk.ids, None
    coded = {name: (column.codes, column.vocabulary) for name, column in columns.items()}
    return Ragged(ids or [], offsets, coded, times)


def by_pyarrow(path: Path, is_log: bool) -> Ragged:
    """Read with pyarrow; rows of steps are grouped where the id changes, as they stand together."""
    if path.suffix == ".parquet":
        # As codes right away, which is the quickest way to them; of lists it gives them as well.
        strings = list(STEP) if is_log else [f"{name}.list.element" for name in TOKEN]
        table = pyarrow.parquet.read_table(path, use_threads=False, read_dictionary=strings)
    elif path.suffix == ".tsv":
        table = pyarrow.csv.read_csv(
            path,
            read_options=pyarrow.csv.ReadOptions(use_threads=False),
            parse_options=pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False),
        )
    else:
        table = pyarrow.json.read_json(
            path, read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=1 << 22)
        )
    table = table.combine_chunks()
    if is_log and "obs" in table.column_names:
        return _grouped(table)
    lists = {}
    if is_log:
        steps = table["steps"].combine_chunks()
        offsets = _offsets(steps)
        flat = steps.flatten()
        lists = {name: _coded(pc.struct_field(flat, name)) for name in STEP}
        return Ragged(_ids(table), offsets, lists, _numbers(pc.struct_field(flat, "t")))
    offsets = None
    for name in TOKEN:
        column = table[name].combine_chunks()
        if pa.types.is_string(column.type):
            column = pc.split_pattern(column, " ")
        offsets = _offsets(column)
        lists[name] = _coded(column.flatten())
    return Ragged(_ids(table), offsets, lists, None)


def by_duckdb(path: Path, is_log: bool) -> Ragged:
    """Let DuckDB group and give lists; Arrow takes them apart."""
    table = _connection().sql(_query(path, is_log)).to_arrow_table().combine_chunks()
    if is_log and path.suffix == ".jsonl":
        steps = table["steps"].combine_chunks()
        flat = steps.flatten()
        columns = {name: _coded(pc.struct_field(flat, name)) for name in STEP}
        return Ragged(_ids(table), _offsets(steps), columns, _numbers(pc.struct_field(flat, "t")))
    lists = {name: table[name].combine_chunks() for name in (STEP if is_log else TOKEN)}
    offsets = _offsets(next(iter(lists.values())))
    columns = {name: _coded(column.flatten()) for name, column in lists.items()}
    times = _numbers(table["t"].combine_chunks().flatten()) if is_log else None
    return Ragged(_ids(table), offsets, columns, times)


@cache
def _connection() -> Any:
    """Return a database in memory; to make one takes as long as to read a small file."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    return connection


def by_python(path: Path, is_log: bool) -> list[Any]:
    """Decode JSON lines and do nothing with them."""
    with path.open(encoding="utf-8") as lines:
        return list(map(json.loads, lines))


def readers(path: Path) -> dict[str, Callable[[Path, bool], Any]]:
    """Return the systems that read a file, by name; what is not installed is left out."""
    from bench.timing import version

    found: dict[str, Callable[[Path, bool], Any]] = {"purport": ours, PYARROW: by_pyarrow}
    if version("duckdb"):
        found[DUCKDB] = by_duckdb
    if path.suffix == ".jsonl":
        found[FLOOR] = by_python
    return found


def _query(path: Path, is_log: bool) -> str:
    file = str(path).replace("'", "''")
    if path.suffix == ".jsonl":
        steps = "'STRUCT(obs VARCHAR, label VARCHAR, t BIGINT)[]'"
        told = f"steps: {steps}" if is_log else "tokens: 'VARCHAR[]', slots: 'VARCHAR[]'"
        source = (
            f"read_json('{file}', format='newline_delimited', columns={{id: 'VARCHAR', {told}}})"
        )
        return f"SELECT * FROM {source}"
    if not is_log:
        if path.suffix == ".parquet":
            return f"SELECT id, tokens, slots FROM read_parquet('{file}')"
        cells = ", ".join(f"string_split({name}, ' ') AS {name}" for name in TOKEN)
        return f"SELECT id, {cells} FROM {_tsv(file)}"
    if path.suffix == ".parquet":
        source, row = f"read_parquet('{file}', file_row_number = true)", "file_row_number"
    else:
        source, row = f"(SELECT *, row_number() OVER () AS file_row FROM {_tsv(file)})", "file_row"
    lists = ", ".join(f"list({name} ORDER BY {row}) AS {name}" for name in (*STEP, "t"))
    return f"SELECT id, {lists} FROM {source} GROUP BY id ORDER BY min({row})"


def _tsv(file: str) -> str:
    return f"read_csv('{file}', delim = '\t', quote = '', escape = '', header = true)"


def _grouped(table: pa.Table) -> Ragged:
    ids = table["id"].combine_chunks()
    changes = pc.not_equal(ids.slice(1), ids.slice(0, len(ids) - 1)).to_numpy(zero_copy_only=False)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    columns = {name: _coded(table[name].combine_chunks()) for name in STEP}
    offsets = np.append(starts, len(ids))
    times = _numbers(table["t"].combine_chunks())
    return Ragged(ids.take(pa.array(starts)).to_pylist(), offsets, columns, times)


def _offsets(lists: pa.Array) -> Any:
    return np.concatenate([[0], np.cumsum(pc.list_value_length(lists).to_numpy())])


def _coded(column: pa.Array) -> tuple[Any, Any]:
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return encoded.indices.to_numpy(), encoded.dictionary.to_pylist()


def _numbers(column: pa.Array) -> Any:
    return column.cast(pa.float64()).to_numpy()


def _ids(table: pa.Table) -> list[Any]:
    return list(table["id"].to_pylist())
