"""Peak memory of training, each system alone in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.benchmark import BenchError, Setting
from bench.crf import crfsuite, ours
from bench.crf.data import Sentences
from bench.tables import Row, Table
from bench.timing import peak_megabytes
from purport.sequence.crf import CRF

ITERATIONS = 3
SYSTEMS = {
    "python-crfsuite, sentence by sentence": "crfsuite",
    "purport, lists of strings": "lists",
    "purport, records": "records",
}


def run(setting: Setting) -> Iterator[Table]:
    path = str(setting.folder("atis").parent)
    rows, at_peer = [], None
    for who, how in SYSTEMS.items():
        if how == "crfsuite" and not crfsuite.is_installed():
            rows.append(Row.not_found(who, crfsuite.PACKAGE))
            continue
        told = _alone(path, how)
        if told is None:
            rows.append(Row(who, None, note="this system does not tell the peak of a process"))
            continue
        data, loaded, peak = told
        at_peer = peak if how == "crfsuite" else at_peer
        note = (
            f"{data:.0f} with the data, {loaded - data:.0f} more after a toy fit,"
            f" {peak - loaded:.0f} more in training"
        )
        rows.append(Row(who, peak, None if at_peer is None else at_peer / peak, note=note))
    notes = [
        f"ATIS train, 120 labels, window features, {ITERATIONS} iterations, 1 thread; the ratio"
        " is that of the peaks.",
        "With the data: Python, purport's reader and pyarrow in all of them, and the sentences. The"
        " toy fit loads what fitting needs: Numba and compiled kernels, or pycrfsuite.",
        "python-crfsuite is given one sentence at a time, so that it never holds all strings as"
        " Python objects.",
    ]
    yield Table("Peak memory of training", "MB", rows, notes)


def _alone(path: str, how: str) -> list[float] | None:
    """Train in a process of its own; return its peaks with data, after a toy fit and at its end."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.crf.memory", path, how],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise BenchError(f"The process that measures memory ({how}) failed:\n{done.stderr}")
    told: list[float | None] = json.loads(done.stdout.splitlines()[-1])
    peaks = [peak for peak in told if peak is not None]
    return peaks if len(peaks) == len(told) else None


def train_alone(path: str, how: str) -> list[float | None]:
    """Train one system here and return the peaks with data, after a toy fit, and at the end."""
    data = Sentences.read(Setting(Path(path)), "atis", "train")
    if how == "lists":
        _ = data.strings
    peaks = [peak_megabytes()]
    train: dict[str, Callable[[Sentences], Any]] = {
        "records": lambda some: ours.fit(_crf(), some.records, None),
        "lists": lambda some: ours.fit(_crf(), some.strings, some.labels),
        "crfsuite": _stream_to_crfsuite,
    }
    for some in (Sentences.read(Setting(Path(path)), "atis", "dev", one_of=250), data):
        train[how](some)
        peaks.append(peak_megabytes())
    return peaks


def _crf() -> CRF:
    return CRF(max_iter=ITERATIONS, n_threads=1)


def _stream_to_crfsuite(data: Sentences) -> None:
    import os

    import pycrfsuite

    trainer = pycrfsuite.Trainer(
        algorithm="lbfgs", params={"c2": 1.0, "max_iterations": ITERATIONS}, verbose=False
    )
    for number, labels in enumerate(data.labels):
        (features,) = data.windows.strings(data.records[number : number + 1])
        trainer.append(features, labels)
    trainer.train(os.devnull)


if __name__ == "__main__":
    print(json.dumps(train_alone(*sys.argv[1:])))
