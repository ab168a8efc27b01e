"""What a CRF has learnt, by its own names and by those of sklearn-crfsuite: `LearntWeights`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from purport.errors import ParameterError
from purport.lattice.transitions import Arcs
from purport.sequence.labeller import SequenceLabeller
from purport.sequence.scorer import Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LearntWeights(SequenceLabeller):
    """A labeller that has a weight for pairs of features and labels, and for pairs of labels."""

    _layout: Layout
    _arcs: Arcs
    _theta: NDArray[np.float64]

    def predict_single(self, xseq: Any) -> list[str]:
        """Return the labels of one sequence; sklearn-crfsuite's name for ``predict([xseq])[0]``."""
        (labels,) = self.predict([xseq])
        return list(labels)

    def predict_marginals_single(self, xseq: Any) -> list[dict[str, float]]:
        """Return the marginals of one sequence, as sklearn-crfsuite names it."""
        return self.predict_marginals([xseq])[0]

    @property
    def transitions_(self) -> NDArray[np.float64]:
        """Weight of each pair of labels (L, L), from row to column; 0 where a pair has none."""
        self._check_fitted()
        matrix = np.zeros((len(self.classes_), len(self.classes_)))
        matrix[self._arcs.sources, self._arcs.targets] = self._theta[len(self._layout) :]
        return matrix

    @property
    def n_features_(self) -> int:
        """How many weights are not 0."""
        self._check_fitted()
        return int(np.count_nonzero(self._theta))

    def state_features(self, label: str, top: int | None = 20) -> list[tuple[str, float]]:
        """Return the features that speak most for a label, and most against it, by weight.

        Parameters
        ----------
        label : str
            One of `classes_`.
        top : int or None
            How many, by absolute weight; None for all.

        Examples
        --------
        >>> from purport.sequence.crf import CRF
        >>> crf = CRF().fit([[["a"], ["b"]]], [["X", "Y"]])
        >>> [name for name, weight in crf.state_features("X", top=1)]
        ['a']
        """
        self._check_fitted()
        classes = self.classes_.tolist()
        if label not in classes:
            owner = f"{self._owner}.state_features"
            raise ParameterError.for_value(owner, "label", label, "one of classes_")
        of_label = np.flatnonzero(self._layout.targets == classes.index(label))
        weights = self._theta[of_label]
        chosen = np.argsort(-np.abs(weights), kind="stable")[:top]
        chosen = chosen[np.argsort(-weights[chosen], kind="stable")]
        columns = np.searchsorted(self._layout.pointers, of_label[chosen], side="right") - 1
        names = self._encoder.feature_names()
        return [
            (names[column], weight)
            for column, weight in zip(columns.tolist(), weights[chosen].tolist(), strict=True)
        ]

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """Weights by (feature, label), as sklearn-crfsuite gives them, without those that are 0."""
        self._check_fitted()
        names, classes = self._encoder.feature_names(), self.classes_.tolist()
        columns = np.repeat(np.arange(self._layout.width), np.diff(self._layout.pointers))
        triples = zip(columns.tolist(), self._layout.targets.tolist(), self._theta, strict=False)
        return {
            (names[column], classes[label]): float(weight)
            for column, label, weight in triples
            if weight
        }

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """Weights by (label, next label), as sklearn-crfsuite gives them, without those at 0."""
        self._check_fitted()
        classes, scores = self.classes_.tolist(), self._theta[len(self._layout) :]
        triples = zip(self._arcs.sources.tolist(), self._arcs.targets.tolist(), scores, strict=True)
        return {
            (classes[source], classes[target]): float(weight)
            for source, target, weight in triples
            if weight
        }

    @property
    def num_attributes_(self) -> int:
        """How many features there are, as sklearn-crfsuite names it."""
        self._check_fitted()
        return self._encoder.width

    @property
    def size_(self) -> int:
        """Bytes of the arrays of the model, as they are saved."""
        return sum(array.nbytes for array in self._to_state().arrays.values())

    @property
    def attributes_(self) -> list[str]:
        """The features, as sklearn-crfsuite names them."""
        self._check_fitted()
        return self._encoder.feature_names()
