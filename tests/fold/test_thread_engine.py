"""The thread engine: order of results, failures, interruptions, forks, nested use."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from purport.errors import ParameterError
from purport.fold import threads
from purport.fold.blas import one_blas_thread
from purport.fold.scratch import Scratch
from purport.fold.thread_engine import available_cores

PATIENCE = 60
"""Seconds after which a test says that something hangs."""


class OnPurposeError(Exception):
    pass


def in_time(function):
    """Run a function that may hang in a thread of its own."""
    results = []
    worker = threading.Thread(target=lambda: results.append(function()), daemon=True)
    worker.start()
    worker.join(PATIENCE)
    assert not worker.is_alive(), "it hangs"
    return results[0]


@pytest.mark.parametrize("n", [1, 2, 3, 5, None])
@pytest.mark.parametrize("count", [0, 1, 2, 100])
def test_map_keeps_the_order(n, count):
    engine = threads(n)
    placed = engine.place(range(count))
    assert len(placed) == count
    assert engine.map(placed, lambda a, b: a * b, 3) == [3 * k for k in range(count)]
    engine.close()
    assert engine.map(placed, lambda a, b: a + b, 1) == [k + 1 for k in range(count)]


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "2", float("nan")])
def test_a_bad_number_of_threads_is_refused(n):
    with pytest.raises(ParameterError, match=r"'n' must be a whole number at least 1 or None"):
        threads(n)


def test_the_number_of_threads_may_come_from_numpy():
    assert threads(np.int64(2)).n == 2
    assert threads().n == available_cores() >= 1


@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_first_failure_stops_the_rest(n):
    begun, running = [], set()

    def fail_early(number, _):
        begun.append(number)
        running.add(number)
        try:
            if number == 3:
                raise OnPurposeError("task 3")
            time.sleep(0.001)
        finally:
            running.discard(number)

    engine = threads(n)
    with pytest.raises(OnPurposeError, match="task 3"):
        engine.map(range(10_000), fail_early, None)
    assert len(begun) < 1_000
    assert not running
    assert engine.map([1, 2], lambda a, b: a + b, 1) == [2, 3]


@pytest.mark.parametrize("error", [OnPurposeError, KeyboardInterrupt, SystemExit])
def test_what_a_helper_raises_reaches_the_caller(error):
    both = threading.Barrier(2, timeout=PATIENCE)
    caller = threading.current_thread()

    def fail_in_the_helper(number, _):
        both.wait()
        if threading.current_thread() is not caller:
            raise error

    with pytest.raises(error):
        threads(2).map([0, 1], fail_in_the_helper, None)


def test_a_failing_fold_raises_too():
    class Failing:
        def zero(self):
            return Failing()

        def add(self, batch, parameters):
            raise OnPurposeError

    with pytest.raises(OnPurposeError):
        threads(2).fold([1, 2, 3], Failing(), None)


@pytest.fixture
def heeds_interruptions():
    """Let Ctrl-C interrupt, also where the tests run in the background, whose shell ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeds_interruptions")
@pytest.mark.parametrize("where", ["in a task", "while waiting for a helper"])
def test_an_interruption_waits_for_the_helpers(where):
    """Ctrl-C comes to the calling thread; nobody may still write into its arrays afterwards."""
    both = threading.Barrier(2, timeout=PATIENCE)
    caller = threading.current_thread()
    finished = []

    def interrupted(number, _):
        both.wait()
        if threading.current_thread() is caller:
            if where == "in a task":
                raise KeyboardInterrupt
            return
        if where == "while waiting for a helper":
            # As Ctrl-C would, in the middle of the caller's waiting.
            time.sleep(0.05)
            import _thread

            _thread.interrupt_main()
        time.sleep(0.2)
        finished.append(number)

    with pytest.raises(KeyboardInterrupt):
        threads(2).map([0, 1], interrupted, None)
    assert len(finished) == 1


def test_an_interruption_keeps_helpers_from_taking_more():
    both = threading.Barrier(2, timeout=PATIENCE)
    caller = threading.current_thread()
    taken = []

    def interrupted(number, _):
        if number < 2:
            both.wait()
        taken.append(number)
        if threading.current_thread() is caller:
            raise KeyboardInterrupt
        time.sleep(0.02)

    with pytest.raises(KeyboardInterrupt):
        threads(2).map(range(1_000), interrupted, None)
    assert len(taken) < 50


@pytest.mark.parametrize("outer", [1, 2, 3])
@pytest.mark.parametrize("inner", [1, 2, 3])
def test_nested_use_does_not_lock_up(outer, inner):
    """The pool may have no thread left for the inner fold; the caller then does all of it."""

    def total(number, _):
        return sum(threads(inner).map(range(20), lambda a, b: a * b, number))

    for _ in range(5):
        found = in_time(lambda: threads(outer).map(range(12), total, None))
        assert found == [190 * number for number in range(12)]


def test_several_callers_share_the_pool():
    def total(number):
        return sum(threads(3).map(range(50), lambda a, b: a + b, number))

    with ThreadPoolExecutor(6) as callers:
        assert list(callers.map(total, range(30))) == [1225 + 50 * k for k in range(30)]


FORKING = """
import os, sys, threading
from purport.fold import threads

def square(number, _):
    return number * number

expected = [k * k for k in range(50)]
for n in (2, 3):
    assert threads(n).map(range(50), square, None) == expected

# Another thread holds the lock of the pools at the moment of the fork.
from purport.fold import thread_engine
thread_engine._pools_lock.acquire()
child = os.fork()
if child == 0:
    right = all(threads(n).map(range(50), square, None) == expected for n in (2, 3, 4))
    os._exit(0 if right else 1)
thread_engine._pools_lock.release()
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0
assert threads(3).map(range(50), square, None) == expected
print("the pools work on both sides")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_the_pools_are_made_anew_after_a_fork():
    done = subprocess.run(
        [sys.executable, "-c", FORKING],
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert done.stdout.strip() == "the pools work on both sides", done.stderr


def test_scratch_grows_and_is_one_a_thread():
    scratch = Scratch()
    small = scratch.array("a", 2, 3)
    assert small.shape == (2, 3)
    assert small.flags.c_contiguous
    assert np.shares_memory(scratch.array("a", 6), small)
    assert not np.shares_memory(scratch.array("b", 6), small)
    assert scratch.array("a", 10, 10).shape == (10, 10)
    assert scratch.array("a", 0, 4).shape == (0, 4)
    mine = scratch.array("a", 4)
    theirs = in_time(lambda: scratch.array("a", 4))
    assert not np.shares_memory(mine, theirs)


def test_overlapping_holds_on_blas_give_back_what_was_there():
    from threadpoolctl import threadpool_info

    def counts():
        libraries = threadpool_info()
        return [library["num_threads"] for library in libraries if library["user_api"] == "blas"]

    before = counts()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    assert set(counts()) <= {1}
    first.__exit__(None, None, None)
    assert set(counts()) <= {1}
    second.__exit__(None, None, None)
    assert counts() == before


def test_many_threads_give_blas_back():
    from threadpoolctl import threadpool_info

    def counts():
        libraries = threadpool_info()
        return [library["num_threads"] for library in libraries if library["user_api"] == "blas"]

    def hold_often():
        for _ in range(50):
            with one_blas_thread():
                assert set(counts()) <= {1}

    before = counts()
    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(hold_often) for _ in range(4)]:
            future.result()
    assert counts() == before
