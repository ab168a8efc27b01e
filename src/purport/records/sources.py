"""Where records come from: files, lists of files, standard input, plain or gz, as numbered lines.

All classes of records open their sources here and report bad rows here, so that every reader
treats a folder, a cut gz file, bad UTF-8, a byte order mark or a Windows line end in the same way.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import sys
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from purport.errors import FormatError, InputError, RecordError, SkippedRowsWarning
from purport.estimator.constraints import OneOf, check_parameters

Kind = Literal["jsonl", "tsv", "iob"]
OnError = Literal["raise", "skip"]
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

ENDINGS: dict[str, Kind | None] = {  # None: told from the first line
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".tsv": "tsv",
    ".iob": "iob",
    ".bio": "iob",
    ".conll": "iob",
    ".txt": None,
    "": None,
}
KNOWN_ENDINGS = [f"{ending}[.gz]" for ending, kind in ENDINGS.items() if kind]
STANDARD_INPUT = "-"
LONGEST_LINE = 1 << 26
SHOWN_FAULTS = 5

_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_IOB_LABEL = re.compile(r"[ \t](?:O|_|[BIES]-\S+)\s*$|^# \S+ = ")


class BadRowError(Exception):
    """What is wrong with a row; never leaves the readers. Its reason never holds the row's text."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class NotTextError(BadRowError):
    """A line whose bytes are not UTF-8."""

    def __init__(self) -> None:
        super().__init__("the bytes are not UTF-8")


Line = tuple[int, str | BadRowError]


class Faults:
    """What happens with bad rows: the first one raises, or all are counted and warned of once.

    Parameters
    ----------
    on_error : "raise" or "skip"
        What the caller of the reader asked for.
    owner : str
        How messages name the reader.

    Examples
    --------
    >>> faults = Faults("skip", "Utterances.read")
    >>> faults.add(3, BadRowError("it has no tokens"))
    >>> faults.skipped
    1
    """

    def __init__(self, on_error: OnError, owner: str) -> None:
        allowed = {"on_error": OneOf(("raise", "skip"))}
        check_parameters(owner, {"on_error": on_error}, allowed)
        self.source = "?"
        self.skipped = 0
        self._raises = on_error == "raise"
        self._first: list[str] = []

    def add(self, row: int, bad: BadRowError) -> None:
        """Take note of a bad row of the current source, or raise."""
        if self._raises and isinstance(bad, NotTextError):
            raise FormatError.not_utf8(self.source, row) from None
        if self._raises:
            raise RecordError(self.source, row, bad.reason) from None
        self.skipped += 1
        if len(self._first) < SHOWN_FAULTS:
            self._first.append(f"{self.source}, row {row}: {bad.reason}")

    def warn(self) -> None:
        """Give one warning for all rows that were left out."""
        if self.skipped:
            more = self.skipped - len(self._first)
            shown = "; ".join(self._first) + (f"; and {more} more" if more else "")
            message = f"{self.skipped} bad rows were left out: {shown}."
            warnings.warn(SkippedRowsWarning(message), stacklevel=3)


@dataclass(frozen=True)
class Source:
    """One open source.

    Attributes
    ----------
    name : str
        The path as given, or ``<stdin>``.
    kind : "jsonl", "tsv" or "iob"
        How its lines are to be read.
    lines : iterator of (row, line)
        Line numbers from 1, and the line without its end, or what is wrong with it.
    """

    name: str
    kind: Kind
    lines: Iterator[Line]


def open_sources(source: Paths, faults: Faults, columns: frozenset[str]) -> Iterator[Source]:
    """Open one source after the other; each is closed when the next one is asked for.

    Parameters
    ----------
    source : path, list of paths or "-"
        All paths are checked before the first is read.
    faults : Faults
        Learns which source is being read.
    columns : set of str
        Names by which the header of a TSV source without a known ending is recognised.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "talk.txt"
    >>> _ = path.write_text("stop O", encoding="utf-8")
    >>> for source in open_sources(path, Faults("raise", "example"), frozenset({"text"})):
    ...     print(source.kind, list(source.lines))
    iob [(1, 'stop O')]
    """
    for path, kind in [_checked(path) for path in _listed(source)]:
        faults.source = "<stdin>" if path == STANDARD_INPUT else path
        with _opened(path, faults.source) as binary:
            stream, found = (binary, kind) if kind else _sniffed(binary, faults.source, columns)
            if found:
                yield Source(faults.source, found, _numbered(stream, faults.source))


def kind_of(path: str) -> tuple[Kind | None, bool]:
    """Return the kind that a file's name tells (None: look inside), and whether it says gz.

    Examples
    --------
    >>> kind_of("talk.conll.gz")
    ('iob', True)
    """
    name = Path(path).name.lower()
    packed = name.endswith(".gz")
    ending = Path(name.removesuffix(".gz")).suffix
    if ending not in ENDINGS:
        raise FormatError.unknown_kind(path, KNOWN_ENDINGS)
    return ENDINGS[ending], packed


def _listed(source: object) -> list[str]:
    given: list[object] = list(source) if isinstance(source, list | tuple) else [source]
    if not given:
        raise InputError("An empty list of paths was given. Give at least one path.")
    paths = []
    for path in given:
        if not isinstance(path, str | os.PathLike):
            raise InputError(
                "Records are read from a path, a list of paths or '-' (standard input); got"
                f" {type(path).__name__}. Known kinds of files: JSON lines, TSV, IOB/CoNLL."
            )
        paths.append(os.fspath(path))
    return paths


def _checked(path: str) -> tuple[str, Kind | None]:
    if path == STANDARD_INPUT:
        return path, None
    place = Path(path)
    if place.is_dir():
        raise FormatError.unreadable(path, "it is a folder")
    if not place.exists():
        raise FormatError.missing(path)
    # A pipe (as shells make for <(...)) has a name that tells nothing.
    return path, kind_of(path)[0] if place.is_file() else None


@contextmanager
def _opened(path: str, name: str) -> Iterator[IO[bytes]]:
    if path == STANDARD_INPUT:
        binary = getattr(sys.stdin, "buffer", None)
        if binary is None:
            raise FormatError.unreadable(name, "there is no standard input")
        yield _unpacked(binary, name)
        return
    with ExitStack() as stack:
        try:
            file = stack.enter_context(Path(path).open("rb"))
        except OSError as error:
            raise FormatError.unreadable(path, error.strerror or "it cannot be opened") from None
        yield _unpacked(file, name)


def _unpacked(binary: IO[bytes], name: str) -> IO[bytes]:
    """Return the plain bytes; gz is told by its first bytes, so that pipes and wrong names work."""
    try:
        head = binary.read(len(_GZIP_MAGIC))
    except OSError as error:
        raise FormatError.unreadable(name, error.strerror or "reading failed") from None
    whole = io.BufferedReader(_Rejoined(head, binary), 1 << 17)
    if head == _GZIP_MAGIC:
        return io.BufferedReader(gzip.GzipFile(fileobj=whole, mode="rb"), 1 << 17)
    if name.lower().endswith(".gz"):
        raise FormatError.truncated(name, 0)
    return whole


class _Rejoined(io.RawIOBase):
    """Bytes that were read already, then the rest of their stream."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        size = len(buffer)
        if self._head:
            part, self._head = self._head[:size], self._head[size:]
        else:
            # read1 gives what is there: a slow pipe is passed on line by line.
            part = self._rest.read1(size)  # type: ignore[attr-defined]
        buffer[: len(part)] = part
        return len(part)


def _sniffed(
    binary: IO[bytes], name: str, columns: frozenset[str]
) -> tuple[IO[bytes], Kind | None]:
    """Tell the kind from the first line that is not blank; None when there is no such line."""
    head = b""
    while line := _next_line(binary, name, 0):
        head += line
        if line.removeprefix(_BYTE_ORDER_MARK).strip():
            break
    stream = io.BufferedReader(_Rejoined(head, binary), 1 << 17)
    first = line.removeprefix(_BYTE_ORDER_MARK).decode("utf-8", errors="replace").strip("\r\n")
    if not first:
        return stream, None
    if first.lstrip().startswith("{"):
        return stream, "jsonl"
    if _IOB_LABEL.search(first):
        return stream, "iob"
    if columns & set(first.split("\t")):
        return stream, "tsv"
    if Path(name).is_file():
        raise FormatError.unknown_kind(name, KNOWN_ENDINGS)
    raise FormatError.unknown_content(name, sorted(columns))


def _numbered(stream: IO[bytes], name: str) -> Iterator[Line]:
    row = 0
    while line := _next_line(stream, name, row):
        row += 1
        if row == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if len(line) > LONGEST_LINE:
            while line and not line.endswith(b"\n"):
                line = _next_line(stream, name, row)
            yield row, BadRowError(f"the line is longer than {LONGEST_LINE} bytes")
        else:
            yield row, _decoded(line)


def _decoded(line: bytes) -> str | BadRowError:
    try:
        text = line.rstrip(b"\r\n").decode("utf-8")
    except UnicodeDecodeError:
        return NotTextError()
    return BadRowError("the line holds a NUL byte") if "\0" in text else text


def _next_line(stream: IO[bytes], name: str, row: int) -> bytes:
    try:
        return stream.readline(LONGEST_LINE + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise FormatError.truncated(name, row) from None
    except OSError as error:
        raise FormatError.unreadable(name, error.strerror or "reading failed") from None
