"""Where records come from: files, lists of files, standard input, frames; as lines or as tables.

All classes of records open their sources here and report bad rows here, so that every reader
treats a folder, a cut gz file, bad UTF-8, a byte order mark or a Windows line end in the same way.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import sys
import tempfile
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from purport.errors import FormatError, InputError, RecordError, SkippedRowsWarning
from purport.estimator.constraints import OneOf, check_parameters
from purport.records.tables import ARROW_MAGIC, PARQUET_MAGIC, Tables, file_tables, frame_tables

TextKind = Literal["jsonl", "tsv", "iob", "text"]
TableKind = Literal["parquet", "arrow"]
Kind = TextKind | TableKind
OnError = Literal["raise", "skip"]
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
Sources = Paths | Any
"""Paths, or a frame of any library that narwhals knows."""

ENDINGS: dict[str, Kind | None] = {  # None: told from what it begins with
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".tsv": "tsv",
    ".iob": "iob",
    ".bio": "iob",
    ".conll": "iob",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".txt": None,
    "": None,
}
TABLE_KINDS = frozenset({"parquet", "arrow"})
KNOWN_ENDINGS = [
    ending if kind in TABLE_KINDS else f"{ending}[.gz]" for ending, kind in ENDINGS.items() if kind
]
STANDARD_INPUT = "-"
LONGEST_LINE = 1 << 26
BLOCK = 1 << 20
"""About so many bytes are taken at once where lines are taken many at once."""
SHOWN_FAULTS = 5
LOOKED_AT = 1 << 14
"""So many bytes of an unnamed stream are looked at to tell its kind."""

_GZIP_MAGIC = b"\x1f\x8b"
_LONGEST_MAGIC = max(map(len, (_GZIP_MAGIC, PARQUET_MAGIC, *ARROW_MAGIC)))
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
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


class Lines:
    r"""The numbered lines of a text source, taken one by one or many at once.

    Parameters
    ----------
    stream : binary stream
        Where they come from.
    name : str
        How messages name it.
    taken : int
        How many lines were taken before the first of these.
    at_once : bool
        Whether many may be taken at once: nobody is waited for.

    Examples
    --------
    >>> lines = Lines(io.BytesIO(b"a\nb\nc"), "x")
    >>> next(iter(lines)), lines.block(), lines.taken
    ((1, 'a'), b'b\nc', 3)
    """

    def __init__(self, stream: IO[bytes], name: str, taken: int = 0, at_once: bool = False) -> None:
        self.name = name
        self.taken = taken
        self.at_once = at_once
        self._stream = stream
        self._broken: FormatError | None = None

    def __iter__(self) -> Iterator[Line]:
        while line := self._next():
            self.taken += 1
            if self.taken == 1:
                line = line.removeprefix(BYTE_ORDER_MARK)
            if len(line) > LONGEST_LINE:
                while len(line) > LONGEST_LINE and not line.endswith(b"\n"):
                    line = self._next()
                yield self.taken, BadRowError(f"the line is longer than {LONGEST_LINE} bytes")
            else:
                yield self.taken, _decoded(line)

    def block(self) -> bytes:
        """Take many whole lines, as they stand in the source; nothing at its end.

        Of a line that is longer than the longest there is so much that its length can be told.
        """
        if self._broken:
            raise self._broken
        read = bytearray()
        try:
            while len(read) < BLOCK and (part := self._stream.read1(BLOCK)):  # type: ignore[attr-defined]
                read += part
            if read and not read.endswith(b"\n"):
                line = self._stream.readline(LONGEST_LINE + 1)
                read += line
                while len(line) > LONGEST_LINE and not line.endswith(b"\n"):
                    line = self._stream.readline(LONGEST_LINE + 1)
        except (EOFError, OSError, zlib.error) as error:
            # What came before goes first.
            del read[read.rfind(b"\n") + 1 :]
            self._broken = _unread(error, self.name, self.taken + read.count(b"\n"))
            if not read:
                raise self._broken from None
        self.taken += read.count(b"\n") + (not read.endswith(b"\n") and bool(read))
        return bytes(read)

    def look(self, count: int) -> list[Line]:
        """Return the first lines; they stay to be taken."""
        head = b"".join(self._next() for _ in range(count))
        self._stream = io.BufferedReader(_Rejoined(head, self._stream), 1 << 17)
        return list(Lines(io.BytesIO(head), self.name, self.taken))

    def _next(self) -> bytes:
        if self._broken:
            raise self._broken
        return _next_line(self._stream, self.name, self.taken)


@dataclass(frozen=True)
class Source:
    """One open source: its lines, or its tables.

    Attributes
    ----------
    name : str
        The path as given, ``<stdin>``, or the kind of frame.
    kind : "jsonl", "tsv", "iob", "text", "parquet" or "arrow"
        How it is to be read.
    lines : Lines
        Gives line numbers from 1, and the line without its end, or what is wrong with it.
    tables : callable or None
        Given a number of rows, yields (number of the first row, table) of at most so many rows.
    renamed : dict
        Our names of columns that are called otherwise there.
    """

    name: str
    kind: Kind
    lines: Lines = field(default_factory=lambda: Lines(io.BytesIO(), ""))
    tables: Tables | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)


def open_sources(
    source: Sources,
    faults: Faults,
    columns: frozenset[str],
    renamed: Mapping[str, str] | None = None,
) -> Iterator[Source]:
    """Open one source after the other; each is closed when the next one is asked for.

    Parameters
    ----------
    source : path, list of paths, "-" or frame
        All paths are checked before the first is read.
    faults : Faults
        Learns which source is being read.
    columns : set of str
        Names by which the header of a TSV source without a known ending is recognised.
    renamed : dict, optional
        Our names of columns that are called otherwise there.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "talk.txt"
    >>> _ = path.write_text("stop O", encoding="utf-8")
    >>> for source in open_sources(path, Faults("raise", "example"), frozenset({"text"})):
    ...     print(source.kind, list(source.lines))
    iob [(1, 'stop O')]
    """
    ours = {} if renamed is None else dict(renamed)
    columns |= {theirs for theirs, our in ours.items() if our in columns}
    if not isinstance(source, str | os.PathLike | list | tuple):
        tables, faults.source = frame_tables(source)
        yield Source(faults.source, "arrow", tables=tables, renamed=ours)
        return
    for path, kind in [_checked(path) for path in _listed(source)]:
        faults.source = "<stdin>" if path == STANDARD_INPUT else path
        with ExitStack() as stack:
            stream = stack.enter_context(_opened(path, faults.source))
            found = kind
            if found not in TABLE_KINDS:
                stream = _unpacked(stream, faults.source)
            if found is None:
                stream, found = _sniffed(stream, faults.source, columns)
                if found in TABLE_KINDS:
                    spool = stack.enter_context(tempfile.TemporaryFile())
                    stream = _copied(stream, spool, faults.source)
            if found in TABLE_KINDS:
                tables = file_tables(stream, faults.source)
                yield Source(faults.source, found, tables=tables, renamed=ours)
            elif found is not None:
                is_file = path != STANDARD_INPUT and Path(path).is_file()
                lines = Lines(stream, faults.source, at_once=is_file)
                yield Source(faults.source, found, lines, renamed=ours)


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
    if ending not in ENDINGS or (packed and ENDINGS[ending] in TABLE_KINDS):
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
                "Records are read from a path, a list of paths, '-' (standard input) or a frame;"
                f" got {type(path).__name__}. Known kinds of files: JSON lines, TSV, IOB/CoNLL,"
                " Parquet, Arrow IPC."
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
        yield binary
        return
    with ExitStack() as stack:
        try:
            file = stack.enter_context(Path(path).open("rb"))
        except OSError as error:
            raise FormatError.unreadable(path, error.strerror or "it cannot be opened") from None
        yield file


def _unpacked(binary: IO[bytes], name: str) -> IO[bytes]:
    """Return the plain bytes; gz is told by its first bytes, so that pipes and wrong names work."""
    try:
        head = binary.read(_LONGEST_MAGIC)
    except OSError as error:
        raise FormatError.unreadable(name, error.strerror or "reading failed") from None
    whole = io.BufferedReader(_Rejoined(head, binary), 1 << 17)
    if head.startswith(_GZIP_MAGIC):
        # Bit by bit: what was unpacked before the data break is read first.
        unpacked = gzip.GzipFile(fileobj=whole, mode="rb")
        return io.BufferedReader(_Rejoined(b"", unpacked), 1 << 17)
    if name.lower().endswith(".gz"):
        raise FormatError.truncated(name, 0)
    return whole


class _Rejoined(io.RawIOBase):
    """Bytes that were read already, then the rest of their stream."""

    def __init__(self, head: bytes, rest: IO[bytes] | gzip.GzipFile) -> None:
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
            part = self._rest.read1(size)  # type: ignore[union-attr]
        buffer[: len(part)] = part
        return len(part)


def _sniffed(
    stream: IO[bytes], name: str, columns: frozenset[str]
) -> tuple[IO[bytes], Kind | None]:
    """Tell the kind from what the stream begins with; None when there is nothing but white space.

    A pipe is judged by its first line alone, so that one that is slow is not waited for.
    """
    start = stream.peek(len(ARROW_MAGIC[0]))  # type: ignore[attr-defined]
    if start.startswith(PARQUET_MAGIC):
        return stream, "parquet"
    if start.startswith(ARROW_MAGIC):
        return stream, "arrow"
    head = b""
    while line := _next_line(stream, name, 0):
        head += line
        if line.removeprefix(BYTE_ORDER_MARK).strip():
            break
    is_file = Path(name).is_file()
    if is_file:
        head += stream.read(LOOKED_AT)
    whole = io.BufferedReader(_Rejoined(head, stream), 1 << 17)
    first = line.removeprefix(BYTE_ORDER_MARK).decode("utf-8", errors="replace").strip("\r\n")
    if not first:
        return whole, None
    if first.lstrip().startswith("{"):
        return whole, "jsonl"
    if _IOB_LABEL.search(first) or _has_blocks(head):
        return whole, "iob"
    if columns & set(first.split("\t")):
        return whole, "tsv"
    if "text" in columns and "\t" not in first and "\0" not in first:
        return whole, "text"
    if is_file:
        raise FormatError.unknown_kind(name, KNOWN_ENDINGS)
    raise FormatError.unknown_content(name, sorted(columns))


def _has_blocks(head: bytes) -> bool:
    """Tell whether lines stand in blocks, each line of the same two or more cells, as in CoNLL."""
    block, blank, _ = head.replace(b"\r\n", b"\n").lstrip(b"\n").partition(b"\n\n")
    widths = {len(line.split()) for line in block.split(b"\n")}
    return bool(blank) and b"\n" in block and len(widths) == 1 and min(widths) > 1


def _copied(stream: IO[bytes], file: IO[bytes], name: str) -> IO[bytes]:
    """Copy a stream into a file, in which tables can be looked for."""
    try:
        shutil.copyfileobj(stream, file)
    except (EOFError, OSError, zlib.error) as error:
        raise _unread(error, name, 0) from None
    return file


def _decoded(line: bytes) -> str | BadRowError:
    try:
        text = line.rstrip(b"\r\n").decode("utf-8")
    except UnicodeDecodeError:
        return NotTextError()
    return BadRowError("the line holds a NUL byte") if "\0" in text else text


def _next_line(stream: IO[bytes], name: str, row: int) -> bytes:
    try:
        return stream.readline(LONGEST_LINE + 1)
    except (EOFError, OSError, zlib.error) as error:
        raise _unread(error, name, row) from None


def _unread(error: Exception, name: str, row: int) -> FormatError:
    """Return what a source that cannot be read on is told by."""
    if isinstance(error, EOFError | zlib.error | gzip.BadGzipFile):
        return FormatError.truncated(name, row)
    told = error.strerror if isinstance(error, OSError) else None
    return FormatError.unreadable(name, told or "reading failed")
