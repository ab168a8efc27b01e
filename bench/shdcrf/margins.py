"""The paper's Tables 4 and 5 on an invented log of searches, and in other worlds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bench.benchmark import Setting
from bench.shdcrf import choosing
from bench.shdcrf.data import Invented, Labelled, invented
from bench.shdcrf.folded import gains, scored_row, table_4, table_5
from bench.shdcrf.settings import (
    BAR_SEED,
    DEVELOPMENT_SEEDS,
    FOLD_SEED,
    FOLDS,
    INVENTED,
    OTHER_SEEDS,
    SESSIONS,
    STATES_PER_LABEL,
    UNLABELLED,
)
from bench.shdcrf.systems import CHAIN, LATENT, SPARSE, cross_validate, supervised, with_unlabelled
from bench.tables import Row, Table

LABELS = 8


def run(setting: Setting) -> Iterator[Table]:
    sessions, unlabelled = (60, 60) if setting.quick else (SESSIONS, UNLABELLED)
    penalties = INVENTED
    if setting.choose:
        yield choosing.table(
            "Choosing penalties on worlds of development",
            choosing.choose(development(sessions), STATES_PER_LABEL),
        )
    log = invented(BAR_SEED, sessions)
    more = invented(BAR_SEED, unlabelled, draw=1).labelled.sessions
    states = STATES_PER_LABEL * LABELS
    learners = supervised(STATES_PER_LABEL, LABELS, penalties)
    learners |= with_unlabelled(states, penalties, more)
    tests, runs = cross_validate(log.labelled, learners, FOLDS, FOLD_SEED)
    notes = [
        f"{log.labelled}; {FOLDS} folds that split no person, seed {FOLD_SEED};"
        f" {unlabelled} sessions more without labels for SHDCRF*. {states} hidden states.",
        f"Penalties, chosen on worlds with the seeds {DEVELOPMENT_SEEDS}: {penalties}.",
        "Windows: what the query says and which titles were clicked; only the CRF that sees the"
        " neighbours has more.",
    ]
    judged = not setting.quick
    title = f"Table 4: {log.labelled.name}"
    yield table_4(title, tests, runs, list(_limits(log, tests)), notes, judged)
    yield from table_5(log.labelled.name, tests, runs, judged)
    yield _elsewhere(sessions, judged)


def development(sessions: int) -> list[choosing.Pair]:
    """Return sessions to train on, as many as in a fold, and others to choose by."""
    train = sessions * (FOLDS - 1) // FOLDS
    return [
        (invented(seed, train).labelled, invented(seed, sessions, draw=1).labelled)
        for seed in DEVELOPMENT_SEEDS
    ]


def _limits(log: Invented, tests: list[Labelled]) -> Iterator[Row]:
    names = np.array(log.world.labels)
    for chain, who in (
        (None, "limit of each step by itself"),
        ("labels", "limit of a chain of labels"),
        ("sub-intents", "limit of the chain of sub-intents"),
    ):
        found = [
            [
                names[each.argmax(axis=1)].tolist()
                for each in log.world.posteriors(test.sessions, chain)
            ]
            for test in tests
        ]
        yield scored_row(who, tests, found, "; all that can be known of the world is known")


def _elsewhere(sessions: int, judged: bool) -> Table:
    """Measure the systems that learn from labels alone in other worlds."""
    rows = []
    for seed in OTHER_SEEDS:
        log = invented(seed, sessions)
        learners = supervised(STATES_PER_LABEL, LABELS, INVENTED, wide=None)
        tests, runs = cross_validate(log.labelled, learners, FOLDS, FOLD_SEED)
        for (ours, theirs, _), each in gains(tests, runs).items():
            if ours == SPARSE and theirs in (CHAIN, LATENT):
                who = f"seed {seed}: {ours} over {theirs}"
                rows.append(Row(who, 100.0 * each.relative, None, each.spread, note=str(each)))
    notes = ["The same settings in worlds with other names, words and sessions. No bar."]
    return Table("Gain in F in other worlds", "% of F", rows, notes, judged)
