"""Span F1 on test at settings frozen on dev, beside python-crfsuite with the same setting."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.benchmark import Setting
from bench.crf import crfsuite, ours
from bench.crf.data import Sentences, Tags
from bench.crf.settings import CHOSEN, MAX_ITERATIONS, Chosen, choose
from bench.tables import Bar, Row, Table
from purport.measure.bootstrap import bootstrap_interval, paired_bootstrap
from purport.measure.slots import slot_scores

LITERATURE = {
    "atis": Row(
        "python-crfsuite, an earlier measurement",
        0.9429,
        note="window rich, c1 0.1, c2 0.01, 200 iterations; precision 0.9489, recall 0.9369",
    )
}
DRAWS = 2000
SEED = 0


def run(setting: Setting) -> Iterator[Table]:
    one_of = 16 if setting.quick else 1
    for name, chosen in CHOSEN.items():
        frozen = chosen
        if setting.choose:
            for told in choose(setting, name, one_of):
                if isinstance(told, Chosen):
                    frozen = told
                else:
                    yield told
        yield compare(setting, name, frozen, one_of)


def compare(setting: Setting, name: str, chosen: Chosen, one_of: int) -> Table:
    """Train both systems on train and score each once on test."""
    train = Sentences.read(setting, name, "train", chosen.windows, one_of)
    test = Sentences.read(setting, name, "test", chosen.windows)
    began = time.perf_counter()
    crf = ours.fit(chosen.crf(), train.records, train.labels)
    seconds = time.perf_counter() - began
    found = crf.predict(test.records)
    weights = len(crf._theta)
    last = crf.history_[-1]["objective"]
    note = (
        f"objective {last:.3f} after {len(crf.history_) - 1} iterations, {seconds:.0f} s,"
        f" all threads; {weights} weights, {crf.n_features_} not 0"
    )
    rows = [_scored("purport", test.labels, found, note)]
    if crfsuite.is_installed():
        theirs, note = _crfsuite(train, test, chosen)
        rows.append(_scored("python-crfsuite", test.labels, theirs, note))
        told = paired_bootstrap(test.labels, found, theirs, "f1", DRAWS, SEED)
        rows += [
            Row(
                "difference",
                told.difference,
                spread=(told.low, told.high),
                note=f"paired bootstrap over sentences, p = {told.p_value:.3g}",
            ),
            Row("upper end of its interval", told.high, bar=Bar("figure", "at least", 0.0)),
        ]
    else:
        rows.append(Row.not_found("python-crfsuite", crfsuite.PACKAGE))
    if name in LITERATURE:
        rows.append(LITERATURE[name])
    rows += _floors(train, test)
    notes = [
        f"{chosen}; chosen on dev. Trained on {train.name}, at most {MAX_ITERATIONS} iterations."
        " Settings scored on test: 1 a system.",
        f"Spread: 95 % of {DRAWS} bootstrap draws over sentences, seed {SEED}.",
    ]
    title = f"Span F1: {test.name}, {len(test.labels)} sentences"
    return Table(title, "span F1", rows, notes, judged=not setting.quick)


def _scored(who: str, gold: Tags, found: Tags, note: str) -> Row:
    scores = slot_scores(gold, found)
    interval = bootstrap_interval(gold, found, "f1", DRAWS, SEED)
    detail = (
        f"precision {scores.precision:.4f}, recall {scores.recall:.4f},"
        f" tokens {scores.token_accuracy:.4f}"
    )
    return Row(who, scores.f1, spread=(interval.low, interval.high), note=f"{detail}; {note}")


def _crfsuite(train: Sentences, test: Sentences, chosen: Chosen) -> tuple[Tags, str]:
    with TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        told = crfsuite.train(
            train, model=model, c1=chosen.l1, c2=chosen.l2, max_iterations=MAX_ITERATIONS
        )
        found = crfsuite.Opened(model).tag(test.strings)
    note = f"objective {told.loss[-1]:.3f} after {len(told)} iterations, {sum(told.wall):.0f} s"
    return found, f"{note}; {told.features} weights"


def _floors(train: Sentences, test: Sentences) -> Iterator[Row]:
    tags: defaultdict[str, Counter[str]] = defaultdict(Counter)
    everywhere: Counter[str] = Counter()
    for words, labels in zip(train.records.tokens, train.labels, strict=True):
        everywhere.update(labels)
        for word, label in zip(words, labels, strict=True):
            tags[word][label] += 1
    ((most, _),) = everywhere.most_common(1)
    of_word = {word: counts.most_common(1)[0][0] for word, counts in tags.items()}
    words_of_test = test.records.tokens
    by_word = [[of_word.get(word, most) for word in words] for words in words_of_test]
    majority = [[most] * len(words) for words in words_of_test]
    for who, found in (("most frequent tag of the word", by_word), ("majority tag", majority)):
        yield Row(f"floor: {who}", slot_scores(test.labels, found).f1)
