"""Which sensors each step of an activity log shows: those that are on, change, or changed last.

Every different set of sensors is stored once; steps hold numbers of sets.

Symbols: N sessions, P steps of all sessions together.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from purport.errors import InputError, PurportWarning
from purport.features.keys import NOTHING
from purport.features.parts import RaggedCodes, first_steps
from purport.features.unique import number_ragged
from purport.features.vocabulary import Vocabulary
from purport.records.columns import Coded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.records.named_values import NamedValues
    from purport.records.sessions import Sessions

Way = Literal["bits", "events"]
Sensors = frozenset[int]

EMPTY = 0
"""The number of the set without sensors."""

NONE = "none"
"""What is said of the set without sensors."""

_BITS = re.compile(r"[01]+")


def way_of(records: Sessions) -> Way:
    """Tell what the texts of steps are: bits if all are of 0 and 1, else names of events.

    Examples
    --------
    >>> from purport.records.sessions import Sessions
    >>> way_of(Sessions.from_lists([["01", "11"]])), way_of(Sessions.from_lists([["door"]]))
    ('bits', 'events')
    """
    codes = np.unique(records.obs_codes) if records.obs_codes is not None else np.zeros(0, np.int32)
    of_bits = {
        _BITS.fullmatch(records.obs_vocabulary[code]) is not None
        for code in codes.tolist()
        if code >= 0
    }
    if len(of_bits) > 1:
        warnings.warn(
            "Some texts of steps are of 0 and 1 alone, others are not: all are taken for names of"
            " sensors. If they are bits, one for each sensor, mend the others or say texts='bits'.",
            PurportWarning,
            stacklevel=2,
        )
    return "events" if False in of_bits else "bits"


class SensorSets:
    """The sets of sensors that the steps of records show.

    Parameters
    ----------
    records : Sessions
        Activity logs.
    texts : "bits" or "events"
        What the texts of steps are.

    Attributes
    ----------
    raw, change, last : (P,) int32
        The number of the set of sensors at each step: those that are on; those that differ from the
        step before, or with events, which have no end, are on and were not; those that did so last.

    Examples
    --------
    >>> from purport.records.sessions import Sessions
    >>> sets = SensorSets(Sessions.from_lists([["01", "11", "11"]]), "bits")
    >>> table = sets.table()
    >>> [table.strings[code] for code in table.codes.tolist()], table.starts.tolist()
    (['none', '1', '0', '1', '0'], [0, 1, 2, 4, 5])
    >>> sets.raw.tolist(), sets.change.tolist(), sets.last.tolist()
    ([1, 2, 2], [0, 3, 0], [0, 3, 3])
    """

    def __init__(self, records: Sessions, texts: Way) -> None:
        self._offsets = records.offsets
        self._sensors = Vocabulary()
        self._numbers: dict[Sensors, int] = {frozenset(): EMPTY}
        positions = int(records.offsets[-1])
        self.raw = np.full(positions, EMPTY, np.int32)
        if records.obs_codes is not None:
            self.raw = self._of_texts(records.obs_codes, records.obs_vocabulary, texts)
        if records.named is not None:
            self.raw = self._of_pairs(self.raw, self._of_named(records.named), frozenset.union)
        self.change = self._started() if texts == "events" else self._changed()
        self._take_given(records, "change", texts, self.change)
        self.last = self._lasting()
        self._take_given(records, "last", texts, self.last)

    def table(self) -> RaggedCodes:
        """Return the sensors of each set, by name, so that no batch orders them in another way."""
        names = self._sensors.strings()
        sets = (sorted(names[code] for code in sensors) for sensors in self._numbers)
        return RaggedCodes.of(sensors or [NONE] for sensors in sets)

    def run_starts(self) -> NDArray[np.int64]:
        """Return the step since which the same sensors are on, for every step."""
        fresh = np.append(True, self.raw[1:] != self.raw[:-1])[: len(self.raw)]
        fresh[first_steps(self._offsets)] = True
        return np.maximum.accumulate(np.where(fresh, np.arange(len(fresh)), 0))

    def session_starts(self) -> NDArray[np.int64]:
        """Return the first step of its session, for every step."""
        return np.repeat(self._offsets[:-1], np.diff(self._offsets))

    def _number(self, sensors: Sensors) -> int:
        return self._numbers.setdefault(sensors, len(self._numbers))

    def _of_texts(
        self, codes: NDArray[np.int32], vocabulary: list[str], way: Way
    ) -> NDArray[np.int32]:
        """Return the set of each text; code -1, no text, is the empty set."""
        used, first = np.unique(codes, return_index=True)
        table = np.full(len(vocabulary) + 1, EMPTY, np.int32)
        length = 0
        for code, step in zip(used.tolist(), first.tolist(), strict=True):
            if code < 0:
                continue
            text = vocabulary[code]
            if way == "events":
                names: Iterable[str] = [text]
            else:
                length = length or len(text)
                self._check_bits(text, length, step)
                names = [str(place) for place, bit in enumerate(text) if bit == "1"]
            table[code] = self._number(frozenset(self._sensors.learn(names).tolist()))
        return table[codes]

    def _check_bits(self, text: str, length: int, step: int) -> None:
        if not _BITS.fullmatch(text):
            self._refuse(
                step,
                "a text that stands for sensors must be of 0 and 1, one for each sensor; where"
                " texts are names of sensors or objects, say texts='events'",
            )
        if len(text) != length:
            self._refuse(step, f"there are {len(text)} sensors here, {length} in another step")

    def _refuse(self, step: int, reason: str) -> None:
        session = int(np.searchsorted(self._offsets, step, side="right")) - 1
        raise InputError.at_position(session, step - int(self._offsets[session]), reason)

    def _of_named(self, named: NamedValues) -> NDArray[np.int32]:
        """Return the set of each step's named features whose value is not 0."""
        chosen = named.values != 0.0
        starts = np.append(0, np.cumsum(chosen))[named.offsets]
        codes = self._sensors.learn(named.vocabulary)[named.codes][chosen]
        owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        codes = codes[np.lexsort((codes, owner))]
        rows, first = number_ragged(codes, starts)
        table = [
            self._number(frozenset(codes[starts[step] : starts[step + 1]].tolist()))
            for step in first.tolist()
        ]
        return np.array(table, np.int32)[rows]

    def _of_pairs(
        self,
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        joined: Callable[[Sensors, Sensors], Sensors],
    ) -> NDArray[np.int32]:
        """Return the set that two sets make together; each different pair is asked once."""
        size = len(self._numbers)
        pairs, own = np.unique(left.astype(np.int64) * size + right, return_inverse=True)
        sets = list(self._numbers)
        table = [self._number(joined(sets[p // size], sets[p % size])) for p in pairs.tolist()]
        return np.array(table, np.int32)[own]

    def _changed(self) -> NDArray[np.int32]:
        # What was on before a session began is not known, so nothing changes at its first step.
        before = self._before(self.raw)
        return self._of_pairs(before, self.raw, frozenset.symmetric_difference)

    def _started(self) -> NDArray[np.int32]:
        # An event has no end: what changes at a step is what it is about, if that is new.
        before = self._before(np.full(len(self.raw), EMPTY, np.int32))
        return self._of_pairs(self.raw, before, frozenset.difference)

    def _before(self, at_first: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the set of the step before each, and of `at_first` at first steps."""
        before = np.append(np.int32(EMPTY), self.raw[:-1])[: len(self.raw)]
        starts = first_steps(self._offsets)
        before[starts] = at_first[starts]
        return before

    def _lasting(self) -> NDArray[np.int32]:
        steps = np.arange(len(self.change))
        latest = np.maximum.accumulate(np.where(self.change != EMPTY, steps, NOTHING))
        inside = latest >= self.session_starts()
        return np.where(inside, self.change[np.maximum(latest, 0)], EMPTY).astype(np.int32)

    def _take_given(
        self, records: Sessions, field: str, texts: Way, sets: NDArray[np.int32]
    ) -> None:
        """Put what the records themselves say in a field of their steps in place of what it is."""
        given = records.step_field(field) if texts == "bits" else None
        if given is None:
            return
        flat: list[Any] = [value for values in given for value in values]
        for step, value in enumerate(flat):
            if value is not None and not isinstance(value, str):
                self._refuse(step, f"its {field} is no text of 0 and 1")
        told = Coded.of(flat)
        known = told.codes >= 0
        sets[known] = self._of_texts(told.codes, told.vocabulary, texts)[known]
