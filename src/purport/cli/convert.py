"""`purport convert`: writes records of any format as any other."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from purport.cli.console import (
    STANDARD,
    STANDARD_OUTPUTS,
    check_output_file,
    counting,
    say,
    write_lines,
)
from purport.cli.options import (
    BadRows,
    Columns,
    Force,
    Held,
    OnError,
    Quiet,
    Records,
    Traceback,
    named_columns,
)
from purport.errors import InputError

if TYPE_CHECKING:
    from purport.records import records

BATCH = 1000


class Written(StrEnum):
    """What can be written to stdout."""

    jsonl = "jsonl"
    tsv = "tsv"
    iob = "iob"
    parquet = "parquet"
    arrow = "arrow"


def convert(
    records: Records,
    out: Annotated[
        str,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            help="JSON lines, TSV or IOB as its ending says, packed with .gz, Parquet or Arrow IPC;"
            " - for stdout.",
        ),
    ] = STANDARD,
    held: Annotated[
        Held | None,
        typer.Option("--as", help="What the input holds; told by its columns if not said."),
    ] = None,
    to: Annotated[
        Written | None,
        typer.Option("--to", help="What stdout gets, JSON lines if not said."),
    ] = None,
    columns: Columns = None,
    on_error: BadRows = OnError.raise_,
    force: Force = False,
    quiet: Quiet = False,
    traceback: Traceback = False,
) -> None:
    """Write utterances, sessions or result pages in another format.

    Of any size: only a thousand records at a time are held. JSON lines, Parquet and Arrow IPC hold
    everything; where TSV or IOB cannot hold a record, nothing is written.
    """
    to_stdout = out in STANDARD_OUTPUTS
    if to is not None and not to_stdout:
        raise InputError(f"--to is for stdout; the ending of {out} says how it is written.")
    if not to_stdout:
        check_output_file(out, force)
    from purport.records.streams import write_batches

    kind, found = _batches(records, held, on_error, named_columns(columns))
    batches = counting(found, quiet)
    if to_stdout:
        _write_to_stdout(kind, batches, to or Written.jsonl)
        return
    count = write_batches(batches, out, overwrite=force, kind=kind)
    say(f"{out}: {count:,} {kind.__name__.lower()} written.", quiet)


def _batches(
    source: str, held: Held | None, on_error: OnError, columns: dict[str, str]
) -> tuple[type[records.Records], Iterator[records.Records]]:
    from purport.records.telling import KINDS, told_batches

    if held is None:
        return told_batches(source, BATCH, on_error.value, columns)
    kind = KINDS[held.value]
    return kind, kind.batches(source, BATCH, on_error.value, columns=columns)


def _write_to_stdout(
    kind: type[records.Records], batches: Iterable[records.Records], to: Written
) -> None:
    from purport.records.streams import write_batches

    if to is Written.jsonl:
        for batch in batches:
            write_lines(batch.lines("jsonl"))
        return
    # What names all columns first, or is no text, is made whole before anything is sent.
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"records.{to.value}"
        write_batches(batches, path, kind=kind)
        if to in (Written.parquet, Written.arrow):
            with path.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        else:
            with path.open(encoding="utf-8", newline="") as lines:
                write_lines(lines)
