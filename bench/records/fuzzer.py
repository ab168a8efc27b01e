"""Spoilt files of every format: errors of purport alone, no hang, bounded memory, right counts."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.benchmark import Setting
from bench.records.mutations import Original, originals
from bench.records.reading_spoilt import MEMORY, SECONDS, Tally
from bench.tables import Bar, Row, Table
from purport.fold.thread_engine import available_cores

TEXTS, TABLES = 62_000, 22_000
"""So many inputs of each text format, and of each table format: a million together."""
AT_ONCE = 20_000
"""So many inputs are read by one process."""
LONGEST = 1800.0
"""Seconds for one process; each input has `SECONDS`, but a library need not let itself be stopped.
"""
SHOWN = 3


def run(setting: Setting) -> Iterator[Table]:
    rows, inputs = [], 0
    began = time.perf_counter()
    for name, original in originals().items():
        count = TABLES if original.is_table else TEXTS
        tally = read_apart(original, count // (100 if setting.quick else 1))
        inputs += tally.inputs
        note = (
            f"{tally.inputs:,} inputs: {tally.good:,} read whole, {tally.skipped:,} with"
            f" {tally.rows_skipped:,} rows left out, {tally.refused:,} refused; slowest"
            f" {1e3 * tally.slowest:.0f} ms, peak {tally.peak:.0f} MB"
        )
        shown = "; ".join(tally.findings[:SHOWN])
        bar = Bar("figure", "at most", 0)
        rows.append(Row(name, len(tally.findings), bar=bar, note=f"{note}. {shown}".rstrip(" .")))
    notes = [
        f"{inputs:,} inputs in {time.perf_counter() - began:.0f} s, in processes that may have"
        f" {MEMORY >> 30} GB of addresses and {SECONDS:g} s an input; the number of an input makes"
        " it again (`Original.spoilt`).",
        'Each is read with on_error="raise" and "skip", and as large files are, many lines at once.'
        " A finding is anything but an error of"
        " purport, a crash, a hang; a count, a row number or a reason that differs between them"
        " or from a count of the lines; and what is read, written and then reads otherwise.",
    ]
    yield Table("What spoilt files do", "findings", rows, notes, judged=not setting.quick)


def read_apart(original: Original, count: int) -> Tally:
    """Read spoilt files in processes of their own; one that dies is a finding and is begun anew."""
    ranges = [range(first, min(first + AT_ONCE, count)) for first in range(0, count, AT_ONCE)]
    whole = Tally()
    with ThreadPoolExecutor(available_cores()) as pool:
        for tally in pool.map(lambda numbers: _read_range(original, numbers), ranges):
            whole.add(tally)
    return whole


def _read_range(original: Original, numbers: range) -> Tally:
    tally = Tally()
    first = numbers.start
    with TemporaryDirectory() as folder:
        while first < numbers.stop:
            found, dead = _read_once(original, first, numbers.stop - first, Path(folder))
            tally.add(found)
            if dead is None:
                break
            first = dead + 1
    return tally


def _read_once(
    original: Original, first: int, count: int, folder: Path
) -> tuple[Tally, int | None]:
    """Return what one process found, and the number of the input at which it died, if it did."""
    at = folder / "number"
    at.write_text(str(first), encoding="ascii")
    words = [sys.executable, "-m", "bench.records.reading_spoilt"]
    try:
        done = subprocess.run(
            [*words, original.name, str(first), str(count), str(folder)],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired:
        reason = f"the process did not end within {LONGEST:g} s"
    else:
        if done.returncode == 0:
            return Tally(**json.loads(done.stdout.splitlines()[-1])), None
        last = done.stderr.strip().splitlines()[-1:] or ["nothing said"]
        reason = f"the process died with {done.returncode}: {last[0]}"
    dead = int(at.read_text(encoding="ascii"))
    # What it found before is lost with it, and found again by the numbers up to there.
    before = Tally()
    if dead > first:
        before, _ = _read_once(original, first, dead - first, folder)
    return replace(before, findings=[*before.findings, f"{original.name} {dead}: {reason}"]), dead
