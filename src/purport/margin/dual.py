"""The solver of the linear SVM: rounds of a look at everything and steps where they matter.

Symbols as in `purport.margin.steps`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from purport.fold.blas import one_blas_thread
from purport.margin.samples import Samples
from purport.margin.steps import ALL, look, move_shares, step_between_active, step_everywhere

if TYPE_CHECKING:
    from numpy.typing import NDArray

SLOTS = 64
"""Most labels of a sample that are active at once; one with more takes its steps between all."""

PASSES = 20
"""Most passes over the active labels before the next look."""

PROGRESS = 0.1
"""A look is due when the steps have become this much shorter than in the first pass after one."""

REST = 0.1
"""A sample rests until the next look when it is this much nearer to its optimum than the mean."""


@dataclass(frozen=True)
class Look:
    """How far the solver is.

    Attributes
    ----------
    objective : float
        Of the weights: half their sum of squares and the costs of all losses.
    dual : float
        Of the shares: no weights have a lower objective than this.
    passes : int
        Over samples, so far.
    seconds : float
        Since the start.
    """

    objective: float
    dual: float
    passes: int
    seconds: float

    @property
    def gap(self) -> float:
        """The share of the objective that may still be saved, at most."""
        left = self.objective - self.dual
        return left / self.objective if self.objective > 0.0 else 0.0

    def facts(self) -> dict[str, float]:
        """Return all of it by name."""
        return {**vars(self), "gap": self.gap}


class Dual:
    """The dual problem of a linear SVM, and how far it is solved.

    Parameters
    ----------
    samples : Samples
        At least one, of at least two labels.
    rivals : bool
        Whether the labels of a row are rivals (Crammer and Singer), or each is told from the rest.
    random : Generator
        Decides the order of the samples in each pass.
    shares : (n, L) float64, optional
        Where to start; None is at 0. It is changed.

    Attributes
    ----------
    weights : (F, L) float64
        What is learnt; a row is all that one column says of the labels.
    shares : (n, L) float64
        How much of each sample is in the weights of each label.
    """

    def __init__(
        self,
        samples: Samples,
        rivals: bool,
        random: np.random.Generator,
        shares: NDArray[np.float64] | None = None,
    ) -> None:
        self._samples, self._rivals, self._random = samples, rivals, random
        n, labels = len(samples), samples.labels
        self._fresh = shares is None
        self.shares = np.zeros((n, labels)) if shares is None else shares
        self.weights = _weights(samples, self.shares, empty=self._fresh)
        slots = min(labels, SLOTS)
        self._active = np.zeros((n, slots), np.int32)
        self._count = np.zeros(n, np.int32)
        self._held = np.zeros((n, slots))
        self._work = np.empty((2, labels))
        self._between = np.empty((2, slots))
        self._moved = np.empty(labels, np.int32)
        self._passes = 0
        self._began = time.perf_counter()

    def look(self) -> Look:
        """Measure both objectives, and choose the labels that the next steps are between."""
        s, sums = self._samples, np.zeros(2)
        look(
            self._rivals, s.indptr, s.columns, s.values, s.row_of, s.label_of, s.cost_of,
            self.weights, self.shares, self._active, self._count, self._work[0], sums,
        )  # fmt: skip
        flat = self.weights.reshape(-1)
        with one_blas_thread():
            half = 0.5 * float(flat @ flat)
        lost = s.lost if self._rivals else s.lost * s.labels
        seconds = time.perf_counter() - self._began
        loss, linear = sums.tolist()
        return Look(half + loss + lost, linear - half + lost, self._passes, seconds)

    def begin(self) -> None:
        """Take a first step between all labels of all samples, unless there are shares already."""
        if self._fresh:
            self._step_everywhere(np.arange(len(self._samples)))

    def improve(self, seen: Look) -> None:
        """Take steps until it is time for the next look."""
        self._step_everywhere(np.flatnonzero(self._count == ALL))
        live = np.flatnonzero(self._count > 0)
        # The gap is at most the sum of the costs times how far each sample is from its optimum.
        enough = REST * (seen.objective - seen.dual) / float(np.sum(self._samples.cost_of))
        resting = np.zeros(len(self._samples), np.bool_)
        first = 0.0
        self._move_shares(back=False)
        try:
            for number in range(PASSES):
                far = self._step_between_active(live, enough, resting)
                first = first if number else far
                if far <= PROGRESS * first:
                    break
        finally:
            self._move_shares(back=True)

    def _step_everywhere(self, chosen: NDArray[np.int64]) -> None:
        if not len(chosen):
            return
        s = self._samples
        step_everywhere(
            self._random.permutation(chosen), self._rivals, s.indptr, s.columns, s.values, s.norms,
            s.row_of, s.label_of, s.cost_of, self.weights, self.shares, self._work, self._moved,
        )  # fmt: skip
        self._passes += 1

    def _step_between_active(
        self, live: NDArray[np.int64], enough: float, resting: NDArray[np.bool_]
    ) -> float:
        s = self._samples
        far = step_between_active(
            self._random.permutation(live), self._rivals, enough, s.indptr, s.columns, s.values,
            s.norms, s.row_of, s.label_of, s.cost_of, self.weights, self._active, self._count,
            self._held, resting, self._between,
        )  # fmt: skip
        self._passes += 1
        return far

    def _move_shares(self, back: bool) -> None:
        move_shares(self.shares, self._active, self._count, self._held, back)


def _weights(samples: Samples, shares: NDArray[np.float64], empty: bool) -> NDArray[np.float64]:
    """Return the sum of all rows times their shares (F, L)."""
    shape = (samples.width, samples.labels)
    if empty:
        return np.zeros(shape)
    from scipy.sparse import csr_matrix

    entries = (samples.values, samples.columns, samples.indptr)
    matrix = csr_matrix(entries, shape=(len(samples.norms), samples.width))
    # One row of shares for each different row of the data.
    gathered = np.zeros((len(samples.norms), samples.labels))
    np.add.at(gathered, samples.row_of, shares)
    return np.ascontiguousarray(matrix.T @ gathered)
