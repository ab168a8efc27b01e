"""The columns of one template: the values, or combinations of values, that training has shown.

A template that joins several words is learnt pair by pair: the first two values make a number, the
rank of that number among those met makes a number with the third value, and so on, so that no
number grows beyond 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.estimator.base import State
from purport.features.hashing import hashed, hashed_column, mixed
from purport.features.keys import NOTHING, Keys, pair
from purport.features.templates import BEGIN, END, Template

BEFORE, AFTER = -3, -4
"""The places beyond a sentence, as long as it is not known how many values there will be."""

if TYPE_CHECKING:
    from numpy.typing import NDArray


class TemplateColumns:
    """The columns that a template has learnt, numbered from 0.

    Parameters
    ----------
    template : Template
        What the columns say.
    values : int
        How many values the template's attribute has; the marks beyond a sentence are two more.

    Examples
    --------
    >>> columns = TemplateColumns(Template.joined((-1, 0)), values=2)
    >>> met = np.array([[BEFORE, 0], [0, 1], [1, 1]], np.int32)
    >>> columns.learn(met, counts=np.array([1, 1, 1]))
    >>> before, here = np.array([2, 0, 1], np.int32), np.array([0, 1, 1], np.int32)
    >>> columns.rank([before, here], positions=3).tolist()
    [[2], [0], [1]]
    >>> columns.rank([here, before], positions=3).tolist()
    [[-1], [-1], [1]]
    >>> columns.names(["san", "jose"])
    ['w[-1]|w[0]=san|jose', 'w[-1]|w[0]=jose|jose', 'w[-1]|w[0]=<s>|san']
    """

    def __init__(self, template: Template, values: int) -> None:
        self.template = template
        self._size = values + 2
        self._stages: list[Keys] = []

    def __len__(self) -> int:
        return len(self._stages[-1])

    @property
    def slots(self) -> int:
        """How many columns a position can have."""
        return len(self.template.offsets) if self.template.bag else 1

    def learn(
        self, combinations: NDArray[np.int32], counts: NDArray[np.int64], min_count: int = 1
    ) -> None:
        """Take as columns what occurs at least `min_count` times.

        Parameters
        ----------
        combinations : (different combinations, offsets) int32
            The values at the template's offsets, BEFORE and AFTER beyond a sentence; the values of
            a bag stand one in a row.
        counts : (different combinations,) int64
            How often each occurs.
        min_count : int
        """
        self._stages = []
        last = self._stage_count() - 1
        settled = combinations.copy()
        settled[combinations == BEFORE] = self._size - 2
        settled[combinations == AFTER] = self._size - 1

        def grown(stage: int, numbers: NDArray[Any]) -> Keys:
            size, least = self._numbers_below(stage), min_count if stage == last else 1
            self._stages.append(Keys.learn(numbers.ravel(), counts, size, least))
            return self._stages[stage]

        self._columns(list(settled.T), len(settled), grown)

    def rank(self, codes: list[NDArray[np.int32]], positions: int) -> NDArray[np.int32]:
        """Return the columns of each position.

        Parameters
        ----------
        codes : list of (P,) int32
            The value at each of the template's offsets.
        positions : int
            P.

        Returns
        -------
        (P, slots) int32
            UNSEEN for what is not a column, NOTHING where the template says nothing.
        """
        return self._columns(codes, positions, lambda stage, _: self._stages[stage])

    def names(self, values: Sequence[str]) -> list[str]:
        """Return what each column says, given the values of the attribute."""
        if not self.template.offsets:
            return [self.template.name] * len(self)
        written = [*values, BEGIN, END]
        numbers = self._stages[-1].kept
        parts: list[NDArray[np.int64]] = []
        for stage in reversed(range(self._stage_count() if self._joins() else 0)):
            numbers, right = np.divmod(numbers, self._size)
            parts.insert(0, right)
            if stage > 0:
                numbers = self._stages[stage - 1].kept[numbers]
        parts.insert(0, numbers)
        columns = zip(*([written[code] for code in part.tolist()] for part in parts), strict=True)
        return [f"{self.template.name}={'|'.join(column)}" for column in columns]

    def to_state(self) -> State:
        """Return what was learnt."""
        return State({str(stage): keys.kept for stage, keys in enumerate(self._stages)})

    def restore(self, state: State) -> None:
        """Take back what `to_state` gave."""
        self._stages = []
        for stage in range(self._stage_count()):
            kept = np.ascontiguousarray(state.arrays[str(stage)], np.int64)
            self._stages.append(Keys(kept, self._numbers_below(stage)))

    def _joins(self) -> bool:
        return len(self.template.offsets) > 1 and not self.template.bag

    def _stage_count(self) -> int:
        return len(self.template.offsets) - 1 if self._joins() else 1

    def _numbers_below(self, stage: int) -> int:
        """Return what the numbers of a stage are below."""
        if stage > 0:
            return len(self._stages[stage - 1]) * self._size
        if self._joins():
            return self._size**2
        return self._size if self.template.offsets else 1

    def _columns(
        self,
        codes: list[NDArray[np.int32]],
        positions: int,
        keys_of: Callable[[int, NDArray[Any]], Keys],
    ) -> NDArray[np.int32]:
        if not self._joins():
            numbers: NDArray[Any] = np.zeros((positions, 1), np.int32)
            if codes:
                numbers = np.stack(codes, axis=1)
            return keys_of(0, numbers).rank(numbers)
        ranks = codes[0]
        for stage, right in enumerate(codes[1:]):
            numbers = pair(ranks, right, self._size)
            ranks = keys_of(stage, numbers).rank(numbers)
        return ranks[:, np.newaxis]


def hashed_template(
    template: Template,
    codes: list[NDArray[np.int32]],
    hashes: NDArray[np.uint64],
    positions: int,
    hash_bits: int,
) -> NDArray[np.int32]:
    """Return the hashed columns of each position, as `TemplateColumns.rank` does those learnt.

    `hashes` are those of the template's values, with those of the two marks at the end.
    """
    stem = np.repeat(hashed([template.name]), positions)

    def columns(joined: list[NDArray[np.int32]]) -> NDArray[np.int32]:
        bits, said = stem, np.ones(positions, np.bool_)
        for code in joined:
            # What says nothing finds some hash, and is left out below.
            bits, said = mixed(bits, hashes[code]), said & (code >= 0)
        return np.where(said, hashed_column(bits, hash_bits), NOTHING).astype(np.int32)

    each = [columns([code]) for code in codes] if template.bag else [columns(codes)]
    return np.stack(each, axis=1)
