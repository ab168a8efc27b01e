"""What can be said of a word, and the templates that say it of the words around a position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

BEGIN = "<s>"
END = "</s>"
"""How names of features write the places before and after a sentence."""


@dataclass(frozen=True)
class Template:
    """One family of columns: an attribute of the words at some offsets from the position.

    Attributes
    ----------
    name : str
        What stands before the "=" in the names of its columns.
    attribute : str
        Which attribute of the words, a key of `attributes`.
    offsets : tuple of int
        Where the words stand, seen from the position. Their attributes make one column together; no
        offsets at all make the one column that every position has.
    bag : bool
        True: each offset for itself, all into the same columns, and nothing beyond the sentence.
    of_places : bool
        True: the attribute is one of places in a sentence, not of words; it may have no value, and
        has none beyond the sentence.
    """

    name: str
    attribute: str = "word"
    offsets: tuple[int, ...] = ()
    bag: bool = False
    of_places: bool = False

    @classmethod
    def joined(cls, offsets: Sequence[int]) -> Template:
        """Return the template of the words at some offsets together.

        Examples
        --------
        >>> Template.joined((-1, 0)).name
        'w[-1]|w[0]'
        """
        name = "|".join(f"w[{offset}]" for offset in offsets)
        return cls(name, "word", tuple(offsets))

    @classmethod
    def single(cls, attribute: str, offset: int, of_places: bool = False) -> Template:
        """Return the template of an attribute of the word at one offset.

        Examples
        --------
        >>> Template.single("prefix3", 0).name, Template.single("prefix3", 1).name
        ('prefix3', 'prefix3[1]')
        """
        name = f"{attribute}[{offset}]" if offset else attribute
        return cls(name, attribute, (offset,), of_places=of_places)

    def spell(self, values: Sequence[str | None], position: int, marks: bool) -> list[str]:
        """Write the features of one position, given the attribute of each word of its sentence.

        Examples
        --------
        >>> Template.joined((-1, 0)).spell(["san", "jose"], 0, marks=True)
        ['w[-1]|w[0]=<s>|san']
        """
        if not self.offsets:
            return [self.name]
        inside = [0 <= position + offset < len(values) for offset in self.offsets]
        found = [
            values[position + offset] if known else BEGIN if offset < 0 else END
            for offset, known in zip(self.offsets, inside, strict=True)
        ]
        if self.bag:
            return [
                f"{self.name}={value}" for value, known in zip(found, inside, strict=True) if known
            ]
        written = [value for value in found if value is not None]
        if len(written) < len(found) or not (all(inside) or (marks and not self.of_places)):
            return []
        return [f"{self.name}={'|'.join(written)}"]


def attributes(
    prefixes: Sequence[int] = (),
    suffixes: Sequence[int] = (),
    shapes: bool = False,
    digits: bool = False,
    lengths: bool = False,
    lowercase: bool = False,
) -> dict[str, Callable[[str], str]]:
    """Return what is asked for by name, each a function of the word as written; always "word".

    Examples
    --------
    >>> asked = attributes(prefixes=(2,), shapes=True, lowercase=True)
    >>> {name: of("San") for name, of in asked.items()}
    {'word': 'san', 'prefix2': 'sa', 'shape': 'Xx'}
    """
    read: Callable[[str], str] = str.lower if lowercase else str
    asked: dict[str, Callable[[str], str]] = {"word": read}
    for length in prefixes:
        asked[f"prefix{length}"] = _piece(read, slice(None, length))
    for length in suffixes:
        asked[f"suffix{length}"] = _piece(read, slice(-length, None))
    if shapes:
        asked["shape"] = shape
    if digits:
        asked["digit"] = lambda word: "yes" if any(map(str.isdigit, word)) else "no"
    if lengths:
        asked["length"] = lambda word: str(len(word))
    return asked


def _piece(read: Callable[[str], str], place: slice) -> Callable[[str], str]:
    return lambda word: read(word)[place]


def shape(word: str) -> str:
    """Return the pattern of a word: X, x, 0, - for capital, letter, digit, other; runs as one.

    Examples
    --------
    >>> shape("McCoy"), shape("B747-400"), shape("o'clock")
    ('XxXx', 'X0-0', 'x-x')
    """
    return "".join(mark for mark, _ in groupby(map(_mark, word)))


def _mark(character: str) -> str:
    if character.isdigit():
        return "0"
    if character.isalpha():
        return "X" if character.isupper() else "x"
    return "-"
