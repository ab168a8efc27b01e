"""The default engine: one pool of threads that run kernels without the interpreter lock.

Workers take partitions by number from a shared counter. Which thread takes which does not change a
bit of the result: every partition has a statistic of its own, and the tree that merges them is
fixed.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from purport.estimator.constraints import Whole, check_parameters, optional
from purport.fold.blas import one_blas_thread
from purport.fold.engine import AnyStatistic, Tree

Result = TypeVar("Result")

_pools: dict[int, ThreadPoolExecutor] = {}
_pools_lock = threading.Lock()


def threads(n: int | None = None) -> ThreadEngine:
    """Return the engine that uses `n` threads of this process; None takes all the cores it may use.

    Examples
    --------
    >>> from purport.fold import threads
    >>> engine = threads(2)
    >>> engine.map(engine.place([1, 2, 3]), lambda partition, factor: partition * factor, 10)
    [10, 20, 30]
    """
    check_parameters("threads", {"n": n}, {"n": optional(Whole(low=1))})
    return ThreadEngine(available_cores() if n is None else int(n))


def available_cores() -> int:
    """Count the cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class ThreadEngine:
    """Folds over threads; see `threads`."""

    def __init__(self, n: int) -> None:
        self.n = n

    def place(self, partitions: Sequence[Any]) -> Sequence[Any]:
        """Return the partitions: they are in this process already."""
        return partitions

    def fold(self, placed: Sequence[Any], zero: AnyStatistic, parameters: Any) -> AnyStatistic:
        """Add every partition to a zero of its own and merge these along the fixed tree."""
        if not placed:
            return zero.zero()
        tree, lock = Tree(len(placed)), threading.Lock()
        roots: list[Any] = []

        def add_and_climb(number: int) -> None:
            statistic = zero.zero().add(placed[number], parameters)
            root = tree.climb(number, statistic, lock)
            if root is not None:
                roots.append(root)

        self._run(len(placed), add_and_climb)
        folded: AnyStatistic = roots[0]
        return folded

    def map(
        self, placed: Sequence[Any], function: Callable[[Any, Any], Result], parameters: Any
    ) -> list[Result]:
        """Apply a function of (partition, parameters) to every partition, results in order."""
        results: list[Any] = [None] * len(placed)

        def apply(number: int) -> None:
            results[number] = function(placed[number], parameters)

        self._run(len(placed), apply)
        return results

    def close(self) -> None:
        """Do nothing: the pool is shared and lives as long as the process."""

    def _run(self, count: int, task: Callable[[int], None]) -> None:
        """Run tasks 0 to count - 1, the calling thread too; the first failure stops the rest."""
        numbers = itertools.count()
        stop = threading.Event()

        def work() -> None:
            while not stop.is_set():
                number = next(numbers)
                if number >= count:
                    return
                try:
                    task(number)
                except BaseException:
                    stop.set()
                    raise

        helpers = min(self.n, count) - 1
        futures: list[Future[None]] = []
        if helpers > 0:
            pool = _pool(helpers)
            futures = [pool.submit(work) for _ in range(helpers)]
        try:
            with one_blas_thread():
                work()
                _await(futures)
        finally:
            # Also after a failure or an interruption nobody is still at work when the caller goes
            # on.
            stop.set()
            failures = _await(futures)
        for failure in failures:
            raise failure


def _await(futures: list[Future[None]]) -> list[BaseException]:
    """Wait for the helpers that have begun, take back the others, and return what went wrong.

    A helper that has not begun may never do so: where folds are nested, the thread it waits for may
    be the one that calls. All numbers are given out by now, so it is not needed.
    """
    begun = [future for future in futures if not future.cancel()]
    outcomes = [future.exception() for future in begun]
    return [outcome for outcome in outcomes if outcome is not None]


def _pool(size: int) -> ThreadPoolExecutor:
    with _pools_lock:
        if size not in _pools:
            _pools[size] = ThreadPoolExecutor(size, thread_name_prefix="purport")
        return _pools[size]


def _forget_pools() -> None:
    """Start afresh in a forked child: threads do not survive, and the lock may be held."""
    global _pools_lock
    _pools.clear()
    _pools_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pools)
