"""Time until our objective is as low as the one at which python-crfsuite stops by its own rules.

Ours is fitted before, in the middle of and after the peer's one long run, further than it needs to;
the time that counts is when it first was as low.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from bench.benchmark import Setting
from bench.crf import crfsuite, ours
from bench.crf.data import Sentences
from bench.tables import Bar, Row, Table
from purport.sequence.crf import CRF

BAR = 10.0
THREADS = (1, 2)
MIDDLE = 30
"""The iteration of the peer after which ours is fitted in between."""


@dataclass(frozen=True)
class Run:
    """One of our fits: its history, and the seconds of the whole call by both clocks."""

    history: list[dict[str, float]]
    seconds: float
    cpu: float

    def reached(self, target: float) -> tuple[float, float, int] | None:
        """Return seconds of optimising and of the whole call up to the target, and evaluations."""
        evaluations = 0
        for now in self.history:
            evaluations += int(now["evaluations"])
            if now["objective"] <= target:
                left = self.history[-1]["seconds"] - now["seconds"]
                return now["seconds"], self.seconds - left, evaluations
        return None


def run(setting: Setting) -> Iterator[Table]:
    atis = Sentences.read(setting, "atis", "train", one_of=8 if setting.quick else 1)
    runs: dict[int, list[Run]] = {threads: [] for threads in THREADS}

    def fit_ours(number: int = MIDDLE) -> None:
        if number == MIDDLE:
            for threads, made in runs.items():
                made.append(_fit(atis, threads))

    # Unmeasured: kernels, the pool of threads.
    ours.fit(CRF(max_iter=2, n_threads=max(THREADS)), atis.strings, atis.labels)
    fit_ours()
    peer = crfsuite.train(atis, fit_ours) if crfsuite.is_installed() else None
    fit_ours()
    target = peer.loss[-1] if peer else max(run.history[-1]["objective"] for run in runs[1])
    for whole in (False, True):
        yield _table(atis, runs, peer, target, whole, judged=not setting.quick)


def _fit(sentences: Sentences, threads: int) -> Run:
    crf = CRF(max_iter=500, tol=1e-6, n_threads=threads)
    began, cpu = time.perf_counter(), time.process_time()
    ours.fit(crf, sentences.strings, sentences.labels)
    return Run(crf.history_, time.perf_counter() - began, time.process_time() - cpu)


def _table(
    sentences: Sentences,
    runs: dict[int, list[Run]],
    peer: crfsuite.Iterations | None,
    target: float,
    whole: bool,
    judged: bool,
) -> Table:
    rows = []
    seconds = None
    if peer is None:
        rows.append(Row.not_found("python-crfsuite", crfsuite.PACKAGE))
    else:
        seconds = sum(peer.wall) + whole * (peer.appended + peer.prepared)
        note = (
            f"{len(peer)} iterations, {sum(peer.evaluations)} evaluations;"
            f" CPU {sum(peer.cpu):.4g} s optimising"
        )
        rows.append(Row("python-crfsuite", seconds, 1.0, note=note))
    rows += [_row(threads, made, target, seconds, whole) for threads, made in runs.items()]
    what = "from lists of strings to a model" if whole else "optimising alone"
    return Table(
        f"Time to crfsuite's final objective, {what}: {sentences.name},"
        f" {sentences.label_count} labels",
        "s",
        rows,
        [
            f"The objective to reach: {target:.6f} (c2 = l2 = 1; the peer's own stopping rules)."
            " Wall clock."
        ],
        judged,
    )


def _row(threads: int, runs: list[Run], target: float, seconds: float | None, whole: bool) -> Row:
    who = f"purport, {threads} thread{'s' if threads > 1 else ''}"
    bar = Bar("ratio", "at least", BAR)
    reached = [run.reached(target) for run in runs]
    found = [times for times in reached if times is not None]
    if len(found) < len(reached):
        last = runs[-1].history[-1]["objective"]
        return Row(who, None, bar=bar, note=f"did not get there: {last:.6f} at its own stop")
    times = [of_whole if whole else optimising for optimising, of_whole, _ in found]
    figure = median(times)
    ratio = None if seconds is None else seconds / figure
    spread = None if seconds is None else (seconds / max(times), seconds / min(times))
    note = f"{found[0][2]} evaluations; {len(times)} fits, {min(times):.4g} to {max(times):.4g} s"
    if threads == 1:
        # The share of the whole call's CPU time that its wall time up to the target was.
        cpu = [run.cpu * part / run.seconds for run, part in zip(runs, times, strict=True)]
        note += f", CPU about {median(cpu):.4g} s"
    return Row(who, figure, ratio, spread, bar, note)
