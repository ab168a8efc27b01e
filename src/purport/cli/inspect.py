"""`purport inspect`: says what a model is, what it was trained on and what it goes by."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from purport.cli.console import check_output_file, say, write, write_json
from purport.cli.options import (
    AsJson,
    BadRows,
    Columns,
    Force,
    Model,
    OnError,
    Quiet,
    Threads,
    Traceback,
    named_columns,
    refuse_options,
)


def inspect(
    model: Model,
    label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL",
            help="Show what speaks for this label, or its hidden states; may be repeated.",
        ),
    ] = None,
    top: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many features and transitions to show.")
    ] = 10,
    on: Annotated[
        str | None,
        typer.Option(
            "--on", metavar="RECORDS", help="Look at hidden states on these records, with examples."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            help="Write what hidden states mean as a page with pictures (HTML).",
        ),
    ] = None,
    columns: Columns = None,
    threads: Threads = None,
    on_error: BadRows = OnError.raise_,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    traceback: Traceback = False,
) -> None:
    """Show what a model is and what it goes by.

    Says what it was trained on, its strongest transitions, and what speaks for a label; of hidden
    states their labels, features, and what comes next. Features hold words of the training data;
    those that are the whole text of a step are shown only if five different people sent it. Of a
    click model it shows what all pages share, --top ranks of it, and never an id.
    """
    if out is not None:
        check_output_file(out, force)
    from purport.study.click_models import is_click_model

    if is_click_model(model):
        _inspect_clicks(model, top, as_json, {"--label": label, "--on": on, "-o": out})
        return
    from purport.study.inspection import inspect_model, write_inspection

    found = inspect_model(
        model,
        label or [],
        top,
        on=on,
        on_error=on_error.value,
        columns=named_columns(columns),
        n_threads=threads,
    )
    if out is not None:
        write_inspection(found, out, _subject(model, on), overwrite=force)
    if as_json:
        write_json(found.numbers())
    else:
        write(found.text())
    if out is not None:
        say(f"{out}: the page. Open it in a browser.", quiet)


def _inspect_clicks(model: Path, top: int, as_json: bool, others: dict[str, object]) -> None:
    refuse_options("a click model", others)
    from purport.study.click_inspection import inspect_click_model

    found = inspect_click_model(model)
    if as_json:
        write_json(found.numbers())
    else:
        write(found.text(top))


def _subject(model: Path, on: str | None) -> str:
    if on is None:
        return model.name
    return f"{model.name} on {'standard input' if on == '-' else Path(on).name}"
