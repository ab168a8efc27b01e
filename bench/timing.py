"""Stop-watches, rounds that alternate between systems, and the facts about the machine."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any

PACKAGES = (
    "purport",
    "numpy",
    "numba",
    "scipy",
    "python-crfsuite",
    "chaine",
    "sklearn-crfsuite",
    "pyarrow",
    "duckdb",
)

SHORTEST = 0.5
"""Seconds below which nothing is said of how busy others kept the cores."""


@dataclass
class Samples:
    """Seconds of repeated runs of one thing: on the wall clock, and of this process on its cores.

    The two differ where threads work side by side or where others use the machine.
    """

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    @contextmanager
    def taken(self, share: float = 1.0) -> Iterator[None]:
        """Measure a block; `share` is one over the number of things done in it."""
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        self.wall.append((time.perf_counter() - wall) * share)
        self.cpu.append((time.process_time() - cpu) * share)

    def __str__(self) -> str:
        return (
            f"wall {1e3 * median(self.wall):.4g} (min {1e3 * min(self.wall):.4g}),"
            f" CPU {1e3 * median(self.cpu):.4g} (min {1e3 * min(self.cpu):.4g}) ms,"
            f" {len(self.wall)} runs"
        )


@dataclass(frozen=True)
class Ratio:
    """How many times faster ours is than a peer, from rounds in which both ran.

    Attributes
    ----------
    middle : float
        Median of the peer over median of ours.
    low, high : float
        The least and the greatest of the ratios of single rounds.
    """

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, peer: list[float], ours: list[float]) -> Ratio:
        """Compare; `ours` may hold several runs for each round of the peer."""
        each = len(ours) // len(peer)
        rounds = [
            seconds / median(ours[number * each : (number + 1) * each])
            for number, seconds in enumerate(peer)
        ]
        return cls(median(peer) / median(ours), min(rounds), max(rounds))

    @property
    def spread(self) -> tuple[float, float]:
        return self.low, self.high

    def __str__(self) -> str:
        return f"{self.middle:.3g}x ({self.low:.3g} .. {self.high:.3g})"


def alternate(systems: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, Samples]:
    """Run every system once a round, in turn, so that a change of the machine's pace meets all.

    Each is run once before, unmeasured: caches, lazy imports, compiled kernels.
    """
    samples = {name: Samples() for name in systems}
    for run in systems.values():
        run()
    for _ in range(rounds):
        for name, run in systems.items():
            with samples[name].taken():
                run()
    return samples


class Others:
    """How many cores other processes kept busy since this was made, or last asked."""

    def __init__(self) -> None:
        self._before = self._now()
        self._last = 0.0

    def cores(self) -> float | None:
        """Return the mean number of cores, or None where the system does not tell.

        What is asked again at once is answered as before: ticks are too coarse to tell.
        """
        before, now = self._before, self._now()
        if before is None or now is None:
            return None
        passed, busy, own = (b - a for a, b in zip(before, now, strict=True))
        if passed >= SHORTEST:
            self._before = now
            self._last = max(busy - own, 0.0) / passed
        return self._last

    @staticmethod
    def _now() -> tuple[float, float, float] | None:
        """Return seconds: on the clock, of all cores at work, of this process and its children."""
        told = Path("/proc/stat")
        if not told.exists():
            return None
        user, nice, system, _idle, _wait, *interrupts = map(
            int, told.read_text(encoding="utf-8").split("\n", 1)[0].split()[1:8]
        )
        ticks = user + nice + system + sum(interrupts)
        return time.perf_counter(), ticks / os.sysconf("SC_CLK_TCK"), sum(os.times()[:4])


def machine() -> dict[str, Any]:
    """Return what a reader needs to know about where numbers were taken."""
    return {
        "cpu": cpu_name(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "load": [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
        "versions": {name: version(name) for name in PACKAGES},
        "date": time.strftime("%Y-%m-%d"),
    }


def version(package: str) -> str | None:
    """Return the version of an installed package, or None."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        if package == "purport":
            import purport

            return purport.__version__
        return None


def cpu_name() -> str:
    """Return the model of the processor, as the system gives it."""
    told = Path("/proc/cpuinfo")
    if told.exists():
        facts: dict[str, str] = {}
        for line in told.read_text(encoding="utf-8").split("\n\n")[0].splitlines():
            key, _, value = line.partition(":")
            facts[key.strip()] = value.strip()
        numbers = [facts.get(key, "?") for key in ("cpu family", "model")]
        return f"{facts.get('model name', '?')} (family {numbers[0]}, model {numbers[1]})"
    return platform.processor() or platform.machine() or sys.platform


def forget_peak() -> None:
    """Let the peak of memory begin anew at what is held now, where the system can do that."""
    told = Path("/proc/self/clear_refs")
    if told.exists():
        told.write_text("5", encoding="ascii")


def peak_megabytes() -> float | None:
    """Return the most memory that this process has held so far, or None where it cannot be told.

    Linux hands the peak of `getrusage` on from the parent at the start of a process; its own
    stands in VmHWM.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
