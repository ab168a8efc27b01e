"""Progress of long work: a bar on a terminal, else a line every ten seconds, with the time left.

The library itself never prints: `verbose` chooses nothing, a bar or lines, all on stderr; the same
facts go to ``logging.getLogger("purport")`` at level DEBUG.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, Protocol

Verbosity = bool | Literal["bar", "lines"]
SECONDS_BETWEEN_LINES = 10.0

log = logging.getLogger("purport")


class Progress(Protocol):
    """Takes reports of how far the work is."""

    def advance(self, done: float, note: str = "") -> None:
        """Report that `done` of the total is behind us, with a short note on how it stands."""


class _Silent:
    def __init__(self, title: str, total: float) -> None:
        self._title, self._total = title, total

    def advance(self, done: float, note: str = "") -> None:
        log.debug("%s: %g of %g %s", self._title, done, self._total, note)


class _Lines(_Silent):
    def __init__(self, title: str, total: float) -> None:
        super().__init__(title, total)
        self._started = self._last = time.monotonic()

    def advance(self, done: float, note: str = "") -> None:
        super().advance(done, note)
        now = time.monotonic()
        if now - self._last < SECONDS_BETWEEN_LINES:
            return
        self._last = now
        elapsed = now - self._started
        left = f", at most {elapsed * (self._total - done) / done:.0f} s left" if done > 0 else ""
        sys.stderr.write(f"{self._title}: {done:g} of {self._total:g}{left}  {note}\n")
        sys.stderr.flush()


@contextmanager
def progress(title: str, total: float, verbose: Verbosity = False) -> Iterator[Progress]:
    """Show how far long work is.

    Parameters
    ----------
    title : str
        What is being done, in a few words.
    total : float
        How much there is to do; work that may end early counts towards the most it can take.
    verbose : bool, "bar" or "lines"
        False shows nothing; True shows a bar on a terminal and lines elsewhere.

    Examples
    --------
    >>> with progress("counting", 2) as shown:
    ...     for done in (1, 2):
    ...         shown.advance(done)
    """
    if not verbose:
        yield _Silent(title, total)
        return
    if verbose == "lines" or (verbose is True and not sys.stderr.isatty()):
        yield _Lines(title, total)
        return
    with _bar(title, total) as shown:
        yield shown


@contextmanager
def _bar(title: str, total: float) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:g}/{task.total:g}"),
        TimeElapsedColumn(),
        TextColumn("left at most"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(title, total=total, note="")

        class Bar(_Silent):
            def advance(self, done: float, note: str = "") -> None:
                super().advance(done, note)
                bars.update(task, completed=done, note=note)

        yield Bar(title, total)
