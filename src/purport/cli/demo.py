"""`purport demo`: invents a world, learns from it, tests what was learnt and shows how to go on."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from purport.cli.console import FORCE, say, write
from purport.cli.options import Force, Quiet, Threads, Traceback
from purport.errors import FormatError, OutputExistsError


def demo(
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="DIR", help="The folder to write into.")
    ] = Path("purport-demo"),
    threads: Threads = None,
    force: Force = False,
    quiet: Quiet = False,
    traceback: Traceback = False,
) -> None:
    """Show everything on invented data.

    Writes a report, three models and the data, and says how to go on with them.
    """
    _check_folder(out, force)
    from purport.study.demonstration import demonstrate

    made = demonstrate(out, n_threads=threads, verbose=not quiet)
    write("\n".join(made.headlines))
    say(f"\nWritten to {out}:", quiet)
    for name, what in made.files.items():
        say(f"  {name:<24} {what}", quiet)
    model, sessions, clicks, data = (
        shlex.quote(str(out / name))
        for name in ("slots-model", "sessions-model", "clicks-model", "")
    )
    say(
        f"\nOpen {out / 'report.html'} in a browser. Then try:\n"
        f"  purport label {model} {data}/new.jsonl\n"
        f"  purport evaluate {model} {data}/test.jsonl\n"
        f"  purport inspect {model} --label B-artist\n"
        f"  purport evaluate {sessions} {data}/test-sessions.jsonl\n"
        f"  purport evaluate {clicks} {data}/test-pages.tsv\n"
        f"  purport relevance {clicks} --query q2 --top 5",
        quiet,
    )


def _check_folder(out: Path, force: bool) -> None:
    if out.exists() and not out.is_dir():
        raise FormatError.unwritable(str(out), "a file has that name")
    if out.is_dir() and any(out.iterdir()) and not force:
        raise OutputExistsError.at(str(out), FORCE)
