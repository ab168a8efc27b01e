"""What an iteration of L-BFGS costs beside its gradients: ours and scipy's."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from bench.benchmark import Setting
from bench.crf import ours
from bench.crf.data import Sentences
from bench.crf.settings import WINDOWS
from bench.tables import Bar, Row, Table
from purport.features.token_windows import TokenWindows
from purport.optimize.lbfgs import Objective, minimise
from purport.sequence.crf import CRF

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BAR = 0.10
ITERATIONS = 20
MEMORY = 6
ROUNDS = 3


def run(setting: Setting) -> Iterator[Table]:
    atis = Sentences.read(setting, "atis", "train")
    yield compare(setting, atis, CRF(n_threads=1))
    if not setting.quick:
        # Half a million weights as they come: every pair seen in a larger set with a wide window.
        windows = TokenWindows(**WINDOWS["phrases"])
        snips = Sentences.read(setting, "snips", "train", windows)
        yield compare(setting, snips, CRF(n_threads=1))
    # The hardest case: as many weights over data so small that a gradient takes little longer.
    yield compare(setting, atis.merged_by_hash(32), CRF(n_threads=1, all_possible_states=True))


@dataclass
class Watched:
    """An objective that adds up the time spent in it."""

    objective: Objective
    seconds: float = 0.0
    calls: int = 0

    def __call__(self, x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        began = time.process_time()
        result = self.objective(x)
        self.seconds += time.process_time() - began
        self.calls += 1
        return result


def compare(setting: Setting, sentences: Sentences, crf: CRF) -> Table:
    """Measure one size."""
    objective, start = ours.objective_of(crf, sentences.strings, sentences.labels)
    count = ITERATIONS // 2 if setting.quick else ITERATIONS
    searches: dict[str, Callable[[Watched], int]] = {
        "purport, 1 thread": lambda watched: _ours(watched, start, count),
        "scipy L-BFGS-B": lambda watched: _scipy(watched, start, count),
    }
    own: dict[str, list[float]] = {name: [] for name in searches}
    gradients: list[float] = []
    with threadpool_limits(1):
        objective(start)
        for _ in range(ROUNDS):
            for name, search in searches.items():
                watched = Watched(objective)
                began = time.process_time()
                made = search(watched)
                own[name].append((time.process_time() - began - watched.seconds) / made)
                gradients.append(watched.seconds / watched.calls)
    gradient = median(gradients)
    rows = [
        _row(name, [seconds / gradient for seconds in found], median(found))
        for name, found in own.items()
    ]
    return Table(
        f"L-BFGS beside its gradient: {sentences.name}, {sentences.label_count} labels,"
        f" {len(start)} weights",
        "of a gradient",
        rows,
        [
            f"A gradient takes {1e3 * gradient:.4g} ms; {count} iterations, {MEMORY} memories,"
            f" 1 thread, {ROUNDS} rounds; CPU time."
        ],
    )


def _row(name: str, shares: list[float], seconds: float) -> Row:
    bar = Bar("figure", "at most", BAR) if name.startswith("purport") else None
    return Row(
        name,
        median(shares),
        spread=(min(shares), max(shares)),
        bar=bar,
        note=f"{1e3 * seconds:.4g} ms an iteration outside the objective",
    )


def _ours(watched: Watched, start: NDArray[np.float64], count: int) -> int:
    search = minimise(watched, start, max_iter=count, tol=0.0, memory=MEMORY, n_threads=1)
    return sum(1 for _ in islice(search, 1, None))


def _scipy(watched: Watched, start: NDArray[np.float64], count: int) -> int:
    from scipy.optimize import minimize

    options: dict[str, Any] = {"maxiter": count, "maxcor": MEMORY, "ftol": 0.0, "gtol": 0.0}
    found = minimize(watched, start, jac=True, method="L-BFGS-B", options=options)
    return int(found.nit)
