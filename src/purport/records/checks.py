"""One utterance out of the fields of a row, or the reason why there is none."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from purport.records.formats import TAGGED, UNKNOWN_LABEL, Fields, json_word
from purport.records.sources import BadRowError

Probability = float | list[float]
KNOWN = TAGGED | {"intent", "domain", "id", "probability"}


class Utterance(NamedTuple):
    """One checked row; `extra` holds the fields that purport does not know, None without any."""

    tokens: Sequence[str]
    slots: Sequence[str | None] | None
    intent: str | None
    domain: str | None
    id: str | None
    labels: Sequence[str | None] | None
    probability: Probability | None
    extra: dict[str, Any] | None


def checked(fields: Fields) -> Utterance:
    """Return the utterance that the fields describe, or raise `BadRowError`."""
    tokens = _tokens(fields)
    slots = _aligned(fields.get("slots"), "slots", len(tokens))
    labels, probability, kept = predictions(fields, len(tokens))
    extra = None
    if kept or not fields.keys() <= KNOWN:
        extra = unknown_fields(fields, KNOWN.difference(kept))
    return Utterance(
        tokens,
        slots,
        checked_string(fields.get("intent"), "intent"),
        checked_string(fields.get("domain"), "domain"),
        identity(fields.get("id")),
        labels,
        probability,
        extra,
    )


def unknown_fields(fields: Fields, known: Set[str]) -> dict[str, Any] | None:
    """Return the fields that are not known; null says as much as no field at all."""
    found = {
        name: value for name, value in fields.items() if name not in known and value is not None
    }
    return found or None


def from_text(fields: Fields) -> Fields:
    """Return fields that came as text (TSV cells, IOB comments) in the types of JSON."""
    typed = dict(fields)
    if isinstance(cell := typed.get("tokens", None if "text" in typed else ""), str):
        typed["tokens"] = _parts(cell)
    for name in ("slots", "labels"):
        if isinstance(cell := typed.get(name), str):
            typed[name] = [None if part == UNKNOWN_LABEL else part for part in _parts(cell)]
    if isinstance(cell := typed.get("probability"), str):
        with contextlib.suppress(ValueError, RecursionError):
            typed["probability"] = json.loads(cell)
    return typed


def strings(values: object, name: str, unknown: bool) -> list[Any]:
    """Return a list of strings (and None, if `unknown` are allowed), or raise `BadRowError`."""
    if not isinstance(values, list | tuple | np.ndarray):
        raise BadRowError(f"{name} is {json_word(values)}, not an array of strings")
    listed = list(values)
    kinds = set(map(type, listed))
    if kinds <= ({str, type(None)} if unknown else {str}):
        return listed
    for place, value in enumerate(listed):
        if not isinstance(value, str) and not (unknown and value is None):
            raise BadRowError(f"{name}[{place}] is {json_word(value)}, not a string")
    return [None if value is None else str(value) for value in listed]


def _tokens(fields: Fields) -> list[str]:
    tokens = fields.get("tokens")
    if tokens is not None:
        return strings(tokens, "tokens", unknown=False)
    text = fields.get("text")
    if text is None:
        raise BadRowError("it has neither tokens nor text")
    if not isinstance(text, str):
        raise BadRowError(f"text is {json_word(text)}, not a string")
    return text.split()


def _aligned(values: object, name: str, length: int) -> list[str | None] | None:
    if values is None:
        return None
    listed = strings(values, name, unknown=True)
    if len(listed) != length:
        raise BadRowError(f"there are {length} tokens but {len(listed)} {name}")
    return listed


def checked_string(value: object, name: str) -> str | None:
    """Return a string or None, or raise `BadRowError`."""
    if value is None or isinstance(value, str):
        return value
    raise BadRowError(f"{name} is {json_word(value)}, not a string")


def identity(value: object, name: str = "id") -> str | None:
    """Return what names a record or a person, whole numbers too, or raise `BadRowError`."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return checked_string(value, name)


def predictions(
    fields: Fields, length: int
) -> tuple[list[str | None] | None, Probability | None, tuple[str, ...]]:
    """Return labels and probability as `purport label` writes them, and the names of any other.

    Others use these names for other things: what does not fit is kept as it came, not refused.
    """
    kept = []
    labels = probability = None
    try:
        labels = _aligned(fields.get("labels"), "labels", length)
    except BadRowError:
        kept.append("labels")
    try:
        probability = checked_probability(fields.get("probability"), length)
    except BadRowError:
        kept.append("probability")
    return labels, probability, tuple(kept)


def checked_probability(value: object, length: int) -> Probability | None:
    """Return a probability of a record, or one a token, or raise `BadRowError`."""
    if value is None:
        return None
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if _is_number(value):
        return value  # type: ignore[return-value]
    if isinstance(value, list) and len(value) == length and all(map(_is_number, value)):
        return value
    raise BadRowError(f"probability is neither a number nor {length} numbers")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and is_finite(value)


def is_finite(value: float) -> bool:
    """Tell whether float64 can hold a number, which an integer may be too large for."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _parts(cell: str) -> list[str]:
    # Only plain spaces part a cell: other white space may belong to a token.
    return [part for part in cell.split(" ") if part]
