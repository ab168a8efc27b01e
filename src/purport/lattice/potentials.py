"""What scores the paths of a chain: emissions, transitions, start and stop, and clamps.

Symbols: U unique rows, S states, D different clamps, P positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from purport.lattice.exponential import exponentiate_rows
from purport.lattice.transitions import Transitions

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDEST = 300.0
"""Products of two entries this far below one stay above the smallest float64."""


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
