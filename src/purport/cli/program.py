"""The program `purport`: its verbs, and the one place where it begins and ends."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from purport.cli.console import (
    DONE,
    USERS_ERROR,
    Manner,
    endings,
    is_broken_pipe,
    leave_quietly,
    notes,
)
from purport.cli.convert import convert
from purport.cli.demo import demo
from purport.cli.evaluate import evaluate
from purport.cli.fit import fit
from purport.cli.inspect import inspect
from purport.cli.label import label
from purport.cli.relevance import relevance
from purport.cli.study import study
from purport.cli.update import update
from purport.cli.warm import warm
from purport.version import VERSION

VERBS = (
    "fit",
    "update",
    "label",
    "relevance",
    "evaluate",
    "inspect",
    "convert",
    "study",
    "demo",
    "warm",
)
"""In the order in which help names them: that of use."""


class Program(TyperGroup):
    """The verbs together: what goes wrong in any of them ends here."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def invoke(self, ctx: Any) -> Any:
        manner = ctx.ensure_object(Manner)
        with endings(manner), notes(manner):
            return super().invoke(ctx)


# No rich help: it would double the time until the first line appears.
program = typer.Typer(
    cls=Program,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
program.add_typer(fit, name="fit")
for _verb in (update, label, relevance, evaluate, inspect, convert, study, demo, warm):
    program.command()(_verb)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"purport {VERSION}")
        raise typer.Exit


@program.callback()
def purport(
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version."),
    ] = False,
) -> None:
    """Find out what users are after, from their logs and a few labels.

    Results go to stdout or to the file named by -o, messages to stderr. Exit codes: 0 done, 1 a
    check failed, 2 an error of the user, 130 interrupted.
    """


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code.

    Parameters
    ----------
    argv : list of str, optional
        What was typed after ``purport``; None takes it from the command line.

    Examples
    --------
    >>> main(["--version"])
    purport 0.1.0
    0
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    command = get_command(program)
    try:
        command.main(args=arguments, prog_name="purport", standalone_mode=True)
    except SystemExit as end:
        code = _code_of(end)
    else:
        code = DONE
    try:
        sys.stdout.flush()
    except OSError as error:
        if not is_broken_pipe(error):
            raise
        leave_quietly()
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    return code


def _code_of(end: SystemExit) -> int:
    if end.code is None:
        return DONE
    return end.code if isinstance(end.code, int) else USERS_ERROR
