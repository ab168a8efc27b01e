"""End to end: from a file of pages to a model that has taken them in, online or in a batch."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bench.benchmark import Setting
from bench.clicks.data import RESULTS, drawn
from bench.tables import Bar, Row, Table
from bench.timing import forget_peak, peak_megabytes
from purport.clicks.models import UBM
from purport.errors import ConvergenceWarning
from purport.records.pages import Pages

PAGES, QUERIES = 1_000_000, 20_000
LARGE = 10_000_000
OF_NUMBERS, OF_STRINGS = 1e6, 4e5
AT_ONCE = 65_536
ROUNDS = 20
PUBLISHED = 12.4e6
"""Page-iterations a second of ParClick's UBM on 48 threads of an EPYC 7402P."""


def run(setting: Setting) -> Iterator[Table]:
    count = PAGES // 10 if setting.quick else PAGES
    with TemporaryDirectory() as folder:
        yield from_files(setting, Path(folder), count)
    yield many(setting)


def from_files(setting: Setting, folder: Path, count: int) -> Table:
    """Measure `update` over batches of a Parquet file."""
    data = drawn("UBM", count, QUERIES)
    numbers = folder / "numbers.parquet"
    data.pages.write(numbers)
    log = data.log
    strings = folder / "strings.parquet"
    Pages.from_arrays(
        log.offsets,
        np.char.add("q", log.queries.astype(str)),
        np.char.add("d", log.docs.astype(str)),
        log.clicks,
    ).write(strings)
    rows = []
    for who, path, bar in (
        ("ids are whole numbers", numbers, OF_NUMBERS),
        ("ids are strings", strings, OF_STRINGS),
    ):
        for threads in (1, 2):
            seconds = [timed(lambda t=threads, p=path: taken_in(p, t)) for _ in range(3)]
            read = timed(lambda p=path: [len(each) for each in Pages.batches(p, AT_ONCE)])
            rate = [count / each for each in seconds]
            rows.append(
                Row(
                    f"{who}, {threads} thread{'s' if threads > 1 else ''}",
                    median(rate),
                    None,
                    (min(rate), max(rate)),
                    Bar("figure", "at least", bar) if threads == 2 else None,
                    f"reading alone: {count / read:.3g} pages/s",
                )
            )
    notes = [f"{data}. Parquet, batches of {AT_ONCE}, wall clock, a new model each time."]
    return Table("From Parquet to an updated UBM", "pages/s", rows, notes, not setting.quick)


def taken_in(path: Path, threads: int) -> UBM:
    """Update a new model with all of a file."""
    model = UBM(sync_every=AT_ONCE, n_threads=threads)
    for batch in Pages.batches(path, AT_ONCE):
        model.update(batch)
    return model


def many(setting: Setting) -> Table:
    """Fit ten million pages at once."""
    count = LARGE // (100 if setting.quick else 1)
    pages = drawn("UBM", count, 500_000).pages
    forget_peak()
    before = peak_megabytes()
    model = UBM(prior=(0.3, 4.0))
    began = time.perf_counter()
    with warnings.catch_warnings():
        # Twenty rounds are what is compared, converged or not.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(pages, max_iter=ROUNDS, tol=0.0)
    whole = time.perf_counter() - began
    iterating = model.history_[-1]["seconds"]
    rounds = len(model.history_)
    rate = count * rounds / iterating
    rows: list[Any] = [
        Row("page-iterations a second, two threads", rate, rate / PUBLISHED,
            note="ratio: over the 12.4 million of ParClick on 48 threads of other hardware"),
        Row("pages a second, all of fit", count / whole,
            note=f"{whole:.3g} s, {rounds} rounds, priors given"),
    ]  # fmt: skip
    held = sum(
        array.nbytes
        for table in model._state.tables
        for array in (table.kept, table.pair_keys, table.pair_slots, table.days, table.query_keys,
                      table.query_sums, table.query_slots)
    )  # fmt: skip
    peak = peak_megabytes()
    notes = [
        f"{count} pages of {RESULTS} results, {model._counts['results']} results;"
        f" the state holds {held / 1e6:.4g} MB; the peak of the process rose from {before or 0:.4g}"
        f" to {peak or 0:.4g} MB, the log itself being {pages.docs.codes.nbytes / 1e6:.4g} MB of"
        " document ids.",
    ]
    return Table("Ten million pages at once", "pages/s", rows, notes, False)


def timed(take: Callable[[], object]) -> float:
    """Return the seconds on the wall clock."""
    began = time.perf_counter()
    take()
    return time.perf_counter() - began
