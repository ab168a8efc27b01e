"""`purport update`: takes new pages into a click model, with snapshots from which to go on."""

from __future__ import annotations

from typing import Annotated

import typer

from purport.cli.console import note, say, write_json
from purport.cli.options import (
    AsJson,
    BadRows,
    Columns,
    Model,
    OnError,
    Quiet,
    Threads,
    Traceback,
    named_columns,
)

Pages = Annotated[
    list[str],
    typer.Argument(
        metavar="PAGES",
        help="The next pages of the log: TSV or JSON lines, packed with gz or not, Parquet or Arrow"
        " IPC; - for stdin.",
    ),
]


def update(
    model: Model,
    pages: Pages,
    forget: Annotated[
        str,
        typer.Option(
            metavar="SHARE",
            help="Which share of what was known of a parameter a page that touches it makes"
            " forgotten; two, with a comma between, of what pages have in common and of pairs; or"
            " auto.",
        ),
    ] = "0",
    half_life_days: Annotated[
        float | None,
        typer.Option(metavar="DAYS", help="After so many days what was seen counts half."),
    ] = None,
    every: Annotated[
        int | None,
        typer.Option(
            metavar="PAGES",
            min=1,
            help="Write a snapshot after so many pages.",
            show_default="1000000",
        ),
    ] = None,
    columns: Columns = None,
    threads: Threads = None,
    on_error: BadRows = OnError.raise_,
    as_json: AsJson = False,
    quiet: Quiet = False,
    traceback: Traceback = False,
) -> None:
    """Take new pages of a log into a click model.

    Of any size: pages are read in batches. MODEL is replaced by a snapshot after every so many
    pages and at the end; the snapshot before it is kept as MODEL.previous. A file that was taken in
    before goes on where it stood, so that after an interruption the same command does the rest.
    """
    from purport.study.click_updating import EVERY, Stream, forgetting, update_model

    how = Stream(
        forgetting(forget), half_life_days, every or EVERY, on_error.value,
        named_columns(columns), threads,
    )  # fmt: skip
    found = update_model(
        model,
        pages,
        how,
        warn=lambda line: note(line, quiet),
        tell=lambda line: say(f"{model}: {line}", quiet),
    )
    say(f"{model}: {found.line()}", quiet)
    if as_json:
        write_json({"model": str(model), **found.numbers()})
