"""The chain over ragged sequences, the one lattice of the package: sums, posteriors, best paths.

A caller brings four things, all in logarithms:

* **emissions** (U, S), one row for each different row of features, and an index from positions to
  rows;
* **transitions** over listed arcs, the rest scoring 0 or forbidden;
* **start** and **stop** scores (S,);
* perhaps a **clamp**: scores (D, S) added at positions that point at them. A mask is a clamp of 0
  and -inf, evidence
  from elsewhere one of log probabilities, loss augmentation one of costs.

The fast path scales each step. What it can hold is decided beforehand: an entry of the forward
vector lies at most (range of the row + range of the arcs) below the largest, since every state can
be reached from every other in one step; with forbidden arcs states may drift apart over many steps,
so there the ranges are summed up. A sequence beyond `WIDEST` goes to log space.

States that are not labels, automata and per-row transitions come as further forms of the
transitions.

Symbols: N sequences, P positions, U unique rows, S states, D different clamps, A listed arcs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from purport.fold.kernel import Booleans, Floats, Int32s, Int64s, kernel
from purport.fold.scratch import Scratch
from purport.lattice.exponential import exponentiate_rows
from purport.lattice.lanes import Packs
from purport.lattice.logspace import sum_paths_in_log_space
from purport.lattice.scaled import sum_paths
from purport.lattice.transitions import Transitions
from purport.lattice.viterbi import best_paths

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDEST = 300.0
"""Products of two entries this far below one stay above the smallest float64."""

_scratch = Scratch()
_NO_ROWS = np.empty((0, 0))
_NO_INDEX = np.empty(0, np.int32)


class Potentials:
    """Emissions, transitions, start and stop made ready for sums over paths.

    Parameters
    ----------
    emissions : Emissions
        Exponentiated rows.
    transitions : Transitions
        Scores of the arcs.
    start, stop : (S,) float64, log, or None
        None is all zeros.
    """

    def __init__(
        self,
        emissions: Emissions,
        transitions: Transitions,
        start: NDArray[np.float64] | None = None,
        stop: NDArray[np.float64] | None = None,
    ) -> None:
        states = transitions.arcs.states
        self.emissions = emissions
        self.transitions = transitions
        self.start = np.zeros(states) if start is None else start
        self.stop = np.zeros(states) if stop is None else stop
        ends = np.concatenate([self.start, self.stop])
        finite = ends[np.isfinite(ends)]
        self.ends_spread = float(np.ptp(finite)) if len(finite) else 0.0


@dataclass(frozen=True)
class Emissions:
    """Rows of potentials, each divided by its largest.

    Attributes
    ----------
    rows : (U, S) float64
        exp(score - highest); in logarithms where `spread` is above `WIDEST`.
    highest : (U,) float64
        Largest log score of each row.
    spread : (U,) float64
        Largest less smallest finite log score of each row.
    """

    rows: NDArray[np.float64]
    highest: NDArray[np.float64]
    spread: NDArray[np.float64]

    @classmethod
    def of(cls, rows: NDArray[np.float64], widest: float = WIDEST) -> Emissions:
        """Exponentiate log scores, in place."""
        highest, spread = np.empty((2, len(rows)))
        exponentiate_rows(rows, widest, highest, spread)
        return cls(rows, highest, spread)


class Clamp:
    """Scores added at positions: which paths agree with the evidence, and how well.

    Parameters
    ----------
    scores : (D, S) float64, log
        -inf forbids a state.
    index : (P,) int32
        The row of `scores` of each position.
    """

    def __init__(self, scores: NDArray[np.float64], index: NDArray[np.int32]) -> None:
        self.scores = scores
        self.index = np.array(index, np.int32)
        self.factors = Emissions.of(scores.copy(), np.inf)
        self.restrains = len(scores) > 0


NO_CLAMP = Clamp(np.empty((0, 0)), np.empty(0, np.int32))
"""The clamp that every path agrees with."""


@dataclass(frozen=True)
class Expectations:
    """Sums over sequences, each times its weight.

    Attributes
    ----------
    log_partition : (N,) float64
        log Z of each sequence; -inf where no path exists, 0 for an empty sequence.
    pairs : (A,) float64
        Expected number of times that each listed arc is used.
    """

    log_partition: NDArray[np.float64]
    pairs: NDArray[np.float64]


@dataclass(frozen=True)
class _Walk:
    """What one walk over all sequences is given; see `Chain.expectations`."""

    potentials: Potentials
    clamp: Clamp
    weights: NDArray[np.float64]
    wants_posteriors: bool
    posteriors: NDArray[np.float64]
    destination: NDArray[np.int32]


class Chain:
    """Sequences laid out for the kernels, once; used with any number of potentials.

    Parameters
    ----------
    index : (P,) int32
        The row of emissions of each position.
    offsets : (N + 1,) int64
        Where each sequence begins.
    states : int
        S.
    """

    def __init__(self, index: NDArray[np.int32], offsets: NDArray[np.int64], states: int) -> None:
        # Copies: kernels take arrays that can be written to, and records give some that cannot.
        self.index = np.array(index, np.int32)
        self.offsets = np.array(offsets, np.int64)
        self.states = states

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def packs(self) -> Packs:
        """Which sequences walk together; best paths do without."""
        return Packs(np.diff(self.offsets), self.states)

    def log_partition(
        self, potentials: Potentials, clamp: Clamp | None = None
    ) -> NDArray[np.float64]:
        """Return log Z of every sequence."""
        walk = _Walk(potentials, clamp or NO_CLAMP, np.ones(len(self)), False, _NO_ROWS, _NO_INDEX)
        return self._sums(walk).log_partition

    def expectations(
        self,
        potentials: Potentials,
        weights: NDArray[np.float64],
        posteriors: NDArray[np.float64],
        destination: NDArray[np.int32],
        clamp: Clamp | None = None,
    ) -> Expectations:
        """Return log Z and expected pairs, and add posteriors to the rows they belong to.

        Parameters
        ----------
        potentials : Potentials
            What scores the paths.
        weights : (N,) float64
            Posteriors and pairs of a sequence count this often; may be negative.
        posteriors : (rows, S) float64
            Added to.
        destination : (P,) int32
            The row of `posteriors` for each position: `index` to sum up by unique row, `arange(P)`
            for one each.
        clamp : Clamp, optional
            Scores added at positions.
        """
        walk = _Walk(potentials, clamp or NO_CLAMP, weights, True, posteriors, destination)
        return self._sums(walk)

    def best_paths(
        self,
        emissions: NDArray[np.float64],
        transitions: Transitions,
        clamp: Clamp | None = None,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the best path's state at every position (P,) and its score (N,).

        Emissions are logarithms here, as everywhere outside `Potentials`, and are left alone.
        """
        arcs = transitions.arcs
        clamp = clamp or NO_CLAMP
        path = np.empty(len(self.index), np.int32)
        score = np.empty(len(self))
        longest = int(np.max(np.diff(self.offsets), initial=0))
        is_dense = not (arcs.rest == 0.0 and 4 * len(arcs) < self.states**2)
        zeros = np.zeros(self.states)
        best_paths(
            emissions,
            self.index,
            self.offsets,
            clamp.restrains,
            clamp.scores,
            clamp.index,
            zeros,
            zeros,
            is_dense,
            transitions.matrix if is_dense else _NO_ROWS,
            arcs.from_source,
            arcs.targets,
            transitions.scores,
            transitions.highest,
            arcs.is_listed,
            np.empty((longest, self.states), np.int32),
            path,
            score,
        )
        return path, score

    def _sums(self, walk: _Walk) -> Expectations:
        transitions = walk.potentials.transitions
        arcs = transitions.arcs
        log_partition = np.zeros(len(self))
        skipped = self._out_of_range(walk)
        padded = np.zeros(len(arcs.by_source.others))
        products = np.zeros((2, *transitions.dense.shape))
        self._sum_scaled(walk, skipped, log_partition, padded, products)
        if len(transitions.dense):
            pairs = (products[1] * transitions.dense)[arcs.sources, arcs.targets]
        else:
            pairs = padded[arcs.by_source.slots] * transitions.values
        left = skipped | np.isnan(log_partition)
        if left.any():
            pair_matrix = np.zeros((self.states, self.states))
            self._sum_in_log_space(walk, left, log_partition, pair_matrix)
            pairs += pair_matrix[arcs.sources, arcs.targets]
        return Expectations(log_partition, pairs)

    def _sum_scaled(
        self,
        walk: _Walk,
        skipped: NDArray[np.bool_],
        log_partition: NDArray[np.float64],
        pairs: NDArray[np.float64],
        products: NDArray[np.float64],
    ) -> None:
        potentials, clamp, packs = walk.potentials, walk.clamp, self.packs
        transitions = potentials.transitions
        arcs = transitions.arcs
        sum_paths(
            potentials.emissions.rows,
            potentials.emissions.highest,
            self.index,
            self.offsets,
            clamp.restrains,
            clamp.factors.rows,
            clamp.factors.highest,
            clamp.index,
            walk.weights,
            np.exp(potentials.start),
            np.exp(potentials.stop),
            arcs.by_target.starts,
            arcs.by_target.others,
            transitions.forward,
            arcs.by_source.starts,
            arcs.by_source.others,
            transitions.backward,
            transitions.one_plus,
            len(transitions.dense) > 0,
            transitions.dense,
            np.ascontiguousarray(transitions.dense.T),
            transitions.shift,
            packs.order,
            packs.starts,
            packs.widths,
            skipped,
            _scratch.array("psi", (packs.largest + packs.widest) * self.states),
            _scratch.array("alpha", packs.largest * self.states),
            _scratch.array("scales", packs.largest),
            _scratch.array("lanes", 6, packs.widest),
            products[0],
            log_partition,
            walk.wants_posteriors,
            walk.destination,
            walk.posteriors,
            pairs,
            products[1],
        )

    def _sum_in_log_space(
        self,
        walk: _Walk,
        chosen: NDArray[np.bool_],
        log_partition: NDArray[np.float64],
        pair_matrix: NDArray[np.float64],
    ) -> None:
        potentials, clamp = walk.potentials, walk.clamp
        sum_paths_in_log_space(
            potentials.emissions.rows,
            potentials.emissions.highest,
            potentials.emissions.spread,
            WIDEST,
            self.index,
            self.offsets,
            clamp.restrains,
            clamp.scores,
            clamp.index,
            walk.weights,
            potentials.start,
            potentials.stop,
            potentials.transitions.matrix,
            chosen,
            log_partition,
            walk.wants_posteriors,
            walk.destination,
            walk.posteriors,
            pair_matrix,
        )

    def _out_of_range(self, walk: _Walk) -> NDArray[np.bool_]:
        transitions, clamp = walk.potentials.transitions, walk.clamp
        unsafe = np.zeros(len(self), np.bool_)
        find_out_of_range(
            walk.potentials.emissions.spread,
            self.index,
            self.offsets,
            clamp.restrains,
            clamp.factors.spread,
            clamp.index,
            transitions.spread,
            walk.potentials.ends_spread,
            transitions.forbids,
            WIDEST,
            unsafe,
        )
        return unsafe


@kernel(
    "void(float64[::1], int32[::1], int64[::1], boolean, float64[::1], int32[::1],"
    " float64, float64, boolean, float64, boolean[::1])"
)
def find_out_of_range(
    spread: Floats,  # (U,)
    index: Int32s,  # (P,)
    offsets: Int64s,  # (N + 1,)
    is_clamped: bool,
    clamp_spread: Floats,  # (D,)
    clamp_index: Int32s,  # (P,)
    arc_spread: float,
    ends_spread: float,
    adds_up: bool,
    widest: float,
    out: Booleans,  # (N,)
) -> None:
    """Mark the sequences whose forward vectors could span more than `widest`."""
    for n in range(len(out)):
        furthest = 0.0
        path = ends_spread
        for p in range(offsets[n], offsets[n + 1]):
            step = spread[index[p]] + arc_spread
            if is_clamped:
                step += clamp_spread[clamp_index[p]]
            furthest = max(furthest, step)
            path += step
        out[n] = (path if adds_up else furthest + ends_spread) > widest
