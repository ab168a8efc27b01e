"""BLAS held to one thread while ours are at work, so that bits do not change nor cores wait."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController


class _Hold:
    """The limit is set by the first who asks and lifted by the last: callers may overlap."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.holders = 0
        self.limit: Any = None


_hold = _Hold()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread for the length of a with block.

    Examples
    --------
    >>> with one_blas_thread():
    ...     pass
    """
    hold = _hold
    with hold.lock:
        if hold.holders == 0:
            hold.limit = _controller().limit(limits=1, user_api="blas")
        hold.holders += 1
    try:
        yield
    finally:
        with hold.lock:
            hold.holders -= 1
            if hold.holders == 0:
                _lift(hold.limit)


def _lift(limit: Any) -> None:
    """Restore what was there before, also when another thread than this one had set the limit."""
    _let_any_thread_limit()
    limit.restore_original_limits()
    _let_any_thread_limit()


def _let_any_thread_limit() -> None:
    """Undo that newer versions of threadpoolctl heed only the thread that was first to limit."""
    for library in _controller().lib_controllers:
        give_up = getattr(library, "clear_controlling_thread", None)
        if give_up is not None:
            give_up(force=True)


@functools.cache
def _controller() -> ThreadpoolController:
    # Finding the libraries takes milliseconds; Numba and SciPy have loaded theirs by now.
    return ThreadpoolController()


def _forget_hold() -> None:
    """Start afresh in a forked child: its parent's threads, which held on, are not there."""
    global _hold
    if _hold.holders:
        _lift(_hold.limit)
    _hold = _Hold()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_hold)
