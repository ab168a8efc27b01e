"""L-BFGS and OWL-QN: minimise f(x) + l1 |x|_1 from gradients of f.

Nocedal and Wright, Numerical Optimization, algorithms 7.5, 3.5 and 3.6; Andrew and Gao (2007) for
l1: the pseudo-gradient takes the place of the gradient, directions are kept in its orthant, and
steps stop where a weight would change its sign.

`minimise` is a generator, one item a finished iteration: who consumes it can show progress, stop,
or be interrupted and still hold the last finished weights.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from purport.fold.thread_engine import ThreadEngine
from purport.optimize.curvature import Curvature

if TYPE_CHECKING:
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float64]"
Objective: TypeAlias = "Callable[[Vector], tuple[float, Vector]]"

ENOUGH_DECREASE = 1e-4
ENOUGH_FLATTENING = 0.9
MOST_TRIALS = 20
PERIOD = 10
"""The objective is compared with that of this many iterations ago."""


@dataclass(frozen=True)
class Iteration:
    """Where the search stands after a finished iteration.

    Attributes
    ----------
    x : (n,) float64
        The weights.
    value : float
        The objective, l1 included.
    gradient_norm : float
        Euclidean norm of the (pseudo-)gradient.
    step : float
        Length of the step as a multiple of the direction.
    evaluations : int
        Gradients computed in this iteration.
    converged : bool
        True on the last item when a stopping rule was met.
    """

    x: Vector
    value: float
    gradient_norm: float
    step: float
    evaluations: int
    converged: bool


def minimise(
    objective: Objective,
    start: Vector,
    *,
    l1: float = 0.0,
    max_iter: int = 100,
    tol: float = 1e-5,
    memory: int = 6,
    n_threads: int = 1,
) -> Iterator[Iteration]:
    """Minimise an objective; yield the start and then each finished iteration.

    Parameters
    ----------
    objective : callable
        Takes x, returns f(x) and a new array with its gradient.
    start : (n,) float64
        Where to begin; left alone.
    l1 : float
        Weight of the sum of absolute values.
    max_iter : int
        Most iterations.
    tol : float
        Stop when the norm of the gradient is at most `tol` times that of the weights (or of 1), or
        when the objective fell by less than the share `tol` over the last 10 iterations.
    memory : int
        Pairs remembered.
    n_threads : int
        Threads of this process that work on long vectors; the bits do not depend on them. The
        gradients may come from anywhere.

    Examples
    --------
    >>> import numpy as np
    >>> bowl = lambda x: (float(np.sum((x - 3.0) ** 2)), 2.0 * (x - 3.0))
    >>> *_, last = minimise(bowl, np.zeros(2))
    >>> last.x.round(6), last.converged
    (array([3., 3.]), True)
    """
    x = np.array(start, dtype=np.float64)
    value, gradient = objective(x)
    value += l1 * float(np.sum(np.abs(x)))
    downhill = _pseudo_gradient(x, gradient, l1)
    norm = _norm(downhill)
    converged = norm <= tol * max(1.0, _norm(x))
    yield Iteration(x, value, norm, 0.0, 1, converged)
    if converged:
        return
    curvature = Curvature(len(x), memory, ThreadEngine(n_threads))
    direction = np.empty_like(x)
    x_before: Vector | None = None
    gradient_before: Vector | None = None
    recent = deque([value], maxlen=PERIOD + 1)
    for number in range(1, max_iter + 1):
        curvature.direction(x, x_before, gradient, gradient_before, downhill, direction)
        search = _Search(objective, l1, x, value, gradient, downhill, direction)
        first = 1.0 if number > 1 else min(1.0, 1.0 / norm)
        found = search.run(first)
        if found is None and x_before is not None:
            # Rounding has spoilt the memory: once more, straight downhill.
            curvature.forget()
            curvature.direction(x, None, gradient, None, downhill, direction)
            search = _Search(objective, l1, x, value, gradient, downhill, direction)
            found = search.run(min(1.0, 1.0 / norm))
        if found is None:
            # No step lowers the objective any more: the bottom, as far as float64 can tell.
            at_bottom = math.isfinite(value) and math.isfinite(norm)
            yield Iteration(x, value, norm, 0.0, search.evaluations, at_bottom)
            return
        x_before, gradient_before = x, gradient
        x, value, gradient = found.x, found.value, found.gradient
        downhill = _pseudo_gradient(x, gradient, l1)
        norm = _norm(downhill)
        recent.append(value)
        converged = norm <= tol * max(1.0, _norm(x)) or (
            len(recent) > PERIOD and recent[0] - value <= tol * max(abs(value), 1e-300)
        )
        yield Iteration(x, value, norm, found.step, search.evaluations, converged)
        if converged:
            return


@dataclass(frozen=True)
class _Point:
    step: float
    x: Vector
    value: float
    gradient: Vector
    slope: float


class _Search:
    """One line search: Wolfe conditions without l1, backtracking in the orthant with it."""

    def __init__(
        self,
        objective: Objective,
        l1: float,
        x: Vector,
        value: float,
        gradient: Vector,
        downhill: Vector,
        direction: Vector,
    ) -> None:
        self._objective, self._l1 = objective, l1
        self._x, self._value, self._direction = x, value, direction
        self._downhill = downhill
        self.evaluations = 0
        if l1:
            direction[direction * downhill >= 0.0] = 0.0
            self._orthant = np.where(x != 0.0, np.sign(x), -np.sign(downhill))
        self._slope = float(direction @ (downhill if l1 else gradient))

    def run(self, first: float) -> _Point | None:
        """Return a point that is good enough, or None when there is none."""
        if not self._slope < 0.0 or not math.isfinite(self._slope):
            return None
        return self._backtrack(first) if self._l1 else self._wolfe(first)

    def _try(self, step: float) -> _Point:
        x = self._x + step * self._direction
        if self._l1:
            x[x * self._orthant < 0.0] = 0.0
        value, gradient = self._objective(x)
        self.evaluations += 1
        if self._l1:
            value += self._l1 * float(np.sum(np.abs(x)))
            return _Point(step, x, value, gradient, 0.0)
        return _Point(step, x, value, gradient, float(gradient @ self._direction))

    def _decreases(self, point: _Point) -> bool:
        # Near the bottom differences drown in rounding; a step that is level to the last digits is
        # taken.
        slack = 4e-16 * abs(self._value)
        return point.value <= self._value + ENOUGH_DECREASE * point.step * self._slope + slack

    def _backtrack(self, step: float) -> _Point | None:
        for _ in range(MOST_TRIALS):
            point = self._try(step)
            gain = float(self._downhill @ (point.x - self._x))
            if math.isfinite(point.value) and point.value <= self._value + ENOUGH_DECREASE * gain:
                return point if point.value < self._value else None
            step *= 0.5
        return None

    def _wolfe(self, step: float) -> _Point | None:
        """Keep a bracket: downhill and low at its left end, uphill or too high at its right one."""
        left = _Point(0.0, self._x, self._value, self._downhill, self._slope)
        right: _Point | None = None
        wall = math.inf
        for _ in range(MOST_TRIALS):
            point = self._try(step)
            if not (math.isfinite(point.value) and math.isfinite(point.slope)):
                wall = step
                step = 0.5 * (left.step + wall)
                continue
            if not self._decreases(point) or (left.step > 0.0 and point.value > left.value):
                right = point
            elif abs(point.slope) <= -ENOUGH_FLATTENING * self._slope:
                return point
            elif point.slope > 0.0:
                right = point
            else:
                left = point
            step = min(self._next_step(left, right), 0.5 * (left.step + wall))
        best = left if right is None or left.value <= right.value else right
        return best if best.value < self._value else None

    @staticmethod
    def _next_step(left: _Point, right: _Point | None) -> float:
        if right is None:
            return 4.0 * left.step
        width = right.step - left.step
        guess = _cubic_minimum(left, right)
        inside = left.step + 0.1 * width <= guess <= right.step - 0.1 * width
        return guess if inside else left.step + 0.5 * width


def _cubic_minimum(left: _Point, right: _Point) -> float:
    """Minimise the cubic through two values and slopes; NaN where it has no minimum."""
    width = right.step - left.step
    if width == 0.0:
        return math.nan
    d1 = left.slope + right.slope - 3.0 * (right.value - left.value) / width
    under = d1 * d1 - left.slope * right.slope
    if under < 0.0:
        return math.nan
    d2 = math.sqrt(under)
    below = right.slope - left.slope + 2.0 * d2
    return math.nan if below == 0.0 else right.step - width * (right.slope + d2 - d1) / below


def _pseudo_gradient(x: Vector, gradient: Vector, l1: float) -> Vector:
    """Return the steepest one-sided slope of f + l1 |x|_1; the gradient itself without l1."""
    if not l1:
        return gradient
    right, left = gradient + l1, gradient - l1
    at_zero = np.where(right < 0.0, right, np.where(left > 0.0, left, 0.0))
    return np.where(x > 0.0, right, np.where(x < 0.0, left, at_zero))


def _norm(x: Vector) -> float:
    return math.sqrt(float(x @ x))
