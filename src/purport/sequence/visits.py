"""How often a chain is expected to be in each hidden state, and what follows from that.

Symbols: S states, L labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Visits:
    """What states are expected to do over some sequences, whatever their labels.

    Attributes
    ----------
    usage : (S,) float64
        The mean posterior of each state; they sum to 1.
    pairs : (S, S) float64
        How often the state of a column is expected right after that of a row.

    Examples
    --------
    >>> visits = Visits.of(np.array([3.0, 1.0]), np.array([[1.0, 1.0], [0.0, 0.0]]))
    >>> visits.usage.tolist(), visits.next_shares.tolist()
    ([0.75, 0.25], [[0.5, 0.5], [0.0, 0.0]])
    """

    usage: NDArray[np.float64]
    pairs: NDArray[np.float64]

    @classmethod
    def of(cls, sums: NDArray[np.float64], pairs: NDArray[np.float64]) -> Self:
        """Take sums of posteriors of positions and of pairs."""
        return cls(sums / sums.sum(), pairs.copy())

    @classmethod
    def unknown(cls, states: int) -> Self:
        """Say nothing: all states alike, and none after another."""
        return cls(np.full(states, 1.0 / states), np.zeros((states, states)))

    @property
    def next_shares(self) -> NDArray[np.float64]:
        """How likely each state is after each other (S, S): rows sum to 1, or 0 if none comes."""
        return _shares_of_rows(self.pairs)

    def given_label(self, label_given_state: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return p(h | y) (L, S) from p(y | h) (L, S): rows sum to 1, or 0 without such steps."""
        return _shares_of_rows(label_given_state * self.usage)


def _shares_of_rows(values: NDArray[np.float64]) -> NDArray[np.float64]:
    totals = values.sum(axis=1, keepdims=True)
    shares: NDArray[np.float64] = values / np.where(totals > 0.0, totals, 1.0)
    return shares
