"""What all classes of records share: they are read, cut, joined, parted and written alike."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

from purport.errors import FormatError, InputError, ShapeError
from purport.estimator.chance import RandomState
from purport.estimator.constraints import Whole, check_parameters
from purport.records.arrow import (
    UnfitError,
    extra_columns,
    renamed_table,
    table_rows,
)
from purport.records.columns import records_of
from purport.records.formats import (
    Fields,
    Row,
    plain,
    read_cells,
    read_header,
    read_lines,
    write_jsonl,
    write_tsv,
)
from purport.records.parting import cut_at_shares
from purport.records.plain_lines import PlainLines, pieces_of_json
from purport.records.session_rows import Ended
from purport.records.sources import (
    TABLE_KINDS,
    BadRowError,
    Faults,
    OnError,
    Source,
    Sources,
    TextKind,
    open_sources,
)
from purport.records.targets import target_kind, write_lines, write_tables

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

EVERYTHING = 1 << 62
"""The size of a batch that holds all there is."""

FEWEST_AT_ONCE = 1000
"""The size of batches from which on lines are taken many at once: a block of them is no more."""

TABLE_ROWS = 1 << 16
"""Most rows of a table that are looked at together."""


class Builder(Protocol):
    """Grows the columns of one class of records row by row."""

    def __len__(self) -> int: ...

    def add(self, fields: Fields) -> None:
        """Add one record, or raise `BadRowError` and add nothing."""

    def finish(self) -> Any:
        """Return the records."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Records(ABC):
    """Records as columns, which never change; see `Utterances`, `Sessions` and `Pages`.

    A subclass says how the fields of a row become a record, what its columns are, and how they
    become fields again.

    Attributes
    ----------
    offsets : (N + 1,) int64
        Where each record starts among all positions.
    skipped : int
        How many bad rows were left out while reading.
    """

    offsets: NDArray[np.int64]
    skipped: int = 0

    _extra: list[dict[str, Any] | None] | None = None

    _needed: ClassVar[tuple[str, ...]]
    """A header that names one of these columns is one of such records."""
    _required: ClassVar[tuple[str, ...]] = ()
    """And it must name all of these."""
    _identities: ClassVar[frozenset[str]] = frozenset()
    """The columns in which a whole number is the same as its text."""
    _spaced: ClassVar[frozenset[str]]
    """The columns of TSV that hold several values, parted by spaces."""

    # What a subclass says.

    @classmethod
    @abstractmethod
    def _builder(cls) -> Builder:
        """Return an empty builder."""

    @classmethod
    @abstractmethod
    def _rows_of(cls, rows: Iterator[Row], source: Source, faults: Faults) -> Iterator[Row]:
        """Turn the rows of a file into rows that are one record each, with the types of JSON."""

    @classmethod
    @abstractmethod
    def _from_table(cls, table: pa.Table) -> Self:
        """Take whole columns of a table; raises `UnfitError` where rows must be looked at."""

    @classmethod
    @abstractmethod
    def _pieces_of_cells(
        cls, source: Source, header: list[str], faults: Faults
    ) -> Iterator[Row | PlainLines]:
        """Yield what stands under the header of TSV, as `_pieces` does."""

    @classmethod
    @abstractmethod
    def _joined(cls, parts: Sequence[Self]) -> Self:
        """Put at least two collections one after the other."""

    @abstractmethod
    def _taken(self, records: NDArray[np.int64]) -> Self:
        """Return some records by their numbers."""

    @abstractmethod
    def _texts(self) -> Iterator[Sequence[str | None]]:
        """Yield all strings that are held, for a look at their characters."""

    @property
    @abstractmethod
    def ids(self) -> list[str | None] | None:
        """The id of each record; None when not one is known."""

    @abstractmethod
    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each record as a dictionary, as JSON lines hold it; the unknown is left out."""

    @abstractmethod
    def flat_rows(self, ended: Ended) -> Iterator[dict[str, Any]]:
        """Yield the fields of each line of TSV; `ended` knows the ids that were written before."""

    @classmethod
    @abstractmethod
    def ordered(cls, names: Iterable[str]) -> list[str]:
        """Return the columns of TSV in the order in which they are written."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Return a table with a row a record."""

    # Reading.

    @classmethod
    def read(
        cls,
        source: Sources,
        on_error: OnError = "raise",
        *,
        columns: Mapping[str, str] | None = None,
    ) -> Self:
        """Read records from files, standard input or a data frame.

        Parameters
        ----------
        source : path, list of paths, "-" or frame
            JSON lines (``.jsonl``, ``.ndjson``, ``.json``), TSV (``.tsv``) and, for utterances,
            IOB/CoNLL (``.iob``, ``.bio``, ``.conll``), each also packed (``.gz``); Parquet
            (``.parquet``) and Arrow IPC (``.arrow``, ``.feather``). ``"-"`` is standard input; its
            kind, and that of pipes, ``.txt`` files and names without ending, is told by what it
            begins with. A frame is one of pandas, polars, pyarrow, DuckDB or whatever else
            narwhals knows.
        on_error : "raise" or "skip"
            A bad row raises, or is left out; all that are left out give one warning and the count
            `skipped`.
        columns : dict, optional
            Columns that have other names there: ``{"text": "query"}`` reads ``query`` as ``text``.

        Returns
        -------
        records
            Of the class that was asked.
        """
        faults = Faults(on_error, f"{cls.__name__}.read")
        found = cls.concatenate(
            list(cls._parts(cls._opened(source, faults, columns), EVERYTHING, faults))
        )
        faults.warn()
        return replace(found, skipped=faults.skipped)

    @classmethod
    def batches(
        cls,
        source: Sources,
        size: int = 1000,
        on_error: OnError = "raise",
        *,
        columns: Mapping[str, str] | None = None,
    ) -> Iterator[Self]:
        """Read records in batches, never holding more than one and a block of lines of text.

        Parameters
        ----------
        source, on_error, columns
            As in `read`. The warning comes after the last batch.
        size : int
            The most records of one batch.
        """
        owner = f"{cls.__name__}.batches"
        check_parameters(owner, {"size": size}, {"size": Whole(low=1)})
        faults = Faults(on_error, owner)
        return cls.batches_of(cls._opened(source, faults, columns), size, faults)

    @classmethod
    def _opened(
        cls, source: Sources, faults: Faults, columns: Mapping[str, str] | None
    ) -> Iterator[Source]:
        return open_sources(source, faults, frozenset(cls._needed), renamed(columns))

    @classmethod
    def batches_of(cls, opened: Iterable[Source], size: int, faults: Faults) -> Iterator[Self]:
        """Read records in batches from sources that have been opened; see `batches`."""
        told = 0
        for part in cls._parts(opened, size, faults):
            yield replace(part, skipped=faults.skipped - told)
            told = faults.skipped
        faults.warn()

    @classmethod
    def _parts(cls, opened: Iterable[Source], size: int, faults: Faults) -> Iterator[Self]:
        """Yield at most `size` records at a time; those of text files go on from file to file."""
        batch = _Batch(cls, size, faults)
        for source in opened:
            if source.tables is not None:
                if len(batch):
                    yield batch.finish()
                yield from cls._parts_of_tables(source, size, faults)
                continue
            for piece in cls._pieces(source, faults, at_once=size >= FEWEST_AT_ONCE):
                if isinstance(piece, PlainLines):
                    yield from batch.add_lines(piece)
                    continue
                batch.add(*piece)
                if batch.is_full:
                    yield batch.finish()
        if len(batch):
            yield batch.finish()

    @classmethod
    def _pieces(cls, source: Source, faults: Faults, at_once: bool) -> Iterator[Row | PlainLines]:
        """Yield rows that are one record each, or many lines at once where all are plain."""
        many = at_once and source.lines.at_once
        if source.kind == "tsv":
            header = read_header(source.lines, source.name, cls._needed, source.renamed)
            cls._check_required(header, source.name)
            if many:
                yield from cls._pieces_of_cells(source, header, faults)
            else:
                yield from cls._rows_of(read_cells(source.lines, header, faults), source, faults)
        elif not many or source.kind != "jsonl":
            yield from cls._rows_of(read_lines(source, faults, cls._needed), source, faults)
        else:
            steps = "steps" if "steps" in cls._needed else None
            yield from pieces_of_json(source, faults, cls._from_table, steps)

    @classmethod
    def _check_required(cls, header: Sequence[str], source: str) -> None:
        """Refuse a header without a column that all records have; an empty file has no header."""
        for name in cls._required:
            if header and name not in header:
                raise FormatError.no_column(source, (name,))

    @classmethod
    def _parts_of_tables(cls, opened: Source, size: int, faults: Faults) -> Iterator[Self]:
        assert opened.tables is not None
        for first, table in opened.tables(min(size, TABLE_ROWS)):
            names = dict(opened.renamed)
            part = cls._of_table(renamed_table(table, names, opened.name), first, faults)
            if len(part):
                yield part

    @classmethod
    def _of_table(cls, table: pa.Table, first: int, faults: Faults) -> Self:
        """Take whole columns where all is well; else row by row, which finds the bad ones."""
        if not set(cls._needed) & set(table.column_names):
            raise FormatError.no_column(faults.source, cls._needed)
        cls._check_required(table.column_names, faults.source)
        try:
            return cls._from_table(table)
        except UnfitError:
            return cls._from_rows(cls._rows_of_table(table, first, faults.source), faults)

    @classmethod
    def _rows_of_table(cls, table: pa.Table, first: int, source: str) -> Iterator[Row]:
        """Yield the number and the fields of each row of a table."""
        return table_rows(table, first, source)

    @classmethod
    def _from_rows(cls, rows: Iterable[Row], faults: Faults) -> Self:
        builder = cls._builder()
        for number, fields in rows:
            _add(builder, number, fields, faults)
        made: Self = builder.finish()
        return made

    @classmethod
    def from_rows(cls, rows: Iterable[Mapping[str, Any]]) -> Self:
        """Make records from dictionaries, each what a line of JSON would hold.

        Parameters
        ----------
        rows : iterable of dict
            As `rows` gives them.
        """
        faults = Faults("raise", f"{cls.__name__}.from_rows")
        faults.source = "<rows>"
        made = cls._from_rows(((n, dict(row)) for n, row in enumerate(rows, start=1)), faults)
        made._check_characters()
        return made

    def _check_characters(self) -> None:
        """Refuse strings that no file can hold; what was read from UTF-8 needs no look."""
        for texts in (*self._texts(), json_texts(self._extra)):
            try:
                "".join(text or "" for text in texts).encode("utf-8")
            except UnicodeEncodeError:
                raise InputError(
                    "A string holds half of a surrogate pair, which is no character. Decode the"
                    " text with errors='replace' first."
                ) from None

    def _other_columns(self) -> dict[str, Any]:
        """Return as Arrow has them the fields that purport does not know."""
        return dict(extra_columns(self._extra or []))

    # Cutting and joining.

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def shape(self) -> tuple[int]:
        """The number of records, as a tuple."""
        return (len(self),)

    def __getitem__(self, key: object) -> Self:
        return self._taken(records_of(key, len(self)))

    def __iter__(self) -> Iterator[Self]:
        return (self[record] for record in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return len(self) == len(other) and all(
            mine == theirs for mine, theirs in zip(self.rows(), other.rows(), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def concatenate(cls, parts: Iterable[Self]) -> Self:
        """Put several collections one after the other.

        Parameters
        ----------
        parts : iterable of records
            All of this class; none at all give an empty collection.
        """
        listed = list(parts)
        for part in listed:
            if not isinstance(part, cls):
                raise InputError(
                    f"{cls.__name__}.concatenate takes {cls.__name__}; got {type(part).__name__}."
                )
        if len(listed) > 1:
            return cls._joined(listed)
        empty: Self = cls._builder().finish()
        return listed[0] if listed else empty

    def field(self, name: str) -> list[Any]:
        """Return one field of every record, None where a record has none.

        Parameters
        ----------
        name : str
            As in the JSON lines; at least one record must have it.
        """
        values = [row.get(name) for row in self.rows()]
        if values and all(value is None for value in values):
            names = sorted({name for row in self.rows() for name in row})
            raise InputError(f"The records have no field {name!r}. They have: {', '.join(names)}.")
        return values

    def split(
        self,
        *shares: float,
        by: str | Sequence[Hashable] | None = None,
        random_state: RandomState = 0,
    ) -> tuple[Self, ...]:
        """Part the records at random, as for training, choice of settings and test.

        Parameters
        ----------
        *shares : float
            The share of each part; together 1.
        by : str or sequence, optional
            Records that belong together stay together: a field that names the user, the call or the
            day, or one value a record. Records without a value are each by themselves.
        random_state : int, Generator or None
            Where chance comes from; the same number gives the same parts.

        Returns
        -------
        tuple of records
            In each part the records are in their old order.
        """
        groups = by
        if isinstance(by, str):
            groups = [None if value is None else plain(value) for value in self.field(by)]
        if groups is not None and not hasattr(groups, "__len__"):
            kind = type(groups).__name__
            raise InputError(f"by must be a field, or one value a record; got {kind}.")
        if groups is not None and len(groups) != len(self):
            raise ShapeError.lengths("by", len(groups), "the list of records", len(self))
        return tuple(
            self[numbers] for numbers in cut_at_shares(len(self), shares, groups, random_state)
        )

    # Writing.

    def lines(self, kind: TextKind = "jsonl") -> Iterator[str]:
        """Yield the lines of a file of some kind, each with its line end.

        Parameters
        ----------
        kind : "jsonl" or "tsv"
            How.
        """
        if kind == "jsonl":
            return write_jsonl(self.rows())
        if kind == "tsv":
            names = dict.fromkeys(name for row in self.flat_rows(Ended()) for name in row)
            return write_tsv(self.flat_rows(Ended()), self.ordered(names), self._spaced)
        raise FormatError.no_such_form(type(self).__name__, kind)

    def write(self, path: str | os.PathLike[str], overwrite: bool = True) -> None:
        """Write a file of the kind that its ending names, whole or not at all.

        Parameters
        ----------
        path : path
            Ends as `read` says. JSON lines hold everything; the others raise where they cannot hold
            a record, and TSV and IOB turn fields that purport does not know into text.
        overwrite : bool
            False keeps what stands there and raises `OutputExistsError`.
        """
        if target_kind(path) in TABLE_KINDS:
            table = self.to_arrow()
            write_tables(path, table.schema, [table], overwrite)
        else:
            write_lines(path, self.lines, overwrite)


def renamed(columns: Mapping[str, str] | None) -> dict[str, str]:
    """Return our names by theirs.

    Examples
    --------
    >>> renamed({"text": "query"})
    {'query': 'text'}
    """
    return {theirs: ours for ours, theirs in (columns or {}).items()}


def json_texts(extras: Sequence[Mapping[str, Any] | None] | None) -> list[str]:
    """Return the fields that purport does not know as JSON; refuse what JSON has no word for."""
    try:
        return [json.dumps(extra, ensure_ascii=False) for extra in extras or [] if extra]
    except (TypeError, ValueError, RecursionError):
        raise InputError(
            "A field that purport does not know holds something that JSON has no word for. Give"
            " strings, numbers, truths, None, lists and dictionaries."
        ) from None


class _Batch:
    """Gathers rows, and lines that are taken at once, until they are so many records."""

    def __init__(self, kind: type[Records], size: int, faults: Faults) -> None:
        self._kind = kind
        self._size = size
        self._faults = faults
        self._parts: list[Any] = []
        self._in_parts = 0
        self._builder = kind._builder()

    def __len__(self) -> int:
        return self._in_parts + len(self._builder)

    @property
    def is_full(self) -> bool:
        return len(self) >= self._size

    def add(self, number: int, fields: Fields) -> None:
        """Add a record, or tell the fault."""
        _add(self._builder, number, fields, self._faults)

    def add_lines(self, plain: PlainLines) -> Iterator[Any]:
        """Add the records of many lines; yield each batch that is full."""
        start = 0
        while start < plain.table.num_rows:
            stop = plain.end(start, self._size - len(self))
            try:
                part = plain.make(plain.table.slice(start, stop - start))
            except UnfitError:
                for number, fields in plain.rows(plain.lines(start, stop)):
                    self.add(number, fields)
            else:
                self._close_builder()
                self._add_part(part)
            if self.is_full:
                yield self.finish()
            start = stop

    def finish(self) -> Any:
        """Return the batch and begin the next one."""
        self._close_builder()
        parts, self._parts, self._in_parts = self._parts, [], 0
        return self._kind.concatenate(parts)

    def _close_builder(self) -> None:
        if len(self._builder):
            self._add_part(self._builder.finish())
            self._builder = self._kind._builder()

    def _add_part(self, part: Any) -> None:
        self._parts.append(part)
        self._in_parts += len(part)


def _add(builder: Builder, number: int, fields: Fields, faults: Faults) -> None:
    try:
        builder.add(fields)
    except BadRowError as bad:
        faults.add(number, bad)
