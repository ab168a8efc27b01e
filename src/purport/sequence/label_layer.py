"""p(y | h): how probable each label is at a hidden state, and what labels say of the states.

Implements Eq. 3 and 11 to 13 of "Sparse Hidden-Dynamics Conditional Random Fields for User Intent
Understanding": p(y | h) is a softmax over the labels for each state, and its entropy is penalised.

Symbols: L labels, S states, D different sets of labels; q(y, h) = p(y | h).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from purport.lattice.potentials import Clamp
from purport.sequence.labels import Possible

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class LabelLayer:
    """Label probabilities of the states, made ready for one evaluation.

    Attributes
    ----------
    log_shares : (L, S) float64
        log p(y | h); -inf where a state never has a label.
    """

    log_shares: NDArray[np.float64]

    @classmethod
    def of(cls, scores: NDArray[np.float64]) -> LabelLayer:
        """Normalise scores (L, S) for each state."""
        return cls(scores - log_sums(scores))

    @classmethod
    def blocks(cls, labels: int, states_per_label: int) -> LabelLayer:
        """Give each label so many states of its own."""
        of_state = np.repeat(np.arange(labels), states_per_label)
        return cls(np.where(of_state == np.arange(labels)[:, None], 0.0, -np.inf))

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """p(y | h) (L, S)."""
        shares: NDArray[np.float64] = np.exp(self.log_shares)
        return shares

    @property
    def entropies(self) -> NDArray[np.float64]:
        """H(p(. | h)) of each state (S,)."""
        entropies: NDArray[np.float64] = -self._times_logarithm.sum(axis=0)
        return entropies

    @cached_property
    def _times_logarithm(self) -> NDArray[np.float64]:
        finite = np.where(np.isneginf(self.log_shares), 0.0, self.log_shares)
        return self.shares * finite

    def entropy_gradient(self) -> NDArray[np.float64]:
        """Return the derivatives of each state's entropy by its label scores (L, S)."""
        gradient: NDArray[np.float64] = -(self._times_logarithm + self.shares * self.entropies)
        return gradient

    def evidence(self, allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return log p(one of the labels | h) for sets of labels: (D, L) to (D, S)."""
        found = np.zeros((len(allowed), self.log_shares.shape[1]))
        for number, labels in enumerate(allowed):
            # A set of all labels says nothing: exactly 0, whatever rounding would say.
            if not labels.all():
                found[number] = log_sums(self.log_shares[labels])
        return found

    def clamp(self, possible: Possible) -> Clamp:
        """Return the clamp that weighs states by how well they agree with labels."""
        return Clamp(self.evidence(possible.allowed), possible.set_of)

    def best(self, possible: Possible | None, positions: int) -> BestLabels:
        """Return the most probable label of each state, among those that are possible."""
        labels = len(self.log_shares)
        if possible is None:
            possible = Possible(np.ones((1, labels), np.bool_), np.zeros(positions, np.int32))
        scores = np.where(possible.allowed[:, :, None], self.log_shares, -np.inf)
        first = scores.argmax(axis=1)
        highest = np.take_along_axis(scores, first[:, None], axis=1)[:, 0]
        np.put_along_axis(scores, first[:, None], -np.inf, axis=1)
        return BestLabels(
            Clamp(highest, possible.set_of), first.astype(np.int32), highest, scores.max(axis=1)
        )

    def within(self, allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return p(y | h, y is one of a set) for every set (D, L, S); 0 where that cannot be."""
        total = self.evidence(allowed)[:, None]
        scores = np.where(allowed[:, :, None], self.log_shares, -np.inf)
        shares: NDArray[np.float64] = np.exp(scores - np.where(np.isneginf(total), 0.0, total))
        return shares

    def gradient(
        self, counts: NDArray[np.float64], allowed: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return the derivatives of the clamped log Z by the label scores (L, S).

        Parameters
        ----------
        counts : (D, S) float64
            How often each state is expected where each set of labels was told.
        allowed : (D, L) bool
            The sets.
        """
        told = np.einsum("ds,dls->ls", counts, self.within(allowed))
        gradient: NDArray[np.float64] = told - self.shares * counts.sum(axis=0)
        return gradient

    def labels_of(
        self, posteriors: NDArray[np.float64], possible: Possible | None
    ) -> NDArray[np.float64]:
        """Return the posteriors of labels (P, L) from those of states (P, S)."""
        if possible is None:
            return posteriors @ self.shares.T
        found = np.empty((len(posteriors), len(self.log_shares)))
        within = self.within(possible.allowed)
        for number, shares in enumerate(within):
            here = possible.set_of == number
            found[here] = posteriors[here] @ shares.T
        return found


@dataclass(frozen=True)
class BestLabels:
    """The most probable labels of the states, for different sets of possible labels.

    Attributes
    ----------
    clamp : Clamp
        log p(best label | h) at positions.
    labels : (D, S) int32
        The best label.
    highest, second : (D, S) float64
        log p of the best and of the second label.
    """

    clamp: Clamp
    labels: NDArray[np.int32]
    highest: NDArray[np.float64]
    second: NDArray[np.float64]

    def at(self, states: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the best label of a state at each position (..., P)."""
        return self.labels[self.clamp.index, states]

    def fall(self, states: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return log p(second) - log p(best) of a state at each position (..., P)."""
        index = self.clamp.index
        highest = self.highest[index, states]
        second = self.second[index, states]
        fall: NDArray[np.float64] = np.where(
            np.isneginf(second), -np.inf, second - np.maximum(highest, -1e300)
        )
        return fall


def log_sums(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of the sum of exponentials of each column; -inf if all are -inf."""
    highest = scores.max(axis=0)
    shift = np.where(np.isneginf(highest), 0.0, highest)
    with np.errstate(divide="ignore"):
        sums: NDArray[np.float64] = shift + np.log(np.exp(scores - shift).sum(axis=0))
    return sums
