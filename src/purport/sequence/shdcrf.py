"""The sparse hidden-dynamics conditional random field: `SHDCRF`, and SHDCRF* with unlabelled data.

Implements "Sparse Hidden-Dynamics Conditional Random Fields for User Intent Understanding"; the
equations stand with what computes them, in `latent_likelihood`, `label_layer` and
`latent_decoding`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from purport.errors import InputError
from purport.estimator.constraints import Constraint, Number, OneOf, Whole, optional
from purport.estimator.progress import Verbosity
from purport.fold.engine import Engine
from purport.sequence.inputs import Windows
from purport.sequence.latent import LATENT_CONSTRAINTS, LatentLabeller
from purport.sequence.latent_likelihood import LatentShape

if TYPE_CHECKING:
    from numpy.typing import NDArray


class SHDCRF(LatentLabeller):
    """Conditional random field over hidden states whose labels are learnt, and kept few.

    A chain runs over hidden states; each has a distribution p(y | h) over the labels. States are
    free to serve a label, a part of one, or several. With N labelled sequences this is minimised:
    the negative log-likelihood of the labels, plus ``l2`` times the sum of squares of all weights
    but the bias of each state, measured from where a split begins, plus ``N * sparsity`` times the
    sum of the entropies of p(. | h).

    Parameters
    ----------
    states : int, default 32
        Hidden states.
    sparsity : float, default 0.05
        Weight of the entropies: the larger, the fewer labels a state has.
    l2 : float, default 0.1
        Weight of the sum of squares.
    restarts : int, default 1
        So many trainings, each from another start; the one with the lowest objective is kept.
    max_iter : int, default 200
        Most iterations.
    tol : float, default 1e-5
        As for `CRF`.
    features : TokenWindows, SessionWindows or SensorWindows, optional
        How rows are made from records; None takes the usual ones.
    entropy_weight : "uniform" or "usage", default "uniform"
        Whether all entropies count alike, or each as often as its state is used (on average once).
        With "usage" the training is repeated, each time with the usage that the last one left.
    normalisation : "local" or "joint", default "local"
        How theta is read: labels normalised for each state, or labels and states together. The
        same models, since each state has a bias; only the way to them differs.
    init : "split" or "random", default "split"
        Where training begins: with the steps of each label split into kinds by a chain that EM
        finds, from where squares are then measured; or at random, squares being measured from 0.
    decode : "position", "joint" or "best", default "position"
        What `predict` gives: the most probable label of each position, the labels of the most
        probable pair of hidden path and labels (which are not the most probable labels), or the
        most probable labels as a whole, which is slower.
    semi : "free-sum" or "self-training", default "free-sum"
        What ``fit(unlabeled=...)`` does. With "free-sum" the sum over all paths is also taken over
        the unlabelled sequences, as the paper has it; we have not met data on which that helps.
        With "self-training" the model is trained on the labels, labels the other sequences, and is
        trained again on what it is sure of, three times; that helps where sessions hang together.
    unlabeled_weight : float, optional
        With "free-sum" the share of the free sum that is taken over unlabelled sequences; None is
        their share of all sequences, as in the paper. With "self-training" how often each of them
        counts; None is 0.3. Choose it on dev: objectives of different weights cannot be compared.
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
        p(y | h): the label of a row at the hidden state of a column; columns sum to 1.
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
    >>> shd = SHDCRF(states=3, random_state=1).fit(X, y)
    >>> shd.predict([[["w=map"], ["w=film"]]])
    [['travel', 'fun']]
    >>> shd.label_given_state_.shape
    (2, 3)
    """

    _constraints: ClassVar[Mapping[str, Constraint]] = {
        "states": Whole(low=1),
        "sparsity": Number(low=0.0),
        "entropy_weight": OneOf(("uniform", "usage")),
        "normalisation": OneOf(("local", "joint")),
        "semi": OneOf(("free-sum", "self-training")),
        "unlabeled_weight": optional(Number(low=0.0, high=1.0)),
        **LATENT_CONSTRAINTS,
    }

    def __init__(
        self,
        states: int = 32,
        sparsity: float = 0.05,
        l2: float = 0.1,
        restarts: int = 1,
        max_iter: int = 200,
        tol: float = 1e-5,
        *,
        features: Windows | None = None,
        entropy_weight: str = "uniform",
        normalisation: str = "local",
        init: str = "split",
        decode: str = "position",
        semi: str = "free-sum",
        unlabeled_weight: float | None = None,
        n_threads: int | None = None,
        random_state: int | None = None,
        verbose: Verbosity = False,
    ) -> None:
        self.states = states
        self.sparsity = sparsity
        self.l2 = l2
        self.restarts = restarts
        self.max_iter = max_iter
        self.tol = tol
        self.features = features
        self.entropy_weight = entropy_weight
        self.normalisation = normalisation
        self.init = init
        self.decode = decode
        self.semi = semi
        self.unlabeled_weight = unlabeled_weight
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
        unlabeled: Any = None,
        groups: Any = None,
    ) -> Self:
        """Learn from labelled sequences, and with `unlabeled` from others too (SHDCRF*).

        Parameters
        ----------
        X, y, sample_weight, warm_start, engine, groups
            As for `CRF`: labels may be None or sets of those that are possible.
        unlabeled : as X, optional
            Sequences without labels. With the free sum features that X does not have are left out.

        Examples
        --------
        >>> shd = SHDCRF(2).fit([[["a"], ["b"]]], [["X", "Y"]], unlabeled=[[["b"], ["b"]]])
        >>> shd.predict([[["b"]]])
        [['Y']]
        """
        if unlabeled is not None and self.l2 == 0.0 and not self._teaches_itself:
            raise InputError(
                "SHDCRF.fit: with unlabeled= the objective has no optimum unless l2 is above 0."
                " Give l2=0.1, say."
            )
        return self._fit(X, y, sample_weight, warm_start, engine, groups, unlabeled)

    @property
    def _teaches_itself(self) -> bool:
        return self.semi == "self-training"

    def _unlabelled_weight(self) -> float | None:
        return self.unlabeled_weight

    def _new_shape(self, width: int, labels: int) -> LatentShape:
        return LatentShape(width, self.states, labels, None, self.normalisation == "joint")

    def _entropy_weight(self) -> tuple[float, bool]:
        return self.sparsity, self.entropy_weight == "usage"
