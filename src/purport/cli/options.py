"""Options and arguments that several verbs share, each said once."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from purport.cli.console import keep_quiet, keep_traceback
from purport.errors import InputError


class OnError(StrEnum):
    """What happens to a bad row."""

    raise_ = "raise"
    skip = "skip"


class Held(StrEnum):
    """Which records a file holds."""

    utterances = "utterances"
    sessions = "sessions"
    pages = "pages"


Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", callback=keep_quiet, help="Show errors only, no progress and no messages."
    ),
]
Traceback = Annotated[
    bool,
    typer.Option(
        "--traceback", callback=keep_traceback, help="Show where in the program an error arose."
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace an output that stands there.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write the result to stdout as JSON.")]
BadRows = Annotated[
    OnError, typer.Option("--on-error", help="Stop at a bad row, or leave it out and say how many.")
]
Threads = Annotated[
    int | None,
    typer.Option("--threads", metavar="N", min=1, help="Threads to use; all cores if not said."),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A folder that `fit` wrote.")]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="OURS=THEIRS",
        help="A column has another name there, as text=query; may be repeated.",
    ),
]
Records = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="JSON lines, TSV or IOB/CoNLL, packed with gz or not, Parquet or Arrow IPC;"
        " - for stdin.",
    ),
]


def refuse_options(owner: str, given: Mapping[str, object]) -> None:
    """Refuse options that were given and are for models of labels.

    Examples
    --------
    >>> refuse_options("a click model", {"--label": None, "--confusion": False})
    """
    for name, value in given.items():
        if value is not None and value is not False:
            raise InputError(f"{name} is for models of labels; {owner} has none. Leave it out.")


def named_columns(given: list[str] | None) -> dict[str, str]:
    """Return their names of columns by ours.

    Examples
    --------
    >>> named_columns(["text=query", "id=qid"])
    {'text': 'query', 'id': 'qid'}
    """
    columns: dict[str, str] = {}
    for pair in given or ():
        ours, sign, theirs = pair.partition("=")
        if not (ours and sign and theirs) or ours in columns:
            raise InputError(f"--columns takes OURS=THEIRS, each of ours once; got {pair!r}.")
        columns[ours] = theirs
    return columns
