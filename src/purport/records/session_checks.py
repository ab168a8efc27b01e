"""One session out of the fields of a row, or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from purport.records.checks import (
    Probability,
    checked_string,
    identity,
    is_finite,
    predictions,
    strings,
    unknown_fields,
)
from purport.records.formats import Fields, json_word
from purport.records.sources import BadRowError

STEP = ("obs", "features", "clicked", "label", "t", "who")
"""The fields of a step that purport knows, in the order in which they are written."""
KNOWN = frozenset({"id", "steps", "labels", "probability"})
_EXACT = 1 << 53
_STEP = frozenset(STEP)
_TEXT = frozenset({str, type(None)})
EARLIEST, LATEST = -62135596800.0, 253402300799.0
"""The first and the last second that a date and time of day can name."""


class Step(NamedTuple):
    """One checked step; `extra` holds the fields that purport does not know, None without any."""

    text: str | None
    features: dict[str, float | str] | None
    clicked: list[str] | None
    label: str | None
    time: float
    """Seconds since 1970 in UTC, NaN where missing."""
    written: bool
    """Whether the time was given as date and time of day, not as seconds."""
    who: str | None
    extra: dict[str, Any] | None


class Steps(NamedTuple):
    """The steps of one row as columns, in the order of `Step`; None where not one has any."""

    texts: list[str | None]
    features: list[dict[str, float | str] | None] | None
    clicked: list[list[str] | None] | None
    labels: list[str | None]
    times: list[float]
    written: list[bool]
    who: list[str | None]
    extra: list[dict[str, Any] | None]


class Session(NamedTuple):
    """One checked row."""

    id: str | None
    steps: Steps
    labels: list[str | None] | None
    probability: Probability | None
    extra: dict[str, Any] | None


def checked_session(fields: Fields) -> Session:
    """Return the session that the fields describe, or raise `BadRowError`."""
    told = fields.get("steps")
    if told is None:
        raise BadRowError("it has no steps")
    if not isinstance(told, list | tuple):
        raise BadRowError(f"steps is {json_word(told)}, not an array of objects")
    steps = _plain_steps(told) or _looked_at_one_by_one(told)
    labels, probability, kept = predictions(fields, len(told))
    extra = unknown_fields(fields, KNOWN.difference(kept))
    return Session(identity(fields.get("id")), steps, labels, probability, extra)


def _plain_steps(told: Sequence[Any]) -> Steps | None:
    """Return the columns of steps that are what most logs hold; None where each must be looked at.

    Says of no step that it is good which `checked_step` would refuse.
    """
    if set(map(type, told)) != {dict}:
        return None
    names = set().union(*told)
    if "features" in names or "clicked" in names:
        return None
    columns = {name: [step.get(name) for step in told] for name in STEP if name in names}
    if not all(
        _TEXT.issuperset(map(type, columns.get(name, ()))) for name in ("obs", "label", "who")
    ):
        return None
    try:
        times = [_time(value) for value in columns["t"]] if "t" in names else None
    except BadRowError:
        return None
    absent: list[Any] = [None] * len(told)
    return Steps(
        columns.get("obs", absent),
        None,
        None,
        columns.get("label", absent),
        [time for time, _ in times] if times else [math.nan] * len(told),
        [written for _, written in times] if times else [False] * len(told),
        columns.get("who", absent),
        absent if names <= _STEP else [unknown_fields(step, _STEP) for step in told],
    )


def _looked_at_one_by_one(told: Sequence[Any]) -> Steps:
    steps = []
    for place, step in enumerate(told):
        try:
            steps.append(checked_step(step))
        except BadRowError as bad:
            raise BadRowError(f"steps[{place}]: {bad.reason}") from None
    return (
        Steps(*map(list, zip(*steps, strict=True))) if steps else Steps(*([] for _ in Step._fields))
    )


def checked_step(fields: object) -> Step:
    """Return the step that the fields describe, or raise `BadRowError`."""
    if not isinstance(fields, dict):
        raise BadRowError(f"it is {json_word(fields)}, not an object")
    observed = fields.get("obs")
    text, features = None, None
    if isinstance(observed, dict):
        features = _features(observed, "obs")
    else:
        text = checked_string(observed, "obs")
    if fields.get("features") is not None:
        if features is not None:
            raise BadRowError("both obs and features hold named features")
        features = _features(fields["features"], "features")
    clicked = fields.get("clicked")
    time, written = _time(fields.get("t"))
    return Step(
        text,
        features,
        None if clicked is None else strings(clicked, "clicked", unknown=False),
        checked_string(fields.get("label"), "label"),
        time,
        written,
        identity(fields.get("who"), "who"),
        unknown_fields(fields, _STEP),
    )


def written_time(seconds: float, as_text: bool) -> float | str | None:
    """Write seconds since 1970 as they were given: as date and time of day in UTC, or as a number.

    Examples
    --------
    >>> written_time(0.0, True), written_time(1203898814.5, True), written_time(60.0, False)
    ('1970-01-01 00:00:00', '2008-02-25 00:20:14.500000', 60)
    """
    if math.isnan(seconds):
        return None
    if as_text:
        return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat(" ")
    return int(seconds) if seconds.is_integer() else seconds


def plain_time(value: object) -> object:
    """Return a time of Python, NumPy or pandas as a string or a number.

    Examples
    --------
    >>> plain_time(datetime(2026, 1, 31, 12)), plain_time(np.int64(60))
    ('2026-01-31 12:00:00', 60)
    """
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else str(value.astype("datetime64[us]").item())
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return value.item() if isinstance(value, np.generic) else value


def _features(given: object, name: str) -> dict[str, float | str]:
    if not isinstance(given, dict):
        raise BadRowError(f"{name} is {json_word(given)}, not an object")
    features: dict[str, float | str] = {}
    for feature, value in given.items():
        if value is None:
            continue
        if isinstance(value, str) or (isinstance(value, int | float) and is_finite(value)):
            features[feature] = value
        else:
            raise BadRowError(
                f"a feature of {name} is {json_word(value)}, not a number or a string"
            )
    return features


def _time(given: object) -> tuple[float, bool]:
    if given is None:
        return math.nan, False
    if type(given) is int and -_EXACT < given < _EXACT:
        return float(given), False
    if isinstance(given, str):
        try:
            when = datetime.fromisoformat(given)
        except ValueError:
            raise BadRowError("t is no date and time of day as 2026-01-31 23:59:59") from None
        seconds = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
        if not EARLIEST <= seconds <= LATEST:
            raise BadRowError("t is too far from the present")
        return seconds, True
    if isinstance(given, int | float) and not isinstance(given, bool) and is_finite(given):
        return float(given), False
    raise BadRowError(f"t is {json_word(given)}, not seconds or a date and time of day")
