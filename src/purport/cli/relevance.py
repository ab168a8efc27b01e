"""`purport relevance`: writes what results are worth once position is out of the clicks."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from purport.cli.console import (
    STANDARD,
    STANDARD_OUTPUTS,
    check_output_file,
    say,
    write_lines,
)
from purport.cli.options import Force, Model, Quiet, Traceback
from purport.errors import InputError


class Written(StrEnum):
    """How rows are written."""

    tsv = "tsv"
    jsonl = "jsonl"


_ENDINGS = {".tsv": Written.tsv, ".jsonl": Written.jsonl, ".ndjson": Written.jsonl}


def relevance(
    model: Model,
    query: Annotated[
        list[str] | None,
        typer.Option(
            metavar="QUERY", help="Of this query, by its id; may be repeated; of all if not said."
        ),
    ] = None,
    docs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DOC",
            help="Of this document, by its id; may be repeated; of all that were met if not said.",
        ),
    ] = None,
    interval: Annotated[
        float,
        typer.Option(metavar="NUMBER", help="How probable it is that it lies between the bounds."),
    ] = 0.95,
    min_evidence: Annotated[
        float,
        typer.Option(
            metavar="RESULTS",
            min=0,
            help="Leave out what fewer results speak for; documents that are named are marked.",
        ),
    ] = 0.0,
    top: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="So many documents of each query at most."),
    ] = None,
    log: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LOG",
            help="Pages that tell which documents cannot be told from their position; those are"
            " marked. May be repeated.",
        ),
    ] = None,
    out: Annotated[
        str,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            help="TSV or JSON lines as its ending says; - for stdout.",
        ),
    ] = STANDARD,
    to: Annotated[
        Written | None, typer.Option("--to", help="What stdout gets, TSV if not said.")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    traceback: Traceback = False,
) -> None:
    """Say what results are worth for their queries, and how sure that is.

    A row for each query and document: relevance, the bounds between which it lies, how many results
    speak for it, and flags: new, never met; prior, nothing seen that tells; few, less evidence than
    asked for; tied, with --log, not to be told from its position.
    """
    kind = _kind(out, to)
    if out not in STANDARD_OUTPUTS:
        check_output_file(out, force)
    from purport.store.files import whole_file
    from purport.study.click_models import load_click_model
    from purport.study.relevances import Wanted, json_lines, relevances, tsv_lines

    wanted = Wanted(query, docs, interval, min_evidence, top)
    learnt = load_click_model(model)
    if log:
        from purport.records.pages import Pages

        learnt.identifiability(Pages.read(log))
    rows = relevances(learnt, wanted)
    lines = tsv_lines(rows) if kind is Written.tsv else json_lines(rows)
    if out in STANDARD_OUTPUTS:
        write_lines(lines)
        return
    with whole_file(out, overwrite=force) as file:
        count = -(kind is Written.tsv)
        for line in lines:
            file.write(line.encode("utf-8"))
            count += 1
    say(f"{out}: {count:,} rows written.", quiet)


def _kind(out: str, to: Written | None) -> Written:
    if out in STANDARD_OUTPUTS:
        return to or Written.tsv
    if to is not None:
        raise InputError(f"--to is for stdout; the ending of {out} says how it is written.")
    kind = _ENDINGS.get(Path(out).suffix)
    if kind is None:
        raise InputError(f"{out}: the ending must be one of {', '.join(_ENDINGS)}.")
    return kind
