"""Rows from the steps of sessions: what was asked, how it changed, what was clicked, and when."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from purport.estimator.constraints import BOOLEAN, Constraint, Span, Whole, optional
from purport.features.buckets import BUCKETS, doubling
from purport.features.hashing import MOST_BITS
from purport.features.parts import WHOLE_TEXT, Part, RaggedCodes
from purport.features.step_windows import StepWindows
from purport.features.texts import CHANGES, Texts, characters_of, grams_of
from purport.features.times import HOURS, gaps, hours, times_of
from purport.records.named_values import NamedValues

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.records.sessions import Sessions


TYPED_FEATURES = re.compile(r"text(\[-?\d+\])?=")
"""The features that are what somebody typed, word for word."""

OF_TEXTS = re.compile(r"(text|word|characters|added|kept|dropped)(\[-?\d+\])?=")
"""The features that hold something of what somebody typed."""

_OF_NEIGHBOURS = re.compile(r"(?:(text|word|characters)\[-?\d+\]|dropped)=")


def own_feature(name: str) -> str:
    """Return the feature that a text's own step has, of one that may be a neighbour's.

    Examples
    --------
    >>> own_feature("word[-1]=flights"), own_feature("dropped=cheap"), own_feature("kept=rome")
    ('word=flights', 'word=cheap', 'kept=rome')
    """
    told = _OF_NEIGHBOURS.match(name)
    return name if told is None else f"{told[1] or 'word'}={name[told.end() :]}"


class SessionWindows(StepWindows):
    """What a step of a session says, alone, beside its neighbours and in its place.

    Parameters
    ----------
    window : (first, last)
        The offsets of the steps whose texts, named features and clicks are features of a step:
        ``(-1, 0)`` takes the step and the one before it. With a last offset of 0 nothing that comes
        later is looked at, so that a step keeps its features while its session goes on. A window
        that looks ahead, as ``(-1, 1)``, also tells how many steps are left, and is for sessions
        that have ended.
    words : (first, last) or None
        How many words in a row are one feature, from the fewest to the most.
    characters : (first, last) or None
        The same of characters, spaces at both ends of the text included; for languages that put no
        spaces between words, and for misspellings.
    text : bool
        The whole text as one feature.
    change : bool
        How the words differ from those of the step before: as a whole ("same", "wider" when some
        were dropped, "narrower" when some were added, "other" when both, "new" when none was kept),
        and which were added, kept and dropped.
    features : bool
        Named features: words and truths as they are, numbers as `bins` says.
    bins : int or None
        In how many bins the numbers of a name are cut, about equally many in each. None keeps them
        as numbers, divided by the median of their sizes.
    clicks : bool
        Which results were clicked, and how many.
    position : bool
        How many steps came before; with a window that looks ahead, also how many are left.
    gaps : bool
        How long ago the step before was; with a window that looks ahead, also how soon the next is.
    hours : bool
        The hour of the day, in UTC.
    bias : bool
        One feature that every step has.
    lowercase : bool
        Texts without regard to capitals.
    min_count : int
        A feature that training shows less often is left out.
    hash_bits : int or None
        Hash features into 2 to the power of this many columns and keep no vocabulary: any feature
        then has a column, which it may share, `min_count` must be 1, and more data need no new
        fit. None gives each feature a column of its own.

    Attributes
    ----------
    columns_ : list of PartColumns
        The columns of each part; empty when features are hashed.
    scales_ : NumberScales
        How numbers are cut or scaled.

    Examples
    --------
    >>> from purport.records.sessions import Sessions
    >>> log = Sessions.from_lists([["cheap flights", "flights"], ["jazz"]])
    >>> windows = SessionWindows(words=(1, 1), text=False, gaps=False, position=False)
    >>> rows = windows.fit_transform(log)
    >>> windows.strings(log)[0][1]
    ['bias', 'word[-1]=cheap', 'word[-1]=flights', 'word=flights', 'change=wider', 'kept=flights',
     'dropped=cheap']
    >>> rows.positions, rows.unique, rows.width
    (3, 3, 9)
    """

    _constraints: ClassVar[Mapping[str, Constraint]] = {
        "window": Span(),
        "words": optional(Span(low=1)),
        "characters": optional(Span(low=1)),
        "text": BOOLEAN,
        "change": BOOLEAN,
        "features": BOOLEAN,
        "bins": optional(Whole(2)),
        "clicks": BOOLEAN,
        "position": BOOLEAN,
        "gaps": BOOLEAN,
        "hours": BOOLEAN,
        "bias": BOOLEAN,
        "lowercase": BOOLEAN,
        "min_count": Whole(1),
        "hash_bits": optional(Whole(1, MOST_BITS)),
    }

    def __init__(
        self,
        window: tuple[int, int] = (-1, 0),
        words: tuple[int, int] | None = (1, 2),
        characters: tuple[int, int] | None = None,
        text: bool = True,
        change: bool = True,
        features: bool = True,
        bins: int | None = 4,
        clicks: bool = True,
        position: bool = True,
        gaps: bool = True,
        hours: bool = False,
        bias: bool = True,
        lowercase: bool = True,
        min_count: int = 1,
        hash_bits: int | None = None,
    ) -> None:
        self.window = window
        self.words = words
        self.characters = characters
        self.text = text
        self.change = change
        self.features = features
        self.bins = bins
        self.clicks = clicks
        self.position = position
        self.gaps = gaps
        self.hours = hours
        self.bias = bias
        self.lowercase = lowercase
        self.min_count = min_count
        self.hash_bits = hash_bits

    @property
    def _bins(self) -> int | None:
        return self.bins

    @property
    def _ahead(self) -> bool:
        return self.window[1] > 0

    def _parts(self, records: Sessions) -> list[Part]:
        parts = self._text_parts(records)
        if self.features:
            positions = int(records.offsets[-1])
            named = records.named or NamedValues.empty(positions)
            parts += [_words_of(named, self.window), _numbers_of(named, self.window)]
        if self.clicks:
            parts += _click_parts(records, self.window)
        if self.position:
            parts += self._position_parts(records.offsets)
        if self.gaps:
            since, until = gaps(records)
            parts.append(Part.single("gap", since, BUCKETS))
            if self._ahead:
                parts.append(Part.single("next_gap", until, BUCKETS))
        if self.hours:
            parts.append(Part.single("hour", hours(times_of(records)), HOURS))
        return parts

    def _text_parts(self, records: Sessions) -> list[Part]:
        texts = Texts(records, self.lowercase)
        parts = []
        ways: list[tuple[str, tuple[int, int] | None, Callable[..., list[str]]]] = [
            ("word", self.words, grams_of),
            ("characters", self.characters, characters_of),
        ]
        for name, lengths, pieces_of in ways:
            if lengths is not None:
                table = RaggedCodes.of([pieces_of(text, *lengths) for text in texts.strings])
                parts.append(Part.of_sets(name, texts.codes, table, self.window))
        if self.text:
            parts.append(Part.single(WHOLE_TEXT, texts.codes, texts.strings, self.window))
        if self.change:
            kind, added, kept, dropped = texts.changes()
            parts.append(Part.single("change", kind, CHANGES))
            for name, (sets, table) in {"added": added, "kept": kept, "dropped": dropped}.items():
                parts.append(Part.of_sets(name, sets, table))
        return parts

    def _position_parts(self, offsets: NDArray[np.int64]) -> list[Part]:
        lengths = np.diff(offsets)
        before = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        parts = [Part.single("before", doubling(before.astype(np.float64)), BUCKETS)]
        if self._ahead:
            left = np.repeat(lengths, lengths) - 1 - before
            parts.append(Part.single("left", doubling(left.astype(np.float64)), BUCKETS))
        return parts


def _click_parts(records: Sessions, window: tuple[int, int]) -> list[Part]:
    clicked, known = records.clicked, records.clicks_known
    if clicked is None or known is None:
        nothing = np.full(int(records.offsets[-1]), -1, np.int32)
        return [Part.single(name, nothing, [], window) for name in ("clicked", "clicks")]
    counts = doubling(np.diff(clicked.offsets).astype(np.float64))
    return [
        Part("clicked", window, clicked.offsets, clicked.codes, clicked.vocabulary),
        Part.single("clicks", np.where(known, counts, -1).astype(np.int32), BUCKETS, window),
    ]


def _words_of(named: NamedValues, window: tuple[int, int]) -> Part:
    """Return the named features that are words or truths."""
    strings = [
        f"{name}:{written}"
        for name, word in named.features
        for written in (("false", "true") if word is None else (word, word))
    ]
    chosen = _is_word(named) | named.truths
    codes = named.codes * 2 + (named.values != 0.0)
    return _some("feature", window, named, chosen, codes.astype(np.int32), strings)


def _numbers_of(named: NamedValues, window: tuple[int, int]) -> Part:
    """Return the named features that are numbers."""
    chosen = ~(_is_word(named) | named.truths)
    names = [name for name, _ in named.features]
    part = _some("feature", window, named, chosen, named.codes, names)
    return replace(part, numbers=named.values[chosen])


def _is_word(named: NamedValues) -> NDArray[np.bool_]:
    words = np.array([word is not None for _, word in named.features], np.bool_)
    return words[named.codes]


def _some(
    name: str,
    window: tuple[int, int],
    named: NamedValues,
    chosen: NDArray[np.bool_],
    codes: NDArray[np.int32],
    strings: Sequence[str],
) -> Part:
    starts = np.append(0, np.cumsum(chosen))[named.offsets]
    return Part(name, window, starts, codes[chosen], strings)
