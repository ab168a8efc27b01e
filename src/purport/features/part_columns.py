"""The columns that training has shown of one part: its strings, counted at every offset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from purport.estimator.base import State
from purport.features.hashing import hashed, hashed_column, mixed
from purport.features.keys import UNSEEN
from purport.features.parts import WHOLE_TEXT, Part, column_name, stem
from purport.features.senders import Senders, senders_of
from purport.features.vocabulary import Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.records.sessions import Sessions


class PartColumns:
    """Counts the strings of a part while batches come; then numbers those met often enough.

    The columns of the first offset come first, each offset's in the order in which training shows
    the strings.

    Examples
    --------
    >>> said = Part.single("said", np.array([0, 1, 0], np.int32), ["yes", "no"])
    >>> columns = PartColumns("said")
    >>> columns.count(said, {0: np.array([0, 1, 2])})
    >>> columns.finish(min_count=2)
    >>> columns.table(said.strings, 0).tolist(), columns.names()
    ([0, -1], ['said=yes'])
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._vocabulary = Vocabulary()
        self._counts: dict[int, NDArray[np.int64]] = {}
        self._columns: dict[int, NDArray[np.int32]] = {}
        self._senders = Senders()
        self._sent_by_enough: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return sum(int(np.count_nonzero(columns >= 0)) for columns in self._columns.values())

    def count(self, part: Part, entries: dict[int, NDArray[np.int64]]) -> None:
        """Count what steps see of a part; `entries` are those seen at each offset."""
        for offset, seen in entries.items():
            found = np.bincount(part.codes[seen], minlength=len(part.strings))
            self.add(part.strings, found, offset)

    def add(self, strings: Sequence[str], counts: NDArray[np.int64], offset: int) -> None:
        """Add to the counts of different strings at an offset."""
        numbers = self._vocabulary.learn(strings, len(strings))
        grown = np.zeros(len(self._vocabulary), np.int64)
        before = self._counts.get(offset, grown[:0])
        grown[: len(before)] = before
        grown[numbers] += counts
        self._counts[offset] = grown

    def count_senders(self, part: Part, records: Sessions) -> None:
        """Count who sent the strings of a part, which are whole texts of these records."""
        numbers = self._vocabulary.learn(part.strings, len(part.strings))
        steps = np.repeat(np.arange(len(part.starts) - 1), np.diff(part.starts))
        self._senders.add(
            numbers[part.codes],
            senders_of(records)[steps],
            texts=len(self._vocabulary),
            sessions=len(records),
        )

    def finish(self, min_count: int) -> None:
        """Take as columns what was met often enough; what no offset needs is forgotten."""
        size = len(self._vocabulary)
        often = {
            offset: np.append(counts, np.zeros(size - len(counts), np.int64)) >= min_count
            for offset, counts in self._counts.items()
        }
        needed = np.zeros(size, np.bool_)
        for kept in often.values():
            needed |= kept
        strings = self._vocabulary.strings()
        self._vocabulary = Vocabulary(strings[code] for code in np.flatnonzero(needed).tolist())
        self._take({offset: kept[needed] for offset, kept in often.items()})
        self._counts = {}
        if self.name == WHOLE_TEXT:
            self._sent_by_enough = self._senders.enough(size)[needed]
        self._senders = Senders()

    def _take(self, kept: dict[int, NDArray[np.bool_]]) -> None:
        self._columns, width = {}, 0
        for offset in sorted(kept):
            ranks = np.cumsum(kept[offset]) - 1 + width
            self._columns[offset] = np.where(kept[offset], ranks, UNSEEN).astype(np.int32)
            width += int(np.count_nonzero(kept[offset]))

    def table(self, strings: Sequence[str], offset: int) -> NDArray[np.int32]:
        """Return the column of each string at an offset, UNSEEN without one."""
        numbers = self._vocabulary.lookup(strings, len(strings))
        # UNSEEN finds what stands last.
        columns = self._columns.get(offset, np.full(len(self._vocabulary), UNSEEN, np.int32))
        return np.append(columns, np.int32(UNSEEN))[numbers]

    def names(self) -> list[str]:
        """Return the name of each column."""
        strings = self._vocabulary.strings()
        return [
            column_name(stem(self.name, offset), strings[code])
            for offset, columns in self._columns.items()
            for code in np.flatnonzero(columns >= 0).tolist()
        ]

    def may_be_shown(self) -> NDArray[np.bool_]:
        """Return which columns say no whole text, or one that enough people sent (columns,)."""
        shown = self._sent_by_enough
        if shown is None:
            # Models of earlier versions do not know who sent their texts.
            shown = np.full(len(self._vocabulary), self.name != WHOLE_TEXT)
        each = [shown[columns >= 0] for columns in self._columns.values()]
        return np.concatenate([np.zeros(0, np.bool_), *each])

    def to_state(self) -> State:
        """Return what was learnt."""
        kept = {str(offset): columns >= 0 for offset, columns in self._columns.items()}
        state = State(kept, {"name": self.name})
        if self._sent_by_enough is not None:
            state = state.join("senders", State({"enough": self._sent_by_enough}))
        return state.join("vocabulary", State(self._vocabulary.to_arrays()))

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make them anew from what `to_state` gave."""
        columns = cls(state.settings["name"])
        columns._vocabulary = Vocabulary.from_arrays(state.nested("vocabulary").arrays)
        kept = {
            int(name): np.asarray(array, np.bool_)
            for name, array in state.arrays.items()
            if "/" not in name
        }
        enough = state.nested("senders").arrays.get("enough")
        told = [*kept.values(), *([] if enough is None else [enough])]
        if any(len(array) != len(columns._vocabulary) for array in told):
            raise ValueError("the columns of a part do not fit its strings")
        columns._take(kept)
        columns._sent_by_enough = None if enough is None else np.asarray(enough, np.bool_)
        return columns


def hashed_table(
    name: str, strings: Sequence[str], offset: int, hash_bits: int
) -> NDArray[np.int32]:
    """Return the hashed column of each string of a part at an offset.

    Examples
    --------
    >>> hashed_table("said", ["yes", "no"], 0, hash_bits=4).tolist()
    [13, 10]
    """
    before = hashed([stem(name, offset)])
    return hashed_column(mixed(before, hashed(strings)), hash_bits)
