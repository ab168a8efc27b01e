"""The limited memory of L-BFGS, kept in inner products.

The usual two loops go over the m pairs (s, y) four times. Here the pairs, and the gradient, are a
basis; the two loops run on the matrix of its inner products, which is (2m + 1) wide, so the long
vectors are read twice an iteration: once for the inner products of what is new, once to combine the
direction. Pairs are stored in float32, the products are summed in float64: the pairs decide only
which way the search goes, not what is minimised.

Vectors are cut into chunks of a fixed size; partial sums are added in the order of the chunks, so
the bits do not depend on the number of threads.

Symbols: n weights, m pairs; s = step taken, y = change of the gradient.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from purport.fold.kernel import Float32s, Floats, kernel
from purport.fold.thread_engine import ThreadEngine

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK = 65536
BLOCK = 16384


@kernel(
    "void(float32[:, ::1], int64, float64[::1], float64[::1], float64[::1], float64[::1],"
    " float64[::1], boolean, int64, int64, float64[:, ::1])",
    reassociate=True,
)
def remember_chunk(
    pairs: Float32s,  # (2m, n)
    slot: int,
    x: Floats,  # (n,)
    x_before: Floats,  # (n,)
    gradient: Floats,  # (n,)
    gradient_before: Floats,  # (n,)
    downhill: Floats,  # (n,)
    is_new: bool,
    low: int,
    high: int,
    sums: Floats,  # (3, 2m + 1) out
) -> None:
    """Store s and y in rows slot and m + slot; fill sums: products with s, y and `downhill`."""
    rows = len(pairs)
    half = rows // 2
    sums[:] = 0.0
    for first in range(low, high, BLOCK):
        last = min(first + BLOCK, high)
        # Slices, so that every loop runs from 0: only then is it turned into vector instructions.
        s, y, down = pairs[slot, first:last], pairs[half + slot, first:last], downhill[first:last]
        if is_new:
            now, then = x[first:last], x_before[first:last]
            g_now, g_then = gradient[first:last], gradient_before[first:last]
            for k in range(len(s)):
                s[k] = now[k] - then[k]
                y[k] = g_now[k] - g_then[k]
        for r in range(half):
            s_row, y_row = pairs[r, first:last], pairs[half + r, first:last]
            # The two loops never ask for the product of two different steps.
            s_y, s_g, y_s, y_y, y_g = 0.0, 0.0, 0.0, 0.0, 0.0
            for k in range(len(s)):
                old_s, old_y = np.float64(s_row[k]), np.float64(y_row[k])
                new_s, new_y = np.float64(s[k]), np.float64(y[k])
                s_y += old_s * new_y
                s_g += old_s * down[k]
                y_s += old_y * new_s
                y_y += old_y * new_y
                y_g += old_y * down[k]
            sums[1, r] += s_y
            sums[2, r] += s_g
            sums[0, half + r] += y_s
            sums[1, half + r] += y_y
            sums[2, half + r] += y_g
        square, step_square = 0.0, 0.0
        for k in range(len(down)):
            square += down[k] * down[k]
            step_square += np.float64(s[k]) * np.float64(s[k])
        sums[2, rows] += square
        sums[0, slot] += step_square


@kernel(
    "void(float32[:, ::1], float64[::1], float64[::1], int64, int64, float64[::1])",
    reassociate=True,
)
def combine_chunk(
    pairs: Float32s,  # (2m, n)
    downhill: Floats,  # (n,)
    coefficients: Floats,  # (2m + 1,)
    low: int,
    high: int,
    out: Floats,  # (n,)
) -> None:
    """Fill out with the combination of the basis."""
    rows = len(pairs)
    half = rows // 2
    for first in range(low, high, BLOCK):
        last = min(first + BLOCK, high)
        part, down = out[first:last], downhill[first:last]
        for k in range(len(part)):
            part[k] = coefficients[rows] * down[k]
        for r in range(half):
            of_s, of_y = coefficients[r], coefficients[half + r]
            s, y = pairs[r, first:last], pairs[half + r, first:last]
            if of_s != 0.0 or of_y != 0.0:
                for k in range(len(part)):
                    part[k] += of_s * np.float64(s[k]) + of_y * np.float64(y[k])


class Curvature:
    """The last m pairs, and the direction they give.

    Parameters
    ----------
    n : int
        Number of weights.
    memory : int
        m.
    engine : ThreadEngine
        Works on the chunks.
    """

    def __init__(self, n: int, memory: int, engine: ThreadEngine) -> None:
        self._pairs = np.zeros((2 * memory, n), np.float32)
        self._memory = memory
        self._products = np.zeros((2 * memory, 2 * memory))
        self._slots: list[int] = []
        self._engine = engine
        self._chunks = [(low, min(low + CHUNK, n)) for low in range(0, n, CHUNK)]

    def forget(self) -> None:
        """Drop all pairs: the next direction is the steepest one."""
        self._slots.clear()

    def direction(
        self,
        x: NDArray[np.float64],
        x_before: NDArray[np.float64] | None,
        gradient: NDArray[np.float64],
        gradient_before: NDArray[np.float64] | None,
        downhill: NDArray[np.float64],
        out: NDArray[np.float64],
    ) -> None:
        """Take in the last step, if there was one, and fill `out` with the direction to search.

        `downhill` is the gradient, or what stands for it where the objective has kinks.
        """
        is_new = x_before is not None and gradient_before is not None
        slot = self._next_slot() if is_new else 0

        def sum_up(chunk: tuple[int, int], _: None) -> NDArray[np.float64]:
            sums = np.zeros((3, 2 * self._memory + 1))
            remember_chunk(
                self._pairs, slot, x, x if x_before is None else x_before, gradient,
                gradient if gradient_before is None else gradient_before, downhill, is_new,
                *chunk, sums,
            )  # fmt: skip
            return sums

        parts = self._engine.map(self._chunks, sum_up, None)
        sums = np.sum(parts, axis=0)
        rows = 2 * self._memory
        if is_new:
            self._take_in(slot, sums[:, :rows])
        coefficients = self._two_loops(sums[2, :rows])

        def combine(chunk: tuple[int, int], _: None) -> None:
            combine_chunk(self._pairs, downhill, coefficients, *chunk, out)

        self._engine.map(self._chunks, combine, None)

    def _next_slot(self) -> int:
        if len(self._slots) < self._memory:
            return next(slot for slot in range(self._memory) if slot not in self._slots)
        return self._slots[0]

    def _take_in(self, slot: int, sums: NDArray[np.float64]) -> None:
        """Enter the inner products of a new pair; a pair without positive curvature is dropped."""
        m = self._memory
        for row, values in ((slot, sums[0]), (m + slot, sums[1])):
            self._products[row, :] = values
            self._products[:, row] = values
        if slot in self._slots:
            self._slots.remove(slot)
        curvature = self._products[slot, m + slot]
        squares = self._products[slot, slot], self._products[m + slot, m + slot]
        # The cosine of s and y: it does not depend on the units of the weights or of the objective.
        if curvature > 1e-10 * math.sqrt(squares[0]) * math.sqrt(squares[1]) > 0.0:
            self._slots.append(slot)

    def _two_loops(self, with_gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """Run the two loops of L-BFGS on coefficients of the basis [s..., y..., gradient]."""
        m, products = self._memory, self._products
        coefficients = np.zeros(2 * m + 1)
        coefficients[2 * m] = -1.0
        steps = np.zeros(m)

        def inner(row: int) -> float:
            total = products[row] @ coefficients[: 2 * m]
            return float(total + coefficients[2 * m] * with_gradient[row])

        for slot in reversed(self._slots):
            steps[slot] = inner(slot) / products[slot, m + slot]
            coefficients[m + slot] -= steps[slot]
        if self._slots:
            newest = self._slots[-1]
            coefficients *= products[newest, m + newest] / products[m + newest, m + newest]
        for slot in self._slots:
            back = inner(m + slot) / products[slot, m + slot]
            coefficients[slot] += steps[slot] - back
        return coefficients
