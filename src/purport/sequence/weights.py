"""What a CRF has learnt, also by the names of sklearn-crfsuite, and saved: `LearntWeights`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from purport.errors import ParameterError
from purport.estimator.base import State
from purport.lattice.transitions import Arcs
from purport.sequence.inputs import encoder_named
from purport.sequence.labeller import SequenceLabeller
from purport.sequence.likelihood import Scores
from purport.sequence.online import Online
from purport.sequence.rules import Rules
from purport.sequence.scorer import Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LearntWeights(SequenceLabeller):
    """A labeller that has a weight for pairs of features and labels, and for pairs of labels."""

    learning_rate: float
    history_: list[dict[str, float]]
    converged_: bool
    _layout: Layout
    _arcs: Arcs
    _rules: Rules | None
    _theta: NDArray[np.float64]
    _ready: list[Scores]
    _counts: dict[str, int]
    _online: Online | None

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

        All that the model knows, also whole texts that one person sent: it is yours. What others
        may see of it is what `purport inspect` shows.

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
        return self._strongest_features(label, top)[0]

    def _strongest_features(
        self, label: str, top: int | None, shown: NDArray[np.bool_] | None = None
    ) -> tuple[list[tuple[str, float]], int]:
        """Return features by weight, only those that are `shown` (columns,); how many are not."""
        self._check_fitted()
        classes = self.classes_.tolist()
        if label not in classes:
            owner = f"{self._owner}.state_features"
            raise ParameterError.for_value(owner, "label", label, "one of classes_")
        of_label = np.flatnonzero(self._layout.targets == classes.index(label))
        weights = self._theta[of_label]
        columns = np.searchsorted(self._layout.pointers, of_label, side="right") - 1
        order = np.argsort(-np.abs(weights), kind="stable")
        ranks = np.arange(len(order)) if shown is None else np.flatnonzero(shown[columns[order]])
        ranks = ranks[:top]
        # What ranks behind the last one would not have been shown anyway.
        passed = int(ranks[-1]) + 1 if len(ranks) == top and top else len(order)
        chosen = order[ranks]
        chosen = chosen[np.argsort(-weights[chosen], kind="stable")]
        names = self._encoder.feature_names()
        found = zip(columns[chosen].tolist(), weights[chosen].tolist(), strict=True)
        return [(names[column], weight) for column, weight in found], passed - len(ranks)

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

    # Keeping, saving and taking back.

    def _keep(
        self, theta: NDArray[np.float64], history: list[dict[str, float]], converged: bool
    ) -> None:
        self._ready = []
        self._theta = theta
        self.history_ = history
        self.converged_ = converged

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take back a pickle; arrays of one that lies in a file may be read-only (joblib)."""
        vars(self).update(state)
        if self._is_fitted():
            layout, arcs = self._layout, self._arcs
            self._layout = Layout.of(
                layout.states, np.array(layout.pointers), np.array(layout.targets)
            )
            self._arcs = Arcs(arcs.states, np.array(arcs.sources), np.array(arcs.targets), 0.0)
            self._keep(np.array(self._theta), self.history_, self.converged_)

    def _scores(self) -> Scores:
        if not self._ready:
            scores = Scores.of(self._layout, self._arcs, self._theta, self._rules)
            self._ready.append(scores)
        return self._ready[0]

    def _to_state(self) -> State:
        self._check_fitted()
        state = State(
            arrays={
                "theta": self._theta,
                "layout_pointers": self._layout.pointers,
                "layout_targets": self._layout.targets,
                "arc_sources": self._arcs.sources,
                "arc_targets": self._arcs.targets,
            },
            settings={
                "form": self._form,
                "classes": self.classes_.tolist(),
                "history": self.history_,
                "converged": self.converged_,
                "counts": self._counts,
                "encoder_class": type(self._encoder).__name__,
                "encoder_parameters": self._encoder.get_params(),
            },
        )
        if self._rules is not None:
            state = state.join("rules", self._rules.to_state())
        if self._online is not None:
            state = state.join("online", self._online.to_state())
        return state.join("encoder", self._encoder._to_state())

    def _check_restored(self, theta: NDArray[np.float64]) -> None:
        """Refuse arrays that do not fit each other: kernels trust them."""
        self._layout.check()
        if self._layout.width != self._encoder.width:
            raise ValueError("the weights are not those of the features")
        if len(theta) != len(self._layout) + len(self._arcs) or theta.dtype != np.float64:
            raise ValueError("the number or the type of the weights is wrong")
        if self._online is not None and not self._online.fits(len(theta)):
            raise ValueError("the state of the online optimiser has another size")
        if self._rules is not None and not self._rules.allow(self._arcs):
            raise ValueError("an arc with a weight is forbidden")

    def _trained_on(self) -> dict[str, Any]:
        self._check_fitted()
        seconds = self.history_[-1]["seconds"] if self.history_ else 0.0
        return {**self._counts, "seconds": seconds}

    def _restore(self, state: State) -> None:
        settings, arrays = state.settings, state.arrays
        # Models of the first months knew one kind of records.
        self._form = "utterances" if settings["form"] == "records" else settings["form"]
        self.classes_ = np.array(settings["classes"])
        self._counts = settings["counts"]
        states = len(self.classes_)
        kind: Any = encoder_named(settings.get("encoder_class"), self._form)
        self._encoder = kind(**settings["encoder_parameters"])
        kind._check_parameters(self._encoder)
        self._encoder._restore(state.nested("encoder"))
        self._layout = Layout.of(states, arrays["layout_pointers"], arrays["layout_targets"])
        self._arcs = Arcs(states, arrays["arc_sources"], arrays["arc_targets"], 0.0)
        self._rules = Rules.from_state(state.nested("rules"), states)
        online = state.nested("online")
        self._online = Online.from_state(online, self.learning_rate) if online.arrays else None
        self._check_restored(arrays["theta"])
        self._keep(arrays["theta"], settings["history"], settings["converged"])
