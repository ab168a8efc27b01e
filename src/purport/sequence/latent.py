"""How all models with hidden states learn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from purport.errors import InputError
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
from purport.features.rows import Rows
from purport.features.sensor_windows import SensorWindows
from purport.features.session_windows import SessionWindows
from purport.features.token_windows import TokenWindows
from purport.fold.engine import Engine
from purport.fold.thread_engine import available_cores
from purport.sequence.beginnings import begin_at_random, begin_from_clusters
from purport.sequence.given import Given, check_enough
from purport.sequence.hidden_states import HiddenStates, with_bias
from purport.sequence.inputs import (
    Windows,
    check_form,
    form_of,
    known_of,
    make_encoder,
    prepared,
    sequence_weights,
)
from purport.sequence.labels import UNKNOWN
from purport.sequence.latent_likelihood import LatentLikelihood, LatentShape
from purport.sequence.latent_partitions import make_latent_partitions
from purport.sequence.training import train

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.estimator.progress import Verbosity

    Theta = NDArray[np.float64]
    History = list[dict[str, float]]

LATENT_CONSTRAINTS: dict[str, Constraint] = {
    "l2": Number(low=0.0),
    "max_iter": Whole(low=1),
    "tol": Number(low=0.0),
    "features": optional(
        Instance(
            (TokenWindows, SessionWindows, SensorWindows),
            "TokenWindows(...) or SessionWindows(...) or SensorWindows(...)",
        )
    ),
    "init": OneOf(("split", "random")),
    "restarts": Whole(low=1),
    "decode": OneOf(("position", "joint", "best")),
    "n_threads": optional(Whole(low=1)),
    "random_state": optional(Whole(low=0)),
    "verbose": Either((BOOLEAN, OneOf(("bar", "lines")))),
}
"""Of the parameters that all models with hidden states have."""

SURE = 0.7
"""From this probability on a label that the model gave itself counts as known."""

ROUNDS = 3
"""So often a model learns from labels that it gave itself."""

LITTLE = 0.3
"""How often a sequence with such labels counts unless the user says."""


@dataclass(frozen=True)
class Unlabelled:
    """Sequences without labels, and what they count.

    Attributes
    ----------
    rows : Rows
        Their features.
    weight : float
        With the free sum u, the share of it that is taken over them; else how often each counts.
    """

    rows: Rows
    weight: float


class LatentLabeller(HiddenStates):
    """A labeller that learns what its hidden states are.

    A subclass says what theta means (`_new_shape`) and what its entropies count.
    """

    l2: float
    max_iter: int
    tol: float
    features: Windows | None
    init: str
    restarts: int
    random_state: int | None
    verbose: Verbosity

    _USAGE_ROUNDS: ClassVar[int] = 3

    @property
    def _teaches_itself(self) -> bool:
        """Whether sequences without labels are learnt from by labels that the model gives them."""
        return False

    def _unlabelled_weight(self) -> float | None:
        """Return what the user said that sequences without labels count."""
        return None

    def _entropy_weight(self) -> tuple[float, bool]:
        """Return what a state's entropy counts for each sequence, and whether its usage does."""
        return 0.0, False

    # Learning.

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        warm_start: bool,
        engine: Engine | None,
        groups: Any,
        unlabeled: Any = None,
    ) -> Self:
        """Learn as `fit` of the subclasses describes."""
        self._check_parameters()
        if not isinstance(warm_start, bool):
            raise InputError(f"{self._owner}.fit: warm_start must be True or False.")
        with self._all_or_nothing(engine) as working:
            given = self._given(X, y, sample_weight, warm_start, groups, unlabeled)
            check_enough(self._owner, given)
            more = None if unlabeled is None else self._unlabelled(unlabeled, given)
            by_itself = more is not None and self._teaches_itself
            self._learn(given, None if by_itself else more, warm_start, working)
            if more is not None and by_itself:
                self._teach_itself(given, more, working)
            self._counts = given.counts()
            if more is not None:
                self._counts["unlabeled_sequences"] = len(more.rows)
        return self

    def _learn(
        self, given: Given, more: Unlabelled | None, warm_start: bool, engine: Engine
    ) -> None:
        """Train from every start, and keep what reached the lowest objective."""
        shape = (
            self._shape
            if warm_start
            else self._new_shape(given.encoder.width, len(given.coded.classes))
        )
        objective = self._objective(given, more, shape, engine)
        best: dict[str, Any] = {}
        for number in range(1 if warm_start else self.restarts):
            start = self._theta if warm_start else self._begin(given, shape, engine, number)
            if not warm_start:
                # With no more states than labels nothing is split that would be worth keeping.
                splits = self.init == "split" and shape.states > shape.labels
                self._beginning = start.copy() if splits else np.zeros(len(shape))
            objective.beginning = self._beginning
            self._encoder, self._form, self._shape = given.encoder, given.form, shape
            self.classes_ = np.array(given.coded.classes)
            self._counts = given.counts()
            self._keep(start, [], converged=False)
            self._train(objective, start)
            if not best or self._reached < best["history_"][-1]["objective"]:
                best = dict(vars(self))
        vars(self).update(best)

    def _teach_itself(self, given: Given, more: Unlabelled, engine: Engine) -> None:
        """Learn again from what was learnt: labels that are sure enough count as known."""
        weights = np.concatenate([given.weights, np.full(len(more.rows), more.weight)])
        rows = given.rows.join(more.rows)
        for _ in range(ROUNDS):
            found = self._label_posteriors(more.rows, None)
            sure = found.max(axis=1, initial=0.0) >= SURE
            guessed = np.where(sure, found.argmax(axis=1), UNKNOWN).astype(np.int32)
            coded = given.coded.join(guessed, more.rows.offsets)
            self._learn(
                replace(given, rows=rows, coded=coded, weights=weights), None, False, engine
            )

    @property
    def _reached(self) -> float:
        return self.history_[-1]["objective"]

    def _train(self, objective: LatentLikelihood, start: NDArray[np.float64]) -> None:
        _, by_usage = self._entropy_weight()
        for _ in range(self._USAGE_ROUNDS if by_usage else 1):
            before = self.history_
            if by_usage:
                objective.weigh_by_usage(start)

            def keep(
                theta: Theta, history: History, converged: bool, before: History = before
            ) -> None:
                self._keep(theta, [*before, *history], converged, objective.visits(theta))

            train(
                self._owner,
                objective,
                start,
                keep,
                l1=0.0,
                max_iter=self.max_iter,
                tol=self.tol,
                n_threads=self.n_threads or available_cores(),
                verbose=self.verbose,
            )
            start = self._theta

    def _begin(
        self, given: Given, shape: LatentShape, engine: Engine, restart: int
    ) -> NDArray[np.float64]:
        random = np.random.default_rng([self.random_state or 0, restart])
        if self.init == "random":
            return begin_at_random(shape, random)
        some = given.take(np.flatnonzero(given.coded.informative & (given.weights > 0.0)))
        return begin_from_clusters(
            some.rows, some.coded, some.weights, shape, self.l2, engine, random
        )

    def _given(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        continues: bool,
        groups: Any,
        unlabeled: Any,
    ) -> Given:
        """Turn what the user gave into rows with biases, labels and weights."""
        classes: list[Any] | None = None
        if continues:
            self._check_fitted()
            check_form(self._owner, self._form, X)
            rows, encoder, classes = self._rows(X, groups), self._encoder, self.classes_.tolist()
        else:
            X = prepared(self._owner, X, groups)
            encoder = make_encoder(self._owner, X, self.features)
            if unlabeled is not None and self._teaches_itself:
                check_form(self._owner, form_of(X), unlabeled)
                rows = with_bias(encoder.learn([X, unlabeled]).transform(X))
            else:
                rows = with_bias(encoder.fit_transform(X))
        weights = sequence_weights(sample_weight, len(rows))
        coded = known_of(self._owner, X, y, rows.offsets, classes, weights > 0.0)
        if classes is not None and coded.unseen:
            raise InputError(
                f"{self._owner}: {coded.unseen} labels are not among the classes of the model."
                " Fit anew."
            )
        return Given(rows, coded, weights, encoder, form_of(X))

    def _unlabelled(self, unlabeled: Any, given: Given) -> Unlabelled:
        """Return sequences without labels; features that have no column are left out."""
        if given.form == "rows":
            raise InputError(
                f"{self._owner}.fit: unlabeled= takes lists of sequences or records, not rows of"
                " numbers, whose sequences nobody would know."
            )
        check_form(self._owner, given.form, unlabeled)
        rows = with_bias(given.encoder.transform(unlabeled))
        filled = int(np.count_nonzero(np.diff(rows.offsets)))
        if not filled:
            raise InputError(f"{self._owner}.fit: unlabeled= has no position. Leave it out.")
        weight = self._unlabelled_weight()
        if weight is None:
            of_all = filled / (filled + int(np.count_nonzero(given.weights)))
            weight = LITTLE if self._teaches_itself else of_all
        return Unlabelled(rows, weight)

    def _objective(
        self, given: Given, more: Unlabelled | None, shape: LatentShape, engine: Engine
    ) -> LatentLikelihood:
        coded = given.coded
        told = np.where(coded.informative, given.weights, 0.0)
        share = 0.0 if more is None else more.weight
        possible = coded.possible(slice(None))
        partitions = make_latent_partitions(
            given.rows, possible, (1.0 - share) * told, told, shape.layout
        )
        if more is not None and share > 0.0:
            filled = np.diff(more.rows.offsets) > 0
            each = filled * (share * told.sum() / np.count_nonzero(filled))
            partitions += make_latent_partitions(
                more.rows, None, each, np.zeros(len(each)), shape.layout
            )
        sparsity = self._entropy_weight()[0] * float(told.sum())
        return LatentLikelihood(partitions, possible.allowed, shape, self.l2, sparsity, engine)
