"""What a sequence model learns from: rows, what is known of their labels, and their weights."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from purport.errors import InputError, PurportWarning
from purport.features.encoders import Encoder
from purport.features.rows import Rows
from purport.records.columns import positions_of
from purport.sequence.inputs import Form
from purport.sequence.labels import LabelCodes
from purport.sequence.partitions import select_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Given:
    """What there is to learn from.

    Attributes
    ----------
    rows : Rows
        The features.
    coded : LabelCodes
        What is known of the labels.
    weights : (N,) float64
        How often each sequence counts.
    encoder : Encoder
        Made the rows.
    form : str
        Of what the rows were made from.
    """

    rows: Rows
    coded: LabelCodes
    weights: NDArray[np.float64]
    encoder: Encoder
    form: Form

    def counts(self) -> dict[str, int]:
        """Return how much there is."""
        return {
            "sequences": len(self.rows),
            "positions": self.rows.positions,
            "known_labels": int(np.count_nonzero(self.coded.fixed)),
        }

    def take(self, sequences: NDArray[np.int64]) -> Given:
        """Return some of the sequences."""
        positions, offsets = positions_of(sequences, self.rows.offsets)
        rows = select_rows(self.rows, self.rows.index[positions], offsets)
        weights = self.weights[sequences]
        return Given(rows, self.coded.take(positions, offsets), weights, self.encoder, self.form)


def check_enough(owner: str, given: Given) -> None:
    """Refuse what nothing can be learnt from; warn where only one label is."""
    classes = given.coded.classes
    if len(given.weights) and not given.weights.any():
        raise InputError(
            f"{owner}.fit: every weight in sample_weight is zero; nothing is left to learn."
        )
    if not given.rows.positions:
        raise InputError(f"{owner}.fit needs at least one position; X has none.")
    if not classes or not given.coded.told.any():
        raise InputError(f"{owner}.fit needs at least one known label; all of y is None.")
    if len(classes) == 1:
        warnings.warn(
            f"All known labels are {classes[0]!r}: the model will predict nothing else.",
            PurportWarning,
            stacklevel=3,
        )
