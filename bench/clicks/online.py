"""Online EM: pages a second of one core and of two, beside what memory allows.

A state of 32 bytes a pair: one that a cache holds, and one of two gigabytes. The limit is that of
reading and writing one line of memory a result at places that nobody can foretell.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from statistics import median

import numpy as np
from numpy.typing import NDArray

from bench.benchmark import Setting
from bench.clicks.data import RESULTS, Drawn, drawn, shown
from bench.tables import Bar, Row, Table
from purport.clicks.kinds import KINDS
from purport.clicks.log import Log
from purport.clicks.online import Writer
from purport.clicks.scores import mean_log_likelihood
from purport.clicks.state import ClickState, Priors
from purport.clicks.stream import stream_pages
from purport.fold.kernel import Floats, Int32s, kernel
from purport.fold.thread_engine import threads

A_CORE = 8e6
TWO_THREADS = 1.8
PAGES, QUERIES = 1_000_000, 5_000
ORDERED = 250_000
LARGE_QUERIES = 3_300_000
"""Times 20 documents and 32 bytes: 2 GB of sums of pairs."""
LINE = 64


@kernel("float64(float64[:, ::1], int32[::1])")
def touch(
    kept: Floats,  # (P, 4) in and out
    places: Int32s,  # (results,)
) -> float:
    """Read and write a pair of sums at each place, and nothing else."""
    total = 0.0
    for place in places:
        p = np.uint32(place)
        total += kept[p, 0]
        kept[p, 0] += 1.0
        kept[p, 1] += 1.0
    return total


def run(setting: Setting) -> Iterator[Table]:
    small = drawn("UBM", PAGES // 10 if setting.quick else PAGES, QUERIES)
    yield one_core(setting, small)
    yield two_threads(setting, small)
    yield shards_apart(setting)
    yield large(setting)


def prepared(log: Log, name: str) -> tuple[ClickState, NDArray[np.int32], NDArray[np.int32]]:
    """Return a state of one shard that has met all pairs, and their rows."""
    state = ClickState(KINDS[name], RESULTS, 1, Priors())
    _, queries, pairs = state.find(log, grows=True)
    return state, queries, pairs


def streamed(
    state: ClickState, log: Log, queries: NDArray[np.int32], pairs: NDArray[np.int32]
) -> Callable[[], None]:
    """Return what takes the whole log in once, the pairs being found."""
    table, nothing = state.tables[0], np.empty(0, np.int64)
    chosen = np.arange(len(log))
    remaining = np.ones(len(state.sums))

    def take() -> None:
        stream_pages(
            state.kind.number, chosen, log.offsets, log.clicks, queries, pairs, nothing,
            state.ranks, np.array(state.priors.strengths), 0.0, 0.0, 1.0, state.width, table.kept,
            table.days, table.query_sums, state.sums, remaining, state.cell_priors,
            state.parameters,
        )  # fmt: skip

    return take


def one_core(setting: Setting, data: Drawn) -> Table:
    """Measure a state that a cache holds."""
    rows = []
    for name in ("UBM", "PBM", "DBN", "CCM"):
        state, queries, pairs = prepared(data.log, name)
        seconds = repeated(streamed(state, data.log, queries, pairs), setting.rounds)
        rate = [len(data.log) / each for each in seconds]
        bar = Bar("figure", "at least", A_CORE) if name == "UBM" else None
        held = state.tables[0].pairs * 8 * state.tables[0].kept.shape[1]
        note = f"sums of pairs {held / 1e6:.3g} MB"
        rows.append(Row(name, median(rate), None, (min(rate), max(rate)), bar, note))
        if name == "UBM":
            kept = np.zeros_like(state.tables[0].kept)
            limit = repeated(lambda kept=kept, pairs=pairs: touch(kept, pairs), setting.rounds)
            rows.append(
                Row("limit: the same places read and written", len(data.log) / median(limit))
            )
    notes = [
        f"{data}. One thread, CPU time; pairs are found beforehand (see `reading` for all of it).",
    ]
    return Table("Online EM, one core", "pages/s", rows, notes, not setting.quick)


def two_threads(setting: Setting, data: Drawn) -> Table:
    """Measure `update` from numbers of queries and documents, on one thread and on two."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(setting.rounds):
        for count in seconds:
            writer = Writer(ClickState(KINDS["UBM"], RESULTS, 8, Priors()), 65_536)
            writer.write(data.log, (0.0, 0.0), threads(count))
            began = time.perf_counter()
            writer.write(data.log, (0.0, 0.0), threads(count))
            seconds[count].append(time.perf_counter() - began)
    rows = [Row("one thread", len(data.log) / median(seconds[1]))]
    ratios = [one / two for one, two in zip(seconds[1], seconds[2], strict=True)]
    rows.append(
        Row(
            "two threads",
            len(data.log) / median(seconds[2]),
            median(ratios),
            (min(ratios), max(ratios)),
            Bar("ratio", "at least", TWO_THREADS),
        )
    )
    notes = [
        f"{data}. 8 shards that meet every 65 536 pages; pairs are looked up. By the wall clock,"
        " rounds alternate.",
    ]
    return Table("Online EM, two threads", "pages/s", rows, notes, not setting.quick)


def shards_apart(setting: Setting) -> Table:
    """Measure what it costs that shards meet only now and then."""
    pages = ORDERED // (10 if setting.quick else 1)
    data = drawn("UBM", pages, QUERIES, seed=2)
    learnt, tested = (
        data.log.take(np.arange(pages * 4 // 5)),
        data.log.take(np.arange(pages * 4 // 5, pages)),
    )
    strict = 0.0
    rows = []
    for shards, every in ((1, 8192), (2, 8192), (8, 1024), (8, 8192), (8, 65_536), (64, 65_536)):
        found = []
        for truth in ("UBM", "DBN"):
            state = ClickState(KINDS[truth], RESULTS, shards, Priors())
            Writer(state, every).write(learnt, (0.0, 0.0), threads(1))
            found.append(mean_log_likelihood(state.probabilities(tested), tested))
        if shards == 1:
            strict, of_dbn = found
        rows.append(
            Row(
                f"{shards} shard{'s' if shards > 1 else ''}, meeting every {every:,} pages",
                found[0] - strict,
                note=f"log-likelihood {found[0]:.6f}; DBN {found[1] - of_dbn:+.6f}",
            )
        )
    notes = [
        f"{data}. UBM learns online from nothing on four fifths, and foretells the last one."
        " Figure: log-likelihood less that of one shard, which is strict log order.",
    ]
    title = "Online EM: shards that meet now and then, beside strict log order"
    return Table(title, "log-likelihood", rows, notes, False)


def large(setting: Setting) -> Table:
    """Measure a state of two gigabytes, met at random."""
    queries = LARGE_QUERIES // (100 if setting.quick else 1)
    chance = np.random.default_rng(1)
    pages = 200_000
    pairs = queries * 20
    rows_of = chance.integers(pairs, size=pages * RESULTS).astype(np.int32)
    asked, docs = shown(pages, QUERIES, chance)
    offsets = np.arange(0, pages * RESULTS + 1, RESULTS)
    log = Log(offsets, chance.random(pages * RESULTS) < 0.1, asked, docs)
    state, of_queries, _ = prepared(log, "UBM")
    state.tables[0].kept = np.zeros((pairs, 4))
    seconds = repeated(streamed(state, log, of_queries, rows_of), setting.rounds)
    limit = repeated(lambda: touch(state.tables[0].kept, rows_of), setting.rounds)
    rows = [
        Row("UBM", pages / median(seconds), median(limit) / median(seconds),
            note="ratio: share of the limit"),
        Row("limit: one line read and written a result", pages / median(limit),
            note=f"{1e9 * median(limit) / (pages * RESULTS):.3g} ns a line"),
    ]  # fmt: skip
    notes = [
        f"{pairs} pairs, {32 * pairs / 1e9:.3g} GB of sums; {pages} pages whose pairs are drawn"
        " from all alike, as no log's are. One thread, CPU time.",
    ]
    return Table("Online EM, a state that no cache holds", "pages/s", rows, notes, False)


def repeated(take: Callable[[], object], rounds: int) -> list[float]:
    """Return the CPU seconds of each of some runs, after one that is not measured."""
    take()
    found = []
    for _ in range(rounds):
        began = time.process_time()
        take()
        found.append(time.process_time() - began)
    return found
