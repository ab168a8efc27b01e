"""The world of searches: sessions whose hidden sub-intents persist while their labels alternate.

Each step of a session has a sub-intent, and each sub-intent a label. What a person has in mind, a
goal, is made of sub-intents of different labels that accompany each other. Words are shared by
sub-intents of different labels, so one query often leaves open which label is meant: the goal
tells, and the goal shows in the queries around. A chain of labels cannot carry it from step to
step, as each label is part of several goals; a chain of sub-intents can.

A query is up to three words, a name, a noun and a filler, and up to two titles are clicked, of a
page and of a site. Each is drawn by itself, given the sub-intent: the exact posterior of every
label is a sum over paths of sub-intents. Times, people and the lengths of sessions tell nothing.

Symbols: S sub-intents, L labels, P steps, K pools of words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress, pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from purport.errors import InputError
from purport.estimator.constraints import Constraint, Number, OneOf, Whole, check_parameters
from purport.lattice.chain import Chain
from purport.lattice.potentials import Emissions, Potentials
from purport.lattice.transitions import Arcs, Transitions
from purport.records.columns import offsets_of, ragged
from purport.records.sessions import Sessions
from purport.simulate.pools import MOST_NAMES, NO_POOL, Pools
from purport.simulate.queries import FILLERS
from purport.simulate.sub_intents import SubIntents

if TYPE_CHECKING:
    from numpy.typing import NDArray

RandomState = int | np.random.Generator | None

PATTERNS = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]], np.bool_)
"""Whether a query has a name, a noun, a filler."""
PATTERN_SHARES = (0.15, 0.15, 0.3, 0.15, 0.15, 0.1)
PAGE_SHARE, SITE_SHARE = 0.5, 0.25
"""How often a page and a site are clicked."""

FIRST_TIME = 1_767_600_000
"""5 January 2026, 08:00 UTC."""
BETWEEN_SESSIONS, BETWEEN_STEPS = 90.0, 45.0
"""The mean between starts of sessions, and the median between steps, in seconds."""
SESSIONS_EACH = 4
"""How many sessions a person has on average."""

SAME_WORLD = "Give sessions of a world with the same seed and knobs"

_SHARE = Number(low=0.0, high=1.0)
_CONSTRAINTS: dict[str, Constraint] = {
    "seed": Whole(low=0),
    "sub_intents": Whole(1, 4),
    "persistence": _SHARE,
    "alternation": _SHARE,
    "ambiguity": _SHARE,
    "disagreement": _SHARE,
    "mean_length": Number(low=1.0, high=1000.0),
    "names": Whole(1, MOST_NAMES),
}
_CHAIN = OneOf(("sub-intents", "labels", None))


@dataclass(frozen=True)
class SearchLog:
    """Sessions of a world, with their truth.

    Attributes
    ----------
    sessions : Sessions
        Queries, clicked titles, labels, times and people.
    sub_intents : list of lists of str
        The hidden sub-intent of every step.

    Examples
    --------
    >>> log = SearchWorld(seed=3).sessions(2, random_state=1)
    >>> [len(steps) for steps in log.sub_intents] == [len(steps) for steps in log.sessions.texts]
    True
    """

    sessions: Sessions
    sub_intents: list[list[str]]


class SearchWorld:
    """Eight intents with two to four sub-intents each, and the words of people who have them.

    Sessions of one world, be they for training, for tests or without labels, come from `sessions`
    with different random states.

    Parameters
    ----------
    seed : int
        Of the world: its names, its titles, and which words are common.
    sub_intents : int
        At most how many sub-intents a label has. At 4 each of the 24 parts of goals is a sub-intent
        of its own, two to four of each label. Below, the parts of a label are dealt to so many
        sub-intents, and each word of a step comes from any of the parts. At 1, the zero, labels are
        a Markov chain of first order, features depend on the label of their step alone, and hidden
        states have nothing to find.
    persistence : float
        How likely it is that the next sub-intent is one that accompanies this one. Otherwise the
        goal is forgotten, and only the label counts for what comes next. At 0, the zero, labels are
        a Markov chain of first order, and a sub-intent depends on the label of its step alone.
    alternation : float
        How likely it is that companions alternate: that the next sub-intent, where it accompanies
        this one, is another of the goal, of another label.
    ambiguity : float
        How likely it is that a name, a noun or a clicked title is one that sub-intents of three
        labels share. At 0 each tells its sub-intent.
    disagreement : float
        How likely it is that a step is given its sub-intent's second label, that of a companion, as
        editors disagree. Above 0 the labels are not a Markov chain, whatever the other knobs.
    mean_length : float
        The mean number of steps of a session.
    names : int
        How many names, pages and sites there are for each sub-intent alone, and for each group of
        sub-intents that share words. They are as common as 1 / rank: of many, most are rare.

    Attributes
    ----------
    labels : tuple of L str
        In alphabetical order.
    sub_intents : tuple of S str
        Named by the label and the goals they are part of.
    shares : (S,) float64
        How often a step has each sub-intent, be it the first of its session or not.
    transitions : (S, S) float64
        How likely each sub-intent is after each other. Rows sum to 1.
    label_given_sub_intent : (L, S) float64
        Columns sum to 1.

    Examples
    --------
    >>> world = SearchWorld(seed=3)
    >>> world.labels[-2:], world.sub_intents[-1]
    (('shop', 'travel'), 'travel.family')
    >>> train, test = world.sessions(100, random_state=1), world.sessions(50, random_state=2)
    >>> train.sessions
    Sessions(100 records, 593 steps; with obs, clicked, label, t, who)
    >>> limit = world.posteriors(test.sessions)
    >>> limit[0].shape == (len(test.sub_intents[0]), 8)
    True
    """

    def __init__(
        self,
        seed: int = 0,
        *,
        sub_intents: int = 4,
        persistence: float = 0.9,
        alternation: float = 0.6,
        ambiguity: float = 0.8,
        disagreement: float = 0.0,
        mean_length: float = 6.0,
        names: int = 40,
    ) -> None:
        given = {
            "seed": seed,
            "sub_intents": sub_intents,
            "persistence": persistence,
            "alternation": alternation,
            "ambiguity": ambiguity,
            "disagreement": disagreement,
            "mean_length": mean_length,
            "names": names,
        }
        check_parameters("SearchWorld", given, _CONSTRAINTS)
        hidden = SubIntents(sub_intents, alternation)
        self.labels = hidden.labels
        self.sub_intents = hidden.names
        self.shares = hidden.shares
        self.transitions = hidden.chain(persistence)
        self.label_given_sub_intent = (
            1.0 - disagreement
        ) * hidden.own + disagreement * hidden.second
        self._chains = {
            "sub-intents": self.transitions,
            "labels": hidden.chain(0.0),
            None: np.tile(hidden.shares, (len(hidden.names), 1)),
        }
        self._mean_length = mean_length
        self._pools = Pools(np.random.default_rng(seed), names)
        self._pool_given_sub_intent = self._pools.mixed(hidden.parts, ambiguity)

    def sessions(self, n: int, random_state: RandomState = 0) -> SearchLog:
        """Invent sessions.

        Parameters
        ----------
        n : int
            How many.
        random_state : int, Generator or None
            Where chance comes from; the same number gives the same sessions.

        Examples
        --------
        >>> log = SearchWorld().sessions(3, random_state=1)
        >>> log.sessions.ids
        ['s1', 's2', 's3']
        """
        check_parameters("sessions", {"n": n}, {"n": Whole(low=0)})
        chance = np.random.default_rng(random_state)
        # Two waits each: few sessions of one step, and few that go on and on.
        more = chance.negative_binomial(2, 2.0 / (self._mean_length + 1.0), n)
        offsets = offsets_of((1 + more).tolist())
        states = self._walk(offsets, chance.random(int(offsets[-1])))
        labels = _drawn(self.label_given_sub_intent.T, states, chance)
        texts = ragged(self._queries(states, chance), offsets)
        titles = ragged(self._clicked(states, chance), offsets)
        people = np.repeat(chance.integers(1, 2 + n // SESSIONS_EACH, n), np.diff(offsets))
        who = ragged([f"u{person}" for person in people.tolist()], offsets)
        times = ragged(_times(offsets, chance), offsets)
        sessions = Sessions.from_lists(
            texts,
            labels=ragged(np.array(self.labels)[labels].tolist(), offsets),
            times=times,
            clicked=titles,
            who=who,
            ids=[f"s{number}" for number in range(1, n + 1)],
        )
        names: list[str] = np.array(self.sub_intents)[states].tolist()
        return SearchLog(sessions, ragged(names, offsets))

    def posteriors(
        self,
        sessions: Sessions,
        chain: Literal["sub-intents", "labels"] | None = "sub-intents",
    ) -> list[NDArray[np.float64]]:
        """Return how likely each label is at each step, given all that its session says and clicks.

        With all that is known of the world this is exact: on average no model can be right more
        often than the most likely label is.

        Parameters
        ----------
        sessions : Sessions
            Of this world. Labels are not looked at.
        chain : {"sub-intents", "labels"} or None
            What is believed of how steps follow each other: all that is true; what is true of
            labels alone, as at a persistence of 0; or nothing, each step by itself.

        Returns
        -------
        list of (T, L) float64
            One a session; columns as in `labels`.

        Examples
        --------
        >>> world = SearchWorld()
        >>> log = world.sessions(200, random_state=1).sessions
        >>> truth = [label for labels in log.known_labels for label in labels]
        >>> for chain in (None, "labels", "sub-intents"):
        ...     best = np.concatenate(world.posteriors(log, chain)).argmax(axis=1)
        ...     print(chain, np.mean(np.array(world.labels)[best] == truth).round(2))
        None 0.58
        labels 0.71
        sub-intents 0.97
        """
        check_parameters("posteriors", {"chain": chain}, {"chain": _CHAIN})
        offsets = sessions.offsets
        positions = np.arange(offsets[-1], dtype=np.int32)
        lattice = Chain(positions, offsets, len(self.sub_intents))
        potentials = Potentials(
            Emissions.of(self._evidence(sessions)),
            _arcs(self._chains[chain]),
            _log(self.shares),
        )
        states = np.zeros((len(positions), lattice.states))
        weights = np.ones(len(lattice))
        log_partition = lattice.expectations(potentials, weights, states, positions).log_partition
        if not np.all(np.isfinite(log_partition)):
            number = int(np.flatnonzero(~np.isfinite(log_partition))[0])
            raise InputError(
                f"Session {number} (from 0) is impossible in this world. {SAME_WORLD}."
            )
        labels = states @ self.label_given_sub_intent.T
        return [labels[first:last] for first, last in pairwise(offsets)]

    def _walk(self, offsets: NDArray[np.int64], uniforms: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the sub-intent of every step (P,), one number from [0, 1) deciding each."""
        lattice = Chain(np.zeros(offsets[-1], np.int32), offsets, len(self.sub_intents))
        states: NDArray[np.int32] = lattice.sample(
            np.zeros((1, lattice.states)),
            _arcs(self.transitions),
            uniforms[None],
            start=_log(self.shares),
        )[0]
        return states

    def _queries(self, states: NDArray[np.int32], chance: np.random.Generator) -> list[str]:
        """Return what is asked at every step."""
        names = self._said(self._pools.names, states, chance)
        nouns = self._said(self._pools.nouns, states, chance)
        fillers = chance.choice(FILLERS, len(states)).tolist()
        pattern = PATTERNS[chance.choice(len(PATTERNS), len(states), p=PATTERN_SHARES)]
        return [
            " ".join(compress(words, chosen))
            for words, chosen in zip(
                zip(names, nouns, fillers, strict=True), pattern.tolist(), strict=True
            )
        ]

    def _clicked(self, states: NDArray[np.int32], chance: np.random.Generator) -> list[list[str]]:
        """Return the titles that are clicked at every step."""
        pages = self._said(self._pools.pages, states, chance)
        sites = self._said(self._pools.sites, states, chance)
        chosen = chance.random((len(states), 2)) < (PAGE_SHARE, SITE_SHARE)
        return [
            list(compress(titles, is_clicked))
            for titles, is_clicked in zip(
                zip(pages, sites, strict=True), chosen.tolist(), strict=True
            )
        ]

    def _said(
        self, words: NDArray[np.str_], states: NDArray[np.int32], chance: np.random.Generator
    ) -> list[str]:
        """Draw a word (K, ranks) for every step: its pool by the sub-intent, its rank by itself."""
        pools = _drawn(self._pool_given_sub_intent.T, states, chance)
        popularity = 1.0 / np.arange(1.0, words.shape[1] + 1.0)
        ranks = _drawn(popularity[None], np.zeros_like(states), chance)
        drawn: list[str] = words[pools, ranks].tolist()
        return drawn

    def _evidence(self, sessions: Sessions) -> NDArray[np.float64]:
        """Return the log probability of each step's words and titles given each sub-intent (P, S).

        How common a word is in its pool is left out: it is the same for all sub-intents.
        """
        pools = self._pools
        evidence = np.zeros((int(sessions.offsets[-1]), len(self.sub_intents)))
        if sessions.obs_codes is not None:
            words = [text.split() for text in sessions.obs_vocabulary]
            evidence += self._evidence_of(words, pools.pool_of_word)[sessions.obs_codes]
        clicked = sessions.clicked
        if clicked is not None:
            rows = self._evidence_of([[title] for title in clicked.vocabulary], pools.pool_of_title)
            steps = np.repeat(np.arange(len(evidence)), np.diff(clicked.offsets))
            np.add.at(evidence, steps, rows[clicked.codes])
        unknown = np.flatnonzero(np.isnan(evidence).any(axis=1))
        if len(unknown):
            session = int(np.searchsorted(sessions.offsets, unknown[0], "right")) - 1
            step = int(unknown[0] - sessions.offsets[session])
            reason = f"a word or a title that this world has not. {SAME_WORLD}"
            raise InputError.at_position(session, step, reason)
        return evidence

    def _evidence_of(
        self, texts: list[list[str]], pool_of: Mapping[str, int]
    ) -> NDArray[np.float64]:
        """Return the sum over each text's words, NaN with an unknown one; last, a row of zeros."""
        size = len(self.sub_intents)
        marked = np.full((1, size), np.nan)
        # `NO_POOL` tells nothing.
        log_pools = np.concatenate([_log(self._pool_given_sub_intent), np.zeros((1, size)), marked])
        pools = [pool_of.get(word, NO_POOL + 1) for words in texts for word in words]
        rows = np.zeros((len(texts) + 1, size))
        owners = np.repeat(np.arange(len(texts)), [len(words) for words in texts])
        np.add.at(rows, owners, log_pools[pools])
        return rows


def _arcs(probabilities: NDArray[np.float64]) -> Transitions:
    return Transitions.of(Arcs.all(len(probabilities)), _log(probabilities).ravel())


def _log(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logarithms, -inf of what is impossible."""
    with np.errstate(divide="ignore"):
        logs: NDArray[np.float64] = np.log(probabilities)
    return logs


def _drawn(
    shares: NDArray[np.float64], rows: NDArray[np.int32], chance: np.random.Generator
) -> NDArray[np.int64]:
    """Draw a column of each of some rows, as often as its share of the row."""
    sums = np.cumsum(shares, axis=1)
    # The last is 1 to the bit, above every number that is drawn.
    sums /= sums[:, -1:]
    columns: NDArray[np.int64] = (sums[rows] <= chance.random((len(rows), 1))).sum(axis=1)
    return columns


def _times(offsets: NDArray[np.int64], chance: np.random.Generator) -> list[int]:
    """Return when each step was done, in seconds since 1970; sessions in the order they start."""
    lengths = np.diff(offsets)
    starts = np.cumsum(chance.exponential(BETWEEN_SESSIONS, len(lengths)))
    elapsed = np.cumsum(np.exp(chance.normal(np.log(BETWEEN_STEPS), 1.0, int(offsets[-1]))))
    since = np.repeat(starts - elapsed[offsets[:-1]], lengths) + elapsed
    whole: list[int] = (FIRST_TIME + since).astype(np.int64).tolist()
    return whole
