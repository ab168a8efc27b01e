"""What one gradient would take if nothing but arithmetic, or reading and writing, cost time.

Counted from the data alone, at the pace of this machine's matrix product and of its memory, both
measured on the spot on one thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from bench.crf.data import Sentences
from bench.tables import Row
from bench.timing import Samples
from purport.features.strings import FeatureStrings

if TYPE_CHECKING:
    from numpy.typing import NDArray


def limits(sentences: Sentences, dense: bool, peer: float | None) -> Iterator[Row]:
    """Yield the rows; `peer` is the figure that ratios refer to, in ms."""
    labels, tokens = sentences.label_count, sentences.tokens
    multiply, copy = paces(labels)
    flops = 6.0 * labels * labels * tokens
    yield _limit(
        "limit of dense products",
        flops / multiply,
        peer,
        f"3 products of {tokens} x {labels} by {labels} x {labels} = {flops / 1e9:.3g} GF at the"
        f" {multiply / 1e9:.3g} GF/s of BLAS on one thread at that shape",
    )
    if dense:
        return
    rows, entries = touched(sentences)
    walked = sum(map(len, set(map(tuple, sentences.records.tokens))))
    # Each weight of a row is read and its gradient is read and written; each state of a position is
    # read or written twice forward and three times backward, if nothing is kept in a cache.
    moved = 8.0 * (3 * entries + 5 * walked * labels)
    yield _limit(
        "limit of memory",
        moved / copy,
        peer,
        f"{walked} positions of different sentences, {rows} different rows that touch {entries}"
        f" weights: {moved / 1e6:.3g} MB at the {copy / 1e9:.3g} GB/s of a copy on one thread; a"
        " cache can beat it",
    )


def _limit(who: str, seconds: float, peer: float | None, note: str) -> Row:
    return Row(who, 1e3 * seconds, None if peer is None else peer / (1e3 * seconds), note=note)


def touched(sentences: Sentences) -> tuple[int, int]:
    """Count the different rows, and the observed (feature, label) weights that they meet."""
    rows = FeatureStrings().fit_transform(sentences.strings)
    numbers: dict[str, int] = {}
    labels = np.array(
        [numbers.setdefault(label, len(numbers)) for line in sentences.labels for label in line]
    )
    seen = np.zeros((rows.width, len(numbers)), np.bool_)
    lengths = np.diff(rows.indptr)
    of_entry = np.repeat(np.arange(rows.unique), lengths)
    pairs = np.unique(rows.index.astype(np.int64) * len(numbers) + labels)
    for label in range(len(numbers)):
        shown = np.zeros(rows.unique, np.bool_)
        shown[pairs[pairs % len(numbers) == label] // len(numbers)] = True
        seen[rows.columns[shown[of_entry]], label] = True
    return rows.unique, int(seen.sum(axis=1)[rows.columns].sum())


def paces(labels: int) -> tuple[float, float]:
    """Measure one thread here: flops a second of a matrix product, bytes a second of a copy."""
    rows = np.random.default_rng(0).random((4096, labels))
    square = rows[:labels].copy()
    source: NDArray[np.float64] = np.ones(8_000_000)
    target = np.empty_like(source)
    out = np.empty_like(rows)
    product, moving = Samples(), Samples()
    with threadpool_limits(1):
        for _ in range(9):
            with product.taken():
                np.matmul(rows, square, out=out)
            with moving.taken():
                np.copyto(target, source)
    flops = 2.0 * rows.size * labels
    return flops / min(product.wall), 2.0 * source.nbytes / min(moving.wall)
