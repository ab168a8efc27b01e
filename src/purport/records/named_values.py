"""Named features at every position, as an interaction log holds them: numbers, truths and words.

Symbols: P positions, E features of all positions together.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from purport.records.columns import (
    entries_of,
    frozen,
    joined_codes,
    joined_offsets,
    offsets_of,
    ragged,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

Feature = tuple[str, str | None]
"""A name, and the word that is its value; None where the value is a number."""


@dataclass(frozen=True, eq=False)
class NamedValues:
    """Named features at every position: numbers, true or false, words.

    Attributes
    ----------
    offsets : (P + 1,) int64
        Where each position's features start.
    codes : (E,) int32
        The number in `features` of each.
    features : list of (name, word or None)
        The different features; those whose value is a number stand without a word.
    values : (E,) float64
        Their values; 1 for a word.
    truths : (E,) booleans
        Which values are true or false, not numbers.

    Examples
    --------
    >>> told = NamedValues.of([{"tabs": 3, "source": "mail"}, None])
    >>> told.vocabulary, told.values.tolist(), told.dicts()
    (['tabs', 'source:mail'], [3.0, 1.0], [{'tabs': 3, 'source': 'mail'}, {}])
    """

    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    features: list[Feature]
    values: NDArray[np.float64]
    truths: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, float | str] | None]) -> NamedValues:
        """Make a column out of one dict a position; None is an empty one."""
        grown = NamedValuesBuilder()
        grown.extend(rows)
        return grown.finish()

    @property
    def vocabulary(self) -> list[str]:
        """The different features as feature strings: ``name``, or ``name:word``."""
        return [name if word is None else f"{name}:{word}" for name, word in self.features]

    def take(self, positions: slice | NDArray[np.int64]) -> NamedValues:
        """Return some positions; the features stay whole and shared."""
        entries, offsets = entries_of(positions, self.offsets)
        return NamedValues(
            frozen(offsets),
            frozen(self.codes[entries]),
            self.features,
            frozen(self.values[entries]),
            frozen(self.truths[entries]),
        )

    def dicts(self) -> list[dict[str, float | str]]:
        """Return the features of each position; whole numbers come back as such."""
        flat = [
            (name, _plain_value(value, truth) if word is None else word)
            for (name, word), value, truth in zip(
                map(self.features.__getitem__, self.codes.tolist()),
                self.values.tolist(),
                self.truths.tolist(),
                strict=True,
            )
        ]
        return list(map(dict, ragged(flat, self.offsets)))

    @classmethod
    def joined(cls, parts: Sequence[NamedValues]) -> NamedValues:
        """Put columns one after the other, with one list of features for all."""
        codes, features = joined_codes([(part.codes, part.features) for part in parts])
        return cls(
            joined_offsets([part.offsets for part in parts]),
            codes,
            features,
            frozen(np.concatenate([part.values for part in parts])),
            frozen(np.concatenate([part.truths for part in parts])),
        )

    @classmethod
    def empty(cls, length: int) -> NamedValues:
        """Make a column without a single feature."""
        return cls.of([None] * length)


class NamedValuesBuilder:
    """Makes `NamedValues` out of dicts that arrive one by one."""

    def __init__(self) -> None:
        self._lengths = array("q")
        self._codes, self._values, self._truths = array("i"), array("d"), array("b")
        self._numbers: defaultdict[Feature, int] = defaultdict(count().__next__)

    @property
    def empty(self) -> bool:
        """Whether no feature has come yet."""
        return not self._codes

    def extend(self, rows: Iterable[Mapping[str, float | str] | None]) -> None:
        """Add the features of some positions."""
        for row in rows:
            self._lengths.append(len(row) if row else 0)
            if row:
                self._append(row)

    def _append(self, row: Mapping[str, float | str]) -> None:
        for name, value in row.items():
            word = value if isinstance(value, str) else None
            self._codes.append(self._numbers[name, word])
            self._values.append(1.0 if isinstance(value, str) else float(value))
            self._truths.append(isinstance(value, bool))

    def finish(self) -> NamedValues:
        """Return the column."""
        return NamedValues(
            frozen(offsets_of(self._lengths)),
            frozen(np.array(self._codes, np.int32)),
            list(self._numbers),
            frozen(np.array(self._values, np.float64)),
            frozen(np.array(self._truths, np.bool_)),
        )


def _plain_value(value: float, truth: bool) -> float:
    if truth:
        return bool(value)
    return int(value) if value.is_integer() else value
