"""One iteration of EM a page, beside PyClick's and beside a pass of clax-models.

CPU time, because others may use the machine. All see the same pages; PyClick a part of them, as it
would take hours for the rest. A pass of clax-models is a step of gradients a batch, no iteration of
EM: more or fewer of them are needed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median

import numpy as np

from bench.benchmark import Setting
from bench.clicks import clax, pyclick
from bench.clicks.data import RESULTS, Drawn, drawn
from bench.tables import Bar, Row, Table
from purport.clicks.batch import BatchEM
from purport.clicks.kinds import KINDS
from purport.clicks.state import ClickState, Priors
from purport.fold.thread_engine import threads

MODELS = {"UBM": "UBM", "PBM": "UBM", "DBN": "DBN", "CCM": "DBN"}
"""Each model, and the one that draws its clicks."""
PAGES, QUERIES = 100_000, 5_000
OF_PYCLICK = {"UBM": 2000, "PBM": 2000, "DBN": 200, "CCM": 200}
"""Pages that it gets, and the least bar of each."""
OVER_PYCLICK = {"UBM": 1000.0, "PBM": 1000.0, "DBN": 10_000.0, "CCM": 10_000.0}
OVER_CLAX = 40.0
BATCHES = (512, 1000)
"""Pages of a batch of clax-models: its own default, and that of the measured reference."""
OURS_A_ROUND = 5


def run(setting: Setting) -> Iterator[Table]:
    pages = PAGES // 10 if setting.quick else PAGES
    for name, truth in MODELS.items():
        yield beside_the_peers(setting, name, drawn(truth, pages, QUERIES))


def beside_the_peers(setting: Setting, name: str, data: Drawn) -> Table:
    """Alternate rounds of ours with iterations of the peers."""
    log = data.log
    state = ClickState(KINDS[name], RESULTS, 8, Priors())
    began = time.process_time()
    em = BatchEM(state, log, threads(1))
    built = 1e6 * (time.process_time() - began) / len(log)
    em.round()
    ours, theirs = list[float](), list[float]()
    passes: dict[int, list[float]] = {}
    small = []
    if pyclick.is_installed():
        some = OF_PYCLICK[name]
        small = pyclick.sessions(
            zip(
                log.queries[:some].tolist(),
                log.docs.reshape(-1, RESULTS)[:some].tolist(),
                log.clicks.reshape(-1, RESULTS)[:some].astype(int).tolist(),
                strict=True,
            )
        )
    for _ in range(setting.rounds):
        for _ in range(OURS_A_ROUND):
            began = time.process_time()
            em.round()
            ours.append(1e6 * (time.process_time() - began) / len(log))
        if small:
            theirs.append(pyclick.train(name, small, 1).microseconds)
    if clax.is_installed():
        _, numbers = np.unique(log.docs, return_inverse=True)
        arrays = clax.Log(
            numbers.reshape(-1, RESULTS).astype(np.int32),
            log.clicks.reshape(-1, RESULTS),
            np.ones((len(log), RESULTS), np.bool_),
        )
        for size in BATCHES:
            passes[size] = clax.train(name, arrays, size, setting.rounds).microseconds
    rows = [
        Row(
            "purport, one thread",
            median(ours),
            None,
            (min(ours), max(ours)),
            note=f"reading the log into the model once: {built:.3g} us a page",
        )
    ]
    if theirs:
        rows.append(_beside("PyClick", theirs, ours, OVER_PYCLICK[name]))
    else:
        rows.append(Row(f"PyClick ({pyclick.VARIABLE})", None, note="not found"))
    for size, taken in passes.items():
        bar = OVER_CLAX if size == BATCHES[0] else None
        rows.append(_beside(f"clax-models, batches of {size}", taken, ours, bar))
    if not passes:
        rows.append(Row.not_found("clax-models", clax.PACKAGE))
    notes = [
        f"{data}.",
        f"PyClick {pyclick.version()} gets the first {OF_PYCLICK[name]} pages;"
        f" {clax.version()} all. Ratios: theirs over ours, medians of CPU time.",
    ]
    return Table(f"{name}: one iteration", "us/page", rows, notes, not setting.quick)


def _beside(who: str, theirs: list[float], ours: list[float], bar: float | None) -> Row:
    return Row(
        who,
        median(theirs),
        median(theirs) / median(ours),
        (min(theirs) / max(ours), max(theirs) / min(ours)),
        None if bar is None else Bar("ratio", "at least", bar),
    )
