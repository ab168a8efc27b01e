"""`purport evaluate`: compares what a model says with what records bring: labels, or clicks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    Records,
    Threads,
    Traceback,
    named_columns,
    refuse_options,
)
from purport.errors import CheckFailedError

if TYPE_CHECKING:
    from purport.report.findings import Evaluation

ERRORS = 10  # told by --json and --out if nobody says how many

Least = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER",
        min=0,
        max=1,
        help="End with exit code 1 if F1 (of labels that mark no spans: their mean F1) is lower.",
    ),
]


def evaluate(
    model: Model,
    records: Records,
    confusion: Annotated[
        bool, typer.Option("--confusion", help="Show what is taken for what.")
    ] = False,
    calibration: Annotated[
        bool, typer.Option("--calibration", help="Show how far probabilities can be believed.")
    ] = False,
    errors: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, help="Show errors worth a look: those where the model was surest."
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="Field with the user, call or day of a record; intervals then draw whole groups.",
        ),
    ] = None,
    people: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="Field that says who sent a record; errors then show texts that five people sent.",
        ),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="Another model, to be compared with in a paired test."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", metavar="FILE", help="Write everything as a page with pictures (HTML)."
        ),
    ] = None,
    min_f1: Least = None,
    min_accuracy: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            min=0,
            max=1,
            help="End with exit code 1 if a lower share of positions is right.",
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
    """Test a model on labelled records, or a click model on pages.

    Shows precision, recall and F1 of each label and of all together, with 95 % intervals: of spans
    if the labels are BIO tags, else of positions. --json and --out tell everything.

    Of a click model: log-likelihood and perplexity with 95 % intervals, in all and by rank, beside
    the click rates of the ranks, and with --compare beside another one.
    """
    if out is not None:
        check_output_file(out, force)
    from purport.study.click_models import is_click_model

    if is_click_model(model):
        given_options = {
            "--confusion": confusion, "--calibration": calibration, "--errors": errors,
            "--groups": groups, "--people": people, "-o": out, "--min-f1": min_f1,
            "--min-accuracy": min_accuracy,
        }  # fmt: skip
        refuse_options("a click model", given_options)
        _evaluate_clicks(model, compare, records, on_error, columns, as_json)
        return
    from purport.report.told import lines, numbers
    from purport.study.evaluation import Questions, evaluate, write_evaluation
    from purport.study.labelling import load_labeller
    from purport.study.tested_records import kind_of_records, values_of_field

    everything = as_json or out is not None
    labeller = load_labeller(model, threads)
    other = None if compare is None else load_labeller(compare, threads)
    kind = kind_of_records(labeller)
    given = kind.read(records, on_error=on_error.value, columns=named_columns(columns))
    found = evaluate(
        labeller,
        given,
        Questions(
            confusion=confusion or everything,
            calibration=calibration or everything,
            errors=(ERRORS if everything else 0) if errors is None else errors,
            groups=None if groups is None else values_of_field(given, groups),
            people=None if people is None else values_of_field(given, people),
        ),
        other=other,
        other_name=str(compare),
        verbose=not quiet,
    )
    if out is not None:
        subject = f"{model.name} on {'standard input' if records == '-' else Path(records).name}"
        write_evaluation(found, out, subject, overwrite=force)
    if as_json:
        write_json(numbers(found))
    else:
        write(lines(found, confusion=confusion, calibration=calibration, errors=bool(errors)))
    if out is not None:
        say(f"{out}: the page. Open it in a browser.", quiet)
    _check(found, min_f1, min_accuracy)


def _evaluate_clicks(
    model: Path,
    compare: Path | None,
    pages: str,
    on_error: OnError,
    columns: list[str] | None,
    as_json: bool,
) -> None:
    from purport.records.pages import Pages
    from purport.study.click_evaluation import evaluate_clicks
    from purport.study.click_models import load_click_model

    tested = load_click_model(model)
    other = None if compare is None else load_click_model(compare)
    given = Pages.read(pages, on_error.value, columns=named_columns(columns))
    found = evaluate_clicks(tested, given, other)
    if as_json:
        write_json(found.numbers())
    else:
        write(found.text())


def _check(found: Evaluation, min_f1: float | None, min_accuracy: float | None) -> None:
    for name, value, least in (
        ("F1" if found.level == "spans" else "The mean F1", found.f1.value, min_f1),
        ("Accuracy", found.accuracy.value, min_accuracy),
    ):
        if least is not None and value < least:
            raise CheckFailedError(f"{name} is {value:.4f}, lower than {least:g}.")
