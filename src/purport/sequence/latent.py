"""What all models with hidden states share: how they learn, what they say, how they are kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from purport.errors import InputError, ParameterError
from purport.estimator.base import State
from purport.estimator.constraints import (
    BOOLEAN,
    Constraint,
    Either,
    Instance,
    Number,
    OneOf,
    Whole,
    check_parameters,
    optional,
)
from purport.features.encoders import Encoder
from purport.features.rows import Rows
from purport.features.sensor_windows import SensorWindows
from purport.features.session_windows import SessionWindows
from purport.features.token_windows import TokenWindows
from purport.fold.engine import Engine
from purport.fold.thread_engine import available_cores, threads
from purport.lattice.transitions import Arcs
from purport.records.people import MIN_PEOPLE
from purport.sequence import decoding, explaining, latent_decoding
from purport.sequence.beginnings import begin_at_random, begin_from_clusters
from purport.sequence.decoding import BestPaths
from purport.sequence.explaining import Said, StateSummary, StepExample
from purport.sequence.given import Given, check_enough
from purport.sequence.inputs import (
    Windows,
    check_form,
    encoder_named,
    form_of,
    known_of,
    make_encoder,
    prepared,
    sequence_weights,
)
from purport.sequence.labeller import Labelling, SequenceLabeller, UncertainLabelling
from purport.sequence.labels import UNKNOWN, LabelCodes, cut_labels
from purport.sequence.latent_likelihood import LatentLikelihood, LatentShape
from purport.sequence.latent_partitions import make_latent_partitions
from purport.sequence.likelihood import Scores
from purport.sequence.training import train
from purport.sequence.visits import Visits

if TYPE_CHECKING:
    from collections.abc import Sequence

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

_EXPLAIN: dict[str, Constraint] = {"top": Whole(1), "min_people": Whole(0)}

DECODERS = {
    "position": latent_decoding.by_position,
    "joint": latent_decoding.joint,
    "best": latent_decoding.best,
}


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


class LatentLabeller(SequenceLabeller):
    """A labeller whose chain runs over hidden states, from which labels follow.

    A subclass says what theta means (`_new_shape`) and what its entropies count.
    """

    l2: float
    max_iter: int
    tol: float
    features: Windows | None
    init: str
    restarts: int
    decode: str
    random_state: int | None
    verbose: Verbosity
    history_: list[dict[str, float]]
    converged_: bool
    _shape: LatentShape
    _theta: NDArray[np.float64]
    _visits: Visits
    _ready: list[Scores]
    _counts: dict[str, int]

    _USAGE_ROUNDS: ClassVar[int] = 3

    @property
    def _teaches_itself(self) -> bool:
        """Whether sequences without labels are learnt from by labels that the model gives them."""
        return False

    def _unlabelled_weight(self) -> float | None:
        """Return what the user said that sequences without labels count."""
        return None

    def _new_shape(self, width: int, labels: int) -> LatentShape:
        """Say what theta means for so many columns and labels."""
        raise TypeError(f"{type(self).__name__} has no states")

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
        return begin_from_clusters(
            given.rows, given.coded, given.weights, shape, self.l2, engine, random
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

    # What it says.

    def _rows(self, X: Any, groups: Any = None) -> Rows:
        return with_bias(super()._rows(X, groups))

    def _best_labels(self, rows: Rows, known: LabelCodes | None) -> NDArray[np.int32]:
        return DECODERS[self.decode](rows, self._scores(), threads(self.n_threads), known)

    def _label_posteriors(self, rows: Rows, known: LabelCodes | None) -> NDArray[np.float64]:
        scores, engine = self._scores(), threads(self.n_threads)
        return latent_decoding.label_posteriors(rows, scores, engine, known)

    def _best_labellings(self, rows: Rows, known: LabelCodes | None) -> BestPaths:
        labels = self._best_labels(rows, known)
        scores, engine = self._scores(), threads(self.n_threads)
        told = LabelCodes(labels, rows.offsets, self.classes_.tolist())
        found = decoding.log_probabilities(rows, told, scores, engine)
        if known is not None:
            found = found - decoding.log_probabilities(rows, known, scores, engine)
        without = rows.offsets[:-1][np.diff(rows.offsets) > 0]
        filled = np.flatnonzero(np.diff(rows.offsets) > 0)
        found[filled[labels[without] == UNKNOWN]] = np.nan
        return BestPaths(labels, found)

    def _draw(
        self, rows: Rows, count: int, random: np.random.Generator, known: LabelCodes | None
    ) -> NDArray[np.int32]:
        scores, engine = self._scores(), threads(self.n_threads)
        return latent_decoding.samples(rows, scores, engine, count, random, known)

    def _n_best(self, rows: Rows, count: int, known: LabelCodes | None) -> list[list[Labelling]]:
        scores, engine = self._scores(), threads(self.n_threads)
        classes = self.classes_.tolist()
        return [
            [
                (Labelling if certain else UncertainLabelling)(
                    [classes[label] for label in labels], probability
                )
                for labels, probability, certain in zip(
                    one.labels.tolist(),
                    np.exp(np.minimum(one.log_probability, 0.0)).tolist(),
                    one.certain.tolist(),
                    strict=True,
                )
            ]
            for one in latent_decoding.n_best(rows, scores, engine, count, known)
        ]

    def predict_states(self, X: Any, *, groups: Any = None) -> Any:
        """Return the most probable hidden state of each position: argmax over h of p(h | x).

        One list a sequence; rows of numbers give a flat array.

        Examples
        --------
        >>> from purport.sequence.shdcrf import SHDCRF
        >>> shd = SHDCRF(states=2).fit([[["a"], ["b"]]], [["X", "Y"]])
        >>> states = shd.predict_states([[["a"], ["b"], ["a"]]])[0]
        >>> states[0] == states[2] != states[1]
        True
        """
        rows = self._rows(X, groups)
        states = self._state_posteriors(rows).argmax(axis=1).astype(np.int32)
        if self._form == "rows":
            return states
        return cut_labels(states, list(range(self._shape.states)), rows.offsets)

    def _state_posteriors(self, rows: Rows) -> NDArray[np.float64]:
        return decoding.posteriors(rows, self._scores(), threads(self.n_threads))

    # What was learnt.

    @property
    def label_given_state_(self) -> NDArray[np.float64]:
        """p(y | h) (L, S): the label of a row at the hidden state of a column."""
        self._check_fitted()
        return self._shape.layer(self._theta).shares.copy()

    @property
    def transitions_(self) -> NDArray[np.float64]:
        """Weight of each pair of hidden states (S, S), from row to column."""
        self._check_fitted()
        return self._shape.blocks(self._theta).transitions.copy()

    def state_features(self, state: int, top: int | None = 20) -> list[tuple[str, float]]:
        """Return the features that speak most for a hidden state, and most against it.

        Parameters
        ----------
        state : int
            Its number.
        top : int or None
            How many, by absolute weight; None for all.

        Examples
        --------
        >>> from purport.sequence.shdcrf import SHDCRF
        >>> shd = SHDCRF(states=2).fit([[["a"], ["b"]]], [["X", "Y"]])
        >>> sorted(name for name, _ in shd.state_features(0))
        ['a', 'b']
        """
        self._check_fitted()
        states = self._shape.states
        if not Whole(0, states - 1).allows(state):
            owner = f"{self._owner}.state_features"
            raise ParameterError.for_value(owner, "state", state, f"a number below {states}")
        weights = self._shape.blocks(self._theta).weights[:-1, state]
        chosen = np.argsort(-np.abs(weights), kind="stable")[:top]
        chosen = chosen[np.argsort(-weights[chosen], kind="stable")]
        names = self._encoder.feature_names()
        return [(names[column], float(weights[column])) for column in chosen.tolist()]

    @property
    def state_usage_(self) -> NDArray[np.float64]:
        """The mean p(h | x) of each state (S,) over the steps that it was trained on."""
        self._check_fitted()
        return self._visits.usage.copy()

    def state_given_label(self, X: Any = None, *, groups: Any = None) -> NDArray[np.float64]:
        """Return p(h | y) (L, S): how the steps of a label are shared out over the states.

        It follows from p(y | h) and the mean p(h | x). Rows, as `classes_`, sum to 1; a row is 0
        where X has nothing of a label.

        Parameters
        ----------
        X, groups : as for `predict`, optional
            The steps; without X those that the model was trained on.

        Examples
        --------
        >>> from purport.sequence.ldcrf import LDCRF
        >>> ldcrf = LDCRF(2).fit([[["a"], ["b"]]], [["X", "Y"]])
        >>> given = ldcrf.state_given_label([[["a"]], [["b"], ["b"]]])
        >>> given.shape, given.sum(axis=1).round(12).tolist()
        ((2, 4), [1.0, 1.0])
        """
        self._check_fitted()
        visits = self._visits
        if X is not None:
            visits = self._most_probable_states("state_given_label", X, groups)[1].visits
        return visits.given_label(self.label_given_state_)

    def explain(
        self,
        X: Any = None,
        queries: Sequence[Sequence[str | None]] | None = None,
        top: int = 10,
        min_people: int = MIN_PEOPLE,
        *,
        groups: Any = None,
    ) -> list[StateSummary]:
        """Say what each hidden state means: its labels, features, followers and example steps.

        What follows a state is what is expected: the sum of p(h_t, h_t+1 | x) over all pairs of
        neighbours. Examples are the steps with the highest p(h | x) among those whose most probable
        state it is, each text once, and those whose text may be shown first.

        What people typed is shown only if enough of them did: a text if at least `min_people`
        different people sent it, and a feature that holds words of a session's texts if it is found
        with so many. A session of which nobody knows whose it is, or a sequence of a list, counts
        as one person.

        Parameters
        ----------
        X, groups : as for `predict`, optional
            The steps. Without X the summaries are of those that the model was trained on; they have
            no examples, and no feature that is a whole text.
        queries : list of lists of str, optional
            The texts of the steps where X are lists, None where there is none. Sessions bring them.
        top : int
            At most so many labels, features, followers and examples each.
        min_people : int
            How many people are enough; 0 shows everything, as is right for invented data alone.

        Returns
        -------
        list of StateSummary
            One a state, by number.

        Examples
        --------
        >>> from purport.sequence.ldcrf import LDCRF
        >>> X = [[["w=map"], ["w=hotel"], ["w=song"]], [["w=hotel"], ["w=film"]]]
        >>> y = [["travel", "travel", "fun"], ["travel", "fun"]]
        >>> said = [["map of rome", "rome hotel", "love song"], ["rome hotel", "new film"]]
        >>> ldcrf = LDCRF(states_per_label=1).fit(X, y)
        >>> fun, travel = ldcrf.explain(X, said, top=2, min_people=2)
        >>> travel.labels, travel.share, [name for name, weight in travel.features]
        ({'travel': 1.0}, 0.6, ['w=hotel', 'w=map'])
        >>> [(example.sequence, example.step, example.text) for example in travel.examples]
        [(1, 0, 'rome hotel'), (0, 0, None)]
        """
        owner = f"{self._owner}.explain"
        self._check_fitted()
        check_parameters(owner, {"top": top, "min_people": min_people}, _EXPLAIN)
        weights = self._shape.blocks(self._theta).weights[:-1]
        if X is None:
            if queries is not None or groups is not None:
                raise InputError(f"{owner}: queries and groups say something of X. Give X.")
            visits, shares = self._visits, self._visits.usage
            shown = explaining.columns_without_texts(self._encoder)
            examples: list[list[StepExample]] = [[] for _ in shares]
        else:
            rows, found = self._most_probable_states("explain", X, groups)
            said = Said.of(owner, X, queries, rows.offsets)
            states = self._shape.states
            visits = found.visits
            shares = np.bincount(found.states, minlength=states) / rows.positions
            shown = explaining.columns_of_enough(self._encoder, rows, said.people, min_people)
            examples = explaining.examples_of(found, said, rows.offsets, states, top, min_people)
        features = explaining.strongest_features(self._encoder, weights, shown, top)
        return explaining.summaries(
            self.classes_.tolist(), self.label_given_state_, visits, shares, features, examples, top
        )

    def _most_probable_states(
        self, method: str, X: Any, groups: Any
    ) -> tuple[Rows, latent_decoding.MostProbable]:
        rows = self._rows(X, groups)
        if not rows.positions:
            raise InputError(f"{self._owner}.{method} needs at least one step; X has none.")
        return rows, latent_decoding.most_probable_states(
            rows, self._scores(), threads(self.n_threads)
        )

    @property
    def n_features_(self) -> int:
        """How many weights are not 0."""
        self._check_fitted()
        return int(np.count_nonzero(self._theta))

    # Keeping, saving and taking back.

    def _keep(
        self,
        theta: NDArray[np.float64],
        history: list[dict[str, float]],
        converged: bool,
        visits: Visits | None = None,
    ) -> None:
        self._ready = []
        self._theta = theta
        self._visits = visits or Visits.unknown(self._shape.states)
        self.history_ = history
        self.converged_ = converged

    def _scores(self) -> Scores:
        if not self._ready:
            shape = self._shape
            self._ready.append(shape.scores(shape.layout, Arcs.all(shape.states), self._theta))
        return self._ready[0]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be made again."""
        state = dict(vars(self))
        if "_ready" in state:
            state["_ready"], state["_shape"] = [], replace(self._shape)
        return state

    def _to_state(self) -> State:
        self._check_fitted()
        state = State(
            arrays={
                "theta": self._theta,
                "usage": self._visits.usage,
                "pairs": self._visits.pairs,
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
        return state.join("encoder", self._encoder._to_state())

    def _restore(self, state: State) -> None:
        settings = state.settings
        self._form = settings["form"]
        self.classes_ = np.array(settings["classes"])
        self._counts = settings["counts"]
        kind: Any = encoder_named(settings["encoder_class"], self._form)
        encoder: Encoder = kind(**settings["encoder_parameters"])
        kind._check_parameters(encoder)
        encoder._restore(state.nested("encoder"))
        self._encoder = encoder
        self._shape = self._new_shape(encoder.width, len(self.classes_))
        theta, states = state.arrays["theta"], self._shape.states
        if theta.shape != (len(self._shape),) or theta.dtype != np.float64:
            raise ValueError("the number or the type of the weights is wrong")
        visits = Visits(state.arrays["usage"], state.arrays["pairs"])
        if visits.usage.shape != (states,) or visits.pairs.shape != (states, states):
            raise ValueError("the usage is not that of the states")
        self._keep(theta, settings["history"], settings["converged"], visits)

    def _trained_on(self) -> dict[str, Any]:
        self._check_fitted()
        seconds = self.history_[-1]["seconds"] if self.history_ else 0.0
        return {**self._counts, "seconds": seconds}


def with_bias(rows: Rows) -> Rows:
    """Return rows with one more column, the last, which is 1 in each."""
    ends = rows.indptr[1:]
    values = None if rows.values is None else np.insert(rows.values, ends, 1.0)
    return replace(
        rows,
        indptr=rows.indptr + np.arange(len(rows.indptr)),
        columns=np.insert(rows.columns, ends, np.int32(rows.width)),
        values=values,
        width=rows.width + 1,
    )
