"""What every sequence model that is trained says about new sequences: `SequenceLabeller`."""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from purport.errors import InputError, ParameterError, UnseenWarning
from purport.estimator.base import Estimator
from purport.estimator.chance import RandomState, generator_of
from purport.estimator.constraints import Whole
from purport.features.encoders import Encoder
from purport.features.rows import Rows
from purport.fold.engine import Engine
from purport.fold.thread_engine import threads
from purport.records.labelled import LabelledRecords
from purport.sequence import decoding
from purport.sequence.decoding import BestPaths
from purport.sequence.inputs import RECORDS, Form, check_form, known_of, prepared
from purport.sequence.labels import UNKNOWN, LabelCodes, Labels, cut_labels, encode_labels
from purport.sequence.likelihood import Scores

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


log = logging.getLogger("purport")

Labelled = TypeVar("Labelled", bound=LabelledRecords)


class Labelling(NamedTuple):
    """One way to label a sequence.

    Attributes
    ----------
    labels : list of str
        One a position.
    probability : float
        Of all of them together.
    """

    labels: list[str]
    probability: float

    @property
    def certain(self) -> bool:
        """Whether no labelling that was left out is more probable."""
        return True


class UncertainLabelling(Labelling):
    """One way to label a sequence; one that was not looked at may be more probable."""

    @property
    def certain(self) -> bool:
        """False."""
        return False


class SequenceLabeller(Estimator):
    """A model of labelled sequences, as far as it does not matter how it was trained.

    A subclass learns `classes_`, keeps the form it was fitted on and the encoder that makes rows,
    and gives the scores of its chain, whose states are the labels.

    What all its methods take:

    X
        Sequences in the form that the model was fitted on.
    allowed : list of lists, optional
        What is known beforehand, as `y` in `fit`: a label, a set of those that are possible, or
        None, one a position; None for a sequence of which nothing is known. Whatever the model
        says then agrees with it.
    groups : (rows,) values, optional
        Where X are rows of numbers: the sequence of each.
    """

    n_threads: int | None
    classes_: NDArray[Any]
    _form: Form
    _encoder: Encoder

    @property
    def _owner(self) -> str:
        """How messages name the model."""
        return type(self).__name__

    def _scores(self) -> Scores:
        """Return the scores of the chain, made ready for the kernels."""
        raise TypeError(f"{type(self).__name__} has no scores")

    @property
    def kind_of_records(self) -> type[LabelledRecords] | None:
        """The class of the records that the model labels; None if it was not fitted on records."""
        self._check_fitted()
        return RECORDS.get(self._form)

    @property
    def n_features_in_(self) -> int:
        """How many columns of numbers there are; for a model fitted on rows alone."""
        return len(self.feature_names_in_)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """What the columns of numbers are called; for a model fitted on rows alone."""
        if not self._is_fitted() or self._form != "rows":
            raise AttributeError(f"{self._owner} has columns only after it was fitted on rows")
        return np.array(self._encoder.feature_names()[:-1], dtype=object)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that this takes much, and is no classifier of rows."""
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        # What is asked of whoever has predict_proba; the type of the estimator stays open.
        tags.classifier_tags = ClassifierTags()
        tags.input_tags.sparse = tags.input_tags.string = True
        return tags

    def predict(self, X: Any, *, allowed: Labels | None = None, groups: Any = None) -> Any:
        """Return the most probable sequence of labels of each sequence.

        Features that the model has never met are left out; `count_unseen` says how many there are.
        Rows of numbers give a flat array.

        Examples
        --------
        >>> from purport.sequence.crf import CRF
        >>> crf = CRF().fit([[["a"], ["b"]]], [["X", "Y"]])
        >>> crf.predict([[["b"], ["a"], ["never met"]], []])
        [['Y', 'X', 'Y'], []]
        >>> crf.predict([[["b"], ["a"]]], allowed=[["X", None]])
        [['X', 'Y']]
        """
        rows = self._rows(X, groups)
        known = self._known(allowed, rows)
        states = self._best_labels(rows, known)
        self._check_paths(states < 0, rows)
        if self._form == "rows":
            return self.classes_[states]
        return cut_labels(states, self.classes_.tolist(), rows.offsets)

    def predict_proba(self, X: Any, *, allowed: Labels | None = None, groups: Any = None) -> Any:
        """Return the probability of each label at each position.

        One array (T, L) a sequence, columns as `classes_`; rows of numbers give one array for all.

        Examples
        --------
        >>> from purport.sequence.crf import CRF
        >>> crf = CRF().fit([[["a"], ["b"]]], [["X", "Y"]])
        >>> crf.predict_proba([[["a"]]])[0].shape
        (1, 2)
        """
        rows = self._rows(X, groups)
        known = self._known(allowed, rows)
        found = self._label_posteriors(rows, known)
        self._check_paths(~found.any(axis=1), rows)
        if self._form == "rows":
            return found
        return np.split(found, rows.offsets[1:-1]) if len(rows) else []

    def predict_marginals(
        self, X: Any, *, allowed: Labels | None = None
    ) -> list[list[dict[str, float]]]:
        """Return the probability of each label at each position, as dicts.

        Examples
        --------
        >>> from purport.sequence.crf import CRF
        >>> crf = CRF().fit([[["a"], ["b"]]], [["X", "Y"]])
        >>> sorted(crf.predict_marginals([[["a"]]])[0][0])
        ['X', 'Y']
        """
        classes = self.classes_.tolist() if self._is_fitted() else []
        if self._is_fitted() and self._form == "rows":
            raise InputError(
                f"{self._owner}.predict_marginals names the labels of sequences; this"
                f" {self._owner} was fitted on rows. Use predict_proba."
            )
        return [
            [dict(zip(classes, position, strict=True)) for position in sequence.tolist()]
            for sequence in self.predict_proba(X, allowed=allowed)
        ]

    def predict_nbest(
        self, X: Any, n: int = 5, *, allowed: Labels | None = None, groups: Any = None
    ) -> list[list[Labelling]]:
        """Return the n most probable labellings of each sequence, best first.

        Fewer where there are no more.

        Examples
        --------
        >>> from purport.sequence.crf import CRF
        >>> crf = CRF().fit([[["a"], ["b"]]], [["X", "Y"]])
        >>> best, second = crf.predict_nbest([[["a"]]], n=3)[0]
        >>> best.labels, second.labels, round(best.probability + second.probability, 12)
        (['X'], ['Y'], 1.0)
        """
        self._check_count("predict_nbest", "n", n)
        rows = self._rows(X, groups)
        known = self._known(allowed, rows)
        found = self._n_best(rows, n, known)
        self._check_paths(rows.spread(np.array([not one for one in found], np.bool_)), rows)
        return found

    def sample(
        self,
        X: Any,
        n: int = 1,
        random_state: RandomState = None,
        *,
        allowed: Labels | None = None,
        groups: Any = None,
    ) -> list[list[list[str]]]:
        """Draw n labellings of each sequence at random, each as often as it is probable.

        Examples
        --------
        >>> from purport.sequence.crf import CRF
        >>> crf = CRF().fit([[["a"], ["b"]]], [["X", "Y"]])
        >>> crf.sample([[["a"], ["b"]]], n=3, random_state=1)
        [[['X', 'Y'], ['Y', 'X'], ['X', 'Y']]]
        """
        self._check_count("sample", "n", n)
        rows = self._rows(X, groups)
        known = self._known(allowed, rows)
        random = generator_of(f"{self._owner}.sample", random_state)
        drawn = self._draw(rows, n, random, known)
        self._check_paths(drawn[0] < 0, rows)
        classes = self.classes_.tolist()
        each = [cut_labels(states, classes, rows.offsets) for states in drawn]
        return [[labels[number] for labels in each] for number in range(len(rows))]

    def label(self, records: Labelled, *, allowed: Labels | None = None) -> Labelled:
        """Return the same records with their most probable labels, and how probable these are.

        Examples
        --------
        >>> from purport.records.utterances import Utterances
        >>> from purport.sequence.crf import CRF
        >>> talk = Utterances.from_lists([["play", "jazz"]], slots=[["O", "B-genre"]])
        >>> CRF().fit(talk).label(talk).labels
        [['O', 'B-genre']]
        """
        self._check_fitted()
        check_form(self._owner, self._form, records)
        if self._form in ("lists", "rows"):
            raise InputError(
                f"{self._owner}.label takes records; this {self._owner} was fitted on"
                f" {self._form}. Use predict."
            )
        rows = self._rows(records)
        known = self._known(allowed, rows)
        found = self._best_labellings(rows, known)
        self._check_paths(rows.spread(np.isnan(found.log_probability)), rows)
        labels = cut_labels(found.states, self.classes_.tolist(), rows.offsets)
        return records.with_labels(labels, np.exp(np.minimum(found.log_probability, 0.0)).tolist())

    def log_likelihood(self, X: Any, y: Any = None, *, groups: Any = None) -> float:
        """Return the sum of log p(y | x); labels that are None are summed over.

        Labels that the model has never met count as not known; a warning says how many there are.

        Examples
        --------
        >>> from purport.sequence.crf import CRF
        >>> crf = CRF().fit([[["a"], ["b"]]], [["X", "Y"]])
        >>> crf.log_likelihood([[["a"]]], [[None]])
        0.0
        """
        rows = self._rows(X, groups)
        coded = known_of(self._owner, X, y, rows.offsets, self.classes_.tolist())
        _tell_unseen(coded, "not known")
        found = decoding.log_probabilities(rows, coded, self._scores(), threads(self.n_threads))
        return float(np.sum(found)) + 0.0

    def score(self, X: Any, y: Any = None, *, groups: Any = None) -> float:
        """Return the share of positions whose label is right.

        Positions whose label is not known for sure do not count. Labels that the model has never
        met count as wrong; a warning says how many there are.

        Examples
        --------
        >>> from purport.sequence.crf import CRF
        >>> crf = CRF().fit([[["a"], ["b"]]], [["X", "Y"]])
        >>> crf.score([[["a"], ["b"]]], [["X", "X"]])
        0.5
        """
        rows = self._rows(X, groups)
        coded = known_of(self._owner, X, y, rows.offsets, self.classes_.tolist())
        _tell_unseen(coded, "wrong")
        known = coded.codes != UNKNOWN
        total = int(np.count_nonzero(known)) + coded.unseen
        if not total:
            raise InputError(f"{self._owner}.score needs at least one known label; y has none.")
        states = self._best_labels(rows, None)
        return float(np.count_nonzero(known & (states == coded.codes))) / total

    def count_unseen(self, X: Any, *, groups: Any = None) -> int:
        """Return how many features of X the model has never met and leaves out; all are counted.

        Examples
        --------
        >>> from purport.sequence.crf import CRF
        >>> CRF().fit([[["a"], ["b"]]], [["X", "Y"]]).count_unseen([[["a", "new"], ["newer"]]])
        2
        """
        return self._rows(X, groups).unseen

    @contextmanager
    def _all_or_nothing(self, engine: Engine | None) -> Iterator[Engine]:
        """Lend an engine; after a failure all is as before, after an interruption as far as it is.

        What the last finished iteration left is a model.
        """
        working = threads(self.n_threads) if engine is None else engine
        before = dict(vars(self))
        try:
            yield working
        except KeyboardInterrupt:
            raise
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise
        finally:
            if engine is None:
                working.close()

    # What the chain says, where its states are the labels; others say it in their own way.

    def _best_labels(self, rows: Rows, known: LabelCodes | None) -> NDArray[np.int32]:
        """Return the label of every position (P,); -1 in sequences without a labelling."""
        return decoding.best_states(rows, self._scores(), threads(self.n_threads), known)

    def _label_posteriors(self, rows: Rows, known: LabelCodes | None) -> NDArray[np.float64]:
        """Return the probability of every label at every position (P, L)."""
        return decoding.posteriors(rows, self._scores(), threads(self.n_threads), known)

    def _best_labellings(self, rows: Rows, known: LabelCodes | None) -> BestPaths:
        """Return the labels of every position and how probable they are together."""
        return decoding.best_paths(rows, self._scores(), threads(self.n_threads), known)

    def _draw(
        self, rows: Rows, count: int, random: np.random.Generator, known: LabelCodes | None
    ) -> NDArray[np.int32]:
        """Return labels drawn at random (count, P); -1 in sequences without a labelling."""
        return decoding.samples(rows, self._scores(), threads(self.n_threads), count, random, known)

    def _n_best(self, rows: Rows, count: int, known: LabelCodes | None) -> list[list[Labelling]]:
        """Return the most probable labellings of each sequence; none where there is none."""
        found = decoding.n_best(rows, self._scores(), threads(self.n_threads), count, known)
        classes = self.classes_.tolist()
        each = [cut_labels(states, classes, rows.offsets) for states in found.states]
        probability = np.exp(np.minimum(found.log_probability, 0.0)).tolist()
        exists = np.isfinite(found.log_probability)
        return [
            [
                Labelling(each[rank][number], probability[number][rank])
                for rank in np.flatnonzero(exists[number]).tolist()
            ]
            for number in range(len(rows))
        ]

    def _rows(self, X: Any, groups: Any = None) -> Rows:
        self._check_fitted()
        check_form(self._owner, self._form, X)
        rows = self._encoder.transform(prepared(self._owner, X, groups))
        if rows.unseen:
            log.info("%s: %d features never met before are left out", self._owner, rows.unseen)
        return rows

    def _known(self, allowed: Labels | None, rows: Rows) -> LabelCodes | None:
        """Return what is known beforehand; each label of it must be one of the model's."""
        if allowed is None:
            return None
        classes = self.classes_.tolist()
        if self._form == "rows":
            flat: list[Any] = list(allowed)
            allowed = [flat[first:last] for first, last in pairwise(rows.offsets.tolist())]
        known = encode_labels(allowed, rows.offsets, classes, name="allowed")
        if known.unseen:
            raise InputError(
                f"{self._owner}: {known.unseen} positions of allowed name only labels that the"
                f" model does not have. It has: {', '.join(map(str, classes))}."
            )
        return known

    def _check_paths(self, without: Any, rows: Rows) -> None:
        """Refuse positions (P,) of sequences that no labelling agrees with."""
        if without.any():
            place = int(np.argmax(without))
            number = int(np.searchsorted(rows.offsets, place, side="right")) - 1
            raise InputError(
                f"X[{number}]: no labelling agrees with all that is forbidden and allowed there."
                " Allow more."
            )

    def _check_count(self, method: str, name: str, given: Any) -> None:
        self._check_fitted()
        if not Whole(1).allows(given):
            raise ParameterError.for_value(f"{self._owner}.{method}", name, given, Whole(1).words())


def _tell_unseen(coded: LabelCodes, count_as: str) -> None:
    if coded.unseen:
        warnings.warn(
            f"{coded.unseen} labels are not among the classes of the model;"
            f" they count as {count_as}.",
            UnseenWarning,
            stacklevel=3,
        )
