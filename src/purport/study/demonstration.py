"""The demonstration: an invented world, what is learnt from it, and files to go on with."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from purport.estimator.progress import Verbosity
from purport.records.sessions import Sessions
from purport.records.utterances import Utterances
from purport.simulate.clicks import ClickWorld
from purport.simulate.searches import SearchWorld
from purport.simulate.utterances import utterance_world
from purport.store.folders import save
from purport.study.pipeline import run_study, write_report
from purport.study.stages import Attractiveness, Material

TRAIN, TEST, NEW = 1500, 500, 20
TRAIN_SESSIONS, TEST_SESSIONS, UNLABELED = 600, 300, 900
SEARCHES = 4
"""The seed of the world that searches come from."""
PAGES_A_DAY, TRAIN_DAYS, TEST_DAYS = 1000, 10, 4
CLICKS, DRIFT, SWAPS, DISORDER = 5, 0.05, 0.1, 5.0
"""The seed of the world that clicks come from, and its knobs: what attracts wanders a little, and
stands low as often as high, so that click rates mislead."""
SUBJECT = "an invented assistant and an invented search engine"


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
    train_sessions: int = TRAIN_SESSIONS,
    test_sessions: int = TEST_SESSIONS,
    unlabeled: int = UNLABELED,
    pages_a_day: int = PAGES_A_DAY,
) -> Demonstration:
    """Invent three worlds, learn from them, and write report, models and data into a folder.

    Parameters
    ----------
    folder : path
        Made if it is not there. Files of an earlier demonstration are replaced, others left alone.
    n_threads, verbose
        As in `run_study`.
    train, test : int
        How many utterances to learn from and to test on.
    train_sessions, test_sessions, unlabeled : int
        How many sessions of searches; the last ones have no labels.
    pages_a_day : int
        How many result pages with clicks, of ten days to learn from and four to test on.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "demo"
    >>> sizes = {"train_sessions": 30, "test_sessions": 10, "unlabeled": 10, "pages_a_day": 30}
    >>> made = demonstrate(folder, train=60, test=20, **sizes)
    >>> sorted(path.name for path in folder.iterdir() if "sessions" in path.name)
    ['sessions-model', 'test-sessions.jsonl', 'train-sessions.jsonl', 'unlabeled-sessions.jsonl']
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    learnt, tested = utterance_world(train, 1), utterance_world(test, 2)
    new = Utterances.from_lists(utterance_world(NEW, 3).tokens)
    learnt.write(place / "train.jsonl")
    tested.write(place / "test.jsonl")
    new.write(place / "new.jsonl")
    world = SearchWorld(SEARCHES)
    searches, others = (
        world.sessions(count, random_state=seed).sessions
        for seed, count in enumerate((train_sessions, test_sessions), start=1)
    )
    more = _without_labels(world.sessions(unlabeled, random_state=3).sessions)
    searches.write(place / "train-sessions.jsonl")
    others.write(place / "test-sessions.jsonl")
    more.write(place / "unlabeled-sessions.jsonl")
    clicks = ClickWorld(
        CLICKS, pages_a_day=pages_a_day, drift=DRIFT, swaps=SWAPS, disorder=DISORDER
    )
    pages = clicks.days(1, TRAIN_DAYS)
    later = clicks.days(TRAIN_DAYS + 1, TRAIN_DAYS + TEST_DAYS)
    pages.write(place / "train-pages.tsv")
    later.write(place / "test-pages.tsv")
    material = Material(
        learnt,
        tested,
        searches,
        others,
        more,
        pages,
        later,
        _truth_of(clicks, TRAIN_DAYS),
        invented=True,
    )
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
        "sessions-model": "what tells the intent of every query",
        "train-sessions.jsonl": f"{train_sessions:,} sessions of searches it learnt from",
        "test-sessions.jsonl": f"{test_sessions:,} sessions it was tested on",
        "unlabeled-sessions.jsonl": f"{unlabeled:,} sessions without labels",
        "clicks-model": "how people click, and what attracts them",
        "train-pages.tsv": f"{len(pages):,} result pages with clicks it learnt from",
        "test-pages.tsv": f"{len(later):,} pages of the days after, it was tested on",
    }
    return Demonstration([outcome.headline for outcome in outcomes], files)


def _truth_of(world: ClickWorld, day: int) -> Attractiveness:
    queries, docs = (ids.strings() for ids in world.pairs(day))
    return Attractiveness(queries, docs, world.attractiveness(day))


def _without_labels(log: Sessions) -> Sessions:
    rows = ({**row, "steps": [_unlabeled(step) for step in row["steps"]]} for row in log.rows())
    return Sessions.from_rows(rows)


def _unlabeled(step: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in step.items() if name != "label"}
