"""Parameter constraints as data, and the one validator that reads them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol

from purport.errors import ParameterError


class Constraint(Protocol):
    """Something that knows which values are allowed, and can say so in words."""

    def allows(self, value: object) -> bool:
        """Tell whether the value is allowed."""

    def words(self) -> str:
        """Say in words what is allowed."""


@dataclass(frozen=True)
class Number:
    """A real number between two bounds, `low` included unless `above` is set."""

    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    below: bool = False

    def allows(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, Real) or math.isnan(value):
            return False
        number = float(value)
        low = number > self.low if self.above else number >= self.low
        high = number < self.high if self.below else number <= self.high
        return bool(low and high)

    def words(self) -> str:
        return f"a number{_bounds(self.low, self.high, self.above, self.below)}"


@dataclass(frozen=True)
class Whole:
    """An integer between two bounds, both included."""

    low: float = -math.inf
    high: float = math.inf

    def allows(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, Integral):
            return False
        return bool(self.low <= int(value) <= self.high)

    def words(self) -> str:
        return f"a whole number{_bounds(self.low, self.high, above=False, below=False)}"


@dataclass(frozen=True)
class OneOf:
    """One of a few values; the type must agree too, so that 1 is not True."""

    values: tuple[object, ...]

    def allows(self, value: object) -> bool:
        return any(type(value) is type(other) and value == other for other in self.values)

    def words(self) -> str:
        return " or ".join(repr(value) for value in self.values)


@dataclass(frozen=True)
class Instance:
    """An object of one of the given types; `described` is how a message names them."""

    types: tuple[type, ...]
    described: str

    def allows(self, value: object) -> bool:
        return isinstance(value, self.types)

    def words(self) -> str:
        return self.described


@dataclass(frozen=True)
class Either:
    """Anything that one of several constraints allows."""

    choices: tuple[Constraint, ...]

    def allows(self, value: object) -> bool:
        return any(choice.allows(value) for choice in self.choices)

    def words(self) -> str:
        return " or ".join(choice.words() for choice in self.choices)


@dataclass(frozen=True)
class Several:
    """A tuple or list of at least `least` different items, each of which keeps a constraint."""

    each: Constraint
    least: int = 0

    def allows(self, value: object) -> bool:
        if not isinstance(value, tuple | list) or len(value) < self.least:
            return False
        if not all(self.each.allows(item) for item in value):
            return False
        return all(item not in value[:place] for place, item in enumerate(value))

    def words(self) -> str:
        least = f" of at least {self.least} items" if self.least else ""
        return f"a tuple{least} of different items, each {self.each.words()}"


@dataclass(frozen=True)
class Span:
    """The first and the last of some whole numbers, both included, none below `low`."""

    low: float = -math.inf

    def allows(self, value: object) -> bool:
        if not isinstance(value, tuple | list) or len(value) != 2:
            return False
        return all(Whole(self.low).allows(end) for end in value) and bool(value[0] <= value[1])

    def words(self) -> str:
        least = "" if self.low == -math.inf else f" of at least {self.low:g}"
        return f"two whole numbers{least} (first, last), the first not above the last"


@dataclass(frozen=True)
class Named:
    """A dict that gives names something that keeps a constraint."""

    each: Constraint

    def allows(self, value: object) -> bool:
        if not isinstance(value, dict):
            return False
        return all(isinstance(name, str) and self.each.allows(item) for name, item in value.items())

    def words(self) -> str:
        return f"a dict that gives each name {self.each.words()}"


@dataclass(frozen=True)
class ByKey:
    """A dict whose values, whatever their keys, each keep a constraint."""

    each: Constraint

    def allows(self, value: object) -> bool:
        return isinstance(value, dict) and all(map(self.each.allows, value.values()))

    def words(self) -> str:
        return f"a dict whose values are each {self.each.words()}"


@dataclass(frozen=True)
class Phrases:
    """A list or tuple of strings, each with something else than spaces in it."""

    def allows(self, value: object) -> bool:
        if not isinstance(value, tuple | list):
            return False
        return all(isinstance(phrase, str) and phrase.split() for phrase in value)

    def words(self) -> str:
        return "a list of phrases, each a string with at least one word"


@dataclass(frozen=True)
class Pattern:
    """A regular expression as Python writes it."""

    def allows(self, value: object) -> bool:
        try:
            return isinstance(value, str) and bool(re.compile(value))
        except (re.error, OverflowError, RecursionError):
            return False

    def words(self) -> str:
        return "a regular expression"


BOOLEAN = OneOf((True, False))
NOTHING = OneOf((None,))


def optional(constraint: Constraint) -> Either:
    """Allow None beside what the constraint allows."""
    return Either((constraint, NOTHING))


def check_parameters(
    owner: str, parameters: Mapping[str, Any], constraints: Mapping[str, Constraint]
) -> None:
    """Raise `ParameterError` for the first parameter that breaks its constraint."""
    for name, constraint in constraints.items():
        if not constraint.allows(parameters[name]):
            given = parameters[name]
            if isinstance(given, dict):
                # What stands in it may be phrases of users.
                given = _Unquoted(f"a dict of {len(given)}, in which not all is so")
            raise ParameterError.for_value(owner, name, given, constraint.words())


class _Unquoted(str):
    """What a message says instead of a value."""

    def __repr__(self) -> str:
        return str(self)


def _bounds(low: float, high: float, above: bool, below: bool) -> str:
    parts = []
    if low != -math.inf:
        parts.append(f"{'above' if above else 'at least'} {low:g}")
    if high != math.inf:
        parts.append(f"{'below' if below else 'at most'} {high:g}")
    return " " + " and ".join(parts) if parts else ""
