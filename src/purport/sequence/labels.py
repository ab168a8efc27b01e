"""What is known of the labels: one label, some that are possible, shares of each, or nothing.

Symbols: N sequences, P positions of all sequences together, L labels, D different sets of labels.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from purport.errors import InputError, ShapeError
from purport.lattice.potentials import Clamp

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

UNKNOWN = -1

Label = str | Collection[str] | None
"""What may be said of a position: its label, those that it may have, or nothing."""

Labels = Sequence[Sequence[Label] | None]
Soft = Sequence["NDArray[np.float64] | None"]


class Possible(NamedTuple):
    """Which labels positions may have.

    Attributes
    ----------
    allowed : (D, L) bool
        The different sets of labels.
    set_of : (P,) int32
        The set of each position.
    """

    allowed: NDArray[np.bool_]
    set_of: NDArray[np.int32]

    def clamp(self) -> Clamp:
        """Return the clamp that leaves these labels, where states are labels."""
        return Clamp(np.where(self.allowed, 0.0, -np.inf), self.set_of)


@dataclass(frozen=True)
class LabelCodes:
    """What is known of the labels of all positions, one after the other, as numbers.

    Attributes
    ----------
    codes : (P,) int32
        Number of each label in `classes`, `UNKNOWN` where it is not known for sure.
    offsets : (N + 1,) int64
        Where each sequence starts.
    classes : list of str
        The labels, sorted unless they were given.
    unseen : int
        Positions whose label is not among given classes; they count as not known.
    set_of : (P,) int32 or None
        The row of `sets` of positions that may have several labels, `UNKNOWN` for the others; None
        if there are none.
    sets : (D, L) bool
        Which labels each set holds.
    shares_of : (P,) int32 or None
        The row of `shares` of positions whose labels are known in shares, `UNKNOWN` for the others.
    shares : (R, L) float64
        Shares of each label, 1 together.
    """

    codes: NDArray[np.int32]
    offsets: NDArray[np.int64]
    classes: list[Any]
    unseen: int = 0
    set_of: NDArray[np.int32] | None = None
    sets: NDArray[np.bool_] | None = None
    shares_of: NDArray[np.int32] | None = None
    shares: NDArray[np.float64] | None = None

    @cached_property
    def told(self) -> NDArray[np.bool_]:
        """Whether anything is known of each position (P,)."""
        told = self.fixed
        return told if self.set_of is None else np.logical_or(told, self.set_of != UNKNOWN)

    @cached_property
    def fixed(self) -> NDArray[np.bool_]:
        """Whether the label of each position is known, for sure or in shares (P,)."""
        fixed: NDArray[np.bool_] = self.codes != UNKNOWN
        if self.shares_of is not None:
            fixed = np.logical_or(fixed, self.shares_of != UNKNOWN)
        return fixed

    @cached_property
    def whole(self) -> NDArray[np.bool_]:
        """Whether the label of every position of each sequence is known, for sure or in shares."""
        return _every(self.fixed, self.offsets)

    @cached_property
    def informative(self) -> NDArray[np.bool_]:
        """Whether anything is known of each sequence (N,)."""
        return ~_every(~self.told, self.offsets)

    def take(self, positions: NDArray[np.int64] | slice, offsets: NDArray[np.int64]) -> LabelCodes:
        """Return what is known of some sequences, whose positions and new starts are given."""
        return LabelCodes(
            self.codes[positions],
            offsets,
            self.classes,
            0,
            None if self.set_of is None else self.set_of[positions],
            self.sets,
            None if self.shares_of is None else self.shares_of[positions],
            self.shares,
        )

    def join(self, codes: NDArray[np.int32], offsets: NDArray[np.int64]) -> LabelCodes:
        """Return what is known of these sequences followed by others with labels by number."""
        nothing = np.full(len(codes), UNKNOWN, np.int32)
        return LabelCodes(
            np.concatenate([self.codes, codes]),
            np.concatenate([self.offsets, self.offsets[-1] + offsets[1:]]),
            self.classes,
            self.unseen,
            None if self.set_of is None else np.concatenate([self.set_of, nothing]),
            self.sets,
            None if self.shares_of is None else np.concatenate([self.shares_of, nothing]),
            self.shares,
        )

    def shares_at(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the share of each label at positions (n, L); 1 for each label of a set."""
        found = np.zeros((len(positions), len(self.classes)))
        codes = self.codes[positions]
        known = np.flatnonzero(codes != UNKNOWN)
        found[known, codes[known]] = 1.0
        for rows_of, table in ((self.set_of, self.sets), (self.shares_of, self.shares)):
            if rows_of is not None and table is not None:
                rows = rows_of[positions]
                chosen = rows != UNKNOWN
                found[chosen] = table[rows[chosen]]
        return found

    def possible(self, positions: NDArray[np.int64] | slice) -> Possible:
        """Return which labels positions may have."""
        labels = len(self.classes)
        codes = self.codes[positions]
        index = np.where(codes == UNKNOWN, labels, codes)
        if self.set_of is not None:
            of = self.set_of[positions]
            index = np.where(of == UNKNOWN, index, labels + 1 + of)
        used, index = np.unique(index, return_inverse=True)
        allowed = np.ones((len(used), labels), np.bool_)
        allowed[used < labels] = used[used < labels, None] == np.arange(labels)
        if self.sets is not None:
            allowed[used > labels] = self.sets[used[used > labels] - labels - 1]
        return Possible(allowed, index.astype(np.int32))

    def clamp(self, positions: NDArray[np.int64] | slice) -> Clamp:
        """Return the clamp that leaves what is known of positions, where states are labels."""
        return self.possible(positions).clamp()


def _every(holds: NDArray[np.bool_], offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell of each sequence whether something holds at all its positions."""
    failed = np.concatenate([[0], np.cumsum(~holds)])
    every: NDArray[np.bool_] = failed[offsets[1:]] == failed[offsets[:-1]]
    return every


def encode_labels(
    y: Labels,
    offsets: NDArray[np.int64],
    classes: Sequence[str] | None = None,
    counts: NDArray[np.bool_] | None = None,
    name: str = "y",
) -> LabelCodes:
    """Return the numbers of labels, checked to fit the sequences.

    Parameters
    ----------
    y : list of lists of str
        One label a position, None where it is not known, or a set of those that it may have; None
        for a whole sequence of which nothing is known.
    offsets : (N + 1,) int64
        The sequences that the labels belong to.
    classes : list of str, optional
        The labels there are; None takes those that occur.
    counts : (N,) booleans, optional
        Which sequences count; the labels of the others are not known.
    name : str
        How messages call y.
    """
    filled = _filled(y, np.diff(offsets).tolist(), counts, name)
    flat: list[Any] = list(chain.from_iterable(filled))
    kinds = set(map(type, flat)) - {str, np.str_, type(None)}
    several = {kind for kind in kinds if issubclass(kind, set | frozenset | list | tuple)}
    if kinds - several:
        raise _no_strings(kinds - several, name)
    places: list[int] = []
    if several:
        flat, places = _sets_apart(flat, several, name)
    present = {str(label) for label in set(flat) if isinstance(label, str)}
    for place in places:
        present.update(map(str, flat[place]))
    known = sorted(present) if classes is None else list(classes)
    numbers: dict[Any, int] = {label: number for number, label in enumerate(known)}
    codes = np.fromiter((numbers.get(label, UNKNOWN) for label in flat), np.int32, count=len(flat))
    unseen = int(np.count_nonzero(codes == UNKNOWN)) - flat.count(None) - len(places)
    if not places:
        return LabelCodes(codes, offsets, known, unseen)
    return _with_sets(LabelCodes(codes, offsets, known, unseen), flat, places, numbers)


def _filled(
    y: Labels, lengths: list[int], counts: NDArray[np.bool_] | None, name: str
) -> list[Sequence[Any]]:
    if isinstance(y, str | bytes | Mapping) or not isinstance(y, Iterable):
        raise InputError(f"{name} must be a list of lists of labels; got {type(y).__name__}.")
    y = list(y)
    if len(y) != len(lengths):
        raise ShapeError.lengths(name, len(y), "X", len(lengths))
    filled: list[Sequence[Any]] = []
    for number, (labels, length) in enumerate(zip(y, lengths, strict=True)):
        if labels is None:
            filled.append([None] * length)
            continue
        if isinstance(labels, str | bytes | Mapping) or not isinstance(labels, Collection):
            kind = type(labels).__name__
            raise InputError(
                f"{name}[{number}] must be a list of labels, one a position; got {kind}."
            )
        if len(labels) != length:
            raise ShapeError.lengths(f"{name}[{number}]", len(labels), f"X[{number}]", length)
        filled.append(list(labels) if counts is None or counts[number] else [None] * length)
    return filled


def _no_strings(kinds: set[type], name: str) -> InputError:
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    return InputError(
        f"Labels must be strings, sets of those that are possible, or None where not known; {name}"
        f" holds {names}. Convert them with str()."
    )


def _sets_apart(flat: list[Any], several: set[type], name: str) -> tuple[list[Any], list[int]]:
    """Make sets of one kind out of collections of labels; a set of one label is that label."""
    places = []
    for place, label in enumerate(flat):
        if type(label) not in several:
            continue
        kinds = set(map(type, label)) - {str, np.str_}
        if kinds:
            raise _no_strings(kinds, name)
        if not label:
            raise InputError(
                f"{name} holds a position that may have no label at all, an empty set. Put None"
                " where nothing is known."
            )
        chosen = frozenset(map(str, label))
        if len(chosen) == 1:
            flat[place] = next(iter(chosen))
        else:
            flat[place] = chosen
            places.append(place)
    return flat, places


def _with_sets(
    coded: LabelCodes, flat: list[Any], places: list[int], numbers: Mapping[Any, int]
) -> LabelCodes:
    """Add the sets; one without any label of the model counts as not known."""
    rows: dict[frozenset[str], int] = {}
    set_of = np.full(len(flat), UNKNOWN, np.int32)
    unseen = coded.unseen
    for place in places:
        possible = frozenset(label for label in flat[place] if label in numbers)
        if possible:
            set_of[place] = rows.setdefault(possible, len(rows))
        else:
            unseen += 1
    sets = np.zeros((len(rows), len(coded.classes)), np.bool_)
    for possible, row in rows.items():
        sets[row, [numbers[label] for label in possible]] = True
    return LabelCodes(coded.codes, coded.offsets, coded.classes, unseen, set_of, sets)


def with_shares(coded: LabelCodes, soft: Soft) -> LabelCodes:
    """Put shares of labels in the place of what is known of some sequences.

    Parameters
    ----------
    coded : LabelCodes
        What is known of the others.
    soft : list of (T, L) arrays or None
        One a sequence, columns as `coded.classes`; None leaves the sequence as it is.
    """
    offsets, labels = coded.offsets, len(coded.classes)
    if isinstance(soft, str | bytes | Mapping) or not isinstance(soft, Iterable):
        raise InputError(f"soft must be a list of arrays; got {type(soft).__name__}.")
    soft = list(soft)
    if len(soft) != len(offsets) - 1:
        raise ShapeError.lengths("soft", len(soft), "X", len(offsets) - 1)
    codes = coded.codes.copy()
    set_of = None if coded.set_of is None else coded.set_of.copy()
    shares_of = np.full(len(codes), UNKNOWN, np.int32)
    parts: list[NDArray[np.float64]] = [np.zeros((0, labels))]
    count = 0
    for number, (given, (first, last)) in enumerate(
        zip(soft, pairwise(offsets.tolist()), strict=True)
    ):
        if given is None:
            continue
        parts.append(_checked_shares(given, number, (last - first, labels)))
        codes[first:last] = UNKNOWN
        if set_of is not None:
            set_of[first:last] = UNKNOWN
        shares_of[first:last] = np.arange(count, count + last - first)
        count += last - first
    return LabelCodes(
        codes, offsets, coded.classes, coded.unseen, set_of, coded.sets, shares_of,
        np.concatenate(parts),
    )  # fmt: skip


SUM_TO_ONE = 1e-3
"""Shares may be off by so much, as those that went through float32 are; they are then divided."""


def _checked_shares(given: Any, number: int, shape: tuple[int, int]) -> NDArray[np.float64]:
    name = f"soft[{number}]"
    try:
        shares = np.array(given, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be an array of numbers.") from None
    if shares.size == 0 and shape[0] == 0:
        return np.zeros(shape)
    if shares.shape != shape:
        raise InputError(
            f"{name} has the shape {shares.shape}; it must be {shape}: one row a position, one"
            " column for each label of classes_."
        )
    sums = shares.sum(axis=1, keepdims=True)
    if not (np.all(shares >= 0.0) and np.all(np.abs(sums - 1.0) <= SUM_TO_ONE)):
        raise InputError(
            f"The rows of {name} must be shares of labels: numbers at least 0 with the sum 1."
        )
    result: NDArray[np.float64] = shares / sums
    return result


class LabelLists(list[list[str]]):
    """A list of lists of labels that NumPy takes as one object a sequence.

    scikit-learn's ``cross_val_predict`` joins what `predict` gives by `np.concatenate`, which
    refuses ragged lists.
    """

    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> NDArray[np.object_]:
        return np.fromiter(self, object, count=len(self))


def cut_labels(
    codes: NDArray[np.int32], classes: Sequence[Any], offsets: NDArray[np.int64]
) -> LabelLists:
    """Return the labels of each sequence as lists."""
    flat = list(map(list(classes).__getitem__, codes.tolist()))
    return LabelLists(flat[first:last] for first, last in pairwise(offsets.tolist()))
