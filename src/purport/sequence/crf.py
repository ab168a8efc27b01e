"""The linear-chain conditional random field: `CRF`."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from purport.errors import InputError, ParameterError, PurportWarning
from purport.estimator.base import State
from purport.estimator.constraints import (
    BOOLEAN,
    Constraint,
    Either,
    Instance,
    Number,
    OneOf,
    Whole,
    optional,
)
from purport.estimator.progress import Verbosity
from purport.features.rows import Rows
from purport.features.strings import FeatureStrings
from purport.features.token_windows import TokenWindows
from purport.fold.engine import Engine
from purport.fold.thread_engine import available_cores, threads
from purport.lattice.transitions import Arcs
from purport.sequence.inputs import (
    LabelCodes,
    Labels,
    check_form,
    encode_labels,
    form_of,
    given_labels,
    make_encoder,
    sequence_weights,
)
from purport.sequence.labeller import SequenceLabeller
from purport.sequence.likelihood import NegativeLogLikelihood, Scores
from purport.sequence.observed import observed_arcs, observed_counts
from purport.sequence.partitions import UNKNOWN, make_partitions
from purport.sequence.scorer import Layout
from purport.sequence.training import train

if TYPE_CHECKING:
    from numpy.typing import NDArray


log = logging.getLogger("purport")


class CRF(SequenceLabeller):
    """Linear-chain conditional random field, trained by L-BFGS on the exact likelihood.

    Minimises the negative log-likelihood plus ``l2`` times the sum of squares plus ``l1`` times the
    sum of absolute values: the objective of CRFsuite, with the same features and the same optimum.

    Parameters
    ----------
    l2 : float, default 1.0
        Weight of the sum of squares; CRFsuite's ``c2``.
    l1 : float, default 0.0
        Weight of the sum of absolute values; CRFsuite's ``c1``. Above 0 most weights become exactly
        0.
    max_iter : int, default 100
        Most iterations.
    tol : float, default 1e-5
        Stop when the gradient's norm is at most `tol` times that of the weights, or when the
        objective fell by less than the share `tol` over 10 iterations.
    features : TokenWindows, optional
        How rows are made from records; None takes ``TokenWindows()``. Lists bring their own
        features.
    all_possible_states, all_possible_transitions : bool, default False
        Give weights also to pairs (feature, label) and (label, label) that never occur.
    min_freq : float, default 0
        Leave out pairs (feature, label) and (label, label) that occur less often.
    n_threads : int, optional
        Threads; None takes all cores. The result does not depend on it.
    random_state : int, optional
        Without effect: training uses no random numbers. Kept so that all estimators are called
        alike.
    verbose : bool, "bar" or "lines", default False
        Show progress.
    algorithm, c1, c2, max_iterations, num_memories, epsilon, delta, period, linesearch,
    max_linesearch
        Names of sklearn-crfsuite, so that its code works here: ``c1``, ``c2`` and
        ``max_iterations`` stand for `l1`, `l2` and `max_iter`; the smaller of ``epsilon`` and
        ``delta`` for `tol`. Only ``algorithm="lbfgs"`` is built. The line search and the number of
        memories change the way, not the optimum, and are ours.

    Attributes
    ----------
    classes_ : (L,) array of str
        The labels, sorted.
    transitions_ : (L, L) float64
        Weight of each pair of labels, from row to column.
    history_ : list of dict
        One an iteration, the start first: objective, seconds, gradient_norm, step, evaluations.
    converged_ : bool
        Whether a stopping rule was met; False after an interruption.
    n_features_ : int
        Weights that are not 0.

    Examples
    --------
    >>> X = [[["w=play"], ["w=some"], ["w=jazz"]], [["w=play"], ["w=blues"]]]
    >>> y = [["O", "O", "B-genre"], ["O", "B-genre"]]
    >>> crf = CRF(l2=0.1).fit(X, y)
    >>> crf.predict([[["w=some"], ["w=blues"]]])
    [['O', 'B-genre']]
    """

    _constraints: ClassVar[Mapping[str, Constraint]] = {
        "l2": Number(low=0.0),
        "l1": Number(low=0.0),
        "max_iter": Whole(low=1),
        "tol": Number(low=0.0),
        "features": optional(Instance((TokenWindows,), "TokenWindows(...)")),
        "all_possible_states": optional(BOOLEAN),
        "all_possible_transitions": optional(BOOLEAN),
        "min_freq": optional(Number(low=0.0)),
        "n_threads": optional(Whole(low=1)),
        "random_state": optional(Whole(low=0)),
        "verbose": optional(Either((BOOLEAN, OneOf(("bar", "lines"))))),
        "algorithm": OneOf((None, "lbfgs")),
        "c1": optional(Number(low=0.0)),
        "c2": optional(Number(low=0.0)),
        "max_iterations": optional(Whole(low=1)),
        "num_memories": optional(Whole(low=1)),
        "epsilon": optional(Number(low=0.0)),
        "delta": optional(Number(low=0.0)),
        "period": optional(Whole(low=1)),
        "linesearch": OneOf((None, "MoreThuente", "Backtracking", "StrongBacktracking")),
        "max_linesearch": optional(Whole(low=1)),
    }

    def __init__(
        self,
        l2: float = 1.0,
        l1: float = 0.0,
        max_iter: int = 100,
        tol: float = 1e-5,
        *,
        features: TokenWindows | None = None,
        all_possible_states: bool | None = False,
        all_possible_transitions: bool | None = False,
        min_freq: float | None = 0,
        n_threads: int | None = None,
        random_state: int | None = None,
        verbose: Verbosity | None = False,
        algorithm: str | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        period: int | None = None,
        linesearch: str | None = None,
        max_linesearch: int | None = None,
    ) -> None:
        self.l2 = l2
        self.l1 = l1
        self.max_iter = max_iter
        self.tol = tol
        self.features = features
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.min_freq = min_freq
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.algorithm = algorithm
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.num_memories = num_memories
        self.epsilon = epsilon
        self.delta = delta
        self.period = period
        self.linesearch = linesearch
        self.max_linesearch = max_linesearch

    def fit(
        self,
        X: Any,
        y: Labels | None = None,
        sample_weight: Sequence[float] | NDArray[np.float64] | None = None,
        warm_start: bool = False,
        engine: Engine | None = None,
    ) -> Self:
        """Learn from labelled sequences.

        Parameters
        ----------
        X : list of sequences, or Utterances
            A sequence is a list of positions; a position is a list of feature strings or a dict.
        y : list of lists of str, optional
            One label a position; None where it is not known. Records bring their slots.
        sample_weight : (N,) numbers, optional
            How often each sequence counts; those that count 0 times say nothing.
        warm_start : bool
            Start from the present weights, with the same labels and features.
        engine : engine, optional
            Where to work; None is ``threads(n_threads)``.

        Returns
        -------
        CRF
            Itself.

        Examples
        --------
        >>> X = [[{"word": "stop", "first": True}, {"word": "now"}]]
        >>> CRF().fit(X, [["B-halt", "O"]]).classes_.tolist()
        ['B-halt', 'O']
        """
        self._check_parameters()
        if not isinstance(warm_start, bool):
            raise InputError(
                "CRF.fit: warm_start must be True or False. (fit takes no data to stop early on.)"
            )
        working = threads(self.n_threads) if engine is None else engine
        before = dict(vars(self))
        try:
            self._fit(X, y, sample_weight, warm_start, working)
        except KeyboardInterrupt:
            # What the last finished iteration left is a model.
            raise
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise
        finally:
            if engine is None:
                working.close()
        return self

    def _fit(
        self, X: Any, y: Labels | None, sample_weight: Any, warm_start: bool, engine: Engine
    ) -> None:
        labels = given_labels("CRF", X, y)
        if warm_start:
            self._check_fitted()
            check_form("CRF", self._form, X)
            encoder = self._encoder
            rows = self._rows(X)
            classes = self.classes_.tolist()
        else:
            encoder = make_encoder("CRF", X, self.features)
            rows = encoder.fit_transform(X)
            classes = None
        weights = sequence_weights(sample_weight, len(rows))
        coded = encode_labels(labels, rows.offsets, classes, weights > 0.0)
        if warm_start and coded.unseen:
            raise InputError(
                f"CRF.fit(warm_start=True): {coded.unseen} labels are not among the classes of the"
                " model. Fit anew."
            )
        _check_enough(rows, coded)
        if not warm_start:
            layout, arcs = self._choose_weights(rows, coded)
            # All at once, so that an interruption leaves either the old model or the new one.
            self._encoder, self._form = encoder, form_of(X)
            self.classes_ = np.array(coded.classes)
            self._layout, self._arcs = layout, arcs
            self._theta = np.zeros(len(layout) + len(arcs))
        self._counts = {
            "sequences": len(rows),
            "positions": rows.positions,
            "known_labels": int(np.count_nonzero(coded.codes != UNKNOWN)),
        }
        self._keep(self._theta, [], converged=False)
        self._train(rows, coded, weights, engine)

    def _choose_weights(self, rows: Rows, coded: LabelCodes) -> tuple[Layout, Arcs]:
        """Decide which pairs of features and labels, and of labels, have a weight."""
        states = len(coded.classes)
        if self.all_possible_states:
            layout = Layout.complete(rows.width, states)
        else:
            layout = Layout.observed(rows, coded.codes, states)
        if self.min_freq:
            layout = layout.keep(layout.count(rows, coded.codes) >= self.min_freq)
        if self.all_possible_transitions and not self.min_freq:
            return layout, Arcs.all(states)
        return layout, observed_arcs(rows, coded.codes, states, self.min_freq or 0)

    def _train(
        self,
        rows: Rows,
        coded: LabelCodes,
        weights: NDArray[np.float64],
        engine: Engine,
    ) -> None:
        objective = NegativeLogLikelihood(
            make_partitions(rows, coded.codes, weights, self._layout),
            observed_counts(rows, coded.codes, weights, self._layout, self._arcs),
            self._layout,
            self._arcs,
            self.l2 if self.c2 is None else self.c2,
            engine,
        )
        stops = [tol for tol in (self.epsilon, self.delta) if tol is not None]
        train(
            "CRF",
            objective,
            self._theta,
            self._keep,
            l1=self.l1 if self.c1 is None else self.c1,
            max_iter=self.max_iter if self.max_iterations is None else self.max_iterations,
            tol=min(stops) if stops else self.tol,
            n_threads=self.n_threads or available_cores(),
            verbose=self.verbose or False,
        )

    def _keep(
        self, theta: NDArray[np.float64], history: list[dict[str, float]], converged: bool
    ) -> None:
        self._ready: Scores | None = None
        self._theta = theta
        self.history_ = history
        self.converged_ = converged

    # What the model has learnt, also by sklearn-crfsuite's names.

    def predict_single(self, xseq: Any) -> list[str]:
        """Return the labels of one sequence; sklearn-crfsuite's name for ``predict([xseq])[0]``."""
        return self.predict([xseq])[0]

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
        >>> crf = CRF().fit([[["a"], ["b"]]], [["X", "Y"]])
        >>> [name for name, weight in crf.state_features("X", top=1)]
        ['a']
        """
        self._check_fitted()
        classes = self.classes_.tolist()
        if label not in classes:
            raise ParameterError.for_value("CRF.state_features", "label", label, "one of classes_")
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

    # The machinery.

    def _scores(self) -> Scores:
        if self._ready is None:
            self._ready = Scores.of(self._layout, self._arcs, self._theta)
        return self._ready

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
                "encoder_parameters": self._encoder.get_params(),
            },
        )
        return state.join("encoder", self._encoder._to_state())

    def _check_restored(self, theta: NDArray[np.float64]) -> None:
        """Refuse arrays that do not fit each other: kernels trust them."""
        self._layout.check()
        if self._layout.width != self._encoder.width:
            raise ValueError("the weights are not those of the features")
        if len(theta) != len(self._layout) + len(self._arcs) or theta.dtype != np.float64:
            raise ValueError("the number or the type of the weights is wrong")

    def _trained_on(self) -> dict[str, Any]:
        self._check_fitted()
        seconds = self.history_[-1]["seconds"] if self.history_ else 0.0
        return {**self._counts, "seconds": seconds}

    def _restore(self, state: State) -> None:
        settings, arrays = state.settings, state.arrays
        self._form = settings["form"]
        self.classes_ = np.array(settings["classes"])
        self._counts = settings["counts"]
        states = len(self.classes_)
        kind = FeatureStrings if self._form == "lists" else TokenWindows
        self._encoder = kind(**settings["encoder_parameters"])
        self._encoder._check_parameters()
        self._encoder._restore(state.nested("encoder"))
        self._layout = Layout.of(states, arrays["layout_pointers"], arrays["layout_targets"])
        self._arcs = Arcs(states, arrays["arc_sources"], arrays["arc_targets"], 0.0)
        self._check_restored(arrays["theta"])
        self._keep(arrays["theta"], settings["history"], settings["converged"])


def _check_enough(rows: Rows, coded: LabelCodes) -> None:
    if not rows.positions:
        raise InputError("CRF.fit needs at least one position; X has none.")
    if not coded.classes:
        raise InputError("CRF.fit needs at least one known label; all of y is None.")
    if len(coded.classes) == 1:
        warnings.warn(
            f"All known labels are {coded.classes[0]!r}: the model will predict nothing else.",
            PurportWarning,
            stacklevel=4,
        )
