"""Holding every path to BIO: what it costs to train and to label, and what it brings."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from functools import partial
from statistics import median

from bench.benchmark import Setting
from bench.crf.data import Sentences
from bench.tables import Row, Table
from bench.timing import alternate
from purport.measure.bootstrap import paired_bootstrap
from purport.sequence.crf import CRF
from purport.study.defaults import L2

MAX_ITERATIONS = 150


def run(setting: Setting) -> Iterator[Table]:
    for name in ("atis", "snips"):
        yield compare(setting, name, 16 if setting.quick else {"atis": 1, "snips": 4}[name])


def compare(setting: Setting, name: str, one_of: int) -> Table:
    """Train with the rule and without; count what breaks BIO in the labels of dev."""
    train = Sentences.read(setting, name, "train", one_of=one_of)
    dev = Sentences.read(setting, name, "dev")
    models, training = {}, {}
    for forbid in (None, "bio"):
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the iterations are said
            models[forbid] = CRF(l2=L2, max_iter=MAX_ITERATIONS, forbid=forbid).fit(train.records)
        evaluations = sum(now["evaluations"] for now in models[forbid].history_)
        training[forbid] = (time.perf_counter() - began) / evaluations
    said = {forbid: model.predict(dev.records) for forbid, model in models.items()}
    asked = {forbid: partial(model.predict, dev.records) for forbid, model in models.items()}
    labelling = alternate(asked, setting.rounds)
    told = paired_bootstrap(dev.labels, said["bio"], said[None], "f1")
    rows = []
    for forbid, f1 in ((None, told.b), ("bio", told.a)):
        broken = sum(map(breaks, said[forbid]))
        speed = dev.tokens / median(labelling[forbid].wall)
        note = (
            f"{broken} of {len(dev.labels)} sentences break BIO; {1e3 * training[forbid]:.0f} ms an"
            f" evaluation in training; {speed:,.0f} words a second to label"
        )
        rows.append(Row(f"forbid={forbid!r}", f1, note=note))
    rows.append(Row("difference", told.difference, None, (told.low, told.high)))
    notes = [f"Trained on {train.name}, l2 {L2:g}, {MAX_ITERATIONS} iterations; scored on dev."]
    return Table(f"BIO held, {name}", "span F1", rows, notes, not setting.quick)


def breaks(labels: list[str]) -> bool:
    """Tell whether an I- stands where none may.

    >>> breaks(["O", "I-x"]), breaks(["B-x", "I-x"])
    (True, False)
    """
    pairs = zip(["O", *labels], labels, strict=False)
    return any(
        label.startswith("I-") and before not in (f"B-{label[2:]}", label)
        for before, label in pairs
    )
