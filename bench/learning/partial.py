"""A curve over how many labels are known: kept as a clamp, beside leaving such sentences out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from bench.benchmark import Setting
from bench.crf.data import Sentences, Tags
from bench.tables import Row, Table
from purport.measure.bootstrap import paired_bootstrap
from purport.measure.slots import slot_scores
from purport.sequence.crf import CRF
from purport.study.defaults import L2

SHARES = (0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0)
SEED = 11
MAX_ITERATIONS = 150
SETS = {"atis": 1, "snips": 4}
"""How many training sentences there are to one that is taken."""


def run(setting: Setting) -> Iterator[Table]:
    for name, one_of in SETS.items():
        yield curve(setting, name, 16 * one_of if setting.quick else one_of)


def curve(setting: Setting, name: str, one_of: int) -> Table:
    """Hide labels at random, position by position, and train in three ways."""
    train = Sentences.read(setting, name, "train", one_of=one_of)
    test = Sentences.read(setting, name, "test")
    random = np.random.default_rng(SEED)
    # One draw for all shares: what is known at 20 % is known at 30 % as well.
    drawn = [random.random(len(labels)) for labels in train.labels]
    rows: list[Row] = []
    for share in SHARES[::3] if setting.quick else SHARES:
        rows += _at(share, train, test, drawn)
    scored = sum(row.figure is not None for row in rows)
    notes = [
        f"Trained on {train.name}, each label known with the probability said (seed {SEED});"
        f" default windows, l2 {L2:g}, at most {MAX_ITERATIONS} iterations; tested on {test.name},"
        f" {scored} settings scored once each, none chosen.",
        "Left out: only sentences whose labels are all known. As O: unknown labels taken for O.",
        "Spread: 95 % of the paired bootstrap over sentences; of the ways beside, the difference"
        " from the clamp.",
    ]
    return Table(
        f"F1 over the share of labels known, {name}", "span F1", rows, notes, not setting.quick
    )


def _at(share: float, train: Sentences, test: Sentences, drawn: list[np.ndarray]) -> Iterator[Row]:
    known: Tags = [
        [label if u < share else None for label, u in zip(labels, us, strict=True)]
        for labels, us in zip(train.labels, drawn, strict=True)
    ]
    clamped = _predicted(train, list(range(len(known))), known, test)
    if clamped is None:
        return
    f1 = slot_scores(test.labels, clamped).f1
    yield Row(f"{share:.0%} known: clamp", f1)
    if share == 1.0:
        return
    whole = [number for number, labels in enumerate(known) if None not in labels]
    as_outside = [[label or "O" for label in labels] for labels in known]
    for way, numbers, labels in (
        ("left out", whole, known),
        ("as O", list(range(len(known))), as_outside),
    ):
        found = _predicted(train, numbers, labels, test)
        if found is None:
            yield Row(f"{share:.0%} known: {way}", None, note=f"{len(numbers)} sentences left")
            continue
        told = paired_bootstrap(test.labels, found, clamped, "f1")
        note = f"{len(numbers)} sentences left; difference {told.difference:+.4f}"
        spread = (told.low, told.high)
        yield Row(f"{share:.0%} known: {way}", told.a, None, spread, note=note)


def _predicted(train: Sentences, numbers: list[int], labels: Tags, test: Sentences) -> Tags | None:
    chosen = [labels[number] for number in numbers]
    if len({label for sentence in chosen for label in sentence if label}) < 2:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the iterations are said
        crf = CRF(l2=L2, max_iter=MAX_ITERATIONS).fit(train.records[np.array(numbers)], chosen)
    return crf.predict(test.records)
