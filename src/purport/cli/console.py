"""How the program speaks: results to stdout, all else to stderr, each ending with its code."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO, TypeVar

import typer

from purport.errors import (
    CheckFailedError,
    FormatError,
    OutputExistsError,
    PurportError,
    PurportWarning,
)
from purport.store.files import is_stream

DONE = 0
CHECK_FAILED = 1
USERS_ERROR = 2
INTERRUPTED = 130
STANDARD = "-"
STANDARD_OUTPUTS = frozenset({STANDARD, "/dev/stdout"})
"""Names of stdout; a redirected one has to be met as stdout, not as the file behind it."""
Batch = TypeVar("Batch", bound=Sized)
SECONDS_BETWEEN_LINES = 10.0
FORCE = "Choose another name, or replace it with --force."


@dataclass
class Manner:
    """How one run of the program speaks.

    Attributes
    ----------
    quiet : bool
        Errors only.
    traceback : bool
        Errors with the place where they arose.
    """

    quiet: bool = False
    traceback: bool = False
    told: set[str] = field(default_factory=set)


def keep_quiet(context: typer.Context, quiet: bool) -> bool:
    """Take note of ``--quiet``."""
    context.ensure_object(Manner).quiet |= quiet
    return quiet


def keep_traceback(context: typer.Context, wanted: bool) -> bool:
    """Take note of ``--traceback``."""
    context.ensure_object(Manner).traceback |= wanted
    return wanted


def say(text: str, quiet: bool = False) -> None:
    """Write a message for people to stderr."""
    if not quiet:
        _write_error(f"{text}\n")


def note(text: str, quiet: bool = False) -> None:
    """Write to stderr what the user should know although all went well."""
    say(f"purport: note: {text}", quiet)


def write(text: str) -> None:
    """Write a result to stdout, in UTF-8 whatever the terminal is set to."""
    write_lines([text, "\n"])


def write_json(result: Any) -> None:
    """Write a result to stdout as JSON."""
    write(json.dumps(result, ensure_ascii=False, indent=2))


def write_lines(lines: Iterable[str]) -> None:
    """Write lines, each with its end, to stdout, in UTF-8, and send them on."""
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:  # a stand-in that takes text only
        sys.stdout.writelines(lines)
        return
    sys.stdout.flush()
    for line in lines:
        binary.write(line.encode("utf-8"))
    binary.flush()


def check_output(path: str | Path, force: bool) -> None:
    """Refuse an output that stands there already, before any work is done."""
    target = Path(path)
    if os.path.lexists(target) and not force:
        raise OutputExistsError.at(str(path), FORCE)


def check_output_file(path: str | Path, force: bool) -> None:
    """Refuse an output file that stands there, or that cannot be written, before any work."""
    target = Path(path)
    if target.is_dir():
        raise FormatError.unwritable(str(path), "a folder has that name")
    if is_stream(target):  # nothing is replaced
        return
    check_output(path, force)
    if not target.parent.is_dir():
        raise FormatError.unwritable(str(path), "there is no such folder")


def counting(batches: Iterable[Batch], quiet: bool) -> Iterator[Batch]:
    """Pass batches on and say every ten seconds how many records there were so far."""
    count, last = 0, time.monotonic()
    for batch in batches:
        yield batch
        count += len(batch)
        if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            say(f"{count:,} records so far", quiet)
            last = time.monotonic()


@contextmanager
def notes(manner: Manner) -> Iterator[None]:
    """Show the library's warnings as notes of one line, each once."""
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if not issubclass(category, PurportWarning):
                shown(message, category, filename, lineno, file, line)
            elif str(message) not in manner.told:
                manner.told.add(str(message))
                note(str(message), manner.quiet)

        warnings.simplefilter("always", PurportWarning)
        warnings.showwarning = show
        yield


@contextmanager
def endings(manner: Manner) -> Iterator[None]:
    """Turn what ends a verb early into an exit code and a line on stderr."""
    try:
        yield
    except PurportError as error:
        _tell(error, str(error), manner)
        code = CHECK_FAILED if isinstance(error, CheckFailedError) else USERS_ERROR
        raise typer.Exit(code) from None
    except KeyboardInterrupt:
        _write_error("purport: interrupted\n")
        raise typer.Exit(INTERRUPTED) from None
    except OSError as error:
        if is_broken_pipe(error):
            leave_quietly()
            raise typer.Exit(DONE) from None
        place = f"{os.fspath(error.filename)}: " if error.filename else ""
        _tell(error, f"{place}{error.strerror or type(error).__name__}.", manner)
        raise typer.Exit(USERS_ERROR) from None


def is_broken_pipe(error: OSError) -> bool:
    """Tell whether nobody reads what is being written any more (Windows says so in its own way)."""
    return isinstance(error, BrokenPipeError) or (
        sys.platform == "win32" and error.errno == errno.EINVAL and error.filename is None
    )


def leave_quietly() -> None:
    """Send what Python would still write at its end to nowhere."""
    with contextlib.suppress(OSError, ValueError, io.UnsupportedOperation):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _tell(error: BaseException, reason: str, manner: Manner) -> None:
    if manner.traceback:
        _write_error("".join(traceback.format_exception(error)))
    _write_error(f"purport: error: {reason}\n")


def _write_error(text: str) -> None:
    # A terminal that has gone is no reason to fail.
    with contextlib.suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()
