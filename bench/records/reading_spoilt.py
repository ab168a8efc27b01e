"""What has to hold of every spoilt file: an error of purport, or records and a right count.

Run as a program it reads many of one original, so that a crash of a library or a huge allocation
ends this process alone, and what it was reading still lies in its folder.
"""

from __future__ import annotations

import contextlib
import json
import re
import resource
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType

from bench.records.mutations import Original, originals
from bench.timing import peak_megabytes
from purport.errors import PurportError, RecordError, SkippedRowsWarning
from purport.records import plain_lines, sources
from purport.records.records import Records

SECONDS = 10.0
"""An input that takes longer hangs."""
MEMORY = 4 << 30
"""Bytes of addresses that a process may have."""
WRITTEN_AGAIN = 10
"""One of so many that can be read is written and read again."""
_FIRST_ROW = re.compile(r"row (\d+): (.*?)(?:; |\.$)", re.DOTALL)


class WrongError(Exception):
    """Something that must hold does not."""


class HangError(Exception):
    """An input took too long."""


@dataclass
class Tally:
    """What became of the inputs so far.

    Attributes
    ----------
    good, skipped, refused : int
        Read whole; read with bad rows left out; refused as a whole.
    rows_skipped : int
        Bad rows that were left out.
    findings : list of str
        What must not be: input number and what happened.
    slowest : float
        Seconds.
    peak : float
        Megabytes that the process held at most.
    """

    good: int = 0
    skipped: int = 0
    refused: int = 0
    rows_skipped: int = 0
    findings: list[str] = field(default_factory=list)
    slowest: float = 0.0
    peak: float = 0.0

    @property
    def inputs(self) -> int:
        return self.good + self.skipped + self.refused + len(self.findings)

    def add(self, other: Tally) -> None:
        self.good += other.good
        self.skipped += other.skipped
        self.refused += other.refused
        self.rows_skipped += other.rows_skipped
        self.findings += other.findings
        self.slowest = max(self.slowest, other.slowest)
        self.peak = max(self.peak, other.peak)


def read_spoilt(original: Original, numbers: range, folder: Path) -> Tally:
    """Read spoilt files one by one."""
    tally = Tally()
    path = folder / f"spoilt{original.ending}"
    at = folder / "number"
    for number in numbers:
        data = original.spoilt(number)
        path.write_bytes(data)
        at.write_text(str(number), encoding="ascii")
        began = time.perf_counter()
        try:
            with at_most(SECONDS):
                found = check(original.kind, path, thoroughly=number % WRITTEN_AGAIN == 0)
        except Exception as error:  # noqa: BLE001 - whatever leaves the readers is what is sought
            tally.findings.append(f"{original.name} {number}: {type(error).__name__}: {error}")
        else:
            tally.good += found == 0
            tally.refused += found is None
            tally.skipped += bool(found)
            tally.rows_skipped += found or 0
        tally.slowest = max(tally.slowest, time.perf_counter() - began)
    tally.peak = peak_megabytes() or 0.0
    return tally


def check(kind: type[Records], path: Path, thoroughly: bool) -> int | None:
    """Read a file both ways; return how many rows were left out, None if it was refused."""
    skipped = _leave_out(kind, path)
    strict = _strictly(kind, path)
    if ".jsonl" in path.suffixes or ".tsv" in path.suffixes:
        _check_at_once(kind, path, skipped, block=1 if thoroughly else sources.BLOCK)
    if isinstance(skipped, PurportError):
        # Rows before the fault of the whole may raise first.
        before = isinstance(strict, RecordError) or "not UTF-8" in str(strict)
        if not before and str(strict) != str(skipped):
            raise WrongError(f"skip says {skipped}, raise says {strict}")
        return None
    records, first, said = skipped
    if (said is None) != (records.skipped == 0):
        raise WrongError(f"{records.skipped} rows left out, and the warning: {said}")
    if said is not None and not said.startswith(f"{records.skipped} bad rows were left out: "):
        raise WrongError(f"{records.skipped} rows left out, and the warning: {said}")
    if records.skipped == 0:
        if not isinstance(strict, Records) or len(strict) != len(records):
            raise WrongError(f"nothing was left out, but raise says {strict}")
    elif not isinstance(strict, PurportError) or first not in str(strict):
        raise WrongError(f"left out {first!r}, but raise says {strict}")
    rows = rows_of(path)
    if rows is not None and len(records) + records.skipped != rows:
        raise WrongError(f"{rows} rows: {len(records)} read, {records.skipped} left out")
    if thoroughly:
        written = path.with_suffix(".again.jsonl")
        records.write(written)
        if kind.read(written) != records:
            raise WrongError("what was read is written and then reads otherwise")
    return records.skipped


def _check_at_once(
    kind: type[Records],
    path: Path,
    expected: tuple[Records, str, str | None] | PurportError,
    block: int,
) -> None:
    """Read a file as large ones are read, many lines at once; it must give the same."""
    before = plain_lines.FEWEST, sources.BLOCK
    plain_lines.FEWEST, sources.BLOCK = 0, block
    try:
        found = _leave_out(kind, path)
    finally:
        plain_lines.FEWEST, sources.BLOCK = before
    if isinstance(found, PurportError) or isinstance(expected, PurportError):
        if str(found) != str(expected):
            raise WrongError(f"line by line: {expected}; many lines at once: {found}")
    elif found != expected or found[0].skipped != expected[0].skipped:
        raise WrongError(f"line by line: {expected[2]}; many lines at once: {found[2]}, or others")


def _leave_out(kind: type[Records], path: Path) -> tuple[Records, str, str | None] | PurportError:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            records = kind.read(path, on_error="skip")
        except RecordError:
            raise WrongError("a bad row raises although it is to be left out") from None
        except PurportError as error:
            return error
    said = [str(warning.message) for warning in told]
    if len(said) > 1 or any(warning.category is not SkippedRowsWarning for warning in told):
        raise WrongError(f"warnings: {said}")
    first = _FIRST_ROW.search(said[0]) if said else None
    return records, f"row {first[1]}: " if first else "", said[0] if said else None


def _strictly(kind: type[Records], path: Path) -> Records | PurportError:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return kind.read(path)
    except PurportError as error:
        return error


def rows_of(path: Path) -> int | None:
    """Count, without purport, the rows that hold one record each; None where it cannot be told."""
    if path.suffix != ".jsonl" or path.read_bytes()[:2] == b"\x1f\x8b":
        return None
    lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return sum(1 for line in lines if not _is_blank(line.rstrip(b"\r")))


def _is_blank(line: bytes) -> bool:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not text or text.isspace()


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `HangError` in a block that takes too long."""

    def hang(number: int, frame: FrameType | None) -> None:
        raise HangError(f"took more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, hang)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def main(name: str, first: str, count: str, folder: str) -> None:
    """Read a range of spoilt files of one original; print the tally as JSON."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    numbers = range(int(first), int(first) + int(count))
    tally = read_spoilt(originals()[name], numbers, Path(folder))
    print(json.dumps(asdict(tally)))


if __name__ == "__main__":
    main(*sys.argv[1:])
