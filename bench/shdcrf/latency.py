"""How long it takes to label one session from Python, once the model is loaded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bench.benchmark import Setting
from bench.crf import ours
from bench.shdcrf.data import invented
from bench.shdcrf.settings import BAR_SEED, INVENTED, PER_QUERY, windows
from bench.shdcrf.systems import fitted, shdcrf
from bench.tables import Bar, Row, Table
from purport.store.folders import load, save

BAR = 1.0
"""Milliseconds: "well under" one is below it by half."""
STATES = 32


def run(setting: Setting) -> Iterator[Table]:
    train = invented(BAR_SEED, 60 if setting.quick else 1000).labelled
    test = invented(BAR_SEED, 50 if setting.quick else 300, draw=1).labelled.sessions
    one_by_one = [test[number : number + 1] for number in range(len(test))]
    strings = windows(PER_QUERY).fit(train.sessions).strings(test)
    with TemporaryDirectory() as folder:
        told = windows(PER_QUERY).fit(train.sessions).strings(train.sessions)
        models = {
            "a record": fitted(shdcrf(STATES, INVENTED), train),
            "lists of feature strings": ours.fit(
                shdcrf(STATES, INVENTED).set_params(features=None), told, train.labels
            ),
        }
        asked: dict[str, tuple[Any, list[Any]]] = {}
        for (name, model), given in zip(
            models.items(), (one_by_one, [[each] for each in strings]), strict=True
        ):
            path = Path(folder) / name
            save(model, path)
            asked[name] = (load(path), given)
    rows = []
    for name, (model, given) in asked.items():
        seconds = [_seconds(model.predict, each) for each in given * setting.rounds]
        low, high = np.quantile(seconds, [0.05, 0.95]).tolist()
        bar = Bar("figure", "at most", BAR)
        rows.append(
            Row(f"predict, {name}", 1e3 * median(seconds), None, (1e3 * low, 1e3 * high), bar)
        )
    notes = [
        f"{len(test)} sessions of {int(test.offsets[-1]) / len(test):.1f} steps on average, each"
        f" alone, {setting.rounds} rounds; {STATES} states, 8 labels; the model was saved and"
        " loaded. Features are computed in it. Spread: 5 to 95 % of all sessions.",
    ]
    yield Table("Labelling one session", "ms", rows, notes, not setting.quick)


def _seconds(predict: Callable[[Any], Any], session: Any) -> float:
    began = time.perf_counter()
    predict(session)
    return time.perf_counter() - began
