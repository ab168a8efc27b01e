"""Ragged sequences side by side: packs of sequences of about the same length, one lane each.

The kernels walk a pack step by step with arrays of shape (T, S, B), B lanes innermost: whatever is
done to a state is done to B sequences by vector instructions, and a sparse arc costs one
multiplication a lane. Lanes that have ended hold ones until the pack ends.

Symbols: N sequences, T steps, S states, B lanes of a pack, U unique rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from purport.fold.kernel import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

PACK_BYTES = 16 * 2**20
"""A pack takes fewer lanes when an array of it would pass this; one lane is always taken."""

LANES_OF_VECTOR = 8


class Packs:
    """Which sequences walk together: by length, longest first, `widths[k]` lanes in pack k.

    Attributes
    ----------
    order : (N',) int64
        Sequences that are not empty, longest first.
    starts : (packs + 1,) int64
        Where each pack begins in `order`.
    widths : (packs,) int64
        Lanes of each pack: a multiple of 8, or 1.
    largest : int
        Most steps times lanes of any pack.
    widest : int
        Most lanes of any pack.
    """

    def __init__(self, lengths: NDArray[np.int64], states: int) -> None:
        filled = np.flatnonzero(lengths > 0)
        self.order = filled[np.argsort(-lengths[filled], kind="stable")].astype(np.int64)
        usual = 32 if states >= 64 else 64
        starts, widths, largest = [0], [], 0
        while starts[-1] < len(self.order):
            longest = int(lengths[self.order[starts[-1]]])
            room = PACK_BYTES // (8 * states * longest)
            width = min(usual, room - room % LANES_OF_VECTOR)
            left = len(self.order) - starts[-1]
            if width < LANES_OF_VECTOR or left == 1:
                width = 1
            width = min(width, -(-left // LANES_OF_VECTOR) * LANES_OF_VECTOR)
            starts.append(min(starts[-1] + width, len(self.order)))
            widths.append(width)
            largest = max(largest, longest * width)
        self.starts = np.array(starts, np.int64)
        self.widths = np.array(widths, np.int64)
        self.largest = largest
        self.widest = max(widths, default=1)


@kernel()
def gather(
    potentials: NDArray[np.float64],  # (U, S)
    index: NDArray[np.int32],  # (P,) the row of each position
    first: NDArray[np.int64],  # (B,) position at which each lane begins
    length: NDArray[np.int64],  # (B,) 0 for a lane without a sequence
    ones: NDArray[np.float64],  # (S,)
    out: NDArray[np.float64],  # (T, S, B)
) -> None:
    """Copy rows into lanes; eight lanes at a time, so that whole vectors are stored."""
    steps, states, lanes = out.shape
    if lanes == 1:
        for t in range(steps):
            row = potentials[index[first[0] + t]] if t < length[0] else ones
            for s in range(states):
                out[t, s, 0] = row[s]
        return
    for t in range(steps):
        step = out[t]
        for b in range(0, lanes, 8):
            r0 = potentials[index[first[b] + t]] if t < length[b] else ones
            r1 = potentials[index[first[b + 1] + t]] if t < length[b + 1] else ones
            r2 = potentials[index[first[b + 2] + t]] if t < length[b + 2] else ones
            r3 = potentials[index[first[b + 3] + t]] if t < length[b + 3] else ones
            r4 = potentials[index[first[b + 4] + t]] if t < length[b + 4] else ones
            r5 = potentials[index[first[b + 5] + t]] if t < length[b + 5] else ones
            r6 = potentials[index[first[b + 6] + t]] if t < length[b + 6] else ones
            r7 = potentials[index[first[b + 7] + t]] if t < length[b + 7] else ones
            for s in range(states):
                lane = step[s]
                lane[b] = r0[s]
                lane[b + 1] = r1[s]
                lane[b + 2] = r2[s]
                lane[b + 3] = r3[s]
                lane[b + 4] = r4[s]
                lane[b + 5] = r5[s]
                lane[b + 6] = r6[s]
                lane[b + 7] = r7[s]


@kernel()
def clamp_lanes(
    factors: NDArray[np.float64],  # (D, S)
    clamp_index: NDArray[np.int32],  # (P,) the row of factors of each position
    first: NDArray[np.int64],
    length: NDArray[np.int64],
    out: NDArray[np.float64],  # (T, S, B)
) -> None:
    """Multiply the lanes by the factors of their positions."""
    _, states, lanes = out.shape
    for b in range(lanes):
        for t in range(length[b]):
            row = factors[clamp_index[first[b] + t]]
            for s in range(states):
                out[t, s, b] *= row[s]


@kernel()
def scatter(
    lanes_in: NDArray[np.float64],  # (T, S, B)
    index: NDArray[np.int32],  # (P,) where each position goes
    first: NDArray[np.int64],
    length: NDArray[np.int64],
    out: NDArray[np.float64],  # (rows, S), added to
) -> None:
    """Add the lanes to the rows of their positions."""
    steps, states, lanes = lanes_in.shape
    for t in range(steps):
        step = lanes_in[t]
        b = 0
        # Longest lanes come first: the lanes that still run are a prefix.
        while b + 4 <= lanes and t < length[b + 3]:
            r0 = out[index[first[b] + t]]
            r1 = out[index[first[b + 1] + t]]
            r2 = out[index[first[b + 2] + t]]
            r3 = out[index[first[b + 3] + t]]
            for s in range(states):
                lane = step[s]
                r0[s] += lane[b]
                r1[s] += lane[b + 1]
                r2[s] += lane[b + 2]
                r3[s] += lane[b + 3]
            b += 4
        while b < lanes:
            if t < length[b]:
                row = out[index[first[b] + t]]
                for s in range(states):
                    row[s] += step[s, b]
            b += 1
