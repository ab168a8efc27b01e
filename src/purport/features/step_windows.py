"""What encoders of sessions have in common: parts that are seen around each step become columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from itertools import chain, repeat
from typing import TYPE_CHECKING, Self

import numpy as np

from purport.errors import InputError
from purport.estimator.base import Estimator, State
from purport.features.hashing import check_hashing, hashed_names
from purport.features.keys import UNSEEN
from purport.features.number_parts import NumberScales
from purport.features.part_columns import PartColumns, hashed_table
from purport.features.parts import WHOLE_TEXT, Part, Steps, column_name, stem
from purport.features.rows import Rows
from purport.features.unique import unique_rows
from purport.records.columns import ragged
from purport.records.sessions import Sessions

if TYPE_CHECKING:
    from numpy.typing import NDArray


class StepWindows(Estimator, ABC):
    """An encoder whose subclass says what the parts are.

    Attributes
    ----------
    columns_ : list of PartColumns
        The columns of each part; empty when features are hashed.
    scales_ : NumberScales
        How numbers are cut or scaled.
    """

    columns_: list[PartColumns]
    scales_: NumberScales

    bias: bool
    min_count: int
    hash_bits: int | None

    @abstractmethod
    def _parts(self, records: Sessions) -> list[Part]:
        """Return all parts, always the same for the same parameters."""

    def _look(self, records: Sessions) -> None:
        """Decide what the first records of training decide, before their parts are asked for."""

    @property
    def _bins(self) -> int | None:
        return None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_hashing(type(self).__name__, self.hash_bits, self.min_count)

    def fit(self, records: Sessions) -> Self:
        """Learn the columns from records.

        Examples
        --------
        >>> from purport.features.session_windows import SessionWindows
        >>> log = Sessions.from_lists([["jazz", "jazz bar"]])
        >>> SessionWindows().fit(log).width
        14
        """
        return self.learn([records])

    def fit_transform(self, records: Sessions) -> Rows:
        """Learn the columns from records and return the rows of their steps.

        Examples
        --------
        >>> from purport.features.session_windows import SessionWindows
        >>> log = Sessions.from_lists([["jazz", "jazz bar"]])
        >>> SessionWindows().fit_transform(log).index.tolist()
        [0, 1]
        """
        self._check_parameters()
        steps = self._steps(records, first=True)
        self._learn([steps])
        return self._rows(steps)

    def learn(self, batches: Iterable[Sessions]) -> Self:
        """Learn the columns from batches of records, as `fit` does from all of them at once.

        No more than one batch, and the features that training shows, are held at a time. Hashed
        features have nothing to learn but how numbers are cut.

        Examples
        --------
        >>> from purport.features.session_windows import SessionWindows
        >>> log = Sessions.from_lists([["jazz", "jazz bar"]])
        >>> SessionWindows().learn(log[place] for place in range(len(log))).width
        14
        """
        self._check_parameters()
        first = chain([True], repeat(False))
        self._learn(map(self._steps, batches, first))
        return self

    def transform(self, records: Sessions) -> Rows:
        """Return the rows of steps; features that training has not shown are left out, counted.

        Examples
        --------
        >>> from purport.features.session_windows import SessionWindows
        >>> log = Sessions.from_lists([["jazz", "jazz bar"]])
        >>> windows = SessionWindows((0, 0), (1, 1), text=False, change=False, gaps=False)
        >>> windows.fit(log).transform(Sessions.from_lists([["blues bar"]])).unseen
        1
        """
        self._check_fitted()
        return self._rows(self._steps(records))

    @property
    def width(self) -> int:
        """How many columns there are."""
        self._check_fitted()
        return sum(map(len, self.columns_)) if self.hash_bits is None else 1 << self.hash_bits

    def feature_names(self) -> list[str]:
        """Return what each column stands for; hashed columns have numbers only.

        Examples
        --------
        >>> from purport.features.session_windows import SessionWindows
        >>> log = Sessions.from_lists([["jazz", "jazz bar"]])
        >>> windows = SessionWindows((0, 0), (1, 1), text=False, change=False, gaps=False)
        >>> windows.fit(log).feature_names()
        ['bias', 'word=jazz', 'word=bar', 'before=0', 'before=<=1']
        """
        self._check_fitted()
        if self.hash_bits is not None:
            return hashed_names(self.hash_bits)
        return [name for columns in self.columns_ for name in columns.names()]

    def may_be_shown(self) -> NDArray[np.bool_]:
        """Return which columns may be shown to others than those who have the data (columns,).

        All but whole texts that fewer than five different people sent, as far as is known; a step
        of which nobody knows who did it counts for its session.

        Examples
        --------
        >>> from purport.features.session_windows import SessionWindows
        >>> log = Sessions.from_lists([["jazz"]] * 5 + [["blues"]] * 4)
        >>> windows = SessionWindows((0, 0), None, change=False, gaps=False, position=False)
        >>> windows.fit(log).feature_names(), windows.may_be_shown().tolist()
        (['bias', 'text=jazz', 'text=blues'], [True, True, False])
        """
        self._check_fitted()
        shown = [columns.may_be_shown() for columns in self.columns_]
        return np.concatenate(shown) if shown else np.ones(self.width, np.bool_)

    def strings(self, records: Sessions) -> list[list[list[str]]]:
        """Return the features of each step as strings, whether they have a column or not; slow.

        A number that is scaled, not cut, is written behind its name: ``feature=tabs*1.5``.

        Examples
        --------
        >>> from purport.features.session_windows import SessionWindows
        >>> log = Sessions.from_lists([["jazz", "jazz bar"]])
        >>> windows = SessionWindows((0, 0), (1, 1), text=False, change=False, gaps=False)
        >>> windows.fit(log).strings(log)
        [[['bias', 'word=jazz', 'before=0'], ['bias', 'word=jazz', 'word=bar', 'before=<=1']]]
        """
        self._check_fitted()
        steps = self._steps(records)
        said: list[list[str]] = [[] for _ in range(int(steps.offsets[-1]))]
        for part in map(self._scaled, steps.parts):
            for offset in part.offsets():
                before = stem(part.name, offset)
                names = [column_name(before, string) for string in part.strings]
                entries, counts = steps.seen(part, offset)
                written = [names[code] for code in part.codes[entries].tolist()]
                if part.numbers is not None:
                    numbers = part.numbers[entries].tolist()
                    written = [f"{w}*{n:g}" for w, n in zip(written, numbers, strict=True)]
                for step, own in zip(said, _cut(written, counts), strict=True):
                    step += own
        return ragged(said, steps.offsets)

    def _steps(self, records: Sessions, first: bool = False) -> Steps:
        if not isinstance(records, Sessions):
            raise InputError(
                f"{type(self).__name__} makes rows from Sessions; got {type(records).__name__}."
                " Make lists of steps into Sessions with Sessions.from_lists(obs)."
            )
        if first:
            self._look(records)
        parts = self._parts(records)
        if self.bias:
            codes = np.zeros(int(records.offsets[-1]), np.int32)
            parts.insert(0, Part.single("", codes, ["bias"]))
        return Steps(records.offsets, [part.compact() for part in parts], records)

    def _learn(self, batches: Iterable[Steps]) -> None:
        learnt: list[PartColumns] = []
        scales, scaled = NumberScales(self._bins), None
        for steps in batches:
            learnt = learnt or [PartColumns(part.name) for part in steps.parts]
            for part, columns in zip(steps.parts, learnt, strict=True):
                if part.numbers is None and self.hash_bits is not None:
                    continue
                seen = {offset: steps.seen(part, offset)[0] for offset in part.offsets()}
                if part.numbers is None:
                    columns.count(part, seen)
                    if part.name == WHOLE_TEXT:
                        columns.count_senders(part, steps.records)
                else:
                    scales.count(part, seen)
                    scaled = columns
        if scaled is not None:
            scales.finish(scaled)
        for columns in learnt:
            columns.finish(self.min_count)
        self.columns_ = learnt if self.hash_bits is None else []
        self.scales_ = scales

    def _scaled(self, part: Part) -> Part:
        return part if part.numbers is None else self.scales_.applied(part)

    def _rows(self, steps: Steps) -> Rows:
        """Put what each step sees of each part side by side."""
        blocks = []
        total = np.zeros(int(steps.offsets[-1]), np.int64)
        width = 0
        for number, part in enumerate(map(self._scaled, steps.parts)):
            # One session has nothing to say of most parts, and is to be labelled at once.
            for offset in part.offsets() if len(part.codes) else ():
                entries, counts = steps.seen(part, offset)
                columns = self._table(number, part, offset, width)[part.codes[entries]]
                values = None if part.numbers is None else part.numbers[entries]
                blocks.append((columns, values, counts))
                total += counts
            width += len(self.columns_[number]) if self.columns_ else 0
        starts = np.append(0, np.cumsum(total))
        columns, values = _side_by_side(blocks, starts)
        unseen = int(np.count_nonzero(columns == UNSEEN))
        return unique_rows(columns, starts, values, self.width, steps.offsets, unseen)

    def _table(self, number: int, part: Part, offset: int, width: int) -> NDArray[np.int32]:
        """Return the column of each string of a part at an offset."""
        if self.hash_bits is not None:
            return hashed_table(part.name, part.strings, offset, self.hash_bits)
        if not self.columns_:  # no batch has come, so nothing has been learnt
            return np.full(len(part.strings), UNSEEN, np.int32)
        columns = self.columns_[number].table(part.strings, offset)
        return np.where(columns >= 0, columns + width, columns).astype(np.int32)

    def _to_state(self) -> State:
        self._check_fitted()
        state = State(settings={"parts": len(self.columns_)})
        for number, columns in enumerate(self.columns_):
            state = state.join(f"part{number}", columns.to_state())
        return state.join("numbers", self.scales_.to_state())

    def _restore(self, state: State) -> None:
        self.columns_ = [
            PartColumns.from_state(state.nested(f"part{number}"))
            for number in range(state.settings["parts"])
        ]
        self.scales_ = NumberScales.from_state(state.nested("numbers"), self._bins)


Block = tuple["NDArray[np.int32]", "NDArray[np.float64] | None", "NDArray[np.int64]"]
"""Columns, values or None when all are 1, and how many of them each step has."""


def _side_by_side(
    blocks: list[Block], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
    """Return the columns and values of all blocks, step after step."""
    columns = np.empty(starts[-1], np.int32)
    weighted = any(values is not None for _, values, _ in blocks)
    values = np.ones(starts[-1]) if weighted else None
    filled = starts[:-1].copy()
    for own, numbers, counts in blocks:
        first = np.cumsum(counts) - counts
        place = np.repeat(filled - first, counts) + np.arange(len(own))
        columns[place] = own
        if values is not None and numbers is not None:
            values[place] = numbers
        filled += counts
    return columns, values


def _cut(written: list[str], counts: NDArray[np.int64]) -> list[list[str]]:
    return ragged(written, np.append(0, np.cumsum(counts)))
