"""`purport fit`: learns a model from labelled records, or from clicks, and writes a folder."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from purport.cli.console import check_output, say, write_json
from purport.cli.options import (
    AsJson,
    BadRows,
    Columns,
    Force,
    OnError,
    Quiet,
    Threads,
    Traceback,
    named_columns,
)
from purport.errors import InputError
from purport.study.defaults import L2, L2_HIDDEN, L2_OF_STEPS, MAX_ITER

if TYPE_CHECKING:
    from purport.records.labelled import LabelledRecords
    from purport.study.learning import Course
    from purport.study.session_models import SequenceModel

fit = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Learn a model from labelled records, or from clicks.",
)


class Window(StrEnum):
    """How much of its surroundings a word is seen with."""

    default = "default"
    rich = "rich"


class ModelName(StrEnum):
    """Which model of sessions."""

    crf = "crf"
    ldcrf = "ldcrf"
    shdcrf = "shdcrf"


class ClickModelName(StrEnum):
    """Which model of clicks."""

    ubm = "ubm"
    pbm = "pbm"
    dbn = "dbn"
    ccm = "ccm"
    dcm = "dcm"
    sdbn = "sdbn"
    cascade = "cascade"
    gctr = "gctr"
    rctr = "rctr"
    dctr = "dctr"


class Semi(StrEnum):
    """How sessions without labels are learnt from."""

    self_training = "self-training"
    free_sum = "free-sum"


Train = Annotated[list[str], typer.Argument(metavar="TRAIN", help="Labelled records; - for stdin.")]
Out = Annotated[Path, typer.Option("-o", "--out", metavar="MODEL", help="The folder to write.")]
Dev = Annotated[
    str | None, typer.Option(metavar="FILE", help="Records to test the model on afterwards.")
]
EarlyStop = Annotated[
    bool,
    typer.Option(
        "--early-stop", help="Stop when the records of --dev become less likely; keep the best."
    ),
]
SlotPenalty = Annotated[
    float | None,
    typer.Option(metavar="NUMBER", min=0, help="Weight of the squares.", show_default=f"{L2:g}"),
]
StepPenalty = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER", min=0, help="Weight of the squares.", show_default=f"{L2_OF_STEPS:g}"
    ),
]
SparsePenalty = Annotated[
    float, typer.Option(metavar="NUMBER", min=0, help="Weight of the sum of absolute values.")
]
Iterations = Annotated[int, typer.Option(metavar="N", min=1, help="Most iterations.")]
Tune = Annotated[
    bool,
    typer.Option("--tune", help="Choose the weight of the squares by 5-fold cross-validation."),
]
Budget = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS", min=0, help="How long --tune may take; all values if not said."
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        metavar="FIELD",
        help="Field with the user, call or day, which no fold of --tune cuts apart.",
    ),
]
Passes = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        help="Go through the files so often in batches, for more than memory holds; 0 holds all.",
    ),
]
Batch = Annotated[
    int, typer.Option(metavar="N", min=1, help="With --passes: so many records in a batch.")
]


@fit.command()
def slots(
    train: Train,
    out: Out,
    dev: Dev = None,
    early_stop: EarlyStop = False,
    l2: SlotPenalty = None,
    l1: SparsePenalty = 0.0,
    tune: Tune = False,
    budget: Budget = None,
    groups: Groups = None,
    max_iter: Iterations = MAX_ITER,
    window: Annotated[
        Window, typer.Option(help="What is seen of the words around; rich is slower.")
    ] = Window.default,
    gazetteer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE",
            help="A list of phrases, one a line, as city=cities.txt; may be repeated.",
        ),
    ] = None,
    bio: Annotated[
        bool, typer.Option("--bio", help="Never give an I-x that does not follow B-x or I-x.")
    ] = False,
    passes: Passes = 0,
    batch: Batch = 10_000,
    columns: Columns = None,
    threads: Threads = None,
    on_error: BadRows = OnError.raise_,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    traceback: Traceback = False,
) -> None:
    """Learn to find slots in utterances (a conditional random field)."""
    check_output(out, force)
    from purport.features.token_windows import TokenWindows
    from purport.records.utterances import Utterances
    from purport.sequence.crf import CRF
    from purport.study.learning import Course
    from purport.study.phrases import read_phrases
    from purport.study.windows import WINDOWS

    windows = WINDOWS[window.value]
    if gazetteer:
        parameters = (windows or TokenWindows()).get_params(deep=False)
        files = _named_files(gazetteer)
        phrases = {name: read_phrases(path) for name, path in files.items()}
        windows = TokenWindows(**parameters | {"gazetteers": phrases})
    crf = CRF(
        l2=_penalty(l2, L2, tune),
        l1=l1,
        max_iter=max_iter,
        features=windows,
        forbid="bio" if bio else None,
        n_threads=threads,
        verbose=not quiet,
    )
    course = Course(
        train, dev, early_stop, tune, budget, groups, passes, batch, on_error.value,
        named_columns(columns),
    )  # fmt: skip
    _learn(Utterances, crf, course, out, force, as_json, quiet)


@fit.command()
def sessions(
    train: Train,
    out: Out,
    model: Annotated[
        ModelName,
        typer.Option(
            help="crf has no hidden states, ldcrf some for each label, shdcrf lets labels share."
        ),
    ] = ModelName.crf,
    states: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Hidden states.", show_default="32, for shdcrf"),
    ] = None,
    states_per_label: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Hidden states of each label.", show_default="4, for ldcrf"
        ),
    ] = None,
    sparsity: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            min=0,
            help="The larger, the fewer labels a hidden state has.",
            show_default="0.05, for shdcrf",
        ),
    ] = None,
    restarts: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Train from so many starts and keep the best, with hidden states.",
            show_default="1",
        ),
    ] = None,
    unlabeled: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Sessions to learn from without labels, for shdcrf."),
    ] = None,
    semi: Annotated[
        Semi | None,
        typer.Option(
            help="How: by labels that the model is sure of, or by the sum over all labels.",
            show_default="self-training",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Decides what is left to chance.")
    ] = None,
    dev: Dev = None,
    early_stop: EarlyStop = False,
    l2: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            min=0,
            help="Weight of the squares.",
            show_default=f"{L2_OF_STEPS:g}, with hidden states {L2_HIDDEN:g}",
        ),
    ] = None,
    l1: SparsePenalty = 0.0,
    tune: Tune = False,
    budget: Budget = None,
    groups: Groups = None,
    max_iter: Iterations = MAX_ITER,
    passes: Passes = 0,
    batch: Batch = 10_000,
    columns: Columns = None,
    threads: Threads = None,
    on_error: BadRows = OnError.raise_,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    traceback: Traceback = False,
) -> None:
    """Learn the intent of every step of sessions (a conditional random field).

    Hidden states (ldcrf, shdcrf) find what several labels have in common from step to step.
    """
    check_output(out, force)
    if semi is not None and unlabeled is None:
        raise InputError("--semi says how --unlabeled is learnt from. Give both, or neither.")
    from purport.records.sessions import Sessions
    from purport.study.learning import Course
    from purport.study.session_models import PENALTIES, Choice

    chosen = Choice(
        model.value,
        _penalty(l2, PENALTIES[model.value], tune),
        l1 or None,
        max_iter,
        states,
        states_per_label,
        sparsity,
        restarts,
        None if semi is None else semi.value,
        seed,
    ).make(threads, verbose=not quiet)
    course = Course(
        train, dev, early_stop, tune, budget, groups, passes, batch, on_error.value,
        named_columns(columns), unlabeled,
    )  # fmt: skip
    _learn(Sessions, chosen, course, out, force, as_json, quiet)


@fit.command()
def activity(
    train: Train,
    out: Out,
    dev: Dev = None,
    early_stop: EarlyStop = False,
    l2: StepPenalty = None,
    l1: SparsePenalty = 0.0,
    tune: Tune = False,
    budget: Budget = None,
    groups: Groups = None,
    max_iter: Iterations = MAX_ITER,
    passes: Passes = 0,
    batch: Batch = 10_000,
    columns: Columns = None,
    threads: Threads = None,
    on_error: BadRows = OnError.raise_,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    traceback: Traceback = False,
) -> None:
    """Learn activities from the sensors of a house (a conditional random field)."""
    check_output(out, force)
    from purport.features.sensor_windows import SensorWindows
    from purport.records.sessions import Sessions
    from purport.sequence.crf import CRF
    from purport.study.learning import Course

    crf = CRF(
        l2=_penalty(l2, L2_OF_STEPS, tune),
        l1=l1,
        max_iter=max_iter,
        features=SensorWindows(),
        n_threads=threads,
        verbose=not quiet,
    )
    course = Course(
        train, dev, early_stop, tune, budget, groups, passes, batch, on_error.value,
        named_columns(columns),
    )  # fmt: skip
    _learn(Sessions, crf, course, out, force, as_json, quiet)


@fit.command()
def clicks(
    log: Annotated[
        list[str],
        typer.Argument(metavar="LOG", help="Result pages with their clicks; - for stdin."),
    ],
    out: Out,
    model: Annotated[
        ClickModelName,
        typer.Option(help="Which model; gctr, rctr and dctr are plain click rates."),
    ] = ClickModelName.ubm,
    max_iter: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="Most rounds of EM; fewer where they do no good."),
    ] = 50,
    ranks: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=1000,
            help="So many ranks have parameters of their own; deeper ones share the last.",
            show_default="the longest page, but 50 at most",
        ),
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            metavar="MEAN,STRENGTH",
            help="Believe this of every parameter before; 0.5,2 as PyClick does.",
            show_default="learnt from the log",
        ),
    ] = None,
    max_pairs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Keep so many pairs of query and document at most; those with least evidence go.",
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
    """Learn from clicks what results are worth (a click model).

    `purport update` takes in what comes later.
    """
    check_output(out, force)
    from purport.store.folders import save
    from purport.study.click_models import CLICK_MODELS, fit_clicks

    chosen = CLICK_MODELS[model.value](
        prior="learned" if prior is None else _mean_and_strength(prior),
        ranks=ranks,
        max_pairs=max_pairs,
        n_threads=threads,
        verbose=not quiet,
    )
    found = fit_clicks(chosen, log, max_iter, on_error.value, named_columns(columns))
    save(found.model.set_params(n_threads=None, verbose=False), out, overwrite=force)
    for line in found.lines():
        say(f"{out}: {line}", quiet)
    if as_json:
        write_json({"model": str(out), **found.numbers()})


def _learn(
    kind: type[LabelledRecords],
    crf: SequenceModel,
    course: Course,
    out: Path,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    from purport.store.folders import save
    from purport.study.learning import learn

    learnt = learn(kind, crf, course)
    save(learnt.crf, out, overwrite=force)
    for line in learnt.lines():
        say(f"{out}: {line}", quiet)
    if as_json:
        write_json({"model": str(out), **learnt.numbers()})


def _penalty(given: float | None, usual: float, tune: bool) -> float:
    if given is not None and tune:
        raise InputError("--tune chooses the weight of the squares, so it does not go with --l2.")
    return usual if given is None else given


def _mean_and_strength(given: str) -> tuple[float, float]:
    try:
        mean, strength = (float(part) for part in given.split(","))
    except ValueError:
        raise InputError(
            f"--prior takes MEAN,STRENGTH, two numbers with a comma between; got {given!r}."
        ) from None
    return mean, strength


def _named_files(given: list[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for pair in given:
        name, sign, path = pair.partition("=")
        if not (name and sign and path) or name in named:
            raise InputError(f"--gazetteer takes NAME=FILE, each name once; got {pair!r}.")
        named[name] = path
    return named
