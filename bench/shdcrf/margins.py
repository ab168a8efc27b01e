"""The paper's Tables 4 and 5 on an invented log of searches, and in other worlds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from bench.benchmark import Setting
from bench.shdcrf import choosing
from bench.shdcrf.data import Invented, Labelled, invented
from bench.shdcrf.folded import gains, scored_row, table_4, table_5
from bench.shdcrf.scores import Gain
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
from bench.shdcrf.systems import SPARSE, cross_validate, supervised, with_unlabelled
from bench.tables import Row, Table
from purport.measure.resampled_t import corrected_resampled_t

Pair = tuple[str, str]
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
    here = {(ours, theirs): each for (ours, theirs, _), each in gains(tests, runs).items()}
    yield _elsewhere(here, sessions, judged)


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


def _elsewhere(here: Mapping[Pair, Gain], sessions: int, judged: bool) -> Table:
    """Measure the systems that learn from labels alone in other worlds too."""
    rows = []
    shares: dict[Pair, list[float]] = {}
    for seed in (BAR_SEED, *OTHER_SEEDS):
        told = here
        if seed != BAR_SEED:
            learners = supervised(STATES_PER_LABEL, LABELS, INVENTED, wide=None)
            data = invented(seed, sessions).labelled
            tests, runs = cross_validate(data, learners, FOLDS, FOLD_SEED)
            told = {(ours, theirs): each for (ours, theirs, _), each in gains(tests, runs).items()}
        for (ours, theirs), each in told.items():
            shares.setdefault((ours, theirs), []).append(100.0 * each.relative)
            if ours == SPARSE:
                who = f"seed {seed}: {ours} over {theirs}"
                rows.append(Row(who, 100.0 * each.relative, None, each.spread, note=str(each)))
    for (ours, theirs), values in shares.items():
        if len(values) > 1:
            over = corrected_resampled_t(values, 0.0)
            note = f"p {over.p_value:.2g} by the t test over {len(values)} worlds"
            spread = (over.low, over.high)
            rows.append(Row(f"mean: {ours} over {theirs}", over.mean, None, spread, note=note))
    notes = [
        "The same settings in worlds with other names, words and sessions. No bar. Spread of the"
        " means: 95 % by the t test, worlds being independent of each other.",
    ]
    return Table("Gain in F in several worlds", "% of F", rows, notes, judged)
