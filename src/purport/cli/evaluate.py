"""`purport evaluate`: compares the labels of a model with those that records bring."""

from __future__ import annotations

from typing import Annotated

import typer

from purport.cli.console import write, write_json
from purport.cli.options import AsJson, BadRows, Model, OnError, Quiet, Records, Threads, Traceback
from purport.errors import CheckFailedError


def evaluate(
    model: Model,
    records: Records,
    min_f1: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER", min=0, max=1, help="End with exit code 1 if F1 is lower than this."
        ),
    ] = None,
    threads: Threads = None,
    on_error: BadRows = OnError.raise_,
    as_json: AsJson = False,
    quiet: Quiet = False,
    traceback: Traceback = False,
) -> None:
    """Test a model on labelled records.

    Shows precision, recall and F1 of each slot and of all together.
    """
    from purport.records.utterances import Utterances
    from purport.study.evaluation import evaluate_slots
    from purport.study.labelling import load_labeller

    labeller = load_labeller(model, threads)
    tested = evaluate_slots(labeller, Utterances.read(records, on_error=on_error.value))
    if as_json:
        write_json(tested.numbers())
    else:
        write(f"{tested.scores.table()}\n\n{tested.headline()}")
    if min_f1 is not None and tested.scores.f1 < min_f1:
        raise CheckFailedError(f"F1 is {tested.scores.f1:.4f}, lower than {min_f1:g}.")
