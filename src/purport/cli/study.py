"""`purport study`: trains and tests on given data and writes the report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from purport.cli.console import check_output_file, note, say, write, write_json
from purport.cli.options import AsJson, BadRows, Force, Held, OnError, Quiet, Threads, Traceback
from purport.errors import InputError


def study(
    train: Annotated[
        str,
        typer.Argument(metavar="TRAIN", help="Utterances, sessions or result pages to learn from."),
    ],
    test: Annotated[str, typer.Argument(metavar="TEST", help="Others of the kind, to test on.")],
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="FILE", help="The report to write.")
    ] = Path("report.html"),
    held: Annotated[
        Held | None,
        typer.Option("--as", help="What the files hold; told by their columns if not said."),
    ] = None,
    unlabeled: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Sessions without labels, to learn from as well."),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="Field of sessions with the user, call or day, which nothing cuts apart.",
            show_default="who",
        ),
    ] = None,
    threads: Threads = None,
    on_error: BadRows = OnError.raise_,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    traceback: Traceback = False,
) -> None:
    """Train and test on your data and write a report.

    Of utterances it studies slots, of sessions the labels of steps, of result pages the clicks. The
    report is one HTML file that needs no network. It never shows what fewer than five different
    people sent.
    """
    check_output_file(out, force)
    from purport.study.pipeline import run_study, write_report
    from purport.study.stages import read_material

    material = read_material(train, test, unlabeled, held and held.value, on_error.value)
    if groups is not None and material.train_sessions is None:
        raise InputError("--groups is for sessions; the files hold none. Leave it out.")
    outcomes = run_study(material, n_threads=threads, verbose=not quiet, groups=groups)
    subject = f"{Path(train).name} and {Path(test).name}"
    write_report(outcomes, out, subject, overwrite=force)
    if as_json:
        write_json({outcome.name: outcome.numbers for outcome in outcomes})
    else:
        write("\n".join(outcome.headline for outcome in outcomes))
    for outcome in outcomes:
        if outcome.warning:
            note(outcome.warning, quiet)
    say(f"{out}: the report. Open it in a browser.", quiet)
