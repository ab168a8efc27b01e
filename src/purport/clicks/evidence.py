"""Online EM that counts as evidence what was seen alone: learns as fast as there is to learn.

Eq. 3 of "Online Expectation-Maximization for Click Models" counts each page that shows a pair as
one piece of evidence about it, also where it was most likely not even examined. So what is known of
a result far down seems firm that is not, and new clicks move it too little. Here a page moves a
parameter a as in Eq. 3, but what is then known of it grows only by the share that was seen, what is
expected less what that leaves open (Louis, 1982):

    a <- a + (x - a k) / (n + k),    n <- n + k - doubt(x) / (a (1 - a)),

x what is expected and k how often it is defined. For UBM and PBM this is on average the chance that
a result that was skipped had been examined. The mean of a Beta belief moves in the same way when a
skip is taken in exactly and the belief is made a Beta again.

What is known also wanders: a logit that has moved by a normal step of variance q a day is known
with the variance 1 / (n a (1 - a)) + q, as if n had been

    n / (1 + q n a (1 - a)).

So pairs of which much is known forget much, and those of which little is known next to nothing,
unlike in Eq. 4, where each forgets the same share whenever it is shown. The prior stays.

Symbols: P pairs, Q queries, M cells, R ranks, w parameters of a pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from purport.clicks.online import Writer
from purport.clicks.pages import doubt_of, expect_page
from purport.clicks.pairs import COLUMNS, DEFINED, DOUBT, EXPECTED, PRIOR, PairTable
from purport.clicks.state import ClickState, parameters_of_sums
from purport.clicks.stream import gather_parameters, meet_pairs, parameter_of, refresh_cells
from purport.fold.kernel import Booleans, Floats, Int32s, Int64s, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.clicks.log import Log

OF_CELLS = 0.01
"""The variance of a day's step of what all pages share, beside that of pairs."""


class EvidenceWriter(Writer):
    """A writer that counts what was seen alone; see the top of this file.

    Its pages are taken in with `write`, as those of any `Writer`, whose rates of forgetting it
    leaves out; what wanders does so when `wander` says that time has passed.

    Parameters
    ----------
    state : ClickState
        What is changed.
    every : int
        So many pages lie between two meetings of the shards.
    """

    def wander(self, variance: float) -> None:
        """Let all that is known have moved by a step of a variance (of logits of pairs)."""
        if variance == 0.0:
            return
        for table in self.state.tables:
            for parameter in range(self.state.width):
                _wander(self.state, table, parameter, variance)
        known = self._together()
        shares = parameters_of_sums(known, self.state)
        known /= 1.0 + OF_CELLS * variance * known[:, 1:] * (shares * (1.0 - shares))[:, None]
        self._base = known
        self._begin()
        self.state.sums[:] = known
        self.state.refresh()

    def _write(
        self,
        shard: int,
        chosen: NDArray[np.int64],
        log: Log,
        queries: NDArray[np.int32],
        pairs: NDArray[np.int32],
        forget: tuple[float, float],
        days: NDArray[np.int64],
        half_life: float,
    ) -> None:
        state, table = self.state, self.state.tables[shard]
        priors = state.priors
        if state.width:
            self._find(shard, chosen, log, queries, pairs)
        weigh_pages(
            state.kind.number, chosen, log.offsets, log.clicks, queries, pairs, state.ranks,
            np.array([*priors.strengths, priors.of_query]), state.width, table.kept,
            table.query_sums, self._sums[shard], state.cell_priors, self._parameters[shard],
        )  # fmt: skip


def forget_what_was_not_seen(state: ClickState) -> None:
    """Count the evidence of all pairs anew, as what was seen of them alone; none moves."""
    for table in state.tables:
        for parameter in range(state.width):
            kept, found, known = _known(state, table, parameter)
            open_still = kept[:, DOUBT] / (found * (1.0 - found))
            _set_evidence(state, parameter, kept, found, np.maximum(known - open_still, 0.0))
            kept[:, DOUBT] = 0.0


def _wander(state: ClickState, table: PairTable, parameter: int, variance: float) -> None:
    kept, found, known = _known(state, table, parameter)
    shrunk = 1.0 / (1.0 + variance * known * found * (1.0 - found))
    kept[:, : DOUBT + 1] *= shrunk[:, None]


def _known(
    state: ClickState, table: PairTable, parameter: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return of all pairs what is kept (P, 4), the parameter (P,) and how much is known (P,)."""
    kept = table.kept[: table.pairs, COLUMNS * parameter : COLUMNS * (parameter + 1)]
    return kept, state.pair_parameters(table, parameter), kept[:, DEFINED]


def _set_evidence(
    state: ClickState,
    parameter: int,
    kept: NDArray[np.float64],
    found: NDArray[np.float64],
    known: NDArray[np.float64],
) -> None:
    """Change how much is known (P,) and leave the parameters (P,) where they are."""
    strength = state.priors.strengths[parameter]
    kept[:, DEFINED] = known
    kept[:, EXPECTED] = found * (known + strength) - strength * kept[:, PRIOR]


@kernel(
    "void(int64, int64[::1], int64[::1], boolean[::1], int32[::1], int32[::1], int64, float64[::1],"
    " int64, float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[::1])"
)
def weigh_pages(
    kind: int,
    chosen: Int64s,  # (pages,) in the order of the log
    offsets: Int64s,  # (N + 1,)
    clicks: Booleans,  # (results,)
    queries: Int32s,  # (N,) rows
    pairs: Int32s,  # (results,) rows
    ranks: int,
    strengths: Floats,  # (3,) of the priors of attraction, of satisfaction, and of a query's pairs
    width: int,
    kept: Floats,  # (P, 4 or 8) in and out
    query_sums: Floats,  # (Q, 2) in and out
    sums: Floats,  # (M + R, 2) in and out: of cells, and of ranks
    cell_priors: Floats,  # (M + R, 2) what stands beside the sums
    parameters: Floats,  # (M + R,) in and out: the parameters that follow from the sums
) -> None:
    """Take pages in, one after the other."""
    longest = 3
    for page in chosen:
        longest = max(longest, offsets[page + 1] - offsets[page])
    held, work = np.zeros((2, longest)), np.empty(longest + 1)
    found, counted = np.empty((4, longest)), np.empty((2, longest))
    cells = np.empty(longest, np.int32)
    of_ranks = len(sums) - ranks
    for page in chosen:
        first = offsets[page]
        n = offsets[page + 1] - first
        if width:
            meet_pairs(n, pairs, first, queries[page], strengths[2], query_sums, kept)
        for parameter in range(width):
            gather_parameters(
                n, pairs, first, kept, COLUMNS * parameter, strengths[parameter], held[parameter]
            )
        used = expect_page(
            kind, n, clicks, first, ranks, held[0], held[1], parameters, found, cells, counted, work
        )
        expected, defined = 0.0, 0.0
        for parameter in range(width):
            for r in range(n):
                x, k = found[2 * parameter, r], found[2 * parameter + 1, r]
                if k > 0.0:
                    p = np.uint32(pairs[first + r])
                    weigh(x, k, COLUMNS * parameter, strengths[parameter], kept[p])
                if parameter == 0:
                    cell = np.uint32(of_ranks + min(r, ranks - 1))
                    expected += x
                    defined += parameters[cell] * k
                    sums[cell, EXPECTED] += x
                    sums[cell, DEFINED] += k
        if width:
            q = np.uint32(queries[page])
            query_sums[q, EXPECTED] += expected
            query_sums[q, DEFINED] += defined
        for each in range(used):
            cell = np.uint32(cells[each])
            sums[cell, EXPECTED] += counted[0, each]
            sums[cell, DEFINED] += counted[1, each]
        refresh_cells(used, cells, sums, cell_priors, parameters)


@kernel(distinct=True)
def weigh(
    x: float,
    k: float,
    column: int,
    strength: float,
    row: Floats,  # (4 or 8,) in and out: what is kept of a pair
) -> None:
    """Move a parameter of a pair to where a page lets expect it, and count what was seen."""
    prior = strength * row[column + PRIOR]
    n = row[column + DEFINED] + strength
    a = parameter_of(
        row[column + EXPECTED], row[column + DEFINED], row[column + PRIOR], strength
    )  # fmt: skip
    moved = (a * n + x) / (n + k)
    seen = min(max(k - doubt_of(x) / (a * (1.0 - a)), 0.0), k)
    row[column + DEFINED] += seen
    row[column + EXPECTED] = moved * (n + seen) - prior
