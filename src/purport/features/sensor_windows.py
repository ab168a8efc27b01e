"""Rows from the sensors of activity logs, as they are, as they change, and as they changed last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from purport.estimator.base import State
from purport.estimator.constraints import (
    BOOLEAN,
    Constraint,
    OneOf,
    Several,
    Span,
    Whole,
    optional,
)
from purport.features.buckets import BUCKETS, doubling
from purport.features.hashing import MOST_BITS
from purport.features.keys import NOTHING
from purport.features.parts import Part
from purport.features.sensors import SensorSets, Way, way_of
from purport.features.step_windows import StepWindows
from purport.features.times import HOURS, hours, times_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.records.sessions import Sessions

LASTED = [*(f"{bucket} s" for bucket in BUCKETS), *(f"{bucket} steps" for bucket in BUCKETS)]


class SensorWindows(StepWindows):
    """The sensors around a step of an activity log, for how long they stand so, and the hour.

    What a step shows is read from its text (`texts` says how), or from named features: a sensor
    whose value is not 0 is on.

    Parameters
    ----------
    representations : tuple of "raw", "change", "last"
        Sensors that are on; that differ from the step before; that differ from the step before or,
        when none does, did so last. Events have no end: with them only what is new differs. Where
        texts are bits and steps have fields ``change`` and ``last`` of bits, these are taken
        instead of what is found here: they may know more, as what went on and off within a step.
        No sensor at all is "none".
    window : (first, last)
        The offsets of the steps whose sensors are features of a step.
    texts : "auto", "bits" or "events"
        Whether a text is one 0 or 1 for each sensor, which then have numbers from 0 for names, or
        is itself the name of the one sensor or object that a step is about. "auto" takes texts for
        bits if all of training (of its first batch) are of 0 and 1, else for names.
    durations : bool
        How long the sensors have been as they are, and how long they were as they were before: in
        seconds where times are known, else in steps.
    hour : bool
        The hour of the day, in UTC.
    bias : bool
        One feature that every step has.
    min_count : int
        A feature that training shows less often is left out.
    hash_bits : int or None
        As in `SessionWindows`.

    Attributes
    ----------
    columns_ : list of PartColumns
        The columns of each part; empty when features are hashed.
    scales_ : NumberScales
        Not used: sensors are on or off.
    texts_ : "bits" or "events"
        What texts were taken for.

    Examples
    --------
    >>> from purport.records.sessions import Sessions
    >>> log = Sessions.from_lists([["01", "11", "11"]], times=[[0, 60, 120]])
    >>> windows = SensorWindows(hour=False)
    >>> rows = windows.fit_transform(log)
    >>> windows.strings(log)[0][1]
    ['bias', 'change=0', 'last=0', 'lasted=0 s', 'lasted_before=<=64 s']
    >>> windows.strings(log)[0][2]
    ['bias', 'change=none', 'last=0', 'lasted=<=64 s', 'lasted_before=<=64 s']
    """

    _constraints: ClassVar[Mapping[str, Constraint]] = {
        "representations": Several(OneOf(("raw", "change", "last")), least=1),
        "window": Span(),
        "texts": OneOf(("auto", "bits", "events")),
        "durations": BOOLEAN,
        "hour": BOOLEAN,
        "bias": BOOLEAN,
        "min_count": Whole(1),
        "hash_bits": optional(Whole(1, MOST_BITS)),
    }

    _way: Way

    def __init__(
        self,
        representations: Sequence[str] = ("change", "last"),
        window: tuple[int, int] = (0, 0),
        texts: Literal["auto"] | Way = "auto",
        durations: bool = True,
        hour: bool = True,
        bias: bool = True,
        min_count: int = 1,
        hash_bits: int | None = None,
    ) -> None:
        self.representations = representations
        self.window = window
        self.texts = texts
        self.durations = durations
        self.hour = hour
        self.bias = bias
        self.min_count = min_count
        self.hash_bits = hash_bits

    @property
    def texts_(self) -> Way:
        """What texts were taken for."""
        self._check_fitted()
        return self._way

    def _look(self, records: Sessions) -> None:
        self._way = way_of(records) if self.texts == "auto" else self.texts

    def _to_state(self) -> State:
        state = super()._to_state()
        return State(state.arrays, state.settings | {"texts": self._way})

    def _restore(self, state: State) -> None:
        super()._restore(state)
        way = state.settings.get("texts", self.texts)  # up to format 2 the parameter says it
        if way not in ("bits", "events"):
            raise ValueError(f"texts cannot be {way!r}")
        self._way = way

    def _parts(self, records: Sessions) -> list[Part]:
        sets = SensorSets(records, self._way)
        table = sets.table()
        steps = {"raw": sets.raw, "change": sets.change, "last": sets.last}
        parts = [
            Part.of_sets(name, steps[name], table, self.window) for name in self.representations
        ]
        times = times_of(records)
        if self.durations:
            lasted, before = _durations(sets, times)
            parts.append(Part.single("lasted", lasted, LASTED))
            parts.append(Part.single("lasted_before", before, LASTED))
        if self.hour:
            parts.append(Part.single("hour", hours(times), HOURS))
        return parts


def _durations(
    sets: SensorSets, times: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return how long what is on at each step has been so, and how long what was on before it."""
    steps = np.arange(len(times))
    start = sets.run_starts()
    first = start == sets.session_starts()
    before = np.where(first, start, start[start - 1])
    earlier = np.where(first, NOTHING, _lasted(before, start, times))
    return _lasted(start, steps, times), earlier.astype(np.int32)


def _lasted(
    start: NDArray[np.int64], stop: NDArray[np.int64], times: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Return the number in `LASTED` of the time from one step to another."""
    seconds = times[stop] - times[start]
    counted = doubling((stop - start).astype(np.float64)) + len(BUCKETS)
    return np.where(np.isnan(seconds), counted, doubling(seconds)).astype(np.int32)
