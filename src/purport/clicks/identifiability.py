"""Which parameters of a click model a log can tell apart, and which rest on the prior.

UBM and PBM see a click with chance a g, attraction times examination: as long as a document stands
at one place, one of the two may be larger and the other smaller. Only documents that were seen in
more than one cell (a rank of PBM; a rank and the click before it of UBM), and clicked at least
once, tie these cells together: cells and pairs are the two sides of a graph, and what its edges
connect can be compared. Between its components only the prior speaks; inside one all is told but a
common factor, and that by the prior, too. A component of a single rank tells products only.

How firmly cells are tied: near the estimates a result of pair p in cell c tells log a_p + log g_c
with information w = a g / (1 - a g). Summed up to W and with the pairs eliminated, the information
on the cells is

    diag(W' 1) - W' diag(1 / W 1) W

and what it leaves open beside the cell that was clicked most is the error of each.

Models that go down a page need no swaps: all down to the last click was looked at for sure, so that
clicks and skips there tell attraction by themselves, at whatever rank.

Symbols: P pairs, M cells, R ranks, N pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from purport.clicks.cells import Cells
from purport.clicks.kinds import CASCADE, CCM, DBN, DCM, DCTR, UBM
from purport.clicks.log import Log
from purport.clicks.pairs import LEAST, MOST
from purport.clicks.state import ClickState

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.records.pages import Pages

MOST_SHOWN = 20
"""So many cells are written out."""


@dataclass(frozen=True)
class CellTies:
    """How a cell of UBM or PBM is tied to the others.

    Attributes
    ----------
    rank : int
        From 0.
    last : int or None
        At which rank the click before was, -1 where there was none; None for PBM.
    shown, clicks : int
        How many results there were, and clicks on them.
    pairs, swapped : int
        How many pairs were seen here, and how many of them were clicked once and seen at another
        rank as well.
    component : int
        With which other cells it can be compared; 0 is the largest.
    error : float
        The relative standard error of its examination beside the cell of component 0 that was
        clicked most, as far as swaps tell it; infinite where they do not.
    """

    rank: int
    last: int | None
    shown: int
    clicks: int
    pairs: int
    swapped: int
    component: int
    error: float


@dataclass(frozen=True)
class Component:
    """Cells and pairs that can be compared with each other.

    Attributes
    ----------
    ranks : tuple of int
        Of its cells, ascending. Where there is only one, examination cannot be told from
        attraction at all.
    cells, pairs, results : int
        How many.
    """

    ranks: tuple[int, ...]
    cells: int
    pairs: int
    results: int


@dataclass(frozen=True, eq=False)
class Ties:
    """Which pairs a log does not let compare with most others.

    Attributes
    ----------
    queries, docs : (P,) int64
        Numbers, ascending; see `purport.clicks.names`.
    tied : (P,) bool
        Whether attraction is told only in a product, or not at all.
    """

    queries: NDArray[np.int64]
    docs: NDArray[np.int64]
    tied: NDArray[np.bool_]

    @classmethod
    def of(
        cls, queries: NDArray[np.int64], docs: NDArray[np.int64], tied: NDArray[np.bool_]
    ) -> Ties:
        """Put pairs in order."""
        order = np.lexsort((docs, queries))
        return cls(queries[order], docs[order], tied[order])

    def among(self, query: int, docs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which documents of a query are tied; those that the log does not have are, too.

        Examples
        --------
        >>> ties = Ties.of(np.array([7, 7]), np.array([2, 1]), np.array([True, False]))
        >>> ties.among(7, np.array([1, 2, 3])).tolist(), ties.among(8, np.array([1])).tolist()
        ([False, True, True], [True])
        """
        first, end = np.searchsorted(self.queries, [query, query + 1])
        free = self.docs[first:end][~self.tied[first:end]]
        found: NDArray[np.bool_] = ~np.isin(docs, free)
        return found

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what a model keeps."""
        return {"queries": self.queries, "docs": self.docs, "tied": self.tied}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Take back what `to_arrays` gave, or raise ValueError."""
        columns = [arrays[name] for name in ("queries", "docs", "tied")]
        if len({column.shape for column in columns}) != 1 or columns[2].dtype != np.bool_:
            raise ValueError("the ties of pairs do not fit each other")
        return cls(*columns)


@dataclass(frozen=True, eq=False, repr=False)
class Identifiability:
    """What a log tells of the parameters of a model; `print` shows it as a table.

    Attributes
    ----------
    model : str
        Its name.
    pairs : int
        P, of the log.
    tied : int
        Pairs that cannot be compared with most others: their component is not the largest one, or
        has a single rank; or, for models that go down a page, nobody surely looked at them.
    unclicked : int
        Pairs never clicked. Their satisfaction, where the model has one, rests on the prior.
    unseen : int
        Cells that the log says nothing of: they rest on the prior.
    components : tuple of Component
        Of UBM and PBM, the largest first.
    cells : tuple of CellTies
        Of UBM and PBM, those that the log has, by rank.
    explanation : str
        What is told, and why.

    Examples
    --------
    >>> from purport.clicks import PBM
    >>> from purport.records.pages import Pages
    >>> pages = Pages.from_lists(
    ...     ["cats", "cats", "dogs"], [["a", "b"], ["b", "a"], ["c", "d", "e"]],
    ...     [[1, 0], [1, 0], [0, 0, 1]],
    ... )
    >>> print(PBM(prior=(0.5, 2.0)).fit(pages).identifiability(pages))
    PBM: 5 pairs, 1 of them tied; 2 components of cells; 7 cells unseen.
    Clicks tell attraction times examination; documents seen at several ranks tell them apart.
      rank   last   shown  clicks   pairs swapped  component   error
         0      .       3       2       3       2          0       0
         1      .       3       0       3       2          0    1.68
         2      .       1       1       1       0          1     inf
    """

    model: str
    pairs: int
    tied: int
    unclicked: int
    unseen: int
    components: tuple[Component, ...]
    cells: tuple[CellTies, ...]
    explanation: str
    ties: Ties = field(repr=False)

    def rows(self) -> list[dict[str, Any]]:
        """Return the cells as a table: one dict a cell."""
        return [
            {
                "rank": cell.rank,
                "last": cell.last,
                "shown": cell.shown,
                "clicks": cell.clicks,
                "pairs": cell.pairs,
                "swapped": cell.swapped,
                "component": cell.component,
                "error": cell.error,
            }
            for cell in self.cells
        ]

    def __repr__(self) -> str:
        return (
            f"Identifiability({self.model}: {self.pairs} pairs, {self.tied} tied,"
            f" {len(self.components)} components)"
        )

    def __str__(self) -> str:
        components = f" {len(self.components)} components of cells;" if self.components else ""
        lines = [
            f"{self.model}: {self.pairs:,} pairs, {self.tied:,} of them tied;{components}"
            f" {self.unseen:,} cells unseen.",
            self.explanation,
        ]
        if self.cells:
            lines.append("  rank   last   shown  clicks   pairs swapped  component   error")
        lines += [
            f"{cell.rank:>6} {'.' if cell.last is None else cell.last:>6} {cell.shown:>7}"
            f" {cell.clicks:>7} {cell.pairs:>7} {cell.swapped:>7} {cell.component:>10}"
            f" {cell.error:>7.3g}"
            for cell in self.cells[:MOST_SHOWN]
        ]
        if len(self.cells) > MOST_SHOWN:
            lines.append(f"  and {len(self.cells) - MOST_SHOWN:,} cells more: see rows()")
        return "\n".join(lines)


def identifiability_of(model: str, state: ClickState, pages_log: LogAndPairs) -> Identifiability:
    """Return what a log tells of the parameters of a model."""
    if state.kind.by_cell:
        return _of_cells(model, state, pages_log)
    return _of_descent(model, state, pages_log)


@dataclass(frozen=True, eq=False)
class LogAndPairs:
    """A log whose pairs are numbered by themselves, whether the model has met them or not.

    Attributes
    ----------
    log : Log
        Ids that the model knows have the numbers that they have there.
    pairs : (results,) int32
        The number of each result's pair.
    queries, docs : (P,) int64
        What each pair is.
    """

    log: Log
    pairs: NDArray[np.int32]
    queries: NDArray[np.int64]
    docs: NDArray[np.int64]

    @classmethod
    def of(cls, state: ClickState, pages: Pages) -> LogAndPairs:
        """Give the pairs of pages numbers."""
        own = ClickState(state.kind, state.ranks, 1, state.priors)
        own.query_names, own.doc_names = state.query_names.copy(), state.doc_names.copy()
        log = own.log_of(pages, grows=True)
        _, _, pairs = own.find(log, grows=True)
        table = own.tables[0]
        keys = table.pair_keys[: table.pairs]
        return cls(log, pairs, table.query_keys[keys[:, 0], 0], keys[:, 1].copy())

    def ties(self, state: ClickState, tied: NDArray[np.bool_]) -> Ties:
        """Return the ties of pairs whose ids the model knows; it numbers others when they come."""
        known = state.query_names.knows(self.queries) & state.doc_names.knows(self.docs)
        return Ties.of(self.queries[known], self.docs[known], tied[known])


def _of_cells(model: str, state: ClickState, told: LogAndPairs) -> Identifiability:
    from scipy.sparse import csr_matrix

    log, size, width = told.log, len(told.queries), state.cells
    counts = Cells.of(
        state.kind.number, np.arange(len(log)), log.offsets, log.clicks, told.pairs, size,
        state.ranks, width,
    )  # fmt: skip
    pair = np.repeat(np.arange(size), np.diff(counts.starts))
    is_click = counts.keys >= width
    cell = counts.keys.astype(np.int64) - width * is_click
    shown = csr_matrix((counts.counts, (pair, cell)), shape=(size, width))
    clicks: NDArray[np.float64] = np.bincount(
        cell[is_click], counts.counts[is_click], width
    ).astype(np.float64)
    clicked = np.bincount(pair[is_click], minlength=size) > 0
    rank_of = (
        np.arange(width) // (state.ranks + 1) if state.kind.number == UBM else np.arange(width)
    )

    component, of_pair, components = _components(shown, clicked, rank_of)
    tied = np.ones(size, np.bool_)
    if components and len(components[0].ranks) > 1:
        tied = of_pair != 0
    attract = np.empty(size)
    attract[told.pairs] = np.concatenate([*state.parameters_of(log)])
    error = _errors(shown[clicked], attract[clicked], state.parameters[:width], component, clicks)

    met = (shown > 0).astype(np.int64).tocsc()
    ranks_seen = csr_matrix((np.ones(len(cell)), (pair, rank_of[cell])), shape=(size, state.ranks))
    ranks_seen.sum_duplicates()
    swaps = clicked & (np.diff(ranks_seen.indptr) > 1)
    swapped = met.T @ swaps.astype(np.int64)
    pairs_in, shown_in = np.asarray(met.sum(axis=0)).ravel(), np.asarray(shown.sum(axis=0)).ravel()
    rows = tuple(
        CellTies(
            rank=int(rank_of[number]),
            last=number % (state.ranks + 1) - 1 if state.kind.number == UBM else None,
            shown=int(shown_in[number]),
            clicks=int(clicks[number]),
            pairs=int(pairs_in[number]),
            swapped=int(swapped[number]),
            component=int(component[number]),
            error=float(error[number]),
        )
        for number in np.flatnonzero(component >= 0).tolist()
    )
    return Identifiability(
        model=model,
        pairs=size,
        tied=int(tied.sum()),
        unclicked=int((~clicked).sum()),
        unseen=width - len(rows),
        components=components,
        cells=rows,
        explanation="Clicks tell attraction times examination; documents seen at several ranks"
        " tell them apart.",
        ties=told.ties(state, tied),
    )


def _components(
    shown: Any, clicked: NDArray[np.bool_], rank_of: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[Component, ...]]:
    """Return the component of each cell (-1 where it is not seen) and pair, the largest first.

    Parameters
    ----------
    shown : (P, M) CSR
        How often each pair was seen in each cell.
    clicked : (P,) bool
        Which pairs were clicked at least once. A pair that never was ties nothing, as it is
        unattractive however much its cells are examined; it goes with the cell it was seen in most.
    rank_of : (M,) int64
        The rank of each cell.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    size, width = shown.shape
    found = np.asarray(shown.argmax(axis=1)).ravel()
    edges = shown[clicked].tocoo()
    of_clicked = np.cumsum(clicked) - 1
    graph = csr_matrix(
        (np.ones(len(edges.data)), (edges.col, width + edges.row)),
        shape=(width + int(clicked.sum()),) * 2,
    )
    _, labels = connected_components(graph, directed=False)
    of_cell = labels[:width]
    of_pair = np.where(clicked, labels[width + of_clicked] if clicked.any() else 0, of_cell[found])
    results = np.asarray(shown.sum(axis=0)).ravel()
    weight = np.bincount(of_cell, results, len(labels))
    seen = np.flatnonzero(weight > 0.0)
    order = seen[np.argsort(-weight[seen], kind="stable")]
    renamed = np.full(len(labels), -1, np.int64)
    renamed[order] = np.arange(len(order))
    component = np.where(results > 0.0, renamed[of_cell], -1)
    owners = renamed[of_pair] if size else np.empty(0, np.int64)
    components = tuple(
        Component(
            ranks=tuple(np.unique(rank_of[component == number]).tolist()),
            cells=int((component == number).sum()),
            pairs=int((owners == number).sum()),
            results=int(results[component == number].sum()),
        )
        for number in range(len(order))
    )
    return component, owners, components


def _errors(
    shown: Any,
    attract: NDArray[np.float64],
    examined: NDArray[np.float64],
    component: NDArray[np.int64],
    clicks: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the relative standard error of each cell beside that clicked most; see the top."""
    error = np.full(len(component), np.inf)
    inside = np.flatnonzero(component == 0)
    reference = inside[np.argmax(clicks[inside])]
    error[reference] = 0.0
    others = inside[inside != reference]
    if not len(others):
        return error
    edges = shown.tocoo()
    chance = np.clip(attract[edges.row] * examined[edges.col], LEAST, MOST)
    weights = edges.copy()
    weights.data = edges.data * chance / (1.0 - chance)
    weights = weights.tocsr()[:, inside]
    of_pairs = np.asarray(weights.sum(axis=1)).ravel()
    weights, of_pairs = weights[of_pairs > 0.0], of_pairs[of_pairs > 0.0]
    scaled = weights.multiply(1.0 / np.sqrt(of_pairs)[:, None]).tocsr()
    information = np.diag(np.asarray(weights.sum(axis=0)).ravel()) - (scaled.T @ scaled).toarray()
    kept = inside != reference
    left_open = np.linalg.inv(information[np.ix_(kept, kept)])
    error[others] = np.sqrt(np.maximum(np.diag(left_open), 0.0))
    return error


_EXPLAINED = {
    DBN: "All down to the last click was surely looked at and tells attraction at any rank; what"
    " comes below it tells whether people go on.",
    CCM: "All down to the last click was surely looked at and tells attraction at any rank; what"
    " comes below it tells whether people go on.",
    CASCADE: "All down to the first click is taken as looked at: attraction is counted, at any"
    " rank.",
    DCTR: "Clicks are counted as they are: position is not taken out, so ranks need no ties.",
}
_COUNTED = "All down to the last click is taken as looked at: attraction is counted, at any rank."
_NO_PAIRS = "Click rates are counted; there are no documents to compare."


def _of_descent(model: str, state: ClickState, told: LogAndPairs) -> Identifiability:
    """Return what pages tell of models that go down a page, or that count all clicks."""
    log, kind, size = told.log, state.kind.number, len(told.queries)
    looked = _surely_looked(log, kind)
    pairs = told.pairs if state.width else np.empty(0, np.int32)
    sure, clicked = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    if state.width:
        sure[pairs[looked]] = True
        clicked[pairs[log.clicks]] = True
    return Identifiability(
        model=model,
        pairs=size,
        tied=int((~sure).sum()),
        unclicked=int((~clicked).sum()),
        unseen=state.cells - _cells_seen(state, log),
        components=(),
        cells=(),
        explanation=_EXPLAINED.get(kind, _COUNTED) if state.width else _NO_PAIRS,
        ties=told.ties(state, ~sure),
    )


def _surely_looked(log: Log, kind: int) -> NDArray[np.bool_]:
    """Tell which results a model takes as examined, whatever its parameters are (results,)."""
    ranks, page = log.ranks, np.repeat(np.arange(len(log)), np.diff(log.offsets))
    if kind == DCTR:
        return np.ones(len(ranks), np.bool_)
    # Where nothing was clicked DBN and CCM are sure of the first result only, the others of all.
    end = np.zeros(len(log), np.int64) if kind in (DBN, CCM) else np.diff(log.offsets) - 1
    places = np.flatnonzero(log.clicks)
    # Of the clicks of a page the one written last stays.
    places = places[::-1] if kind == CASCADE else places
    end[page[places]] = ranks[places]
    found: NDArray[np.bool_] = ranks <= end[page]
    return found


def _cells_seen(state: ClickState, log: Log) -> int:
    """Return how many cells pages say something of."""
    ranks = np.minimum(log.ranks, state.ranks - 1)
    if state.cells == state.ranks:
        return len(np.unique(ranks[log.clicks] if state.kind.number == DCM else ranks))
    if state.kind.number == CCM:
        # After a click, satisfied or not, no one knows which: both are told together.
        below = np.diff(log.offsets)[np.repeat(np.arange(len(log)), np.diff(log.offsets))] - 1
        goes_on = log.ranks < below
        return int((goes_on & ~log.clicks).any()) + 2 * int((goes_on & log.clicks).any())
    if state.kind.number == DBN:
        return int(log.longest > 1)
    return min(state.cells, len(log))
