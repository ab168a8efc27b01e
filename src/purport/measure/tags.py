"""Spans of BIO tags, read as conlleval and seqeval read them by default."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

OUTSIDE = "O"
# A tag of no scheme counts as the inside of a span of its own name.
_PREFIXES = {"B", "I", "E", "S"}
_NAMELESS = "_"


class Span(NamedTuple):
    """The name of a slot and its positions, `end` not included.

    Examples
    --------
    >>> label, start, end = Span("city", 1, 3)
    >>> end - start
    2
    """

    label: str
    start: int
    end: int


def spans(labels: Sequence[str | None]) -> list[Span]:
    """Return the spans that the tags of one sequence mark.

    ``B-x`` starts a span of x; ``I-x`` goes on with it, and starts one where nothing or another
    slot stands before it. ``E-x`` ends a span and ``S-x`` is one. A tag without such a prefix is
    read as inside a span of that name. ``O`` and None are outside.

    Parameters
    ----------
    labels : list of str
        One tag a position.

    Returns
    -------
    list of Span
        In order of their start.

    Examples
    --------
    >>> spans(["O", "B-city", "I-city", "I-day"])
    [Span(label='city', start=1, end=3), Span(label='day', start=3, end=4)]
    """
    found: list[Span] = []
    open_label: str | None = None
    start = 0
    for position, label in enumerate(labels):
        prefix, name = _parts(label)
        if name != open_label or prefix in "BS":
            if open_label is not None:
                found.append(Span(open_label, start, position))
            open_label, start = name, position
        if prefix in "ES" and open_label is not None:
            found.append(Span(open_label, start, position + 1))
            open_label = None
    if open_label is not None:
        found.append(Span(open_label, start, len(labels)))
    return found


def marks_spans(labels: Iterable[str]) -> bool:
    """Tell whether labels are tags of spans: ``O``, and at least one with a prefix, no others.

    Parameters
    ----------
    labels : iterable of str
        The different labels.

    Examples
    --------
    >>> marks_spans(["O", "B-city", "I-city"]), marks_spans(["buy", "learn"]), marks_spans(["O"])
    (True, False, False)
    """
    tags = {label for label in labels if label != OUTSIDE}
    prefixes = {tag.partition("-")[0] if "-" in tag else "" for tag in tags}
    return bool(prefixes) and prefixes <= _PREFIXES


@lru_cache(maxsize=1 << 16)
def _parts(label: str | None) -> tuple[str, str | None]:
    if label is None or label == OUTSIDE:
        return "O", None
    prefix, hyphen, name = label.partition("-")
    if prefix not in _PREFIXES:
        return "I", label
    return prefix, (name or _NAMELESS) if hyphen else _NAMELESS
