"""The first fit in a new process: from the start of Python to a trained toy, kernels cached."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from statistics import median

from bench.benchmark import Setting
from bench.crf import crfsuite
from bench.tables import Bar, Row, Table
from bench.timing import Samples, alternate

BAR = 2.0
TOY = """
X = [[["w=play"], ["w=some"], ["w=jazz"]], [["w=play"], ["w=blues"]]]
y = [["O", "O", "B-genre"], ["O", "B-genre"]]
"""
PROGRAMS = {
    "purport: import, fit, predict": f"{TOY}\nimport purport\npurport.CRF().fit(X, y).predict(X)",
    "purport: import alone": "import purport",
    "python-crfsuite: import, train": f"""{TOY}
import os, pycrfsuite, tempfile
trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
for features, labels in zip(X, y):
    trainer.append(features, labels)
with tempfile.TemporaryDirectory() as folder:
    trainer.train(os.path.join(folder, "model"))
""",
    "floor: python -c pass": "pass",
}
FIRST, _, PEER, _ = PROGRAMS


def run(setting: Setting) -> Iterator[Table]:
    programs = {
        name: program
        for name, program in PROGRAMS.items()
        if name != PEER or crfsuite.is_installed()
    }
    # The unmeasured first round of `alternate` compiles what is not yet compiled.
    samples = alternate(
        {name: partial(_start, program) for name, program in programs.items()},
        setting.rounds,
    )
    rows = [_row(name, samples[name]) for name in programs]
    if PEER not in programs:
        rows.append(Row.not_found(PEER, crfsuite.PACKAGE))
    notes = ["Wall clock of a whole process, each a new one; the kernels' cache is warm."]
    yield Table("The first fit in a new process", "s", rows, notes)


def _row(name: str, samples: Samples) -> Row:
    bar = Bar("figure", "at most", BAR) if name == FIRST else None
    return Row(name, median(samples.wall), spread=(min(samples.wall), max(samples.wall)), bar=bar)


def _start(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True)
