"""What each sample has put into the weights, kept so that learning can go on from there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from purport.estimator.base import State
from purport.margin.samples import Samples
from purport.records.columns import positions_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Shares:
    """The shares of samples that are not 0.

    Attributes
    ----------
    keys : (n,) int64
        The fingerprints of the samples that have any, ascending.
    costs : (n,) float64
        The cost of each.
    starts : (n + 1,) int64
        Where the shares of each start.
    labels, values : (entries,) int32, float64
        The labels that have a share, and the shares.
    """

    keys: NDArray[np.int64]
    costs: NDArray[np.float64]
    starts: NDArray[np.int64]
    labels: NDArray[np.int32]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, samples: Samples, shares: NDArray[np.float64]) -> Shares:
        """Keep those of (n, L) that are not 0."""
        numbers, labels = np.nonzero(shares)
        some, counts = np.unique(numbers, return_counts=True)
        return cls(
            keys=samples.keys[some],
            costs=samples.cost_of[some],
            starts=np.append(0, np.cumsum(counts)).astype(np.int64),
            labels=labels.astype(np.int32),
            values=shares[numbers, labels],
        )

    def spread(self, samples: Samples) -> NDArray[np.float64]:
        """Return shares (n, L) for samples, 0 for those that are new.

        A sample that costs more or less than it did has as much more or less of a share.
        """
        shares = np.zeros((len(samples), samples.labels))
        if not len(self.keys):
            return shares
        place = np.minimum(np.searchsorted(self.keys, samples.keys), len(self.keys) - 1)
        known = np.flatnonzero(self.keys[place] == samples.keys)
        place = place[known]
        entries, starts = positions_of(place, self.starts)
        numbers = np.repeat(known, np.diff(starts))
        scale = np.repeat(samples.cost_of[known] / self.costs[place], np.diff(starts))
        shares[numbers, self.labels[entries]] = self.values[entries] * scale
        return shares

    def fit(self, labels: int) -> bool:
        """Tell whether these are shares of so many labels, as those of a file may not be."""
        whole = len(self.starts) == len(self.keys) + 1 == len(self.costs) + 1
        whole = whole and len(self.labels) == len(self.values)
        whole = whole and self.starts[0] == 0 and self.starts[-1] == len(self.labels)
        return bool(
            whole
            and np.all(np.diff(self.starts) >= 0)
            and np.all((self.labels >= 0) & (self.labels < labels))
            and np.all(self.costs > 0.0)
            and np.all(np.diff(self.keys) >= 0)
        )

    def to_state(self) -> State:
        """Return what goes into a model folder."""
        return State(dict(vars(self)))

    @classmethod
    def from_state(cls, state: State) -> Shares:
        """Take back what `to_state` gave."""
        return cls(**state.arrays)
