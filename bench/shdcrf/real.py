"""The paper's Tables 4 and 5 on real sets: dialogues, calls, and search sessions.

The texts of dialogues and calls are theirs alone; nothing of them stands in a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bench.benchmark import Setting
from bench.shdcrf import choosing
from bench.shdcrf.choosing import Grid, Pair
from bench.shdcrf.data import Half, Labelled, calls, dialogues, intentions
from bench.shdcrf.folded import gains, table_4, table_5
from bench.shdcrf.settings import (
    BEHAVIOUR,
    BEHAVIOUR_NEIGHBOURS,
    CALLS,
    DIALOGUES,
    FOLD_SEED,
    FOLDS,
    GRID_OF_BEHAVIOUR,
    GRID_OF_TEXTS,
    REAL_STATES_PER_LABEL,
    STATES_PER_LABEL,
    TEXTS,
    TEXTS_NEIGHBOURS,
    Penalties,
)
from bench.shdcrf.systems import (
    CHAIN,
    LATENT,
    SPARSE,
    Run,
    cross_validate,
    joined,
    supervised,
    timed,
)
from bench.tables import Table

SIZES = {"dialogues": 500, "calls": 30}
SMALL = {"dialogues": 60, "calls": 10}
READERS: dict[str, Callable[[Setting, int, Half], Labelled]] = {
    "dialogues": dialogues,
    "calls": calls,
}
CHOSEN = {"dialogues": DIALOGUES, "calls": CALLS}


def run(setting: Setting) -> Iterator[Table]:
    for name, read in READERS.items():
        size = (SMALL if setting.quick else SIZES)[name]
        if setting.choose:
            found = choosing.choose(
                development(read(setting, 2 * size, "development")),
                REAL_STATES_PER_LABEL,
                TEXTS,
                TEXTS_NEIGHBOURS,
                grid=Grid(**GRID_OF_TEXTS),
            )
            yield choosing.table(f"Choosing penalties on other {name}", found)
        yield from _tables(read(setting, size, "tables"), CHOSEN[name], setting)
    yield from _nested(intentions(setting), setting)


def development(data: Labelled) -> list[Pair]:
    """Return one half to train on, and the other to choose by."""
    numbers = np.arange(len(data.sessions))
    middle = len(numbers) // 2
    return [(data.take(numbers[:middle]), data.take(numbers[middle:]))]


def _tables(data: Labelled, penalties: Penalties, setting: Setting) -> Iterator[Table]:
    """Measure with penalties that were chosen on other sessions."""
    labels = len({label for each in data.labels for label in each})
    learners = supervised(REAL_STATES_PER_LABEL, labels, penalties, TEXTS, TEXTS_NEIGHBOURS)
    tests, runs = cross_validate(data, learners, FOLDS, FOLD_SEED)
    notes = [
        f"{data}, a subset drawn at random; {FOLDS} folds that split no session, seed {FOLD_SEED};"
        f" {REAL_STATES_PER_LABEL} states a label, {REAL_STATES_PER_LABEL * labels} in all.",
        f"Penalties, chosen on other sessions: {penalties}.",
    ]
    yield from _told(data, tests, runs, notes, setting)


def _nested(data: Labelled, setting: Setting) -> Iterator[Table]:
    """Measure with penalties that are chosen anew inside the training part of every fold."""
    labels = len({label for each in data.labels for label in each})
    tests: list[Labelled] = []
    parts: dict[str, list[Run]] = {}
    chosen: list[str] = []
    for number, (train, test) in enumerate(data.folds(FOLDS, FOLD_SEED)):
        inner = data.take(train)
        pairs = [
            (inner.take(learnt), inner.take(dev)) for learnt, dev in inner.folds(FOLDS, FOLD_SEED)
        ]
        penalties = choosing.chosen_by(
            choosing.choose(
                pairs[: 1 if setting.quick else None],
                STATES_PER_LABEL,
                BEHAVIOUR,
                BEHAVIOUR_NEIGHBOURS,
                Grid(**GRID_OF_BEHAVIOUR),
            )
        )
        chosen.append(f"fold {number + 1}: {penalties}")
        tests.append(data.take(test))
        learners = supervised(STATES_PER_LABEL, labels, penalties, BEHAVIOUR, BEHAVIOUR_NEIGHBOURS)
        for name, learn in learners.items():
            parts.setdefault(name, []).append(timed(learn, inner, tests[-1].sessions))
    runs = {name: joined(each) for name, each in parts.items()}
    notes = [
        f"{data}; {FOLDS} folds that split no person, seed {FOLD_SEED}; {STATES_PER_LABEL} states a"
        " label. What a query did, no texts; the true label of the query before, which is among"
        " the behaviour, is left out.",
        "Penalties, chosen by cross-validation inside the training part: " + "; ".join(chosen),
    ]
    yield from _told(data, tests, runs, notes, setting)


def _told(
    data: Labelled,
    tests: Sequence[Labelled],
    runs: Mapping[str, Run],
    notes: Sequence[str],
    setting: Setting,
) -> Iterator[Table]:
    judged = not setting.quick
    found = gains(tests, runs)
    told = [*notes, *map(has_structure, ((k[0], k[1], each) for k, each in found.items()))]
    title = f"Table 4: {data.name}"
    yield table_4(title, tests, runs, (), [note for note in told if note], judged)
    yield from table_5(data.name, tests, runs, judged, bars=False)


def has_structure(told: tuple[str, str, Any]) -> str:
    """Say whether the data have what hidden states need, as far as this can tell."""
    ours, theirs, each = told
    if (ours, theirs) not in ((SPARSE, CHAIN), (SPARSE, LATENT)):
        return ""
    if each.low > 0.0 and each.p < 0.05:
        return f"{ours} is better than {theirs}: these data have such structure."
    if each.high < 0.0:
        return f"{ours} is worse than {theirs}: no such structure, and more to learn."
    return f"No difference between {ours} and {theirs} is seen: no such structure is found."
