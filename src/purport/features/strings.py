"""Feature strings and dicts, as sklearn-crfsuite takes them, into rows.

What a feature means is what it means to python-crfsuite::

    "bias"                  the column "bias", value 1
    {"bias": True}          the same; False gives value 0
    {"length": 2.5}         the column "length", value 2.5
    {"word": "san"}         the column "word:san", value 1
    {"tags": ["a", "b"]}    the columns "tags:a" and "tags:b", value 1; a set likewise
    {"next": {...}}         the columns of the inner dict, each with "next:" before its name

A feature that a position has twice counts twice.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from numbers import Number
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from purport.errors import InputError
from purport.estimator.base import Estimator, State
from purport.features.rows import Rows
from purport.features.unique import unique_rows
from purport.features.vocabulary import UNSEEN, Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

Position = Collection[str] | Mapping[str, Any]
Entries = tuple["NDArray[np.int32]", "NDArray[np.int64]", "NDArray[np.float64] | None"]
"""Columns of all positions, where each position starts in them, values or None when all are 1."""


class FeatureStrings(Estimator):
    """Rows from sequences whose positions are lists of feature strings or dicts.

    Attributes
    ----------
    vocabulary_ : Vocabulary
        The features learnt; a feature's number is its column.

    Examples
    --------
    >>> encoder = FeatureStrings()
    >>> rows = encoder.fit_transform([[["bias", "word:to"], {"bias": True, "word": "san"}]])
    >>> encoder.feature_names()
    ['bias', 'word:to', 'word:san']
    >>> rows.matrix().toarray()
    array([[1., 1., 0.],
           [1., 0., 1.]])
    >>> encoder.transform([[["bias", "word:jose"]]]).unseen
    1
    """

    vocabulary_: Vocabulary

    def __init__(self) -> None:
        pass

    def fit(self, X: Iterable[Iterable[Position]]) -> Self:
        """Learn the features of sequences.

        Examples
        --------
        >>> FeatureStrings().fit([[["a"], ["b"]]]).feature_names()
        ['a', 'b']
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Iterable[Iterable[Position]]) -> Rows:
        """Learn the features of sequences and return the rows of their positions.

        Parameters
        ----------
        X : list of sequences
            A sequence is a list of positions; a position is a list of strings or a dict.

        Examples
        --------
        >>> FeatureStrings().fit_transform([[["a"], ["b"], ["a"]], []]).index.tolist()
        [0, 1, 0]
        """
        vocabulary = Vocabulary()
        rows = _encode(X, vocabulary, grow=True)
        self.vocabulary_ = vocabulary
        return rows

    def learn(self, batches: Iterable[Iterable[Iterable[Position]]]) -> Self:
        """Learn the features of batches of sequences, as `fit` does from all of them at once.

        Examples
        --------
        >>> FeatureStrings().learn([[[["a"]]], [[["b"], ["a"]]]]).feature_names()
        ['a', 'b']
        """
        vocabulary = Vocabulary()
        for X in batches:
            _encode(X, vocabulary, grow=True)
        self.vocabulary_ = vocabulary
        return self

    def transform(self, X: Iterable[Iterable[Position]]) -> Rows:
        """Return the rows of positions; features never seen in `fit` are left out and counted.

        Examples
        --------
        >>> encoder = FeatureStrings().fit([[["a"], ["b"]]])
        >>> encoder.transform([[["b", "c"]]]).columns.tolist()
        [1]
        """
        self._check_fitted()
        return _encode(X, self.vocabulary_, grow=False)

    @property
    def width(self) -> int:
        """How many columns there are."""
        self._check_fitted()
        return len(self.vocabulary_)

    def feature_names(self) -> list[str]:
        """Return the feature of each column.

        Examples
        --------
        >>> FeatureStrings().fit([[{"word": "san"}]]).feature_names()
        ['word:san']
        """
        self._check_fitted()
        return self.vocabulary_.strings()

    def _to_state(self) -> State:
        self._check_fitted()
        return State().join("vocabulary", State(self.vocabulary_.to_arrays()))

    def _restore(self, state: State) -> None:
        self.vocabulary_ = Vocabulary.from_arrays(state.nested("vocabulary").arrays)


def _encode(X: Iterable[Iterable[Position]], vocabulary: Vocabulary, grow: bool) -> Rows:
    """Try the fast way for this type of positions; the careful one does the rest, or refuses."""
    sequences = _sequences(X)
    offsets = _starts(sequences)
    positions = list(chain.from_iterable(sequences))
    kinds = set(map(type, positions))
    encode = _encode_any
    if kinds <= {list, tuple}:
        encode = _encode_lists
    elif kinds == {dict}:
        encode = _encode_dicts
    try:
        try:
            entries = encode(positions, vocabulary, grow)
        except (TypeError, _RefusedError):
            # What the vocabulary has met so far comes first again, in the same order.
            entries = _encode_any(positions, vocabulary, grow)
    except _RefusedError as refused:
        sequence = int(np.searchsorted(offsets, refused.position, side="right")) - 1
        place = refused.position - int(offsets[sequence])
        raise InputError.at_position(sequence, place, refused.reason) from None
    columns, starts, values = entries
    unseen = int(np.count_nonzero(columns == UNSEEN))
    return unique_rows(columns, starts, values, len(vocabulary), offsets, unseen)


def _sequences(X: Iterable[Iterable[Position]]) -> Sequence[Sequence[Position]]:
    """Return the sequences as lists, refusing what is a sequence to Python only."""
    if isinstance(X, str | bytes | Mapping) or not isinstance(X, Iterable):
        raise InputError(f"X must be a list of sequences; got {type(X).__name__}.")
    sequences: list[Any] = list(X)
    if not set(map(type, sequences)) <= {list, tuple}:
        for number, sequence in enumerate(sequences):
            if isinstance(sequence, str | bytes | Mapping) or not isinstance(sequence, Iterable):
                raise InputError(
                    f"X[{number}] (sequence {number}) must be a list of positions, each a list of"
                    f" feature strings or a dict; got {type(sequence).__name__}."
                )
            sequences[number] = list(sequence)
    return sequences


def _starts(ragged: Sequence[Sequence[Any]]) -> NDArray[np.int64]:
    lengths = np.fromiter(map(len, ragged), np.int64, len(ragged))
    return np.append(0, np.cumsum(lengths))


def _number(
    vocabulary: Vocabulary, strings: Iterable[str], count: int, grow: bool
) -> NDArray[np.int32]:
    return vocabulary.learn(strings, count) if grow else vocabulary.lookup(strings, count)


def _encode_lists(positions: list[Any], vocabulary: Vocabulary, grow: bool) -> Entries:
    """Encode lists of strings without running Python code for each position."""
    starts = _starts(positions)
    columns = _number(vocabulary, chain.from_iterable(positions), int(starts[-1]), grow)
    return columns, starts, None


def _encode_dicts(positions: list[Any], vocabulary: Vocabulary, grow: bool) -> Entries:
    """Encode dicts of strings and numbers; Python code runs once for each different item."""
    starts = _starts(positions)
    pairs = _Pairs()
    items = chain.from_iterable(map(dict.items, positions))
    entries = np.fromiter(map(pairs.__getitem__, items), np.int32, int(starts[-1]))
    columns = _number(vocabulary, pairs.features, len(pairs.features), grow)
    return columns[entries], starts, np.array(pairs.weights)[entries]


class _Pairs(dict[tuple[Any, Any], int]):
    """Numbers pairs of name and value, and keeps the feature and the weight that each means."""

    def __init__(self) -> None:
        super().__init__()
        self.features: list[str] = []
        self.weights: list[float] = []

    def __missing__(self, pair: tuple[Any, Any]) -> int:
        meant = list(_features_of(*pair))
        if len(meant) != 1:
            raise TypeError("a tuple or frozen set stands for several features")
        number = self[pair] = len(self.features)
        self.features.append(meant[0][0])
        self.weights.append(meant[0][1])
        return number


def _encode_any(positions: list[Any], vocabulary: Vocabulary, grow: bool) -> Entries:
    """Encode one position after the other; knows at which one it fails."""
    features: list[str] = []
    weights: list[float] = []
    starts = np.zeros(len(positions) + 1, np.int64)
    for number, position in enumerate(positions):
        try:
            for feature, weight in _features_of_position(position):
                features.append(feature)
                weights.append(weight)
        except _RefusedError as refused:
            refused.position = number
            raise
        starts[number + 1] = len(features)
    return _number(vocabulary, features, len(features), grow), starts, np.array(weights)


def _features_of_position(position: Any) -> Iterator[tuple[str, float]]:
    if isinstance(position, Mapping):
        for name, value in position.items():
            yield from _features_of(name, value)
    elif isinstance(position, str | bytes):
        raise _RefusedError(
            "a position must be a list of feature strings or a dict, and this one is a plain"
            " string. Put the features of a position in a list of their own"
        )
    elif isinstance(position, Collection):
        for feature in _strings(position):
            yield feature, 1.0
    else:
        raise _RefusedError(
            "a position must be a list of feature strings or a dict, and this one is of type"
            f" {type(position).__name__}"
        )


def _features_of(name: Any, value: Any) -> Iterator[tuple[str, float]]:
    """Yield the features, with their weights, that one pair of a dict stands for."""
    if not isinstance(name, str):
        raise _RefusedError(
            f"the name of a feature must be a string, and one is {type(name).__name__}"
        )
    if isinstance(value, str):
        yield name + ":" + value, 1.0
    elif isinstance(value, Number | np.bool_):
        yield name, _weight(value)
    elif isinstance(value, Mapping):
        for inner, inner_value in value.items():
            for feature, weight in _features_of(inner, inner_value):
                yield name + ":" + feature, weight
    elif isinstance(value, Collection) and not isinstance(value, bytes):
        for inner in _strings(value):
            yield name + ":" + inner, 1.0
    else:
        raise _RefusedError(
            "the value of a feature must be True, False, a number, a string, or a list, set or"
            f" dict of those, and one is {type(value).__name__}"
        )


def _strings(features: Collection[Any]) -> Collection[str]:
    for feature in features:
        if not isinstance(feature, str):
            kind = type(feature).__name__
            raise _RefusedError(f"a feature in a list must be a string, and one is {kind}")
    # The order of a set changes from process to process, and must not decide the order of columns.
    return sorted(features) if isinstance(features, set | frozenset) else features


def _weight(value: Any) -> float:
    try:
        weight = float(value)
    except (OverflowError, ValueError):
        weight = math.nan
    except TypeError:
        kind = type(value).__name__
        raise _RefusedError(
            f"the value of a feature must be a real number, and one is {kind}"
        ) from None
    if not math.isfinite(weight):
        raise _RefusedError(
            "the value of a feature is NaN or infinite. Give a finite number or leave the"
            " feature out"
        )
    return weight


class _RefusedError(Exception):
    """Something in a position cannot be used; the place is added where it is known."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = -1
