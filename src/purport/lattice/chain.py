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
be reached from every other in one step. Where arcs are forbidden that takes several steps, whose
ranges are summed up, or those of the whole sequence if some states are never reached. A sequence
beyond `WIDEST` goes to log space.

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
from purport.lattice.kbest import k_best_paths
from purport.lattice.lanes import Packs
from purport.lattice.logspace import sum_paths_in_log_space
from purport.lattice.potentials import NO_CLAMP, WIDEST, Clamp, Potentials
from purport.lattice.sampling import sample_paths
from purport.lattice.scaled import sum_paths
from purport.lattice.transitions import Transitions
from purport.lattice.viterbi import best_paths

if TYPE_CHECKING:
    from numpy.typing import NDArray

_scratch = Scratch()
_NO_ROWS = np.empty((0, 0))
_NO_INDEX = np.empty(0, np.int32)


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
        start: NDArray[np.float64] | None = None,
        stop: NDArray[np.float64] | None = None,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the best path's state at every position (P,) and its score (N,).

        Emissions are logarithms here, as everywhere outside `Potentials`, and are left alone.
        """
        arcs = transitions.arcs
        path = np.empty(len(self.index), np.int32)
        score = np.empty(len(self))
        is_dense = not (arcs.rest == 0.0 and 4 * len(arcs) < self.states**2)
        best_paths(
            *self._scored(emissions, clamp, start, stop),
            is_dense,
            transitions.matrix if is_dense else _NO_ROWS,
            arcs.from_source,
            arcs.targets,
            transitions.scores,
            transitions.highest,
            arcs.is_listed,
            np.empty((self._longest, self.states), np.int32),
            path,
            score,
        )
        return path, score

    def k_best(
        self,
        emissions: NDArray[np.float64],
        transitions: Transitions,
        count: int,
        clamp: Clamp | None = None,
        start: NDArray[np.float64] | None = None,
        stop: NDArray[np.float64] | None = None,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the best paths (count, P), best first, and their scores (N, count).

        Where a sequence has fewer paths, the scores of those missing are -inf.
        """
        paths = np.empty((count, len(self.index)), np.int32)
        scores = np.empty((len(self), count))
        k_best_paths(
            *self._scored(emissions, clamp, start, stop),
            np.ascontiguousarray(transitions.matrix.T),
            np.empty((self._longest, self.states, count), np.int32),
            paths,
            scores,
        )
        return paths, scores

    def sample(
        self,
        emissions: NDArray[np.float64],
        transitions: Transitions,
        uniforms: NDArray[np.float64],
        clamp: Clamp | None = None,
        start: NDArray[np.float64] | None = None,
        stop: NDArray[np.float64] | None = None,
    ) -> NDArray[np.int32]:
        """Return paths drawn at random, of the same shape as `uniforms` (draws, P).

        Each number from [0, 1) decides one state. Where a sequence has no path its states are -1.
        """
        paths = np.empty(uniforms.shape, np.int32)
        into = np.ascontiguousarray(transitions.matrix.T)
        shift = float(np.max(into, initial=0.0))
        sample_paths(
            *self._scored(emissions, clamp, start, stop),
            into,
            np.exp(into - shift),
            shift,
            uniforms,
            np.empty((self._longest, self.states)),
            paths,
        )
        return paths

    @property
    def _longest(self) -> int:
        return int(np.max(np.diff(self.offsets), initial=0))

    def _scored(
        self,
        emissions: NDArray[np.float64],
        clamp: Clamp | None,
        start: NDArray[np.float64] | None,
        stop: NDArray[np.float64] | None,
    ) -> tuple[Floats, Int32s, Int64s, bool, Floats, Int32s, Floats, Floats]:
        """Return what every kernel over log scores is given first."""
        clamp = clamp or NO_CLAMP
        zeros = np.zeros(self.states)
        return (
            emissions,
            self.index,
            self.offsets,
            clamp.restrains,
            clamp.scores,
            clamp.index,
            zeros if start is None else start,
            zeros if stop is None else stop,
        )

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

    def _steps_to_reach_all(self, walk: _Walk) -> int:
        """Return in how many steps every state reaches every other; 0 if that is not sure."""
        reach = walk.potentials.transitions.reach
        if reach <= 1:
            return reach
        # Forbidden states may close the ways that allowed arcs leave open.
        rows = walk.potentials.emissions.rows
        return 0 if walk.clamp.restrains or np.count_nonzero(rows) < rows.size else reach

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
            self._steps_to_reach_all(walk),
            WIDEST,
            unsafe,
        )
        return unsafe


@kernel(
    "void(float64[::1], int32[::1], int64[::1], boolean, float64[::1], int32[::1],"
    " float64, float64, int64, float64, boolean[::1])"
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
    reach: int,
    widest: float,
    out: Booleans,  # (N,)
) -> None:
    """Mark the sequences whose forward vectors could span more than `widest`.

    `reach` steps, one after the other, are taken together; 0 takes all steps of a sequence.
    """
    for n in range(len(out)):
        furthest = 0.0
        together = 0.0
        for p in range(offsets[n], offsets[n + 1]):
            for place in range(2):
                # The step that comes in, and the one that goes out.
                q = p - place * reach
                if place == 1 and (reach == 0 or q < offsets[n]):
                    continue
                step = spread[index[q]] + arc_spread
                if is_clamped:
                    step += clamp_spread[clamp_index[q]]
                together += step if place == 0 else -step
            furthest = max(furthest, together)
        out[n] = furthest + ends_spread > widest
