"""The demonstration: an invented world, what is learnt from it, and files to go on with."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from purport.estimator.progress import Verbosity
from purport.records.utterances import Utterances
from purport.simulate.utterances import utterance_world
from purport.store.folders import save
from purport.study.pipeline import run_study, write_report
from purport.study.stages import Material

TRAIN, TEST, NEW = 1500, 500, 20
SUBJECT = "an invented assistant for music, weather, tables, trips and alarms"


@dataclass(frozen=True)
class Demonstration:
    """What a demonstration has made.

    Attributes
    ----------
    headlines : list of str
        The results, a line each.
    files : dict
        What lies in the folder, and what each file is.

    Examples
    --------
    >>> Demonstration(["slots: F1 97%"], {"report.html": "the report"}).headlines
    ['slots: F1 97%']
    """

    headlines: list[str]
    files: dict[str, str]


def demonstrate(
    folder: str | os.PathLike[str],
    *,
    n_threads: int | None = None,
    verbose: Verbosity = False,
    train: int = TRAIN,
    test: int = TEST,
) -> Demonstration:
    """Invent a world, learn from it, and write report, model and data into a folder.

    Parameters
    ----------
    folder : path
        Made if it is not there. Files of an earlier demonstration are replaced, others left alone.
    n_threads, verbose
        As in `run_study`.
    train, test : int
        How many utterances to learn from and to test on.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "demo"
    >>> made = demonstrate(folder, train=60, test=20)
    >>> sorted(path.name for path in folder.iterdir())
    ['new.jsonl', 'report.html', 'slots-model', 'test.jsonl', 'train.jsonl']
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    learnt, tested = utterance_world(train, 1), utterance_world(test, 2)
    new = Utterances.from_lists(utterance_world(NEW, 3).tokens)
    learnt.write(place / "train.jsonl")
    tested.write(place / "test.jsonl")
    new.write(place / "new.jsonl")
    material = Material(learnt, tested, invented=True)
    outcomes = run_study(material, n_threads=n_threads, verbose=verbose)
    for outcome in outcomes:
        save(
            outcome.model.set_params(verbose=False), place / f"{outcome.name}-model", overwrite=True
        )
    write_report(outcomes, place / "report.html", SUBJECT)
    files = {
        "report.html": "how well it went, with pictures",
        "slots-model": "the tagger of slots",
        "train.jsonl": f"{train:,} utterances it learnt from",
        "test.jsonl": f"{test:,} utterances it was tested on",
        "new.jsonl": f"{NEW} utterances without slots, for you to label",
    }
    return Demonstration([outcome.headline for outcome in outcomes], files)
