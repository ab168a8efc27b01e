"""What a benchmark is: named parts, each of which yields tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.tables import Table
from bench.timing import Others, machine

BENCHMARKS = {
    "clicks": "bench.clicks",
    "crf": "bench.crf",
    "learning": "bench.learning",
    "records": "bench.records",
    "shdcrf": "bench.shdcrf",
}
"""Name of each benchmark, and the module that holds its `PARTS` and its `ABOUT`."""

DISTURBED = 0.15
"""From so many cores on that others keep busy, a table says so."""


class BenchError(Exception):
    """What was asked for cannot be measured; the message says why and what to do."""


@dataclass(frozen=True)
class Setting:
    """What the command line says.

    Attributes
    ----------
    data : Path or None
        The folder of real data.
    quick : bool
        Fewer rounds, and less data where a run would take minutes.
    choose : bool
        Run the choice of settings on dev again, instead of what was chosen.
    """

    data: Path | None = None
    quick: bool = False
    choose: bool = False

    @property
    def rounds(self) -> int:
        """How often each system is run."""
        return 3 if self.quick else 7

    def folder(self, name: str) -> Path:
        """Return the folder of one data set."""
        if self.data is None:
            raise BenchError("This part needs real data: give --data DIR or set PURPORT_DATA.")
        folder = self.data / name
        if not folder.is_dir():
            raise BenchError(f"There is no folder {name} in the folder of data, {self.data}.")
        return folder


@dataclass(frozen=True)
class Part:
    """One part of a benchmark.

    Attributes
    ----------
    about : str
        What it asks.
    run : callable
        Takes a Setting, yields tables.
    slow : bool
        Takes minutes when it is not quick.
    """

    about: str
    run: Callable[[Setting], Iterator[Table]]
    slow: bool = False

    def tables(self, setting: Setting) -> Iterator[Table]:
        """Yield the tables, each with a note where others used the machine meanwhile."""
        others = Others()
        for table in self.run(setting):
            cores = others.cores()
            if cores is not None and cores > DISTURBED:
                note = (
                    f"DISTURBED: other processes kept {cores:.2g} cores busy meanwhile. Ratios on"
                    " several threads say little; of those on one, prefer CPU times."
                )
                table = replace(table, notes=[*table.notes, note])
            yield table


def as_json(name: str, about: str, tables: list[Table], setting: Setting) -> dict[str, Any]:
    """Return what `--json` writes."""
    return {
        "benchmark": name,
        "about": about,
        "quick": setting.quick,
        "machine": machine(),
        "tables": [table.to_json() for table in tables],
    }


def heading(name: str, about: str, setting: Setting) -> str:
    """Return the first lines of the text: what this is and where it was taken."""
    facts = machine()
    versions = ", ".join(
        f"{key} {value or 'not found'}" for key, value in facts["versions"].items()
    )
    return (
        f"{name}: {about}{' (quick)' if setting.quick else ''}\n"
        f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']}, {facts['system']}\n"
        f"Python {facts['python']}; {versions}; {facts['date']}\n"
    )
