"""`purport fit`: learns a model from labelled records and writes it into a folder."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from purport.cli.console import check_output, say, write_json
from purport.cli.options import AsJson, BadRows, Force, OnError, Quiet, Threads, Traceback
from purport.study.defaults import L2, MAX_ITER

if TYPE_CHECKING:
    from purport.sequence.crf import CRF

fit = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Learn a model from labelled records.",
)


class Window(StrEnum):
    """How much of its surroundings a word is seen with."""

    default = "default"
    rich = "rich"


@fit.command()
def slots(
    train: Annotated[
        list[str],
        typer.Argument(metavar="TRAIN", help="Utterances with slots; - for stdin."),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="MODEL", help="The folder to write.")],
    dev: Annotated[
        str | None, typer.Option(metavar="FILE", help="Utterances to test the model on afterwards.")
    ] = None,
    l2: Annotated[
        float, typer.Option(metavar="NUMBER", min=0, help="Weight of the sum of squares.")
    ] = L2,
    l1: Annotated[
        float, typer.Option(metavar="NUMBER", min=0, help="Weight of the sum of absolute values.")
    ] = 0.0,
    max_iter: Annotated[int, typer.Option(metavar="N", min=1, help="Most iterations.")] = MAX_ITER,
    window: Annotated[
        Window, typer.Option(help="What is seen of the words around; rich is slower.")
    ] = Window.default,
    threads: Threads = None,
    on_error: BadRows = OnError.raise_,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    traceback: Traceback = False,
) -> None:
    """Learn to find slots in utterances (a conditional random field)."""
    check_output(out, force)
    from purport.records.utterances import Utterances
    from purport.sequence.crf import CRF
    from purport.store.folders import save
    from purport.study.windows import WINDOWS

    # Asked for before training, so that a wrong name does not cost the time that training takes.
    tests = None if dev is None else Utterances.read(dev, on_error=on_error.value)
    talk = Utterances.read(train, on_error=on_error.value)
    crf = CRF(
        l2=l2,
        l1=l1,
        max_iter=max_iter,
        features=WINDOWS[window.value],
        n_threads=threads,
        verbose=not quiet,
    ).fit(talk)
    crf.set_params(verbose=False)
    save(crf, out, overwrite=force)
    summary: dict[str, Any] = {"model": str(out), "utterances": len(talk), **_training(crf)}
    say(
        f"{out}: learnt {summary['labels']} labels from {len(talk):,} utterances in "
        f"{summary['iterations']} iterations, {summary['seconds']:.2f} s.",
        quiet,
    )
    if tests is not None:
        from purport.report.told import headline, numbers
        from purport.study.evaluation import evaluate

        tested = evaluate(crf, tests)
        summary["dev"] = numbers(tested)
        say(f"{dev}: {headline(tested)}", quiet)
    if as_json:
        write_json(summary)


def _training(crf: CRF) -> dict[str, Any]:
    last = crf.history_[-1]
    return {
        "labels": len(crf.classes_),
        "weights": crf.n_features_,
        "iterations": len(crf.history_) - 1,
        "converged": crf.converged_,
        "objective": last["objective"],
        "seconds": last["seconds"],
    }
