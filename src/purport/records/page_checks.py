"""One result page out of the fields of a row, or the reason why there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from purport.records.checks import is_finite, unknown_fields
from purport.records.columns import frozen
from purport.records.formats import Fields, json_word
from purport.records.ids import EXACT
from purport.records.sources import BadRowError

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNTIMED: Final = int(np.iinfo(np.int64).min)
"""What stands among the times of pages where the time of one is not known."""

PAGE = ("id", "sid", "t", "qid", "docs", "clicks")
"""The fields of a page that purport knows, in the order in which they are written."""
KNOWN = frozenset(PAGE)
LATEST = EXACT
"""So many seconds from 1970 float64 no longer tells one second from the next."""
SHORT = 16
"""Whole numbers of so many digits float64 holds to the last."""
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?", re.ASCII)
_NAMES = frozenset({str, int})
_CLICKS: dict[object, int] = {"0": 0, "1": 1, 0: 0, 1: 1}
"""What a click may be; true and false are 1 and 0 here, as 1.0 and 0.0 are."""


class Page(NamedTuple):
    """One checked row; `extra` holds the fields that purport does not know, None without any."""

    id: str | None
    session: str | None
    time: float | int | None
    """Seconds since 1970 in UTC."""
    query: str
    docs: list[str]
    clicks: list[int]
    extra: dict[str, Any] | None


def checked_page(fields: Fields) -> Page:
    """Return the page that the fields describe, or raise `BadRowError`."""
    query = _name(fields.get("qid"), "qid")
    if query is None:
        raise BadRowError("it has no qid")
    docs = _docs(fields.get("docs"))
    clicks = _clicks(fields.get("clicks"))
    if not docs:
        raise BadRowError("it has no docs")
    if len(clicks) != len(docs):
        raise BadRowError(f"there are {len(docs)} docs but {len(clicks)} clicks")
    return Page(
        _name(fields.get("id"), "id"),
        _name(fields.get("sid"), "sid"),
        checked_time(fields.get("t")),
        query,
        docs,
        clicks,
        None if fields.keys() <= KNOWN else unknown_fields(fields, KNOWN),
    )


def checked_time(given: object) -> float | int | None:
    """Return seconds since 1970, or raise `BadRowError`; text that is a number is one.

    Examples
    --------
    >>> checked_time("1393568686.284"), checked_time(60.0), checked_time(None)
    (1393568686.284, 60, None)
    """
    if given is None:
        return None
    value = given.item() if isinstance(given, np.generic) else given
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            raise BadRowError("t is text that is no number of seconds since 1970")
        value = float(value) if len(value) > SHORT or not value.isdigit() else int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadRowError(f"t is {json_word(value)}, not seconds since 1970")
    if not is_finite(value) or not abs(value) < LATEST:
        raise BadRowError("t is too far from the present")
    return int(value) if isinstance(value, int) or value.is_integer() else value


def whole_and_exact(
    seconds: NDArray[np.float64],
) -> tuple[NDArray[np.int64] | None, NDArray[np.float64] | None]:
    """Return seconds, NaN where not known, as `Pages` hold them: whole, and exact if need be.

    Examples
    --------
    >>> whole_and_exact(np.array([60.0, 1.5]))[0].tolist(), whole_and_exact(np.array([60.0]))[1]
    ([60, 1], None)
    """
    known = ~np.isnan(seconds)
    if not known.any():
        return None, None
    whole = np.floor(np.where(known, seconds, 0.0))
    times = np.where(known, whole.astype(np.int64), UNTIMED)
    is_whole = bool(np.all(~known | (whole == seconds)))
    return frozen(times), None if is_whole else frozen(np.array(seconds))


def _name(value: object, what: str) -> str | None:
    """Return an id, whole numbers too, or raise `BadRowError`."""
    if value is None:
        return None
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        return str(int(value))  # frames hold whole numbers so where one is missing
    if not isinstance(value, str):
        raise BadRowError(f"{what} is {json_word(value)}, neither a string nor a whole number")
    if not value:
        raise BadRowError(f"{what} is an empty string")
    return value


def _docs(value: object) -> list[str]:
    listed = _listed(value, "docs")
    if set(map(type, listed)) <= _NAMES and "" not in listed:
        return list(map(str, listed))
    docs = []
    for place, one in enumerate(listed):
        name = _name(one, f"docs[{place}]")
        if name is None:
            raise BadRowError(f"docs[{place}] is null")
        docs.append(name)
    return docs


def _clicks(value: object) -> list[int]:
    listed = _listed(value, "clicks")
    try:
        return list(map(_CLICKS.__getitem__, listed))
    except (KeyError, TypeError):
        place = _first_bad(listed)
    raise BadRowError(f"clicks[{place}] is neither 0 nor 1")


def _first_bad(clicks: Iterable[object]) -> int:
    ours = (0, 1, "0", "1")
    return next(place for place, one in enumerate(clicks) if one not in ours)


def _listed(value: object, name: str) -> list[Any]:
    """Return a list, or the parts of text that spaces part, or raise `BadRowError`."""
    if value is None:
        raise BadRowError(f"it has no {name}")
    if isinstance(value, str):
        return [part for part in value.split(" ") if part]
    if isinstance(value, np.ndarray):
        return list(value.tolist())
    if isinstance(value, list | tuple):
        return list(value)
    raise BadRowError(f"{name} is {json_word(value)}, not an array")
