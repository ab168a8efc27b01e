"""How sure the parameters of pairs are: posteriors from the few sums that are kept of each.

A parameter a = alpha / (alpha + beta) comes from what EM expected of hidden coins, and not from
coins that somebody saw. A Beta of the expected sums is therefore too narrow. By Louis' identity the
information of what was seen is that of all coins less what the hidden ones leave open,

    I(a) = alpha / a^2 + beta / (1 - a)^2 - D / (a (1 - a))^2,    D the sum of x (1 - x),

x being what was expected of each coin. As many coins in plain sight tell the same as there are in

    n = alpha + beta - D / (a (1 - a)),

which less the strength of the prior is the evidence.

The posterior itself leans to where hidden coins can hide, so that no Beta is near it. Of a pair
that was clicked k times, and skipped s times with the same examination g, it is

    a^(k + m p - 1) (1 - a)^(m (1 - p) - 1) (1 - a g)^s,

and the three sums, E expected of N coins with doubt D, say what k, s and g are:

    x = D / (N - E),    s = (N - E) / (1 - x),    k = N - s,    (1 - a g) / (1 - a) = 1 / (1 - x).

Where examinations differ this is a posterior with the same peak, the same curvature there on the
scale of log-odds, and nearly the same tails; where nothing is hidden it is the Beta. It is summed
up on a grid of log-odds, dense about the peak. Of satisfaction the failures are seen and the
successes hidden, as people who are satisfied are silent: there 1 - a takes the place of a.

The parameters that all pages share are held, for they have all pages behind them.

Symbols: P pairs, m strength and p mean of the prior, t log-odds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from purport.clicks.pairs import DEFINED, DOUBT, EXPECTED, LEAST, MOST, PRIOR

if TYPE_CHECKING:
    from numpy.typing import NDArray

POINTS = 401
"""Of the grid."""
FARTHEST = 28.0
"""The grid goes so far to both sides, in log-odds; beyond it lies what is next to 0 or 1."""
AT_ONCE = 4096
"""So many pairs are on a grid at a time."""


@dataclass(frozen=True, eq=False)
class Belief:
    """What is believed of a parameter of some pairs.

    Attributes
    ----------
    mean : (P,) float64
        The parameter, as the model has it.
    looks : (P,) float64
        n; what the prior counts as is in it.
    ones : (P,) float64
        k + m p, or of satisfaction what goes for failure.
    zeros : (P,) float64
        m (1 - p), or of satisfaction what goes for success.
    hidden : (P,) float64
        s.
    spared : (P,) float64
        1 - g, the share of zeros and ones that was not looked at.
    is_failure : bool
        Whether ones are failures.
    """

    mean: NDArray[np.float64]
    looks: NDArray[np.float64]
    ones: NDArray[np.float64]
    zeros: NDArray[np.float64]
    hidden: NDArray[np.float64]
    spared: NDArray[np.float64]
    is_failure: bool = False

    @classmethod
    def of(cls, kept: NDArray[np.float64], strength: float, is_failure: bool = False) -> Belief:
        """Make what follows from the sums of some pairs.

        Parameters
        ----------
        kept : (P, 4) float64
            Expected, how often defined, doubt, prior.
        strength : float
            m.
        is_failure : bool
            Whether failures are seen and successes hidden, and not the other way round.

        Examples
        --------
        Ten skips, each of which leaves an even chance that the result attracted unseen:

        >>> told = Belief.of(np.array([[5.0, 10.0, 2.0, 0.5]]), 2.0)
        >>> told.mean.tolist(), told.looks.tolist()
        ([0.5], [4.0])
        """
        expected, defined, doubt = kept[:, EXPECTED], kept[:, DEFINED], kept[:, DOUBT]
        mean = np.clip((expected + strength * kept[:, PRIOR]) / (defined + strength), LEAST, MOST)
        evidence = defined - doubt / (mean * (1.0 - mean))
        a, prior = (1.0 - mean, 1.0 - kept[:, PRIOR]) if is_failure else (mean, kept[:, PRIOR])
        open_sum = np.maximum(expected if is_failure else defined - expected, 0.0)
        x = np.divide(doubt, open_sum, out=np.zeros_like(doubt), where=open_sum > 0.0)
        x = np.clip(x, 0.0, MOST)
        hidden = open_sum / (1.0 - x)
        return cls(
            mean,
            # Far from where EM comes to rest hidden coins can leave open more than all others tell.
            strength + np.maximum(evidence, 0.0),
            np.maximum(defined - hidden, 0.0) + strength * prior,
            strength * (1.0 - prior),
            hidden,
            x * (1.0 - a) / (a * (1.0 - x)),
            is_failure,
        )

    def within(self, interval: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the bounds of the middle part of each that has a probability."""
        low, high = np.empty_like(self.mean), np.empty_like(self.mean)
        outside = (1.0 - interval) / 2.0
        for part, places, shares in self._grids():
            upto = np.cumsum(shares, axis=1) - 0.5 * shares
            low[part] = [np.interp(outside, *row) for row in zip(upto, places, strict=True)]
            high[part] = [np.interp(1.0 - outside, *row) for row in zip(upto, places, strict=True)]
        low, high = _share_of(low), _share_of(high)
        return (1.0 - high, 1.0 - low) if self.is_failure else (low, high)

    def moments(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what is expected of each parameter, and of its square."""
        first, second = np.empty_like(self.mean), np.empty_like(self.mean)
        for part, places, shares in self._grids():
            values = _share_of(-places if self.is_failure else places)
            first[part] = (values * shares).sum(axis=1)
            second[part] = (values**2 * shares).sum(axis=1)
        return first, second

    @property
    def square(self) -> NDArray[np.float64]:
        """The square that a Beta of this mean and so many looks lets expect."""
        beyond: NDArray[np.float64] = self.mean * (1.0 - self.mean) / (self.looks + 1.0)
        return self.mean**2 + beyond

    def _grids(self) -> Iterator[tuple[slice, NDArray[np.float64], NDArray[np.float64]]]:
        """Yield which pairs, their log-odds on a grid and the probability of each place."""
        for start in range(0, len(self.mean), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            a = (1.0 - self.mean if self.is_failure else self.mean)[part, None]
            width = 1.0 / np.sqrt(self.looks[part, None] * a * (1.0 - a))
            farthest = np.arcsinh(FARTHEST / width)
            steps = farthest * np.linspace(-1.0, 1.0, POINTS)
            places = np.log(a) - np.log1p(-a) + width * np.sinh(steps)
            one, zero = -np.logaddexp(0.0, -places), -np.logaddexp(0.0, places)
            with np.errstate(divide="ignore"):
                unseen = np.logaddexp(zero, one + np.log(self.spared[part, None]))
            logs = self.ones[part, None] * one + self.zeros[part, None] * zero
            logs += self.hidden[part, None] * unseen
            shares = np.exp(logs - logs.max(axis=1, keepdims=True)) * np.cosh(steps)
            # What lies beyond the ends falls off evenly; each step of the grid has one length.
            step = width[:, 0] * farthest[:, 0] * 2.0 / (POINTS - 1)
            ends = np.cosh(steps[:, -1]) * step
            shares[:, 0] /= np.maximum(ends * self.ones[part], LEAST)
            shares[:, -1] /= np.maximum(ends * self.zeros[part], LEAST)
            yield part, places, shares / shares.sum(axis=1, keepdims=True)


def looks_of_product(beliefs: Sequence[Belief]) -> NDArray[np.float64]:
    """Return how many looks in plain sight at a product tell as much.

    Examples
    --------
    >>> even = Belief.of(np.array([[0.0, 0.0, 0.0, 0.5]]), 2.0)
    >>> looks_of_product([even]).tolist(), looks_of_product([even, even]).round(2).tolist()
    ([2.0], [2.86])
    """
    if len(beliefs) == 1:
        return beliefs[0].looks
    means, squares = [belief.mean for belief in beliefs], [belief.square for belief in beliefs]
    return _looks(np.prod(means, axis=0), np.prod(squares, axis=0))


def product_within(
    beliefs: Sequence[Belief], interval: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds of a product: those of the Beta with its mean and its variance.

    Examples
    --------
    >>> even = Belief.of(np.array([[50.0, 100.0, 0.0, 0.5]]), 2.0)
    >>> low, high = product_within([even, even], 0.9)
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([0.19], [0.31])
    """
    if len(beliefs) == 1:
        return beliefs[0].within(interval)
    from scipy.special import betaincinv

    moments = [belief.moments() for belief in beliefs]
    mean = np.prod([first for first, _ in moments], axis=0)
    looks = _looks(mean, np.prod([second for _, second in moments], axis=0))
    outside = (1.0 - interval) / 2.0
    alpha, beta = mean * looks, (1.0 - mean) * looks
    return betaincinv(alpha, beta, outside), betaincinv(alpha, beta, 1.0 - outside)


def _looks(mean: NDArray[np.float64], square: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of the parameters of a Beta."""
    variance = np.maximum(square - mean**2, LEAST**2)
    return np.maximum(mean * (1.0 - mean) / variance - 1.0, LEAST)


def _share_of(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of log-odds."""
    found: NDArray[np.float64] = np.exp(-np.logaddexp(0.0, -odds))
    return found
