"""How sure a model was at each position: what is kept of its marginals, four numbers a position.

Marginals of many sequences are large (positions times labels), so a caller may give them piece by
piece and join what is kept. Symbols: N sequences, P positions whose gold label is known, L labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.errors import InputError, ShapeError
from purport.measure.counts import Labels, paired

if TYPE_CHECKING:
    from numpy.typing import NDArray

Marginals = Sequence[Any]
"""A (T, L) array or a list of {label: probability} a sequence."""


@dataclass(frozen=True, eq=False)
class Sureness:
    """What a model thought of the label it gave and of the gold one.

    Attributes
    ----------
    sequences : int
        N.
    sequence, position : (P,) int64
        Where.
    given, gold : (P,) float64
        The probability of the label that was given, and of the gold one; 0 if it has none.
    right : (P,) bool
        Whether the label that was given is the gold one.
    squares : (P,) float64
        The sum over labels of (probability - 1 if the label is gold else 0) squared.
    met : (P,) bool
        Whether the gold label is among those that the marginals are of.
    unknown : int
        Positions without a gold label, which were left out.

    Examples
    --------
    >>> told = Sureness.of([["x", None]], [[{"x": 0.75, "y": 0.25}, {"x": 1.0}]])
    >>> told.given.tolist(), told.squares.tolist(), told.unknown
    ([0.75], [0.125], 1)
    """

    sequences: int
    sequence: NDArray[np.int64]
    position: NDArray[np.int64]
    given: NDArray[np.float64]
    gold: NDArray[np.float64]
    right: NDArray[np.bool_]
    squares: NDArray[np.float64]
    met: NDArray[np.bool_]
    unknown: int

    @classmethod
    def of(
        cls,
        gold: Labels,
        marginals: Marginals,
        classes: Sequence[str] | None = None,
        predicted: Labels | None = None,
    ) -> Sureness:
        """Keep what is needed of some marginals.

        Parameters
        ----------
        gold : list of lists of str
            None where not known.
        marginals : list
            For each sequence a list of {label: probability}, as `predict_marginals` gives, or an
            array (T, L), as `predict_proba` gives.
        classes : list of str, optional
            The labels of the columns; needed for arrays.
        predicted : list of lists of str, optional
            The labels that were given; without it the most probable one at each position.
        """
        if len(marginals) != len(gold):
            raise ShapeError.lengths("marginals", len(marginals), "gold", len(gold))
        arrays, names = _as_arrays(marginals, classes)
        told: Labels = gold if predicted is None else predicted
        pairs = list(paired(gold, told))
        for number, labels, _ in pairs:
            if len(arrays[number]) != len(labels):
                raise ShapeError.lengths(
                    f"marginals[{number}]", len(arrays[number]), f"gold[{number}]", len(labels)
                )
        place: dict[str | None, int] = {name: column for column, name in enumerate(names)}
        lengths = np.array([len(labels) for _, labels, _ in pairs], np.int64)
        flat = [label for _, labels, _ in pairs for label in labels]
        known = np.array([label is not None for label in flat], np.bool_)
        table = np.concatenate(arrays)[known]
        columns = np.array([place.get(label, -1) for label in flat], np.int64)[known]
        if predicted is None:
            guesses = np.argmax(table, axis=1)
            right = guesses == columns
        else:
            said = [guess for _, _, labels in pairs for guess in labels]
            guesses = np.array([place.get(guess, -1) for guess in said], np.int64)[known]
            right = np.array([a == b for a, b in zip(flat, said, strict=True)], np.bool_)[known]
        probability = _picked(table, columns)
        return cls(
            len(gold),
            np.repeat(np.arange(len(gold)), lengths)[known],
            (np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths))[known],
            _picked(table, guesses),
            probability,
            right,
            # Expanded, so that no second table is made.
            np.einsum("pl,pl->p", table, table) - 2 * probability + 1,
            columns >= 0,
            int((~known).sum()),
        )

    @classmethod
    def joined(cls, parts: Sequence[Sureness]) -> Sureness:
        """Put the sequences of several pieces one after the other.

        Examples
        --------
        >>> part = Sureness.of([["x"]], [[{"x": 1.0}]])
        >>> Sureness.joined([part, part]).sequence.tolist()
        [0, 1]
        """
        before = np.cumsum([0, *(part.sequences for part in parts)])

        def column(name: str) -> NDArray[Any]:
            return np.concatenate([getattr(part, name) for part in parts])

        return cls(
            int(before[-1]),
            np.concatenate(
                [part.sequence + first for part, first in zip(parts, before[:-1], strict=True)]
            ),
            column("position"),
            column("given"),
            column("gold"),
            column("right"),
            column("squares"),
            column("met"),
            sum(part.unknown for part in parts),
        )


def _as_arrays(
    marginals: Marginals, classes: Sequence[str] | None
) -> tuple[list[NDArray[np.float64]], list[str]]:
    if classes is not None:
        names = [str(name) for name in classes]
        arrays = [np.asarray(table, np.float64) for table in marginals]
        for number, table in enumerate(arrays):
            if table.ndim != 2 or table.shape[1] != len(names):
                raise InputError(
                    f"marginals[{number}] must be an array of {len(names)} columns, one a class;"
                    f" its shape is {table.shape}."
                )
        return arrays, names
    for number, sequence in enumerate(marginals):
        if not all(isinstance(position, Mapping) for position in sequence):
            raise InputError(
                f"marginals[{number}] must be a list of {{label: probability}}. Give arrays"
                " together with classes=, the labels of their columns."
            )
    names = sorted({name for sequence in marginals for position in sequence for name in position})
    return [
        np.array(
            [[position.get(name, 0.0) for name in names] for position in sequence], np.float64
        ).reshape(len(sequence), len(names))
        for sequence in marginals
    ], names


def _picked(table: NDArray[np.float64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return one column of each row, 0 where it is -1."""
    if not table.shape[1]:
        return np.zeros(len(table))
    picked: NDArray[np.float64] = table[np.arange(len(table)), columns]
    picked[columns < 0] = 0.0
    return picked
