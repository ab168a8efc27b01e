"""What a trained scorer says about new sequences: best paths, posteriors, probabilities, samples.

Sequences are cut into parts of bounded size, so that memory does not grow with the data, and an
engine maps over the parts. What is known of labels clamps them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from purport.features.rows import Rows
from purport.fold.engine import Engine
from purport.lattice.chain import Chain
from purport.lattice.potentials import Clamp, Emissions, Potentials
from purport.records.columns import positions_of
from purport.sequence.labels import LabelCodes, Possible
from purport.sequence.likelihood import Scores
from purport.sequence.partitions import select_rows
from purport.sequence.scorer import LaidOut

if TYPE_CHECKING:
    from numpy.typing import NDArray

Result = TypeVar("Result")

POSITIONS = 16384
"""A part is closed when it has this many positions."""


class BestPaths(NamedTuple):
    """The best path of each sequence.

    Attributes
    ----------
    states : (P,) int32
        The state at every position.
    log_probability : (N,) float64
        log p(path | x); NaN where no path agrees with what is known.
    """

    states: NDArray[np.int32]
    log_probability: NDArray[np.float64]


class NBest(NamedTuple):
    """The K best paths of each sequence, best first.

    Attributes
    ----------
    states : (K, P) int32
        The states of each.
    log_probability : (N, K) float64
        log p(path | x); -inf where there are fewer paths, NaN where there is none.
    """

    states: NDArray[np.int32]
    log_probability: NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """A part of the sequences, with what is known of their labels and where they stand."""

    rows: Rows
    positions: slice
    possible: Possible | None

    def lattice(self, scores: Scores) -> Lattice:
        """Lay out the rows."""
        layout = scores.weights.layout
        chain = Chain(self.rows.index, self.rows.offsets, layout.states)
        clamp = None if self.possible is None else scores.clamp(self.possible)
        return Lattice(chain, LaidOut(layout, self.rows), scores, clamp)


@dataclass(frozen=True)
class Lattice:
    """Sequences whose rows are laid out, ready to be scored."""

    chain: Chain
    rows: LaidOut
    scores: Scores
    clamp: Clamp | None

    @cached_property
    def emissions(self) -> NDArray[np.float64]:
        """The log score of each row and state (U, S)."""
        return self.scores.weights.scores(
            self.rows, np.empty((self.rows.unique, self.chain.states))
        )

    @cached_property
    def potentials(self) -> Potentials:
        """What sums over paths take."""
        if "emissions" in self.__dict__:
            return self.scores.potentials(Emissions.of(self.emissions.copy()))
        out = np.empty((self.rows.unique, self.chain.states))
        return self.scores.potentials(self.scores.weights.emissions(self.rows, out))

    def best_paths(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the states (P,) and the scores (N,) of the best paths."""
        return self.chain.best_paths(
            self.emissions, self.scores.transitions, self.clamp, self.scores.start, self.scores.stop
        )

    def k_best(self, count: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the states (count, P) and the scores (N, count) of the best paths."""
        return self.chain.k_best(
            self.emissions, self.scores.transitions, count, self.clamp, self.scores.start,
            self.scores.stop,
        )  # fmt: skip

    def sample(self, uniforms: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return paths at random, one for each row of `uniforms`."""
        return self.chain.sample(
            self.emissions, self.scores.transitions, uniforms, self.clamp, self.scores.start,
            self.scores.stop,
        )  # fmt: skip

    def log_partition(self) -> NDArray[np.float64]:
        """Return log Z of the paths that agree with what is known (N,)."""
        return self.chain.log_partition(self.potentials, self.clamp)

    def log_shares(self) -> NDArray[np.float64]:
        """Return log Z of those paths less log Z of all (N,)."""
        return self.log_partition() - self.chain.log_partition(self.potentials)

    def posteriors(self) -> NDArray[np.float64]:
        """Return the posterior of every state at every position (P, S)."""
        return self.expectations()[0]

    def expectations(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return those posteriors and how often each arc is expected (A,)."""
        out = np.zeros((len(self.chain.index), self.chain.states))
        everyone = np.arange(len(out), dtype=np.int32)
        weights = np.ones(len(self.chain))
        found = self.chain.expectations(self.potentials, weights, out, everyone, self.clamp)
        return out, found.pairs


Known = LabelCodes | None


def best_states(
    rows: Rows, scores: Scores, engine: Engine, known: Known = None
) -> NDArray[np.int32]:
    """Return the states of the best paths (P,); -1 in sequences that have none."""

    def decode(part: Asked, scores: Scores) -> NDArray[np.int32]:
        states, score = part.lattice(scores).best_paths()
        lengths = np.diff(part.rows.offsets)
        return np.where(np.repeat(np.isneginf(score), lengths), np.int32(-1), states)

    return joined(mapped(decode, rows, scores, engine, known), np.int32)


def best_paths(rows: Rows, scores: Scores, engine: Engine, known: Known = None) -> BestPaths:
    """Return the best paths and how probable they are among those that agree with what is known."""

    def decode(part: Asked, scores: Scores) -> BestPaths:
        lattice = part.lattice(scores)
        states, score = lattice.best_paths()
        with np.errstate(invalid="ignore"):
            return BestPaths(states, score - lattice.log_partition())

    found = mapped(decode, rows, scores, engine, known)
    return BestPaths(
        joined([part.states for part in found], np.int32),
        joined([part.log_probability for part in found], np.float64),
    )


def n_best(rows: Rows, scores: Scores, engine: Engine, count: int, known: Known = None) -> NBest:
    """Return the best paths and how probable they are among those that agree with what is known."""

    def decode(part: Asked, scores: Scores) -> NBest:
        lattice = part.lattice(scores)
        states, score = lattice.k_best(count)
        with np.errstate(invalid="ignore"):
            return NBest(states, score - lattice.log_partition()[:, None])

    found = mapped(decode, rows, scores, engine, known)
    return NBest(
        np.concatenate([np.empty((count, 0), np.int32), *(part.states for part in found)], axis=1),
        np.concatenate([np.empty((0, count)), *(part.log_probability for part in found)]),
    )


def samples(
    rows: Rows,
    scores: Scores,
    engine: Engine,
    count: int,
    random: np.random.Generator,
    known: Known = None,
) -> NDArray[np.int32]:
    """Return paths drawn at random (count, P); -1 in sequences that have none."""
    # Drawn position by position: the same whatever the parts and the number of threads.
    uniforms = random.random((rows.positions, count)).T

    def decode(part: Asked, scores: Scores) -> NDArray[np.int32]:
        chosen = np.ascontiguousarray(uniforms[:, part.positions])
        return part.lattice(scores).sample(chosen)

    found = mapped(decode, rows, scores, engine, known)
    return np.concatenate([np.empty((count, 0), np.int32), *found], axis=1)


def posteriors(
    rows: Rows, scores: Scores, engine: Engine, known: Known = None
) -> NDArray[np.float64]:
    """Return the probability of every state at every position (P, S)."""
    states = scores.weights.layout.states

    def sum_up(part: Asked, scores: Scores) -> NDArray[np.float64]:
        return part.lattice(scores).posteriors()

    found = mapped(sum_up, rows, scores, engine, known)
    return np.concatenate([np.zeros((0, states)), *found])


def log_probabilities(
    rows: Rows, labels: LabelCodes, scores: Scores, engine: Engine
) -> NDArray[np.float64]:
    """Return log p(labels | x) of every sequence (N,); positions not known are summed over."""

    def compare(part: Asked, scores: Scores) -> NDArray[np.float64]:
        return part.lattice(scores).log_shares()

    return joined(mapped(compare, rows, scores, engine, labels), np.float64)


def mapped(
    ask: Callable[[Asked, Scores], Result],
    rows: Rows,
    scores: Scores,
    engine: Engine,
    known: Known,
) -> list[Result]:
    """Ask every part of the sequences, in order."""
    return engine.map(engine.place(list(_parts(rows, known))), ask, scores)


def _parts(rows: Rows, known: Known) -> Iterator[Asked]:
    if rows.positions <= POSITIONS:
        whole = slice(0, rows.positions)
        yield Asked(rows, whole, None if known is None else known.possible(whole))
        return
    numbers = rows.offsets[:-1] // POSITIONS
    cuts = np.flatnonzero(np.diff(numbers)) + 1
    for sequences in np.split(np.arange(len(rows)), cuts):
        _, offsets = positions_of(sequences, rows.offsets)
        here = slice(int(rows.offsets[sequences[0]]), int(rows.offsets[sequences[-1] + 1]))
        possible = None if known is None else known.possible(here)
        yield Asked(select_rows(rows, rows.index[here], offsets), here, possible)


def joined(parts: list[NDArray[Any]], dtype: type) -> NDArray[Any]:
    """Put the answers of parts one after the other."""
    return np.concatenate([np.empty(0, dtype), *parts])
