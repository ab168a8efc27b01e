"""Drives python-crfsuite with a stop-watch that stands still between its iterations.

So others can be measured in between. CRFsuite's own clock counts the CPU time of the process,
whatever it was spent on. Here the time of an iteration is that from the end of its predecessor's
report to the beginning of its own, which is when CRFsuite itself computes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from bench.benchmark import BenchError
from bench.crf.data import Sentences, Tags

PACKAGE = "python-crfsuite"


def is_installed() -> bool:
    """Tell whether the peer can be measured."""
    try:
        import pycrfsuite  # noqa: F401
    except ImportError:
        return False
    return True


@dataclass
class Iterations:
    """What CRFsuite reported of each iteration, and what our stop-watch says of it.

    Attributes
    ----------
    loss : list of float
        The objective after it.
    evaluations : list of int
        Gradients computed in it: CRFsuite's trials of the line search, and in the first one for
        the start.
    wall, cpu : list of float
        Seconds. The first includes what CRFsuite prepares after generating features.
    appended : float
        Seconds of handing over the data.
    prepared : float
        Seconds of generating features.
    """

    loss: list[float] = field(default_factory=list)
    evaluations: list[int] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    appended: float = 0.0
    prepared: float = 0.0
    features: int = 0

    def __len__(self) -> int:
        return len(self.loss)

    def per_evaluation(self, skip: int = 1) -> tuple[list[float], list[float]]:
        """Return seconds of a gradient, wall and CPU, of each iteration after the first `skip`.

        The L-BFGS step of the iteration is in them: it cannot be told apart from outside.
        """
        counts = self.evaluations[skip:]
        return (
            [seconds / count for seconds, count in zip(self.wall[skip:], counts, strict=True)],
            [seconds / count for seconds, count in zip(self.cpu[skip:], counts, strict=True)],
        )


def train(
    sentences: Sentences,
    between: Callable[[int], Any] | None = None,
    model: Path | None = None,
    **parameters: Any,
) -> Iterations:
    """Train by L-BFGS on feature strings; call `between` after each iteration with its number.

    Numbers begin at 1. Parameters are CRFsuite's own, "feature_" for "feature." in their names.
    """
    import pycrfsuite
    from pycrfsuite._logparser import TrainLogParser

    told = Iterations()

    class Watched(pycrfsuite.BaseTrainer):
        log = TrainLogParser()
        began = (0.0, 0.0)
        failures: ClassVar[list[BaseException]] = []

        def restart(self) -> None:
            self.began = (time.perf_counter(), time.process_time())

        def message(self, message: Any) -> None:
            line = message if isinstance(message, str) else message.decode("utf-8")
            if line.startswith("***** Iteration"):
                told.wall.append(time.perf_counter() - self.began[0])
                told.cpu.append(time.process_time() - self.began[1])
            event = self.log.feed(line)
            if event == "featgen_end":
                told.features = self.log.featgen_num_features or 0
                told.prepared = time.perf_counter() - self.began[0]
                self.restart()
            elif event == "iteration":
                info = self.log.last_iteration
                told.loss.append(info["loss"])
                told.evaluations.append(info["linesearch_trials"] + (not told.evaluations))
                self.step_aside()
                self.restart()

        def step_aside(self) -> None:
            if between is None or self.failures:
                return
            try:
                between(len(told))
            except BaseException as failure:
                # The extension module would print it and go on.
                self.failures.append(failure)
                raise

    trainer = Watched(algorithm="lbfgs")
    trainer.set_params({_dotted(name): value for name, value in parameters.items()})
    began = time.perf_counter()
    for features, labels in zip(sentences.strings, sentences.labels, strict=True):
        trainer.append(features, labels)
    told.appended = time.perf_counter() - began
    with TemporaryDirectory() as folder:
        trainer.restart()
        trainer.train(str(model or Path(folder) / "model"))
    if trainer.failures:
        raise trainer.failures[0]
    if not len(told):
        raise BenchError(f"python-crfsuite made no iteration on {sentences.name}.")
    return told


class Opened:
    """A trained model; its tagger reads the bytes where they lie, so both live together."""

    def __init__(self, model: Path) -> None:
        import pycrfsuite

        self.content = model.read_bytes()
        self.tagger = pycrfsuite.Tagger()
        self.tagger.open_inmemory(self.content)

    def tag(self, strings: list[list[list[str]]]) -> Tags:
        """Return the best labels of each sentence."""
        tag = self.tagger.tag
        return [tag(sentence) for sentence in strings]


def _dotted(name: str) -> str:
    return name.replace("feature_", "feature.", 1) if name.startswith("feature_") else name
