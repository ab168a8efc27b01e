"""The latent-dynamic conditional random field: `LDCRF`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from purport.estimator.constraints import Constraint, Whole
from purport.estimator.progress import Verbosity
from purport.fold.engine import Engine
from purport.sequence.inputs import Windows
from purport.sequence.label_layer import LabelLayer
from purport.sequence.latent import LATENT_CONSTRAINTS, LatentLabeller
from purport.sequence.latent_likelihood import LatentShape

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LDCRF(LatentLabeller):
    """Conditional random field whose states are hidden, so many for each label.

    A chain runs over ``len(classes_) * states_per_label`` hidden states, each of which belongs to
    one label: what is learnt is which finer kinds of steps there are within a label, and how these
    follow each other. Minimises the negative log-likelihood of the labels plus ``l2`` times the sum
    of squares of all weights but the bias of each state, measured from where a split begins.

    Parameters
    ----------
    states_per_label : int, default 4
        Hidden states of each label. With 1 it is a linear-chain CRF.
    l2 : float, default 0.1
        Weight of the sum of squares.
    max_iter : int, default 200
        Most iterations.
    tol : float, default 1e-5
        As for `CRF`.
    features : TokenWindows, SessionWindows or SensorWindows, optional
        How rows are made from records; None takes the usual ones.
    init : "split" or "random", default "split"
        As for `SHDCRF`.
    restarts : int, default 1
        So many trainings, each from another start; the one with the lowest objective is kept.
    decode : "position", "joint" or "best", default "position"
        What `predict` gives: the most probable label of each position, the labels of the most
        probable hidden path, or the most probable labels as a whole, which is slower.
    n_threads : int, optional
        Threads; None takes all cores. The result does not depend on it.
    random_state : int, optional
        Decides the starts.
    verbose : bool, "bar" or "lines", default False
        Show progress.

    Attributes
    ----------
    classes_ : (L,) array of str
        The labels, sorted.
    label_given_state_ : (L, S) float64
        p(y | h): 1 where the state belongs to the label.
    state_usage_ : (S,) float64
        The mean p(h | x) of each state over the steps that it was trained on.
    transitions_ : (S, S) float64
        Weight of each pair of hidden states, from row to column.
    history_ : list of dict
        One an iteration, the start first: objective, seconds, gradient_norm, step, evaluations.
    converged_ : bool
        Whether a stopping rule was met; False after an interruption.

    Examples
    --------
    >>> X = [[["w=map"], ["w=hotel"], ["w=song"]], [["w=hotel"], ["w=film"]]]
    >>> y = [["travel", "travel", "fun"], ["travel", "fun"]]
    >>> LDCRF(states_per_label=2, random_state=1).fit(X, y).predict([[["w=map"], ["w=film"]]])
    [['travel', 'fun']]
    """

    _constraints: ClassVar[Mapping[str, Constraint]] = {
        "states_per_label": Whole(low=1),
        **LATENT_CONSTRAINTS,
    }

    def __init__(
        self,
        states_per_label: int = 4,
        l2: float = 0.1,
        max_iter: int = 200,
        tol: float = 1e-5,
        *,
        features: Windows | None = None,
        init: str = "split",
        restarts: int = 1,
        decode: str = "position",
        n_threads: int | None = None,
        random_state: int | None = None,
        verbose: Verbosity = False,
    ) -> None:
        self.states_per_label = states_per_label
        self.l2 = l2
        self.max_iter = max_iter
        self.tol = tol
        self.features = features
        self.init = init
        self.restarts = restarts
        self.decode = decode
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Sequence[float] | NDArray[np.float64] | None = None,
        warm_start: bool = False,
        engine: Engine | None = None,
        *,
        groups: Any = None,
    ) -> Self:
        """Learn from labelled sequences.

        Parameters
        ----------
        X, y, sample_weight, warm_start, engine, groups
            As for `CRF`: labels may be None or sets of those that are possible.

        Examples
        --------
        >>> LDCRF(2).fit([[["a"], ["b"], ["c"]]], [["X", None, "Y"]]).classes_.tolist()
        ['X', 'Y']
        """
        return self._fit(X, y, sample_weight, warm_start, engine, groups)

    def _new_shape(self, width: int, labels: int) -> LatentShape:
        layer = LabelLayer.blocks(labels, self.states_per_label)
        return LatentShape(width, labels * self.states_per_label, labels, layer)
