"""`purport inspect`: says what a model is, what it was trained on and what it goes by."""

from __future__ import annotations

from typing import Annotated

import typer

from purport.cli.console import write, write_json
from purport.cli.options import AsJson, Model, Quiet, Traceback


def inspect(
    model: Model,
    label: Annotated[
        list[str] | None,
        typer.Option(metavar="LABEL", help="Show what speaks for this label; may be repeated."),
    ] = None,
    top: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many features and transitions to show.")
    ] = 10,
    as_json: AsJson = False,
    quiet: Quiet = False,
    traceback: Traceback = False,
) -> None:
    """Show what a model is and what it goes by.

    Says what it was trained on, its strongest transitions, and what speaks for a label. Features
    hold words of the training data; those that are the whole text of a step are not shown.
    """
    from purport.study.inspection import inspect_model

    found = inspect_model(model, label or [], top)
    if as_json:
        write_json(found.numbers())
    else:
        write(found.text())
