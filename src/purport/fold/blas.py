"""BLAS held to one thread while ours are at work, so that bits do not change nor cores wait."""

from __future__ import annotations

import functools
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> Any:
    """Return a context in which BLAS uses one thread.

    Examples
    --------
    >>> with one_blas_thread():
    ...     pass
    """
    return _controller().limit(limits=1)


@functools.cache
def _controller() -> ThreadpoolController:
    # Finding the libraries takes milliseconds; numba and SciPy have loaded theirs by now.
    return ThreadpoolController()
