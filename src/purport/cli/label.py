"""`purport label`: writes each record back with its labels and their probability."""

from __future__ import annotations

from typing import Annotated

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
    Model,
    OnError,
    Quiet,
    Records,
    Threads,
    Traceback,
    named_columns,
)

BATCH = 2000


def label(
    model: Model,
    records: Records,
    out: Annotated[
        str,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            help="JSON lines, TSV or IOB as its ending says, packed with .gz, Parquet or Arrow IPC;"
            " - for stdout, in JSON lines.",
        ),
    ] = STANDARD,
    columns: Columns = None,
    threads: Threads = None,
    on_error: BadRows = OnError.raise_,
    force: Force = False,
    quiet: Quiet = False,
    traceback: Traceback = False,
) -> None:
    """Label records with a model.

    Each record comes back with `labels` and `probability` added.
    """
    if out not in STANDARD_OUTPUTS:
        check_output_file(out, force)
    from purport.records.streams import write_batches
    from purport.study.labelling import label_batches, load_labeller
    from purport.study.tested_records import kind_of_records

    labeller = load_labeller(model, threads)
    named = named_columns(columns)
    labelled = label_batches(labeller, records, BATCH, on_error.value, named)
    batches = counting(labelled, quiet)
    if out in STANDARD_OUTPUTS:
        for batch in batches:
            write_lines(batch.lines("jsonl"))
        return
    kind = kind_of_records(labeller)
    count = write_batches(batches, out, overwrite=force, kind=kind)
    say(f"{out}: {count:,} records labelled.", quiet)
