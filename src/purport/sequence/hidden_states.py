"""What a model with hidden states says, what its states mean, and how it is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.errors import InputError, ParameterError
from purport.estimator.base import State
from purport.estimator.constraints import (
    Constraint,
    Whole,
    check_parameters,
)
from purport.features.encoders import Encoder
from purport.features.rows import Rows
from purport.fold.thread_engine import threads
from purport.lattice.transitions import Arcs
from purport.records.people import MIN_PEOPLE
from purport.sequence import decoding, explaining, latent_decoding
from purport.sequence.decoding import BestPaths
from purport.sequence.explaining import Said, StateSummary, StepExample
from purport.sequence.inputs import (
    encoder_named,
)
from purport.sequence.labeller import Labelling, SequenceLabeller, UncertainLabelling
from purport.sequence.labels import UNKNOWN, LabelCodes, cut_labels
from purport.sequence.latent_likelihood import LatentShape
from purport.sequence.likelihood import Scores
from purport.sequence.visits import Visits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_EXPLAIN: dict[str, Constraint] = {"top": Whole(1), "min_people": Whole(0)}

DECODERS = {
    "position": latent_decoding.by_position,
    "joint": latent_decoding.joint,
    "best": latent_decoding.best,
}


class HiddenStates(SequenceLabeller):
    """A labeller whose chain runs over hidden states, from which labels follow.

    A subclass says what theta means (`_new_shape`).
    """

    decode: str
    history_: list[dict[str, float]]
    converged_: bool
    _shape: LatentShape
    _theta: NDArray[np.float64]
    _beginning: NDArray[np.float64]
    _visits: Visits
    _ready: list[Scores]
    _counts: dict[str, int]

    def _new_shape(self, width: int, labels: int) -> LatentShape:
        """Say what theta means for so many columns and labels."""
        raise TypeError(f"{type(self).__name__} has no states")

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
            no examples, and of features that are whole texts those that five people sent there.
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
            shown = explaining.columns_of_training(self._encoder)
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

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take back a pickle; arrays of one that lies in a file may be read-only (joblib)."""
        vars(self).update(state)
        if self._is_fitted():
            self._beginning = np.array(state.get("_beginning", np.zeros_like(self._theta)))
            self._keep(np.array(self._theta), self.history_, self.converged_, self._visits)

    def _to_state(self) -> State:
        self._check_fitted()
        state = State(
            arrays={
                "theta": self._theta,
                "beginning": self._beginning,
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
        # Models of before l2 was measured from the beginning have none.
        self._beginning = state.arrays.get("beginning", np.zeros_like(theta))
        if self._beginning.shape != theta.shape:
            raise ValueError("the number of the weights at the beginning is wrong")
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
