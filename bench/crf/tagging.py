"""Tokens a second from lists of feature strings: encoding and decoding together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from bench.benchmark import Setting
from bench.crf import crfsuite, ours
from bench.crf.data import Sentences, Tags
from bench.tables import Bar, Row, Table
from bench.timing import Ratio, Samples, alternate, version
from purport.fold.thread_engine import available_cores
from purport.sequence.crf import CRF

BAR = 2.5
ITERATIONS = 15
"""The models are trained so long; how good they are does not matter here."""

OURS, PEER = "purport, 1 thread", "python-crfsuite"


def run(setting: Setting) -> Iterator[Table]:
    train = Sentences.read(setting, "atis", "train", one_of=8 if setting.quick else 1)
    test = Sentences.read(setting, "atis", "test")
    crf = ours.fit(CRF(max_iter=ITERATIONS), train.strings, train.labels)
    with TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        taggers = _ours(crf, test)
        if crfsuite.is_installed():
            crfsuite.train(train, model=model, c2=1.0, max_iterations=ITERATIONS)
            taggers |= _peers(model, test)
        found = {name: tag() for name, tag in taggers.items()}
        samples = alternate(taggers, 3 * setting.rounds)
    yield Table(
        f"Tagging {test.name} from lists of strings: {test.tokens} tokens,"
        f" {crf.classes_.size} labels",
        "tokens/s",
        list(_rows(samples, found, test)),
        [
            f"Models after {ITERATIONS} iterations on {train.name}; one file of CRFsuite serves all"
            " its wrappers.",
            "Systems alternate; medians by the wall clock. The strings are there before the clock"
            " starts, for chaine as dicts.",
        ],
        judged=not setting.quick,
    )


def _ours(crf: CRF, test: Sentences) -> dict[str, Callable[[], Tags]]:
    def on(threads: int, X: Any) -> Callable[[], Tags]:
        def tag() -> Tags:
            crf.n_threads = threads
            return crf.predict(X)

        return tag

    taggers = {OURS: on(1, test.strings)}
    cores = available_cores()
    if cores > 1:
        taggers[f"purport, {cores} threads"] = on(cores, test.strings)
    return taggers


def _peers(model: Path, test: Sentences) -> dict[str, Callable[[], Tags]]:
    opened = crfsuite.Opened(model)
    taggers: dict[str, Callable[[], Tags]] = {PEER: lambda: opened.tag(test.strings)}
    if version("sklearn-crfsuite"):
        import sklearn_crfsuite

        wrapper = sklearn_crfsuite.CRF(model_filename=str(model))
        taggers["sklearn-crfsuite"] = lambda: wrapper.predict(test.strings)
    if version("chaine"):
        from chaine.crf import Model

        chained = Model(str(model))
        dicts = [
            [dict.fromkeys(features, 1.0) for features in sentence] for sentence in test.strings
        ]
        taggers["chaine"] = lambda: chained.predict(dicts)
    return taggers


def _rows(samples: dict[str, Samples], found: dict[str, Tags], test: Sentences) -> Iterator[Row]:
    peer = samples.get(PEER)
    for name, taken in samples.items():
        ratio = None if peer is None else Ratio.of(peer.wall, taken.wall)
        yield Row(
            name,
            test.tokens / median(taken.wall),
            None if ratio is None else ratio.middle,
            None if ratio is None or name == PEER else ratio.spread,
            Bar("ratio", "at least", BAR) if name == OURS else None,
            f"{taken}; {_agreement(found[name], found[OURS]):.2%} of the labels are ours",
        )
    for package in (PEER, "sklearn-crfsuite", "chaine"):
        if package not in samples:
            yield Row.not_found(package, package)


def _agreement(a: Tags, b: Tags) -> float:
    pairs = list(zip(chain(*a), chain(*b), strict=True))
    return sum(x == y for x, y in pairs) / len(pairs)
