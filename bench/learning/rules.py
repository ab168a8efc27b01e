"""Rules that every path keeps: what BIO costs to train and to label, and what it brings.

A rule that no path breaks anyhow says nothing of whether it is held: so the second table counts the
forbidden pairs in the best paths, in the n best and in samples of models that saw few sentences.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from functools import partial
from itertools import chain, pairwise, product
from statistics import median

from bench.benchmark import Setting
from bench.crf.data import Sentences
from bench.tables import Bar, Row, Table
from bench.timing import alternate
from purport.measure.bootstrap import paired_bootstrap
from purport.sequence.crf import CRF
from purport.study.defaults import L2

MAX_ITERATIONS = 150
FEW = 64
"""One training sentence of so many is taken where forbidden pairs are counted."""
PATHS = 10
SEED = 7


def run(setting: Setting) -> Iterator[Table]:
    for name in ("atis", "snips"):
        yield compare(setting, name, 16 if setting.quick else {"atis": 1, "snips": 4}[name])
        yield broken(setting, name)


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


def broken(setting: Setting, name: str) -> Table:
    """Count the forbidden pairs in what models say that were trained with a rule and without."""
    train = Sentences.read(setting, name, "train", one_of=FEW)
    dev = Sentences.read(setting, name, "dev")
    labels = sorted(set(chain.from_iterable(train.labels)))
    ends = [[None, *sentence, None] for sentence in train.labels]
    seen = set(chain.from_iterable(map(pairwise, ends)))
    everything = set(product([None, *labels], [*labels, None]))
    unseen = sorted(everything - seen - {(None, None)}, key=str)
    bio = {(before, label) for before, label in everything if is_torn(before, label)}
    rules = {"BIO": ("bio", bio), "pairs of train alone": (unseen, set(unseen))}
    rows = []
    for rule, (forbid, forbidden) in rules.items():
        for held in (False, True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the iterations are said
                crf = CRF(l2=L2, max_iter=MAX_ITERATIONS, forbid=forbid if held else None)
                crf.fit(train.records)
            best = crf.predict(dev.records)
            nbest = [
                path.labels for paths in crf.predict_nbest(dev.records, n=PATHS) for path in paths
            ]
            drawn = [*chain.from_iterable(crf.sample(dev.records, n=PATHS, random_state=SEED))]
            counts = [count_pairs(paths, forbidden) for paths in (best, nbest, drawn)]
            who = f"{rule}: {'forbidden' if held else 'not forbidden'}"
            bar = Bar("figure", "at most", 0) if held else None
            note = (
                f"{counts[0]} in {len(best):,} best paths, {counts[1]} in {len(nbest):,} of the"
                f" {PATHS} best, {counts[2]} in {len(drawn):,} samples"
            )
            rows.append(Row(who, sum(counts), bar=bar, note=note))
    notes = [
        f"Trained on {train.name}, l2 {L2:g}, {MAX_ITERATIONS} iterations; said of {dev.name};"
        f" samples with seed {SEED}. Pairs of train alone: {len(unseen):,} pairs of labels, first"
        f" and last ones too, that do not occur in train; {len(seen):,} are left."
    ]
    return Table(f"Forbidden pairs, {name}", "pairs", rows, notes)


def count_pairs(paths: list[list[str]], forbidden: set[tuple[str | None, str | None]]) -> int:
    """Count the pairs of neighbours, and of a path's ends with None, that are forbidden.

    >>> count_pairs([["O", "I-x"], ["I-x"]], {("O", "I-x"), (None, "I-x")})
    2
    """
    ends = ([None, *path, None] for path in paths)
    return sum(pair in forbidden for pair in chain.from_iterable(map(pairwise, ends)))


def breaks(labels: list[str]) -> bool:
    """Tell whether an I- stands where none may.

    >>> breaks(["O", "I-x"]), breaks(["B-x", "I-x"])
    (True, False)
    """
    return any(is_torn(before, label) for before, label in pairwise(["O", *labels]))


def is_torn(before: str | None, label: str | None) -> bool:
    """Tell whether a label goes on with what does not stand before it.

    >>> is_torn("O", "I-x"), is_torn("I-x", "I-x"), is_torn(None, "B-x")
    (True, False, False)
    """
    if label is None or not label.startswith("I-"):
        return False
    return before not in (f"B-{label[2:]}", label)
