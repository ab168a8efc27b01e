"""Sessions: what people did step by step, with the labels, times and clicks that are known."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from purport.errors import FormatError, InputError, ShapeError
from purport.records.columns import (
    Coded,
    Coder,
    RaggedStrings,
    all_unknown,
    each_or_none,
    frozen,
    joined_coded,
    joined_lists,
    joined_offsets,
    known_or_none,
    offsets_of,
    positions_of,
    ragged,
)
from purport.records.formats import Fields, Row, read_cells
from purport.records.labelled import LabelledRecords, Labels
from purport.records.named_values import NamedValues, NamedValuesBuilder
from purport.records.plain_lines import PlainLines, pieces_of_steps
from purport.records.records import json_texts
from purport.records.session_checks import STEP, checked_session, plain_time, written_time
from purport.records.session_rows import (
    FEATURE,
    OF_SESSION,
    PREDICTED,
    Ended,
    sessions_of,
    steps_of,
    typed_cells,
)
from purport.records.sources import BadRowError, Faults, Line, Source

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

Step = str | Mapping[str, float | str] | None
"""What was observed at a step: a text, or named features."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Sessions(LabelledRecords):
    """Sessions as columns: the steps of each, and what is known of them.

    A step may have a text, named features, the results that were clicked, a label, a time and who
    did it. Make sessions with `read`, `batches` or `from_lists`. They never change: slicing and
    `with_labels` give new ones that share what they can.

    Attributes
    ----------
    offsets : (N + 1,) int64
        Where each session starts among all steps.
    skipped : int
        How many bad rows were left out while reading.
    named : NamedValues or None
        The named features of all steps.
    clicked : RaggedStrings or None
        The results that were clicked at each step.
    times : (P,) float64 or None
        Seconds since 1970 in UTC; NaN where not known.

    Examples
    --------
    >>> log = Sessions.from_lists(
    ...     [["cheap flights", "flights to rome"], [{"tabs": 3}]],
    ...     labels=[["buy", "buy"], ["learn"]],
    ... )
    >>> log
    Sessions(2 records, 3 steps; with obs, features, label)
    >>> log[0].texts, log.known_labels[1]
    ([['cheap flights', 'flights to rome']], ['learn'])
    """

    named: NamedValues | None = None
    clicked: RaggedStrings | None = None
    times: NDArray[np.float64] | None = None

    _obs: Coded | None = None
    _known_clicks: NDArray[np.bool_] | None = None
    _given: Coded | None = None
    _written: NDArray[np.bool_] | None = None
    _who: Coded | None = None
    _step_extra: list[dict[str, Any] | None] | None = None

    _needed: ClassVar[tuple[str, ...]] = ("steps", "obs")
    _spaced: ClassVar[frozenset[str]] = frozenset({"clicked"})
    _position: ClassVar[str] = "step"

    @classmethod
    def from_lists(
        cls,
        obs: Sequence[Sequence[Step]],
        labels: Sequence[Sequence[str | None] | None] | None = None,
        times: Sequence[Sequence[float | str | None] | None] | None = None,
        clicked: Sequence[Sequence[Sequence[str] | None] | None] | None = None,
        features: Sequence[Sequence[Mapping[str, float | str] | None] | None] | None = None,
        who: Sequence[Sequence[str | None] | None] | None = None,
        ids: Sequence[str | None] | None = None,
    ) -> Sessions:
        """Make sessions from lists, one item a session, each a list with one item a step.

        Parameters
        ----------
        obs : list of lists of str, dict or None
            What was observed: a text, or named features.
        labels : list of lists of str, optional
            None where not known, as in all that follows, also for a whole session.
        times : list of lists of number or str, optional
            Seconds since 1970, or date and time of day as ``2026-01-31 23:59:59`` (UTC).
        clicked : list of lists of lists of str, optional
            The results that were clicked at each step.
        features : list of lists of dict, optional
            Named features beside a text.
        who : list of lists of str, optional
            Who did the step.
        ids : list of str, optional
            One a session.

        Examples
        --------
        >>> Sessions.from_lists([["hi", "bye"]], times=[[0, 60]]).times.tolist()
        [0.0, 60.0]
        """
        columns: dict[str, Sequence[Any] | None] = {
            "obs": obs,
            "features": features,
            "clicked": clicked,
            "label": labels,
            "t": times,
            "who": who,
        }
        given = {name: column for name, column in columns.items() if column is not None}
        for name, column in {**given, "ids": ids}.items():
            if column is not None and len(column) != len(obs):
                raise ShapeError.lengths(name, len(column), "obs", len(obs))
        rows = []
        for number, steps in enumerate(obs):
            told: list[Fields] = [{} for _ in steps]
            for name, column in given.items():
                values = column[number]
                if values is None:
                    continue
                if len(values) != len(steps):
                    where = f"[{number}]"
                    raise ShapeError.lengths(name + where, len(values), "obs" + where, len(steps))
                for step, value in zip(told, values, strict=True):
                    step[name] = plain_time(value) if name == "t" else value
            rows.append({"id": None if ids is None else ids[number], "steps": told})
        return cls.from_rows(rows)

    @classmethod
    def _builder(cls) -> _Builder:
        return _Builder()

    @classmethod
    def _rows_of(cls, rows: Iterator[Row], source: Source, faults: Faults) -> Iterator[Row]:
        if source.kind != "tsv":
            return rows
        return sessions_of(rows, faults, typed_cells, Ended())

    @classmethod
    def _parts_of_tables(cls, opened: Source, size: int, faults: Faults) -> Iterator[Sessions]:
        from purport.records.session_tables import whole_tables

        for part in whole_tables(cls, opened, size, faults):
            for start in range(0, len(part), size):
                yield part if len(part) <= size else part[start : start + size]

    @classmethod
    def _from_table(cls, table: pa.Table) -> Sessions:
        from purport.records.session_tables import of_columns

        return of_columns(table)

    @classmethod
    def _pieces_of_cells(
        cls, source: Source, header: list[str], faults: Faults
    ) -> Iterator[Row | PlainLines]:
        from purport.records.session_tables import have_plain_cells, of_cells, starts_of

        ended = Ended()

        def rows(lines: Iterable[Line]) -> Iterator[Row]:
            return sessions_of(read_cells(lines, header, faults), faults, typed_cells, ended)

        if not have_plain_cells(header):
            return rows(source.lines)
        return pieces_of_steps(
            source, header, lambda table: of_cells(table, ended), rows, starts_of
        )

    @classmethod
    def _rows_of_table(cls, table: pa.Table, first: int, source: str) -> Iterator[Row]:
        from purport.records.session_tables import rows_of_sessions

        return rows_of_sessions(table, first, source)

    @classmethod
    def _joined(cls, parts: Sequence[Sessions]) -> Sessions:
        lengths = [len(part) for part in parts]
        steps = [int(part.offsets[-1]) for part in parts]

        def coded(name: str) -> Coded | None:
            return joined_coded([getattr(part, name) for part in parts], steps)

        def listed(name: str, sizes: list[int]) -> list[Any] | None:
            return joined_lists([getattr(part, name) for part in parts], sizes)

        def filled(name: str, empty: Any, join: Callable[[list[Any]], Any]) -> Any:
            columns = [getattr(part, name) for part in parts]
            if all_unknown(columns):
                return None
            pairs = zip(columns, steps, strict=True)
            return join([empty(size) if column is None else column for column, size in pairs])

        def laid_end_to_end(columns: list[Any]) -> NDArray[Any]:
            return frozen(np.concatenate(columns))

        def none(size: int) -> NDArray[np.bool_]:
            return np.zeros(size, np.bool_)

        return Sessions(
            offsets=joined_offsets([part.offsets for part in parts]),
            skipped=sum(part.skipped for part in parts),
            named=filled("named", NamedValues.empty, NamedValues.joined),
            clicked=filled("clicked", RaggedStrings.empty, RaggedStrings.joined),
            times=filled("times", lambda size: np.full(size, np.nan), laid_end_to_end),
            _obs=coded("_obs"),
            _known_clicks=filled("_known_clicks", none, laid_end_to_end),
            _given=coded("_given"),
            _written=filled("_written", none, laid_end_to_end),
            _who=coded("_who"),
            _step_extra=listed("_step_extra", steps),
            _ids=listed("_ids", lengths),
            _labels=coded("_labels"),
            _probability=listed("_probability", lengths),
            _extra=listed("_extra", lengths),
        )

    def _taken(self, records: NDArray[np.int64]) -> Sessions:
        positions, offsets = positions_of(records, self.offsets)
        chosen = records.tolist()

        def part(column: Any) -> Any:
            return None if column is None else column.take(positions)

        def cut(column: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if column is None else frozen(column[positions])

        def picked(values: list[Any] | None) -> list[Any] | None:
            return values and [values[record] for record in chosen]

        extra = self._step_extra
        if extra is not None:
            places = (
                range(*positions.indices(len(extra)))
                if isinstance(positions, slice)
                else positions.tolist()
            )
            extra = [extra[place] for place in places]
        return Sessions(
            offsets=frozen(offsets),
            named=part(self.named),
            clicked=part(self.clicked),
            times=cut(self.times),
            _obs=part(self._obs),
            _known_clicks=cut(self._known_clicks),
            _given=part(self._given),
            _written=cut(self._written),
            _who=part(self._who),
            _step_extra=extra,
            _ids=picked(self._ids),
            _labels=part(self._labels),
            _probability=picked(self._probability),
            _extra=picked(self._extra),
        )

    def _texts(self) -> Iterator[Sequence[str | None]]:
        for column in (self._obs, self._given, self._who, self._labels):
            if column is not None:
                yield column.vocabulary
        if self.clicked is not None:
            yield self.clicked.vocabulary
        if self.named is not None:
            yield self.named.vocabulary
        yield self.ids or []
        yield json_texts(self._step_extra)

    def __repr__(self) -> str:
        columns = {
            "obs": self._obs,
            "features": self.named,
            "clicked": self.clicked,
            "label": self._given,
            "t": self.times,
            "who": self._who,
            "labels": self._labels,
        }
        held = ", ".join(name for name, column in columns.items() if column is not None)
        size = f"{len(self)} records, {int(self.offsets[-1])} steps"
        return f"Sessions({size}{'; with ' if held else ''}{held})"

    @property
    def obs_vocabulary(self) -> list[str]:
        """The different texts that `obs_codes` number; a slice keeps those of the whole."""
        return self._obs.vocabulary if self._obs else []

    @property
    def obs_codes(self) -> NDArray[np.int32] | None:
        """The number in `obs_vocabulary` of each step's text, -1 without one; None without any."""
        return self._obs.codes if self._obs else None

    @cached_property
    def texts(self) -> list[list[str | None]] | None:
        """The text of each step; None when not one has one."""
        return ragged(self._obs.strings(), self.offsets) if self._obs else None

    @property
    def known_labels(self) -> Labels | None:
        """The labels of the steps, None where not known; None when not one is."""
        return self._known_labels

    @cached_property
    def _known_labels(self) -> Labels | None:
        return ragged(self._given.strings(), self.offsets) if self._given else None

    @cached_property
    def who(self) -> list[list[str | None]] | None:
        """Who did each step; None when not one is known."""
        return ragged(self._who.strings(), self.offsets) if self._who else None

    @property
    def who_vocabulary(self) -> list[str]:
        """The different people that `who_codes` number; a slice keeps those of the whole."""
        return self._who.vocabulary if self._who else []

    @property
    def who_codes(self) -> NDArray[np.int32] | None:
        """The number in `who_vocabulary` of who did each step, -1 where not known; None if none."""
        return self._who.codes if self._who else None

    @property
    def clicks_known(self) -> NDArray[np.bool_] | None:
        """At which steps it is known what was clicked, be it nothing; None when at none."""
        return self._known_clicks

    def step_field(self, name: str) -> list[list[Any]] | None:
        """Return one field of every step, None where a step has none.

        Parameters
        ----------
        name : str
            As in the JSON lines. None comes back when not one step has it.

        Examples
        --------
        >>> house = Sessions.from_rows([{"steps": [{"obs": "01", "last": "10"}, {"obs": "00"}]}])
        >>> house.step_field("last"), house.step_field("first")
        ([['10', None]], None)
        """
        if name in STEP:
            values = [step.get(name) for step in self._steps()]
        else:
            values = [extra and extra.get(name) for extra in self._step_extra or ()]
        return None if all_unknown(values) else ragged(values, self.offsets)

    def field(self, name: str) -> list[Any]:
        """Return one field of every session, None where a session has none.

        Parameters
        ----------
        name : str
            As in the JSON lines; at least one session, or one step, must have it. A field of steps,
            as who did them, must be the same at all steps of a session that have it.

        Examples
        --------
        >>> Sessions.from_lists([["hi", "bye"], ["hi"]], who=[["ann", "ann"], ["bob"]]).field("who")
        ['ann', 'bob']
        """
        try:
            return super().field(name)
        except InputError:
            steps = self.step_field(name)
            if steps is None:
                raise
        told = [[value for value in values if value is not None] for values in steps]
        for record, values in enumerate(told, start=1):
            if any(value != values[0] for value in values):
                raise InputError(
                    f"Record {record}: its steps differ in {name!r}, of which one value is needed."
                    " Name a field of the session, or one that is the same at all of its steps."
                )
        return [values[0] if values else None for values in told]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each session as a dictionary, as JSON lines hold it; the unknown is left out.

        Examples
        --------
        >>> next(Sessions.from_lists([["hi"]], labels=[["greet"]], ids=["s1"]).rows())
        {'id': 's1', 'steps': [{'obs': 'hi', 'label': 'greet'}]}
        """
        steps = ragged(list(self._steps()), self.offsets)
        for id_, told, labels, probability, extra in zip(
            each_or_none(self.ids),
            steps,
            each_or_none(self.labels),
            each_or_none(self.probability),
            each_or_none(self._extra),
            strict=False,
        ):
            row: dict[str, Any] = {} if id_ is None else {"id": id_}
            row["steps"] = told
            if extra:
                row.update(extra)
            if labels is not None and not all_unknown(labels):
                row["labels"] = labels
            if probability is not None:
                row["probability"] = probability
            yield row

    def _steps(self) -> Iterator[dict[str, Any]]:
        columns: tuple[Iterable[Any] | None, ...] = (
            self._obs.strings() if self._obs else None,
            [features or None for features in self.named.dicts()] if self.named else None,
            self._clicked_or_none(),
            self._given.strings() if self._given else None,
            self._written_times(),
            self._who.strings() if self._who else None,
        )
        everyone = range(int(self.offsets[-1]))
        for *values, extra, _ in zip(
            *map(each_or_none, columns), each_or_none(self._step_extra), everyone, strict=False
        ):
            told = zip(STEP, values, strict=True)
            step = {name: value for name, value in told if value is not None}
            if "features" in step and "obs" not in step:
                step = {"obs": step.pop("features")} | step
            if extra:
                step.update(extra)
            yield step

    def _clicked_or_none(self) -> list[list[str] | None] | None:
        if self.clicked is None or self._known_clicks is None:
            return None
        told = zip(self.clicked.lists(), self._known_clicks.tolist(), strict=True)
        return [results if known else None for results, known in told]

    def _written_times(self) -> list[float | str | None] | None:
        if self.times is None or self._written is None:
            return None
        told = zip(self.times.tolist(), self._written.tolist(), strict=True)
        return [written_time(seconds, as_text) for seconds, as_text in told]

    def flat_rows(self, ended: Ended) -> Iterator[dict[str, Any]]:
        for record, row in enumerate(self.rows(), start=1):
            try:
                if "id" in row and not ended.begins(row["id"]):
                    raise BadRowError("an earlier one has the same id: they would read as one")
                yield from steps_of(row)
            except BadRowError as bad:
                raise FormatError.cannot_carry("TSV", record, bad.reason) from None

    @classmethod
    def ordered(cls, names: Iterable[str]) -> list[str]:
        given = list(names) or ["id", "obs"]
        first: list[str] = [name for name in ("id", "obs") if name in given]
        first += [name for name in given if name.startswith(FEATURE)]
        first += [name for name in ("clicked", "label", "t", "who") if name in given]
        last = [name for name in given if name.startswith(OF_SESSION)]
        last += [name for name in PREDICTED if name in given]
        placed = {*first, *last}
        return [*first, *(name for name in given if name not in placed), *last]

    def to_arrow(self) -> pa.Table:
        """Return a table with a row a session; its steps are lists of structs.

        Examples
        --------
        >>> Sessions.from_lists([["hi"]], ids=["s1"]).to_arrow().to_pydict()
        {'id': ['s1'], 'steps': [[{'obs': 'hi'}]]}
        """
        from purport.records.session_tables import table_of_sessions

        return table_of_sessions(self)


class _Builder:
    """Grows the columns row by row."""

    def __init__(self) -> None:
        self._lengths, self._clicks = array("q"), array("q")
        self._times, self._written, self._known_clicks = array("d"), array("b"), array("b")
        self._obs, self._given, self._who = Coder(), Coder(), Coder()
        self._clicked, self._labels = Coder(), Coder()
        self._named = NamedValuesBuilder()
        self._ids: list[str | None] = []
        self._probability: list[Any] = []
        self._extra: list[dict[str, Any] | None] = []
        self._step_extra: list[dict[str, Any] | None] = []

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, fields: Fields) -> None:
        row = checked_session(fields)
        steps = row.steps
        length = len(steps.texts)
        self._lengths.append(length)
        self._obs.extend(steps.texts)
        self._named.extend(steps.features or repeat(None, length))
        clicked = steps.clicked or [None] * length
        for results in clicked:
            if results:
                self._clicked.extend(results)
        self._clicks.extend([len(results) if results else 0 for results in clicked])
        self._known_clicks.extend([results is not None for results in clicked])
        self._given.extend(steps.labels)
        self._times.extend(steps.times)
        self._written.extend(steps.written)
        self._who.extend(steps.who)
        self._step_extra.extend(steps.extra)
        self._labels.extend(row.labels or repeat(None, length))
        self._ids.append(row.id)
        self._probability.append(row.probability)
        self._extra.append(row.extra)

    def finish(self) -> Sessions:
        times = frozen(np.array(self._times, np.float64))
        timed = not bool(np.isnan(times).all())
        clicked = any(self._known_clicks)
        return Sessions(
            offsets=frozen(offsets_of(self._lengths)),
            named=None if self._named.empty else self._named.finish(),
            clicked=RaggedStrings(frozen(offsets_of(self._clicks)), self._clicked.finish())
            if clicked
            else None,
            times=times if timed else None,
            _obs=self._obs.finish_known(),
            _known_clicks=frozen(np.array(self._known_clicks, np.bool_)) if clicked else None,
            _given=self._given.finish_known(),
            _written=frozen(np.array(self._written, np.bool_)) if timed else None,
            _who=self._who.finish_known(),
            _step_extra=known_or_none(self._step_extra),
            _ids=known_or_none(self._ids),
            _labels=self._labels.finish_known(),
            _probability=known_or_none(self._probability),
            _extra=known_or_none(self._extra),
        )
