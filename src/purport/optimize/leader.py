"""Learning one batch after the other: follow the regularised leader, each weight at its own rate.

FTRL-Proximal (McMahan and others, 2013). After t batches the weights minimise

    g_1..t . w + l1 |w|_1 + l2 |w|^2 + sum over batches of sigma_s / 2 |w - w_s|^2

so that l1 and l2 are said once for all data, as in the batch objective, and not for each batch.
Symbols: n weights; g gradient; z = sum of g less sum of sigma w; q = sum of g^2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SLOW = 1.0
"""Added to the root of q: the first steps of a weight that is rarely met are smaller."""


@dataclass
class Leader:
    """The state of an online optimiser.

    Attributes
    ----------
    rate : float
        The size of the steps; a weight's first step is at most this.
    z, q : (n,) float64
        As above.

    Examples
    --------
    >>> leader = Leader.at(np.zeros(1), rate=0.5)
    >>> for _ in range(1000):
    ...     weights = leader.weights(l1=0.0, l2=0.0)
    ...     leader.add(weights - 3.0, weights)
    >>> leader.weights(l1=0.0, l2=0.0).round(2).tolist()
    [3.0]
    """

    rate: float
    z: NDArray[np.float64]
    q: NDArray[np.float64]

    @classmethod
    def at(
        cls, weights: NDArray[np.float64], rate: float, l1: float = 0.0, l2: float = 0.0
    ) -> Leader:
        """Start at given weights."""
        stiffness = SLOW / rate + 2.0 * l2
        return cls(rate, -stiffness * weights - l1 * np.sign(weights), np.zeros(len(weights)))

    def weights(self, l1: float, l2: float) -> NDArray[np.float64]:
        """Return the weights for the penalties of all data seen so far."""
        stiffness = (SLOW + np.sqrt(self.q)) / self.rate + 2.0 * l2
        if l1 == 0.0:
            return -self.z / stiffness
        shrunk = np.sign(self.z) * np.maximum(np.abs(self.z) - l1, 0.0)
        result: NDArray[np.float64] = -shrunk / stiffness
        return result

    def add(self, gradient: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        """Take in the gradient of a batch at the weights that `weights` gave."""
        root = np.sqrt(self.q)
        self.q += gradient * gradient
        self.z += gradient - (np.sqrt(self.q) - root) / self.rate * weights

    def rearrange(self, spread: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> None:
        """Move on to more weights; `spread` puts values of the old ones in their places."""
        self.z, self.q = spread(self.z), spread(self.q)
