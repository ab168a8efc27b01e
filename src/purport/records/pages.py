"""Result pages: what a search engine showed for a query, place by place, and what was clicked."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from purport.errors import InputError, ShapeError
from purport.records.columns import (
    Coded,
    Coder,
    each_or_none,
    frozen,
    joined_lists,
    joined_offsets,
    known_or_none,
    offsets_of,
    positions_of,
    ragged,
)
from purport.records.formats import Fields, Row, read_cells
from purport.records.ids import Ids
from purport.records.page_checks import KNOWN, LATEST, PAGE, UNTIMED, checked_page, whole_and_exact
from purport.records.plain_lines import PlainLines, pieces_of_cells
from purport.records.records import Records
from purport.records.session_rows import Ended
from purport.records.sources import Faults, Line, Source

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Pages(Records):
    """Result pages as columns: the query, the documents that were shown, which were clicked.

    The place of a document on its page is its rank. A document may stand on a page twice; each
    place is a result. Make pages with `read`, `batches`, `from_lists` or `from_arrays`. They never
    change: slicing gives new ones that share what they can.

    Attributes
    ----------
    offsets : (N + 1,) int64
        Where each page starts among all results.
    queries : Ids
        The query of each page.
    docs : Ids
        The documents of all results.
    clicks : (R,) booleans
        Which results were clicked.
    times : (N,) int64 or None
        Whole seconds since 1970 in UTC, rounded down; `UNTIMED` (the least int64) where not known.
    sessions : Ids or None
        The session of each page; -1 where not known.
    skipped : int
        How many bad rows were left out while reading.

    Examples
    --------
    >>> pages = Pages.from_lists(
    ...     ["cats", "dogs"], [["a", "b", "c"], ["b"]], [[0, 1, 0], [0]], sessions=["s1", "s1"]
    ... )
    >>> pages
    Pages(2 records, 4 results; with sid)
    >>> pages.clicks.tolist(), pages.docs.strings(), pages[0].ids
    ([False, True, False, False], ['a', 'b', 'c', 'b'], ['s1/cats/1'])
    """

    queries: Ids
    docs: Ids
    clicks: NDArray[np.bool_]
    times: NDArray[np.int64] | None = None
    sessions: Ids | None = None

    _exact_times: NDArray[np.float64] | None = None
    """Seconds, NaN where not known; only where some are not whole."""
    _given_ids: Ids | None = None
    _numbers: NDArray[np.int64] | None = None
    """Of a part: how many pages of the whole up to each had its session and query."""

    _needed: ClassVar[tuple[str, ...]] = ("docs",)
    _required: ClassVar[tuple[str, ...]] = ("qid", "docs", "clicks")
    _identities: ClassVar[frozenset[str]] = frozenset({"id", "sid", "qid", "docs"})
    _spaced: ClassVar[frozenset[str]] = frozenset({"docs", "clicks"})

    @classmethod
    def from_lists(
        cls,
        queries: Sequence[str | int],
        docs: Sequence[Sequence[str | int]],
        clicks: Sequence[Sequence[int]],
        times: Sequence[float | None] | None = None,
        sessions: Sequence[str | int | None] | None = None,
        ids: Sequence[str | int | None] | None = None,
    ) -> Pages:
        """Make pages from lists, one item a page.

        Parameters
        ----------
        queries : list of str or int
            The id of the query of each page.
        docs : list of lists of str or int
            The ids of the documents of each page, from the first place to the last.
        clicks : list of lists of 0 or 1
            For each document whether it was clicked.
        times : list of numbers, optional
            Seconds since 1970 in UTC; None where not known, as in all that follows.
        sessions : list of str or int, optional
            The session that each page is of.
        ids : list of str or int, optional
            One a page.

        Examples
        --------
        >>> Pages.from_lists([7], [[31, 12]], [[0, 1]], times=[60]).docs.codes.tolist()
        [31, 12]
        """
        columns: dict[str, Sequence[Any] | None] = {
            "qid": queries,
            "docs": docs,
            "clicks": clicks,
            "t": times,
            "sid": sessions,
            "id": ids,
        }
        given = {name: column for name, column in columns.items() if column is not None}
        for name, column in given.items():
            if len(column) != len(queries):
                raise ShapeError.lengths(name, len(column), "queries", len(queries))
        faults = Faults("raise", "Pages.from_lists")
        faults.source = "<lists>"
        rows = (
            (number, dict(zip(given, values, strict=True)))
            for number, values in enumerate(zip(*given.values(), strict=True), start=1)
        )
        pages = cls._from_rows(rows, faults)
        pages._check_characters()
        return pages

    @classmethod
    def from_arrays(
        cls,
        offsets: NDArray[np.int64],
        queries: Ids | NDArray[Any] | Sequence[str | int],
        docs: Ids | NDArray[Any] | Sequence[str | int],
        clicks: NDArray[Any],
        times: NDArray[Any] | None = None,
        sessions: Ids | NDArray[Any] | Sequence[str | int | None] | None = None,
        ids: Ids | NDArray[Any] | Sequence[str | int | None] | None = None,
    ) -> Pages:
        """Make pages from whole columns.

        Parameters
        ----------
        offsets : (N + 1,) integers
            Where each page starts among all results, from 0 to R; every page has at least one.
        queries : (N,) integers or strings, or Ids
            The query of each page.
        docs : (R,) integers or strings, or Ids
            The documents of all results.
        clicks : (R,) booleans, or 0 and 1
            Which results were clicked.
        times : (N,) numbers, optional
            Seconds since 1970 in UTC; NaN or `UNTIMED` where not known.
        sessions, ids : (N,) integers or strings, or Ids, optional
            The session and the id of each page.

        Examples
        --------
        >>> Pages.from_arrays([0, 2], [7], [31, 12], [False, True]).clicks.tolist()
        [False, True]
        """
        starts = np.array(offsets, np.int64)
        if not len(starts) or starts[0] != 0 or not (starts[1:] > starts[:-1]).all():
            raise InputError(
                "offsets must begin with 0 and grow from page to page: a page has at least one"
                " result."
            )
        asked, shown, clicked = Ids.of(queries), Ids.of(docs), np.array(clicks)
        sent = None if sessions is None else Ids.of(sessions)
        named = None if ids is None else Ids.of(ids)
        of_pages = {"queries": asked, "times": times, "sessions": sent, "ids": named}
        _check_length(of_pages, len(starts) - 1)
        _check_length({"docs": shown, "clicks": clicked}, int(starts[-1]))
        if not (asked.known.all() and shown.known.all()):
            raise InputError("Every query and every document must be known; some are None.")
        if not np.isin(clicked, (0, 1)).all():
            raise InputError("Each of the clicks must be 0 or 1; some are neither.")
        whole, exact = (None, None) if times is None else whole_and_exact(_seconds(times))
        pages = cls(
            offsets=frozen(starts),
            queries=asked,
            docs=shown,
            clicks=frozen(clicked.astype(np.bool_)),
            times=whole,
            sessions=sent,
            _exact_times=exact,
            _given_ids=named,
        )
        pages._check_characters()
        return pages

    @classmethod
    def _builder(cls) -> _Builder:
        return _Builder()

    @classmethod
    def _rows_of(cls, rows: Iterator[Row], source: Source, faults: Faults) -> Iterator[Row]:
        return rows

    @classmethod
    def _from_table(cls, table: pa.Table) -> Pages:
        from purport.records.page_tables import of_columns

        return of_columns(table)

    @classmethod
    def _rows_of_table(cls, table: pa.Table, first: int, source: str) -> Iterator[Row]:
        from purport.records.page_tables import rows_of_pages

        return rows_of_pages(table, first, source)

    @classmethod
    def _pieces_of_cells(
        cls, source: Source, header: list[str], faults: Faults
    ) -> Iterator[Row | PlainLines]:
        def rows(lines: Iterable[Line]) -> Iterator[Row]:
            return read_cells(lines, header, faults)

        return pieces_of_cells(source, header, cls._from_table, rows)

    @classmethod
    def _joined(cls, parts: Sequence[Pages]) -> Pages:
        lengths = [len(part) for part in parts]

        def ids(name: str) -> Ids | None:
            columns = [getattr(part, name) for part in parts]
            if all(column is None for column in columns):
                return None
            pairs = zip(columns, lengths, strict=True)
            return Ids.joined([Ids.unknown(size) if one is None else one for one, size in pairs])

        times = exact = numbers = None
        if any(part.times is not None for part in parts):
            times = frozen(np.concatenate([part._times_or(UNTIMED) for part in parts]))
        if any(part._exact_times is not None for part in parts):
            exact = frozen(np.concatenate([part._seconds() for part in parts]))
        if any(part._numbers is not None for part in parts):
            numbers = frozen(np.concatenate([part._numbered for part in parts]))
        return Pages(
            offsets=joined_offsets([part.offsets for part in parts]),
            skipped=sum(part.skipped for part in parts),
            queries=Ids.joined([part.queries for part in parts]),
            docs=Ids.joined([part.docs for part in parts]),
            clicks=frozen(np.concatenate([part.clicks for part in parts])),
            times=times,
            sessions=ids("sessions"),
            _exact_times=exact,
            _given_ids=ids("_given_ids"),
            _numbers=numbers,
            _extra=joined_lists([part._extra for part in parts], lengths),
        )

    def _taken(self, records: NDArray[np.int64]) -> Pages:
        positions, offsets = positions_of(records, self.offsets)

        def cut(column: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if column is None else frozen(column[records])

        def part(column: Ids | None) -> Ids | None:
            return None if column is None else column.take(records)

        return Pages(
            offsets=frozen(offsets),
            queries=self.queries.take(records),
            docs=self.docs.take(positions),
            clicks=frozen(self.clicks[positions]),
            times=cut(self.times),
            sessions=part(self.sessions),
            _exact_times=cut(self._exact_times),
            _given_ids=part(self._given_ids),
            _numbers=None if self.sessions is None else cut(self._numbered),
            _extra=self._extra and [self._extra[record] for record in records.tolist()],
        )

    def _texts(self) -> Iterator[Sequence[str | None]]:
        for column in (self.queries, self.docs, self.sessions, self._given_ids):
            if column is not None and column.names is not None:
                yield column.names

    def __repr__(self) -> str:
        columns = {"id": self._given_ids, "sid": self.sessions, "t": self.times}
        held = ", ".join(name for name, column in columns.items() if column is not None)
        size = f"{len(self)} records, {len(self.docs)} results"
        return f"Pages({size}{'; with ' if held else ''}{held})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pages):
            return NotImplemented
        return len(self) == len(other) and self._same_columns(other)

    __hash__ = None

    def _same_columns(self, other: Pages) -> bool:
        def same(one: Ids | None, another: Ids | None) -> bool:
            if one is None or another is None:
                return one is another
            return one.same_as(another)

        return (
            np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.clicks, other.clicks)
            and np.array_equal(self._seconds(), other._seconds(), equal_nan=True)
            and self.queries.same_as(other.queries)
            and self.docs.same_as(other.docs)
            and same(self.sessions, other.sessions)
            and same(self._given_ids, other._given_ids)
            and (self._extra or [None] * len(self)) == (other._extra or [None] * len(self))
        )

    def with_clicks(self, clicks: NDArray[np.bool_]) -> Pages:
        """Return the same pages with other clicks.

        Parameters
        ----------
        clicks : (R,) booleans
            Which results are clicked.

        Examples
        --------
        >>> pages = Pages.from_lists(["cats"], [["a", "b"]], [[0, 1]])
        >>> pages.with_clicks([True, False]).clicks.tolist()
        [True, False]
        """
        _check_length({"clicks": clicks}, int(self.offsets[-1]))
        return replace(self, clicks=frozen(np.array(clicks, np.bool_)))

    @property
    def timed(self) -> NDArray[np.bool_]:
        """At which pages the time is known."""
        if self.times is None:
            return np.zeros(len(self), np.bool_)
        known: NDArray[np.bool_] = self.times != UNTIMED
        return known

    @cached_property
    def ids(self) -> list[str | None] | None:
        """The id of each page; None when not one is known. Made when first asked for.

        Where no column `id` tells it, it is made of the session, the query and the number of the
        page among those of the session with that query, in the order of reading and from 1. Pages
        of no known session have none. Numbers begin anew with each batch of `batches`.

        Examples
        --------
        >>> Pages.from_lists([7, 7], [[1], [1]], [[0], [1]], sessions=["s", "s"]).ids
        ['s/7/1', 's/7/2']
        """
        if self.sessions is None and self._given_ids is None:
            return None
        sent = each_or_none(None if self.sessions is None else _escaped(self.sessions))
        given = each_or_none(None if self._given_ids is None else self._given_ids.named().strings())
        asked, numbers = _escaped(self.queries), self._numbered.tolist()
        found = [
            id_ or (None if session is None else f"{session}/{query}/{number}")
            for id_, session, query, number in zip(given, sent, asked, numbers, strict=False)
        ]
        return known_or_none(found)

    @cached_property
    def _numbered(self) -> NDArray[np.int64]:
        """Return for each page how many of its session up to it had its query."""
        if self._numbers is not None or self.sessions is None:
            return np.ones(len(self), np.int64) if self._numbers is None else self._numbers
        sessions, queries = _small(self.sessions.codes), _small(self.queries.codes)
        pairs = sessions * (queries.max(initial=0) + 1) + queries
        order = np.argsort(pairs, kind="stable")
        begins = np.ones(len(pairs), np.bool_)
        begins[1:] = pairs[order][1:] != pairs[order][:-1]
        places = np.arange(len(pairs))
        numbers = np.empty(len(pairs), np.int64)
        numbers[order] = places - np.maximum.accumulate(np.where(begins, places, 0)) + 1
        return numbers

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each page as a dictionary, as JSON lines hold it; the unknown is left out.

        Examples
        --------
        >>> next(Pages.from_lists(["cats"], [[31, 12]], [[0, 1]], times=[60]).rows())
        {'t': 60, 'qid': 'cats', 'docs': [31, 12], 'clicks': [0, 1]}
        """
        columns = [self._column(name) for name in PAGE]
        for *values, extra, _ in zip(
            *columns, each_or_none(self._extra), range(len(self)), strict=False
        ):
            pairs = zip(PAGE, values, strict=True)
            row = {name: value for name, value in pairs if value is not None}
            if extra:
                row.update(extra)
            yield row

    def _column(self, name: str) -> Iterable[Any]:
        """Return the values of one of the fields of a page."""
        if name == "docs":
            return ragged(self.docs.values(), self.offsets)
        if name == "clicks":
            return ragged(self.clicks.view(np.int8).tolist(), self.offsets)
        if name == "t":
            return each_or_none(self._written_times())
        columns = {"id": self._given_ids, "sid": self.sessions, "qid": self.queries}
        column = columns[name]
        return each_or_none(None if column is None else column.values())

    def _written_times(self) -> list[float | None] | None:
        if self.times is None:
            return None
        exact = self._exact_times
        seconds: list[float] = (self.times if exact is None else exact).tolist()
        return [
            (int(second) if second == int(second) else second) if known else None
            for second, known in zip(seconds, self.timed.tolist(), strict=True)
        ]

    def _times_or(self, unknown: int) -> NDArray[np.int64]:
        return np.full(len(self), unknown) if self.times is None else self.times

    def _seconds(self) -> NDArray[np.float64]:
        """Return the time of each page, NaN where it is not known."""
        if self._exact_times is not None:
            return self._exact_times
        return np.where(self.timed, self._times_or(UNTIMED), np.nan)

    def field(self, name: str) -> list[Any]:
        """Return one field of every page, None where a page has none.

        Parameters
        ----------
        name : str
            As in the JSON lines; at least one page must have it. `id` gives made ids, too.

        Examples
        --------
        >>> Pages.from_lists([7], [[1]], [[0]], sessions=["s"]).field("id")
        ['s/7/1']
        """
        if name == "id" and self.ids is not None:
            return self.ids
        found = [] if name not in KNOWN else list(islice(self._column(name), len(self)))
        return found if known_or_none(found) else super().field(name)

    def flat_rows(self, ended: Ended) -> Iterator[dict[str, Any]]:
        # An id is the same as text and as a number, so that no warning is due.
        for row in self.rows():
            yield row | {name: str(row[name]) for name in ("id", "sid", "qid") if name in row}

    @classmethod
    def ordered(cls, names: Iterable[str]) -> list[str]:
        given = list(names) or ["qid", "docs", "clicks"]
        return [name for name in PAGE if name in given] + [
            name for name in given if name not in KNOWN
        ]

    def to_arrow(self) -> pa.Table:
        """Return a table with a row a page.

        Examples
        --------
        >>> Pages.from_lists(["cats"], [[31, 12]], [[0, 1]]).to_arrow().to_pydict()
        {'qid': ['cats'], 'docs': [[31, 12]], 'clicks': [[0, 1]]}
        """
        from purport.records.page_tables import table_of_pages

        return table_of_pages(self)


def _check_length(columns: Mapping[str, Sized | None], length: int) -> None:
    for name, column in columns.items():
        if column is not None and len(column) != length:
            raise ShapeError.lengths(name, len(column), "what offsets say", length)


def _seconds(times: NDArray[Any]) -> NDArray[np.float64]:
    """Return times as floats, NaN where they are not known."""
    given = np.asarray(times)
    if not np.issubdtype(given.dtype, np.number):
        raise InputError(f"times must be numbers, seconds since 1970; got {given.dtype}.")
    seconds = np.where(given == UNTIMED, np.nan, given).astype(np.float64)
    if np.nanmax(np.abs(seconds), initial=0.0) >= LATEST:
        raise InputError("times: some are too far from the present. Give seconds since 1970.")
    return seconds


def _escaped(column: Ids) -> list[str | None]:
    """Return ids in which no slash stands, so that those made of several are told apart."""
    named = column.named()
    names = [name.replace("%", "%25").replace("/", "%2F") for name in named.vocabulary]
    return Coded(named.codes, names).strings()


def _small(codes: NDArray[Any]) -> NDArray[np.int64]:
    """Return numbers that agree where the codes do, so small that pairs of them fit in one."""
    if codes.max(initial=0) >= 1 << 31:
        codes = np.unique(codes, return_inverse=True)[1]
    return codes.astype(np.int64) + 1


class _Builder:
    """Grows the columns row by row."""

    def __init__(self) -> None:
        self._lengths, self._clicks = array("q"), array("b")
        self._ids, self._sessions, self._queries, self._docs = Coder(), Coder(), Coder(), Coder()
        self._times: list[float | None] = []
        self._extra: list[dict[str, Any] | None] = []

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, fields: Fields) -> None:
        page = checked_page(fields)
        self._lengths.append(len(page.docs))
        self._ids.append(page.id)
        self._sessions.append(page.session)
        self._queries.append(page.query)
        self._docs.extend(page.docs)
        self._clicks.extend(page.clicks)
        self._times.append(page.time)
        self._extra.append(page.extra)

    def finish(self) -> Pages:
        seconds = [np.nan if time is None else time for time in self._times]
        times, exact = whole_and_exact(np.array(seconds, np.float64))

        def known(coder: Coder) -> Ids | None:
            column = coder.finish_known()
            return None if column is None else Ids.of_coded(column)

        return Pages(
            offsets=frozen(offsets_of(self._lengths)),
            queries=Ids.of_coded(self._queries.finish()),
            docs=Ids.of_coded(self._docs.finish()),
            clicks=frozen(np.array(self._clicks, np.bool_)),
            times=times,
            sessions=known(self._sessions),
            _exact_times=exact,
            _given_ids=known(self._ids),
            _extra=known_or_none(self._extra),
        )
