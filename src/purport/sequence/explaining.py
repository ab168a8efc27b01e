"""What hidden states mean: their labels, features, followers and examples, for people to read.

Makes Table 6 of "Sparse Hidden-Dynamics Conditional Random Fields for User Intent Understanding",
and the numbers of its Figures 6 to 9, p(h | y).

What people typed is theirs: a text is shown only if enough different people sent it, and a feature
that holds something of a text only if it is found with so many.

Symbols: S states, L labels, P steps, F columns.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.errors import InputError, ShapeError
from purport.features.rows import Rows
from purport.features.session_windows import (
    OF_TEXTS,
    TYPED_FEATURES,
    SessionWindows,
    own_feature,
)
from purport.features.step_windows import StepWindows
from purport.records.people import people_of_steps, sent_by_enough
from purport.records.sessions import Sessions
from purport.sequence.latent_decoding import MostProbable
from purport.sequence.visits import Visits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.features.encoders import Encoder

LEAST = 0.01
"""Labels and followers that are less probable are left out."""


@dataclass(frozen=True)
class StepExample:
    """A step at which a hidden state is the most probable one.

    Attributes
    ----------
    sequence, step : int
        The number of its sequence, and its own within it, both from 0.
    text : str or None
        What was sent; None where it is not known, or may not be shown.
    probability : float
        p(h | x) of the state.
    id : str or None
        Of the record, if it has one.

    Examples
    --------
    >>> StepExample(3, 0, "map of rome", 0.97).text
    'map of rome'
    """

    sequence: int
    step: int
    text: str | None
    probability: float
    id: str | None = None


@dataclass(frozen=True)
class StateSummary:
    """What one hidden state means.

    What is less probable than 0.01 is left out, but for the most probable label.

    Attributes
    ----------
    state : int
        Its number.
    share : float
        Of the steps whose most probable state it is; without data its mean p(h | x) in training.
    labels : dict
        p(y | h) by label, the most probable first.
    given_label : dict
        p(h | y) by label, the highest first.
    features : tuple of (name, weight)
        Those that speak most for it.
    next_states : tuple of (state, probability)
        Those expected right after it, the most probable first.
    examples : tuple of StepExample
        Steps at which it is the most probable state.

    Examples
    --------
    >>> summary = StateSummary(0, 1.0, {"travel": 1.0}, {"travel": 1.0}, (("w=map", 0.7),), (), ())
    >>> summary.labels
    {'travel': 1.0}
    """

    state: int
    share: float
    labels: dict[str, float]
    given_label: dict[str, float]
    features: tuple[tuple[str, float], ...]
    next_states: tuple[tuple[int, float], ...]
    examples: tuple[StepExample, ...]


@dataclass(frozen=True, eq=False)
class Said:
    """What the steps of sequences say, and who says it.

    Attributes
    ----------
    texts : list of str or None
        Of each step; empty where no step has one.
    people : list
        Who each step is of.
    ids : list or None
        Of the sequences.
    """

    texts: Sequence[str | None]
    people: Sequence[Hashable]
    ids: Sequence[str | None] | None

    @classmethod
    def of(cls, owner: str, X: Any, queries: Any, offsets: NDArray[np.int64]) -> Said:
        """Take texts from sessions, or as they are given beside lists.

        Of sequences that are no sessions nobody knows whose they are: each counts as one person.
        """
        if isinstance(X, Sessions):
            if queries is not None:
                raise InputError(f"{owner}: sessions bring their texts. Leave queries out.")
            texts = [text for each in X.texts or [] for text in each]
            return cls(texts, people_of_steps(X), X.ids)
        everyone = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)).tolist()
        ids = getattr(X, "ids", None)
        return cls([] if queries is None else flat_texts(queries, offsets), everyone, ids)

    def may_be_shown(self, min_people: int) -> set[Hashable]:
        """Return the texts that enough people sent."""
        return sent_by_enough(self.texts, self.people[: len(self.texts)], min_people)


def flat_texts(queries: Any, offsets: NDArray[np.int64]) -> list[str | None]:
    """Return the texts of all steps, given as one list a sequence.

    Examples
    --------
    >>> flat_texts([["hi", None], ["bye"]], np.array([0, 2, 3]))
    ['hi', None, 'bye']
    """
    lengths = np.diff(offsets).tolist()
    if len(queries) != len(lengths):
        raise ShapeError.lengths("queries", len(queries), "X", len(lengths))
    for number, (texts, length) in enumerate(zip(queries, lengths, strict=True)):
        if isinstance(texts, str) or not all(
            text is None or isinstance(text, str) for text in texts
        ):
            raise InputError(f"queries[{number}] must be a list of texts, one a step, or None.")
        if len(texts) != length:
            raise ShapeError.lengths(f"queries[{number}]", len(texts), f"X[{number}]", length)
    return [text for texts in queries for text in texts]


def summaries(
    classes: Sequence[Any],
    label_given_state: NDArray[np.float64],
    visits: Visits,
    shares: NDArray[np.float64],
    features: Sequence[Sequence[tuple[str, float]]],
    examples: Sequence[Sequence[StepExample]],
    top: int,
) -> list[StateSummary]:
    """Put together what was found of each state.

    Parameters
    ----------
    classes : list of L labels
        Their names.
    label_given_state : (L, S) float64
        p(y | h).
    visits : Visits
        How often states are expected.
    shares : (S,) float64
        Of the steps.
    features, examples : list of S lists
        Those of each state.
    top : int
        At most so many labels and followers.
    """
    given_label = visits.given_label(label_given_state)
    following = visits.next_shares
    numbers = range(label_given_state.shape[1])
    found = []
    for state in numbers:
        labels = _most_probable(classes, label_given_state[:, state], top)
        if not labels:
            first = int(label_given_state[:, state].argmax())
            labels = [(classes[first], float(label_given_state[first, state]))]
        found.append(
            StateSummary(
                state,
                float(shares[state]),
                dict(labels),
                dict(_most_probable(classes, given_label[:, state], top)),
                tuple(features[state]),
                tuple(_most_probable(numbers, following[state], top)),
                tuple(examples[state]),
            )
        )
    return found


def _most_probable(
    names: Sequence[Any], probabilities: NDArray[np.float64], top: int
) -> list[tuple[Any, float]]:
    order = np.argsort(-probabilities, kind="stable")[:top]
    return [(names[at], float(probabilities[at])) for at in order if probabilities[at] >= LEAST]


def strongest_features(
    encoder: Encoder, weights: NDArray[np.float64], shown: NDArray[np.bool_], top: int
) -> list[list[tuple[str, float]]]:
    """Return the features that speak most for each state.

    Parameters
    ----------
    encoder : Encoder
        Names the columns.
    weights : (F, S) float64
        Of features and states.
    shown : (F,) bool
        Which columns may be shown.
    top : int
        How many.
    """
    names = encoder.feature_names()
    found = []
    for column in weights.T:
        speaking = np.flatnonzero(shown & (column > 0.0))
        order = speaking[np.argsort(-column[speaking], kind="stable")[:top]]
        found.append([(names[at], float(column[at])) for at in order.tolist()])
    return found


def columns_of_training(encoder: Encoder) -> NDArray[np.bool_]:
    """Tell which columns may be shown without data: whole texts that enough people are known for.

    Windows keep how many people sent a text; of features given as lists nobody knows.
    """
    if isinstance(encoder, StepWindows):
        return encoder.may_be_shown()
    names = encoder.feature_names()
    return np.array([not TYPED_FEATURES.match(name) for name in names], np.bool_)


def columns_of_enough(
    encoder: Encoder, rows: Rows, people: Sequence[Hashable], min_people: int
) -> NDArray[np.bool_]:
    """Tell which columns hold nothing of texts, or are found with enough people (F,).

    Parameters
    ----------
    encoder : Encoder
        Names the columns.
    rows : Rows
        Of the steps; a column more, for the biases, does no harm.
    people : list
        Who each step is of.
    min_people : int
        How many are enough.
    """
    from scipy.sparse import csr_matrix

    hidden = OF_TEXTS if isinstance(encoder, SessionWindows) else TYPED_FEATURES
    names = encoder.feature_names()
    doubtful = np.array([hidden.match(name) is not None for name in names], np.bool_)
    if not doubtful.any() or min_people == 0:
        return np.ones(len(names), np.bool_)
    numbers = {person: number for number, person in enumerate(dict.fromkeys(people))}
    codes = np.array([numbers[person] for person in people], np.int64)
    shape = (len(numbers), rows.unique)
    met = csr_matrix((np.ones(len(codes)), (codes, rows.index)), shape)
    having = met @ rows.matrix()[:, np.flatnonzero(doubtful)]
    shown = ~doubtful
    shown[doubtful] = np.bincount(having.indices, minlength=having.shape[1]) >= min_people
    if not isinstance(encoder, SessionWindows):
        return shown
    # Who has a neighbour's words beside their own did not send them.
    columns = {name: column for column, name in enumerate(names)}
    for column in np.flatnonzero(doubtful & shown).tolist():
        own = columns.get(own_feature(names[column]))
        shown[column] = own is not None and shown[own]
    return shown


def examples_of(
    found: MostProbable,
    said: Said,
    offsets: NDArray[np.int64],
    states: int,
    top: int,
    min_people: int,
) -> list[list[StepExample]]:
    """Return the steps at which each state is the most probable, the most probable first.

    Those with a text that may be shown come before the others; each text comes once.
    """
    shown = said.may_be_shown(min_people)
    order = np.argsort(-found.probability, kind="stable")
    return [
        _examples(order[found.states[order] == state], found, said, shown, offsets, top)
        for state in range(states)
    ]


def _examples(
    steps: NDArray[np.int64],
    found: MostProbable,
    said: Said,
    shown: set[Hashable],
    offsets: NDArray[np.int64],
    top: int,
) -> list[StepExample]:
    """Return the first steps of different texts."""
    readable: list[StepExample] = []
    others: list[StepExample] = []
    met: set[str] = set()
    for step in steps.tolist():
        text = said.texts[step] if said.texts else None
        if text is not None:
            if text in met:
                continue
            met.add(text)
        into = readable if text in shown else others
        if len(into) < top:
            sequence = int(np.searchsorted(offsets, step, side="right")) - 1
            into.append(
                StepExample(
                    sequence,
                    step - int(offsets[sequence]),
                    text if text in shown else None,
                    float(found.probability[step]),
                    None if said.ids is None else said.ids[sequence],
                )
            )
        if len(readable) == top:
            break
    return (readable + others)[:top]
