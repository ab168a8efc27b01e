"""Numbers that steps have by name: cut at quantiles that training shows, or scaled by their median.

What is learnt is learnt from numbers of three digits (`rounded`), so that there are few different
ones, and any order of batches teaches the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import numpy as np

from purport.estimator.base import State
from purport.features.buckets import bin_names, bins_of, quantile_cuts, rounded
from purport.features.combinations import Combinations
from purport.features.part_columns import PartColumns
from purport.features.parts import Part
from purport.features.vocabulary import Vocabulary
from purport.records.columns import offsets_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


class NumberScales:
    """The cuts, or the scale, of each name.

    Parameters
    ----------
    bins : int or None
        The most bins of a name. None keeps numbers as they are, divided by the median of their
        sizes, zeros apart.

    Attributes
    ----------
    names : Vocabulary
        The names that training has shown.
    marks : list of arrays
        For each name the cuts between its bins, or its scale alone.

    Examples
    --------
    >>> tabs = np.array([1.0, 2, 3, 4])
    >>> part = Part("feature", (0, 0), np.arange(5), np.zeros(4, np.int32), ["tabs"], tabs)
    >>> scales = NumberScales(bins=2)
    >>> columns = PartColumns("feature")
    >>> scales.count(part, {0: np.arange(4)})
    >>> scales.finish(columns)
    >>> said = scales.applied(part)
    >>> [said.strings[code] for code in said.codes.tolist()]
    ['tabs:..2', 'tabs:..2', 'tabs:2..', 'tabs:2..']
    """

    def __init__(self, bins: int | None) -> None:
        self.bins = bins
        self.names = Vocabulary()
        self.marks: list[NDArray[np.float64]] = []
        self._own = Combinations(3)
        self._seen: dict[int, Combinations] = {}

    def count(self, part: Part, entries: dict[int, NDArray[np.int64]]) -> None:
        """Count the numbers of a batch; `entries` are those seen at each offset."""
        assert part.numbers is not None
        told = np.empty((len(part.codes), 3), np.int32)
        told[:, 0] = self.names.learn(part.strings, len(part.strings))[part.codes]
        told[:, 1:] = rounded(part.numbers).view(np.int32).reshape(-1, 2)
        self._own.add(told)
        for offset, seen in entries.items():
            self._seen.setdefault(offset, Combinations(3)).add(told[seen])

    def finish(self, columns: PartColumns) -> None:
        """Learn the cuts or scales, and count for `columns` what steps see of them."""
        self.marks = [np.empty(0, np.float64)] * len(self.names)
        for name, values, counts in _by_name(self._own):
            self.marks[name] = self._learnt(values, counts)
        names = self.names.strings()
        for offset, met in self._seen.items():
            for name, values, counts in _by_name(met):
                written = self._strings(names[name], self.marks[name])
                bins = np.zeros(len(values), np.int64)
                if self.bins is not None:
                    bins = bins_of(values, self.marks[name])
                sums = np.bincount(bins, counts, len(written)).astype(np.int64)
                columns.add(written, sums, offset)
        self._own, self._seen = Combinations(3), {}

    def _learnt(
        self, values: NDArray[np.float64], counts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        if self.bins is not None:
            return quantile_cuts(values, counts, self.bins)
        other = values != 0.0
        sizes = np.abs(values[other])
        order = np.argsort(sizes)
        # The median is where the lower of two bins ends.
        reached = np.cumsum(counts[other][order])
        if not len(reached):
            return np.ones(1)
        place = np.searchsorted(reached * 2, reached[-1])
        median: NDArray[np.float64] = sizes[order][place : place + 1]
        return median

    def _strings(self, name: str, marks: NDArray[np.float64]) -> list[str]:
        if self.bins is None:
            return [name]
        return [f"{name}:{written}" for written in bin_names(marks)]

    def applied(self, part: Part) -> Part:
        """Return a part with bins for strings, or with scaled numbers.

        A name that training has not shown has one bin, or the scale 1.
        """
        assert part.numbers is not None
        strings: list[str] = []
        codes = np.empty(len(part.codes), np.int32)
        numbers = part.numbers.copy()
        known = self.names.lookup(part.strings, len(part.strings)).tolist()
        order = np.argsort(part.codes, kind="stable")
        ends = np.searchsorted(part.codes[order], np.arange(len(part.strings) + 1))
        for code, name in enumerate(part.strings):
            own = order[ends[code] : ends[code + 1]]
            unknown = np.ones(1 if self.bins is None else 0)
            marks = self.marks[known[code]] if known[code] >= 0 else unknown
            codes[own] = len(strings)
            if self.bins is None:
                numbers[own] /= marks[0]
            else:
                codes[own] += bins_of(part.numbers[own], marks).astype(np.int32)
            strings += self._strings(name, marks)
        kept = numbers if self.bins is None else None
        return replace(part, codes=codes, strings=strings, numbers=kept).compact()

    def to_state(self) -> State:
        """Return what was learnt."""
        marks = np.concatenate([np.empty(0), *self.marks])
        state = State({"marks": marks, "starts": offsets_of([len(each) for each in self.marks])})
        return state.join("names", State(self.names.to_arrays()))

    @classmethod
    def from_state(cls, state: State, bins: int | None) -> Self:
        """Make them anew from what `to_state` gave."""
        scales = cls(bins)
        scales.names = Vocabulary.from_arrays(state.nested("names").arrays)
        starts, marks = state.arrays["starts"], state.arrays["marks"]
        scales.marks = np.split(np.asarray(marks, np.float64), starts[1:-1])[: len(starts) - 1]
        if len(scales.marks) != len(scales.names):
            raise ValueError("the cuts of numbers do not fit their names")
        return scales


def _by_name(
    met: Combinations,
) -> Iterator[tuple[int, NDArray[np.float64], NDArray[np.int64]]]:
    """Yield each name's number, its values, ascending, and how often each occurs."""
    found, counts = met.finish()
    values = np.ascontiguousarray(found[:, 1:]).view(np.float64).ravel()
    order = np.lexsort((values, found[:, 0]))
    names, starts = np.unique(found[order, 0], return_index=True)
    for name, own in zip(names.tolist(), np.split(order, starts[1:]), strict=False):
        yield name, values[own], counts[own]
