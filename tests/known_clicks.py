"""Click models whose parameters a test sets, so that logs can be drawn from a known truth."""

from __future__ import annotations

import numpy as np

from purport.clicks.model import ClickModel
from purport.clicks.pairs import COLUMNS, DEFINED, EXPECTED
from purport.records.pages import Pages

MANY = 1e9
"""So much evidence that priors do not count."""


def shown(
    queries: int, per_query: int, size: int, pages: int, swaps: float = 1.0, seed: int = 0
) -> Pages:
    """Draw pages without clicks.

    Each query has `per_query` documents. The first `size` of its own order are shown, but with
    chance `swaps` a page shows any of them in any order.
    """
    rng = np.random.default_rng(seed)
    asked = np.concatenate([np.arange(queries), rng.integers(0, queries, max(0, pages - queries))])
    docs = np.tile(np.arange(per_query), (len(asked), 1))
    shuffled = rng.random(len(asked)) < swaps
    docs[shuffled] = rng.permuted(docs[shuffled], axis=1)
    docs = docs[:, :size] + asked[:, None] * per_query
    offsets = np.arange(len(asked) + 1) * size
    return Pages.from_arrays(offsets, asked, docs.ravel(), np.zeros(docs.size, np.bool_))


def with_truth(
    model: ClickModel,
    pages: Pages,
    attract: np.ndarray,
    cells: np.ndarray,
    satisfy: np.ndarray | None = None,
) -> ClickModel:
    """Fit a model to pages and then set its parameters, those of pairs by document number."""
    model.set_params(prior=(0.5, 2.0)).fit(pages, max_iter=1, tol=1.0)
    state = model._state
    state.sums[: state.cells] = MANY * np.column_stack([cells, np.ones(state.cells)])
    state.refresh()
    for table in state.tables:
        rows = slice(0, table.pairs)
        docs = table.pair_keys[rows, 1]
        for part, values in enumerate((attract, satisfy)[: state.width]):
            assert values is not None
            table.kept[rows, COLUMNS * part + EXPECTED] = MANY * values[docs]
            table.kept[rows, COLUMNS * part + DEFINED] = MANY
    return model


def browsing_cells(ranks: int) -> np.ndarray:
    """Return examination for UBM that falls with the distance to the click above."""
    rank, last = np.arange(ranks)[:, None], np.arange(ranks + 1)[None, :] - 1
    after = 0.9 * 0.75 ** np.maximum(rank - last - 1, 0)
    return np.where(last < 0, 0.9 * 0.8**rank, after).ravel()
