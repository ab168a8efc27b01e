"""Going through more data than memory holds: once for columns and labels, then for weights."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from purport.errors import InputError
from purport.estimator.base import Estimator
from purport.estimator.progress import Verbosity, progress
from purport.features.encoders import Encoder
from purport.sequence.inputs import (
    RECORDS,
    Form,
    form_of,
    given_labels,
    make_encoder,
    prepared,
)

Batch = tuple[Any, Any]


@dataclass(frozen=True)
class Columns:
    """What the first look at the data taught.

    Attributes
    ----------
    encoder : Encoder
        Knows the columns.
    form : str
        Of the batches.
    classes : list
        The labels, sorted.
    counts : dict
        Sequences, positions, known labels.
    """

    encoder: Encoder
    form: Form
    classes: list[Any]
    counts: dict[str, int]


@dataclass
class Passes:
    """Batches that can be read again and again.

    Attributes
    ----------
    read : callable
        Gives them anew.
    passes : int
        How often the weights go through them.
    classes : list or None
        The labels; None takes those that occur.
    seconds : float
        Since the beginning, as of the end of the last pass.
    """

    read: Callable[[], Iterable[Any]]
    passes: int
    classes: Sequence[Any] | None = None
    seconds: float = 0.0
    _began: float = field(default_factory=time.perf_counter)

    def batches(self) -> Iterator[Batch]:
        """Yield the batches as pairs of X and y; records bring their labels, if they have any."""
        for batch in self.read():
            X, y = batch if isinstance(batch, tuple) and len(batch) == 2 else (batch, None)
            form = form_of(X)
            if form != "rows":
                if not len(X):
                    continue
                if y is None and form in RECORDS:
                    y = X.known_labels or [None] * len(X)
                y = given_labels("CRF", X, y)
            yield X, y

    def learn_columns(self, features: Estimator | None) -> Columns:
        """Learn the columns and the labels from all batches."""
        batches = self.batches()
        first = next(batches, None)
        if first is None:
            raise InputError("CRF.fit_batches: read() gave no batches with anything in them.")
        form = form_of(first[0])
        if form == "rows":
            raise InputError(
                "CRF.fit_batches takes records or lists of sequences. Rows of numbers: partial_fit."
            )
        encoder = make_encoder("CRF", first[0], features)
        labels: set[str] = set()
        counts = {"sequences": 0, "positions": 0, "known_labels": 0}

        def each() -> Iterator[Any]:
            for X, y in _again(first, batches):
                if form_of(X) != form:
                    raise InputError("CRF.fit_batches: the batches must all be of one form.")
                _count_labels(y, labels, counts)
                yield prepared("CRF", X, None)

        encoder.learn(each())
        classes = sorted(labels) if self.classes is None else list(self.classes)
        if not labels:
            raise InputError("CRF.fit_batches needs at least one known label; there is none.")
        return Columns(encoder, form, classes, counts)

    def repeat(self, sequences: int, verbose: Verbosity) -> Iterator[tuple[int, Iterator[Batch]]]:
        """Yield the number of each pass, from 1, with its batches: of as many sequences each."""
        with progress("CRF.fit_batches", self.passes, verbose) as shown:
            for number in range(1, self.passes + 1):
                yield number, self._timed(sequences)
                shown.advance(number, "")

    def _timed(self, sequences: int) -> Iterator[Batch]:
        seen = 0
        for X, y in self.batches():
            seen += len(X)
            yield X, y
        if seen != sequences:
            raise InputError(
                f"CRF.fit_batches: read() gave other data when it was called again: {seen}"
                f" sequences, {sequences} the first time. It must make the batches anew each time"
                " it is called."
            )
        self.seconds = time.perf_counter() - self._began


def reader_of(read: Any) -> Callable[[], Iterable[Any]]:
    """Return what gives the batches anew; a list of them does so by itself.

    Examples
    --------
    >>> reader_of(["one", "two"])()
    ['one', 'two']
    """
    if callable(read):
        return read  # type: ignore[no-any-return]
    if isinstance(read, list):
        return lambda: read
    raise InputError(
        "CRF.fit_batches: read must be a function that makes the batches anew each time it is"
        f" called, or a list of batches; got {type(read).__name__}."
    )


def _again(first: Batch, others: Iterator[Batch]) -> Iterator[Batch]:
    yield first
    yield from others


def _count_labels(y: Any, labels: set[str], counts: dict[str, int]) -> None:
    counts["sequences"] += len(y)
    for sequence in y:
        if sequence is None:
            continue
        counts["positions"] += len(sequence)
        for label in sequence:
            if isinstance(label, str | np.str_):
                labels.add(str(label))
                counts["known_labels"] += 1
            elif label is not None:
                labels.update(map(str, label))
