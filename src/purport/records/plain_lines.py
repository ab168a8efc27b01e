"""Text files many lines at once: blocks of lines that are all plain become tables of Arrow.

Plain are lines whose fields are of the kinds that were met before, all in the usual form. Any other
block is left to the readers that take one line after the other, so that records, faults and their
numbers are the same in both ways; only the pace differs.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.records.formats import NOTHING_RENAMED, Fields, Row, read_jsonl, renamed_rows
from purport.records.sources import (
    BYTE_ORDER_MARK,
    LONGEST_LINE,
    Faults,
    Line,
    Lines,
    Source,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

FEWEST = 1 << 18
"""Fewer bytes are read line by line: to load Arrow would take longer."""
LOOKED_AT = 100
"""So many lines of JSON at the beginning of each block tell the kinds of fields."""

RowsOf = Callable[[Iterable[Line]], Iterator[Row]]
"""Gives the rows of lines one by one, telling faults."""

_TAB, _END = b"\t\n"
TIME = "t"
_KINDS = {str: "string", bool: "bool", int: "int64"}
_UNFIT = "unfit"
"""The kind of a field that Arrow would not give back as it came."""


@dataclass(frozen=True)
class PlainLines:
    """Lines that are all plain, as a table with a row a line.

    Attributes
    ----------
    table : pyarrow.Table
        A row a line.
    data : bytes
        The lines as they stand in the file, each with its end.
    first : int
        The number of the first line.
    source : str
        How messages name where they come from.
    make : callable
        Gives the records of some rows; raises `UnfitError` where they must be looked at.
    rows : callable
        Gives the rows of some lines one by one, telling faults.
    starts : callable, optional
        Gives the rows at which records begin; else each row is one.
    """

    table: pa.Table
    data: bytes
    first: int
    source: str
    make: Callable[[pa.Table], Any]
    rows: RowsOf
    starts: Callable[[pa.Table], NDArray[np.int64]] | None = None

    def end(self, start: int, room: int) -> int:
        """Return the row at which those after `start` end that are at most `room` records."""
        last: int = self.table.num_rows
        if room >= last - start:
            return last
        if self.starts is None:
            return start + room
        starts = self.starts(self.table)
        number = int(np.searchsorted(starts, start)) + room
        return int(starts[number]) if number < len(starts) else last

    def lines(self, start: int, stop: int) -> Lines:
        """Return some lines, to be looked at one by one."""
        data = self.data[line_start(self.data, start) : line_start(self.data, stop)]
        return Lines(io.BytesIO(data), self.source, self.first - 1 + start)


def pieces_of_json(
    source: Source, faults: Faults, make: Callable[[pa.Table], Any], steps: str | None
) -> Iterator[Row | PlainLines]:
    """Yield rows of JSON lines, or many lines at once where all are plain.

    Parameters
    ----------
    source : Source
        Its lines may be taken many at once.
    faults : Faults
        Told of bad rows.
    make : callable
        As in `PlainLines`.
    steps : str or None
        Our name of the field that holds a list of objects.
    """

    def rows(lines: Iterable[Line]) -> Iterator[Row]:
        return renamed_rows(read_jsonl(lines, faults), source.renamed)

    kinds = Kinds(their_name(steps, source.renamed) if steps else None)
    for first, data, enough in _blocks(source.lines):
        found = None
        if enough:
            for fields in _some_objects(data):
                kinds.learn(fields)
            found = plain_json(data, kinds.schema(), source.renamed)
        if found is None:
            yield from rows(Lines(io.BytesIO(data), source.name, first - 1))
        else:
            yield PlainLines(*found, first, source.name, make, rows)


def pieces_of_cells(
    source: Source, header: list[str], make: Callable[[pa.Table], Any], rows: RowsOf
) -> Iterator[Row | PlainLines]:
    """Yield rows of the cells of TSV, or many lines at once where all are plain.

    Parameters
    ----------
    source : Source
        What stands under its header; the lines may be taken many at once.
    header : list of str
        Our names of the columns.
    make, rows : callable
        As in `PlainLines`.
    """
    for first, data, enough in _blocks(source.lines):
        found = plain_cells(data, header) if enough else None
        if found is None:
            yield from rows(Lines(io.BytesIO(data), source.name, first - 1))
        else:
            yield PlainLines(*found, first, source.name, make, rows)


def pieces_of_steps(
    source: Source,
    header: list[str],
    make: Callable[[pa.Table], Any],
    rows: RowsOf,
    starts: Callable[[pa.Table], NDArray[np.int64]],
) -> Iterator[Row | PlainLines]:
    """Yield the same where several lines make a record; no piece parts one.

    The last record of a block waits for the next block. From the first block on that is not plain
    lines are taken one by one, as what such a block ends with cannot be told.

    Parameters
    ----------
    source, header, make, rows
        As in `pieces_of_cells`.
    starts : callable
        As in `PlainLines`.
    """
    held, first = b"", source.lines.taken + 1
    for _, block, enough in _blocks(source.lines):
        data = held + block
        found = plain_cells(data, header) if enough else None
        if found is None:
            yield from rows(chain(Lines(io.BytesIO(data), source.name, first - 1), source.lines))
            return
        table, data = found
        last = int(starts(table)[-1])
        at = line_start(data, last)
        if last:
            piece = table.slice(0, last)
            yield PlainLines(piece, data[:at], first, source.name, make, rows, starts)
        held, first = data[at:], first + last
    if held:
        yield from rows(Lines(io.BytesIO(held), source.name, first - 1))


def line_start(data: bytes, line: int) -> int:
    r"""Return where a line begins, counted from 0.

    Examples
    --------
    >>> line_start(b"a\nbc\nd\n", 0), line_start(b"a\nbc\nd\n", 2)
    (0, 5)
    """
    if not line:
        return 0
    return int(np.flatnonzero(np.frombuffer(data, np.uint8) == _END)[line - 1]) + 1


def plain_cells(data: bytes, header: list[str]) -> tuple[pa.Table, bytes] | None:
    r"""Return lines of TSV as a table of strings, and their bytes with plain ends; None if unfit.

    Examples
    --------
    >>> table, _ = plain_cells(b"a\tx\n\ty\n", ["id", "obs"])
    >>> table.to_pydict()
    {'id': ['a', None], 'obs': ['x', 'y']}
    >>> plain_cells(b"a\tx\nb\n", ["id", "obs"]) is None
    True
    """
    import pyarrow as pa
    import pyarrow.csv

    plain = _plain_bytes(data)
    width = len(header)
    if plain is None or width < 2:  # of one column alone an empty row is a blank line
        return None
    held = np.frombuffer(plain, np.uint8)
    marks = held[(held == _TAB) | (held == _END)]
    if len(marks) % width:
        return None
    is_end = marks.reshape(-1, width) == _END
    if is_end[:, :-1].any() or not is_end[:, -1].all():
        return None
    table = pa.csv.read_csv(
        pa.BufferReader(plain),
        read_options=pa.csv.ReadOptions(
            use_threads=False, block_size=len(plain) + 1, column_names=header
        ),
        parse_options=pa.csv.ParseOptions(
            delimiter="\t", quote_char=False, escape_char=False, ignore_empty_lines=False
        ),
        convert_options=pa.csv.ConvertOptions(
            column_types=dict.fromkeys(header, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            check_utf8=False,
        ),
    )
    return (table, plain) if table.num_rows == len(is_end) else None


def plain_json(
    data: bytes, schema: pa.Schema | None, renamed: Mapping[str, str] = NOTHING_RENAMED
) -> tuple[pa.Table, bytes] | None:
    r"""Return lines of JSON as a table, and their bytes with plain ends; None if one is unfit.

    `renamed` gives our names of fields that are called otherwise.

    Examples
    --------
    >>> import pyarrow as pa
    >>> schema = pa.schema([("text", pa.string())])
    >>> plain_json(b'{"text":"stop"}\n{}\n', schema)[0].to_pydict()
    {'text': ['stop', None]}
    >>> plain_json(b'{"text":1}\n', schema) is None
    True
    """
    import pyarrow as pa
    import pyarrow.json

    plain = None if schema is None else _plain_bytes(data)
    if plain is None or not (plain.startswith(b"{") and plain.endswith(b"}\n")):
        return None
    # Between two braces that face each other JSON needs a comma: so no object goes on over a line
    # end, and as many objects as lines are one a line.
    count = plain.count(b"\n")
    if plain.count(b"}\n{") != count - 1:
        return None
    try:
        table = pa.json.read_json(
            pa.BufferReader(plain),
            read_options=pa.json.ReadOptions(use_threads=False, block_size=len(plain) + 1),
            parse_options=pa.json.ParseOptions(
                explicit_schema=schema, unexpected_field_behavior="error"
            ),
        )
    except (pa.ArrowException, UnicodeDecodeError):
        return None
    names = [renamed.get(name, name) for name in table.column_names]
    if table.num_rows != count or len(set(names)) < len(names):
        return None
    return table.rename_columns(names), plain


def _blocks(lines: Lines) -> Iterator[tuple[int, bytes, bool]]:
    """Yield the number of the first line of each block, the block, and if Arrow is worth its load.

    Where it was loaded for one block it is there for the smaller last one.
    """
    enough = False
    first = lines.taken + 1
    while data := lines.block():
        enough = enough or len(data) >= FEWEST
        yield first, data, enough
        first = lines.taken + 1


def _some_objects(data: bytes) -> Iterator[Fields]:
    """Yield the first objects of JSON lines, without a word on bad ones."""
    lines = islice(Lines(io.BytesIO(data), ""), LOOKED_AT)
    for _, fields in read_jsonl(lines, Faults("skip", "pieces_of_json")):
        yield fields


def _plain_bytes(data: bytes) -> bytes | None:
    """Return whole lines with plain ends, if no line and no character of theirs is unusual."""
    plain = data.replace(b"\r\n", b"\n") if b"\r" in data else data
    plain = plain if plain.endswith(b"\n") else plain + b"\n"
    if b"\r" in plain or b"\0" in plain or plain.startswith(BYTE_ORDER_MARK):
        return None
    if len(plain) > LONGEST_LINE:
        return None
    try:
        plain.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return plain


@dataclass
class Kinds:
    """The kinds of fields of JSON lines, as far as rows have told them.

    Parameters
    ----------
    steps : str or None
        The field that holds a list of objects, if any; their `t` is a number of any form.

    Examples
    --------
    >>> kinds = Kinds(None)
    >>> kinds.learn({"text": "stop", "fold": 3})
    >>> kinds.schema().names
    ['text', 'fold']
    """

    steps: str | None
    _fields: dict[str, str] = field(default_factory=dict)
    _inner: dict[str, str] = field(default_factory=dict)

    def learn(self, row: Fields) -> None:
        """Look at the fields of one row."""
        for name, value in row.items():
            if name == self.steps and isinstance(value, list):
                self._learn_steps(value)
            else:
                _met(self._fields, name, _kind(value))

    def _learn_steps(self, steps: list[Any]) -> None:
        _met(self._fields, str(self.steps), "steps")
        for step in steps:
            if not isinstance(step, dict):
                self._fields[str(self.steps)] = _UNFIT
                return
            for name, value in step.items():
                kind = _kind(value)
                if name == TIME and type(value) in (int, float):
                    kind = "double"
                _met(self._inner, name, kind)

    def schema(self) -> pa.Schema | None:
        """Return what the rows so far have in common; None where that cannot be said."""
        import pyarrow as pa

        if _UNFIT in self._fields.values() or _UNFIT in self._inner.values() or not self._fields:
            return None
        inner = pa.struct([(name, _type(kind)) for name, kind in self._inner.items()])
        return pa.schema(
            [
                (name, pa.list_(inner) if kind == "steps" else _type(kind))
                for name, kind in self._fields.items()
            ]
        )


def _kind(value: object) -> str | None:
    """Return the kind of a value of JSON; None where there is none."""
    if value is None:
        return None
    if isinstance(value, list):
        kinds = {_KINDS.get(type(item), _UNFIT) for item in value if item is not None}
        if len(kinds) > 1 or _UNFIT in kinds:
            return _UNFIT
        return f"list {kinds.pop()}" if kinds else "list"
    return _KINDS.get(type(value), _UNFIT)


def _met(kinds: dict[str, str], name: str, kind: str | None) -> None:
    before = kinds.get(name)
    if kind is None or kind == before:
        return
    if before is None or (before == "list" and kind.startswith("list ")):
        kinds[name] = kind
    elif not (kind == "list" and before.startswith("list ")):
        kinds[name] = _UNFIT


def _type(kind: str) -> pa.DataType:
    import pyarrow as pa

    if kind == "list":
        return pa.list_(pa.string())
    if kind.startswith("list "):
        return pa.list_(_type(kind.removeprefix("list ")))
    kinds = {"string": pa.string, "bool": pa.bool_, "int64": pa.int64, "double": pa.float64}
    made: pa.DataType = kinds[kind]()
    return made


def their_name(ours: str, renamed: Mapping[str, str]) -> str:
    """Return what a column is called in a source.

    Examples
    --------
    >>> their_name("text", {"query": "text"}), their_name("id", {"query": "text"})
    ('query', 'id')
    """
    return next((theirs for theirs, our in renamed.items() if our == ours), ours)
