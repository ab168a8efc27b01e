"""What every sequence model that is trained says about new sequences: `SequenceLabeller`."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.errors import InputError, UnseenWarning
from purport.estimator.base import Estimator
from purport.features.encoders import Encoder
from purport.features.rows import Rows
from purport.fold.thread_engine import threads
from purport.sequence import decoding
from purport.sequence.inputs import (
    Form,
    LabelCodes,
    Labels,
    check_form,
    cut_labels,
    encode_labels,
    given_labels,
)
from purport.sequence.likelihood import Scores
from purport.sequence.partitions import UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.records.utterances import Utterances


log = logging.getLogger("purport")


class SequenceLabeller(Estimator):
    """A model of labelled sequences, as far as it does not matter how it was trained.

    A subclass learns `classes_`, keeps the form it was fitted on and the encoder that makes rows,
    and gives the scores of its chain, whose states are the labels.
    """

    n_threads: int | None
    classes_: NDArray[np.str_]
    _form: Form
    _encoder: Encoder

    @property
    def _owner(self) -> str:
        """How messages name the model."""
        return type(self).__name__

    def _scores(self) -> Scores:
        """Return the scores of the chain, made ready for the kernels."""
        raise TypeError(f"{type(self).__name__} has no scores")

    def predict(self, X: Any) -> list[list[str]]:
        """Return the most probable sequence of labels of each sequence.

        Features that the model has never met are left out; `count_unseen` says how many there are.

        Examples
        --------
        >>> from purport.sequence.crf import CRF
        >>> crf = CRF().fit([[["a"], ["b"]]], [["X", "Y"]])
        >>> crf.predict([[["b"], ["a"], ["never met"]], []])
        [['Y', 'X', 'Y'], []]
        """
        rows = self._rows(X)
        states = decoding.best_states(rows, self._scores(), threads(self.n_threads))
        return cut_labels(states, self.classes_.tolist(), rows)

    def predict_proba(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the probability of each label at each position.

        One array (T, L) a sequence, columns as `classes_`.

        Examples
        --------
        >>> from purport.sequence.crf import CRF
        >>> crf = CRF().fit([[["a"], ["b"]]], [["X", "Y"]])
        >>> crf.predict_proba([[["a"]]])[0].shape
        (1, 2)
        """
        rows = self._rows(X)
        found = decoding.posteriors(rows, self._scores(), threads(self.n_threads))
        return np.split(found, rows.offsets[1:-1]) if len(rows) else []

    def predict_marginals(self, X: Any) -> list[list[dict[str, float]]]:
        """Return the probability of each label at each position, as dicts.

        Examples
        --------
        >>> from purport.sequence.crf import CRF
        >>> crf = CRF().fit([[["a"], ["b"]]], [["X", "Y"]])
        >>> sorted(crf.predict_marginals([[["a"]]])[0][0])
        ['X', 'Y']
        """
        classes = self.classes_.tolist() if self._is_fitted() else []
        return [
            [dict(zip(classes, position, strict=True)) for position in sequence.tolist()]
            for sequence in self.predict_proba(X)
        ]

    def label(self, records: Utterances) -> Utterances:
        """Return the same records with their most probable labels, and how probable these are.

        Examples
        --------
        >>> from purport.records.utterances import Utterances
        >>> from purport.sequence.crf import CRF
        >>> talk = Utterances.from_lists([["play", "jazz"]], slots=[["O", "B-genre"]])
        >>> CRF().fit(talk).label(talk).labels
        [['O', 'B-genre']]
        """
        rows = self._rows(records)
        if self._form == "lists":
            raise InputError(
                f"{self._owner}.label takes records; this {self._owner} was fitted on lists. Use"
                " predict."
            )
        found = decoding.best_paths(rows, self._scores(), threads(self.n_threads))
        labels = cut_labels(found.states, self.classes_.tolist(), rows)
        return records.with_labels(labels, np.exp(np.minimum(found.log_probability, 0.0)).tolist())

    def log_likelihood(self, X: Any, y: Labels | None = None) -> float:
        """Return the sum of log p(y | x); labels that are None are summed over.

        Labels that the model has never met count as not known; a warning says how many there are.

        Examples
        --------
        >>> from purport.sequence.crf import CRF
        >>> crf = CRF().fit([[["a"], ["b"]]], [["X", "Y"]])
        >>> crf.log_likelihood([[["a"]]], [[None]])
        0.0
        """
        rows = self._rows(X)
        coded = encode_labels(given_labels(self._owner, X, y), rows.offsets, self.classes_.tolist())
        _tell_unseen(coded, "not known")
        found = decoding.log_probabilities(
            rows, coded.codes, self._scores(), threads(self.n_threads)
        )
        return float(np.sum(found)) + 0.0

    def score(self, X: Any, y: Labels | None = None) -> float:
        """Return the share of positions whose label is right.

        Positions whose label is None do not count. Labels that the model has never met count as
        wrong; a warning says how many there are.

        Examples
        --------
        >>> from purport.sequence.crf import CRF
        >>> crf = CRF().fit([[["a"], ["b"]]], [["X", "Y"]])
        >>> crf.score([[["a"], ["b"]]], [["X", "X"]])
        0.5
        """
        rows = self._rows(X)
        coded = encode_labels(given_labels(self._owner, X, y), rows.offsets, self.classes_.tolist())
        _tell_unseen(coded, "wrong")
        known = coded.codes != UNKNOWN
        total = int(np.count_nonzero(known)) + coded.unseen
        if not total:
            raise InputError(f"{self._owner}.score needs at least one known label; y has none.")
        states = decoding.best_states(rows, self._scores(), threads(self.n_threads))
        return float(np.count_nonzero(known & (states == coded.codes))) / total

    def count_unseen(self, X: Any) -> int:
        """Return how many features of X the model has never met and leaves out; all are counted.

        Examples
        --------
        >>> from purport.sequence.crf import CRF
        >>> CRF().fit([[["a"], ["b"]]], [["X", "Y"]]).count_unseen([[["a", "new"], ["newer"]]])
        2
        """
        return self._rows(X).unseen

    def _rows(self, X: Any) -> Rows:
        self._check_fitted()
        check_form(self._owner, self._form, X)
        rows = self._encoder.transform(X)
        if rows.unseen:
            log.info("%s: %d features never met before are left out", self._owner, rows.unseen)
        return rows


def _tell_unseen(coded: LabelCodes, count_as: str) -> None:
    if coded.unseen:
        warnings.warn(
            f"{coded.unseen} labels are not among the classes of the model;"
            f" they count as {count_as}.",
            UnseenWarning,
            stacklevel=3,
        )
