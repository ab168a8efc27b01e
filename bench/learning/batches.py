"""A generated file of a million sequences, learnt in batches and at once: scores and peak memory.

Each training runs in a process of its own, so that its peak is its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.benchmark import BenchError, Setting
from bench.tables import Bar, Row, Table
from bench.timing import peak_megabytes
from purport.measure.bootstrap import bootstrap_interval, paired_bootstrap
from purport.records.streams import write_batches
from purport.records.utterances import Utterances
from purport.sequence.crf import CRF
from purport.simulate.utterances import utterance_world

L2 = 1.0
PASSES = 3
BATCH = 10_000
AT_ONCE = 20_000  # utterances that are invented at once
TEST = 20_000
TEST_SEED, SEED = 1_000_003, 2_000_003
SIZES = (10_000, 100_000, 1_000_000)
WORLD = {"typos": 0.02}
WAYS = {"batches": "in batches", "at once": "at once: L-BFGS to its end"}


def run(setting: Setting) -> Iterator[Table]:
    sizes = (2_000, 20_000) if setting.quick else SIZES
    with TemporaryDirectory() as folder:
        told = {}
        for size in sizes:
            path = Path(folder) / f"{size}.parquet"
            write_batches(_invented(size), path)
            told[size, "batches"] = _alone(path, "batches", folder)
        told[sizes[-1], "at once"] = _alone(path, "at once", folder)
    yield _scores(told, sizes[-1], setting)
    yield _memory(told, sizes, setting)


def _invented(size: int) -> Iterator[Utterances]:
    for number, start in enumerate(range(0, size, AT_ONCE)):
        yield utterance_world(min(AT_ONCE, size - start), SEED + number, **WORLD)


def _scores(told: dict, size: int, setting: Setting) -> Table:
    test = utterance_world(TEST, TEST_SEED, **WORLD)
    gold = test.slots
    best, ours = told[size, "at once"], told[size, "batches"]
    rows = []
    for (sequences, how), each in reversed(told.items()):
        f1 = bootstrap_interval(gold, each["labels"], "f1")
        note = (
            f"log-likelihood {each['likelihood']:.5f} a word; {each['seconds']:.0f} s to train,"
            f" all threads; {each['weights']} weights; {each['how']}"
        )
        who = f"{sequences} sequences, {WAYS[how]}"
        rows.append(Row(who, f1.value, None, (f1.low, f1.high), note=note))
    compared = paired_bootstrap(gold, ours["labels"], best["labels"], "f1")
    rows += [
        Row(
            "in batches less at once",
            compared.difference,
            None,
            (compared.low, compared.high),
            note=f"both from {size} sequences; p {compared.p_value:.3f}",
        ),
        Row("upper end of its interval", compared.high, bar=Bar("figure", "at least", 0.0)),
    ]
    notes = [
        f"Invented utterances in Parquet, seeds from {SEED}; {TEST} others to test on, seed"
        f" {TEST_SEED}; typos {WORLD['typos']}; l2 {L2:g}; batches of {BATCH}, {PASSES} passes.",
        f"Settings scored on test: {len(told)}, none chosen. Intervals: 95 %, paired bootstrap over"
        " utterances. Rate and size of the steps are the defaults, chosen on the dev splits of ATIS"
        " and SNIPS.",
    ]
    return Table("Test score of learning in batches", "span F1", rows, notes, not setting.quick)


def _memory(told: dict, sizes: tuple[int, ...], setting: Setting) -> Table:
    rows = []
    first = told[sizes[0], "batches"]["peak"]
    for (size, how), each in told.items():
        grown = each["peak"] - each["start"]
        bar = None
        if how == "batches" and size == sizes[-1]:
            bar = Bar("figure", "at most", 2 * (first - told[sizes[0], "batches"]["start"]))
        note = (
            f"{each['start']:.0f} MB before it begins; {each['weights']} weights and"
            f" {each['features']} features"
        )
        rows.append(Row(f"{size} sequences, {WAYS[how]}", grown, bar=bar, note=note))
    notes = [
        "Peak of the process less what Python and purport hold before. In batches it is bounded by"
        f" one batch ({BATCH} sequences), the features and the weights, whose number grows with"
        " new misspelt words; the bar is twice that of the smallest file.",
    ]
    return Table("Peak memory of learning in batches", "MB", rows, notes, not setting.quick)


def _alone(path: Path, how: str, folder: str) -> dict:
    out = Path(folder) / "told.json"
    done = subprocess.run(
        [sys.executable, "-m", "bench.learning.batches", str(path), how, str(out)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise BenchError(f"The process that learns ({how}) failed:\n{done.stderr}")
    return json.loads(out.read_text(encoding="utf-8"))


def learn_alone(path: str, how: str, out: str) -> None:
    """Learn in this process and write down what came of it."""
    toy = utterance_world(50, 5)
    CRF(max_iter=500).fit(toy).score(toy)  # what compiling and loading take is not counted
    CRF().fit_batches(lambda: [toy], 1)
    start, began = peak_megabytes(), time.perf_counter()
    if how == "batches":
        crf = CRF(l2=L2).fit_batches(lambda: Utterances.batches(path, BATCH), PASSES)
    else:
        crf = CRF(l2=L2, max_iter=1000).fit(Utterances.read(path))
    seconds, peak = time.perf_counter() - began, peak_megabytes()
    test = utterance_world(TEST, TEST_SEED, **WORLD)
    told = {
        "labels": crf.predict(test),
        "likelihood": crf.log_likelihood(test) / int(test.offsets[-1]),
        "seconds": seconds,
        "start": start,
        "peak": peak,
        "weights": len(crf._theta),
        "features": crf.num_attributes_,
        "how": f"{len(crf.history_)} {'passes' if how == 'batches' else 'iterations'}",
    }
    Path(out).write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    learn_alone(*sys.argv[1:])
