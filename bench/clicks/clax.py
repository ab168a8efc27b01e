"""Drives clax-models, click models by gradients in JAX, with compilation timed apart.

    pip install clax-models==0.1.1 jax==0.7.2 jaxlib==0.7.2

Newer JAX breaks the Flax that it asks for. It brings PyTorch, which it uses to load data; here
arrays are handed over as they are, so loading is not in its times.

* One pass is a step of AdamW a batch, on the conditional log-likelihood; it is no iteration of EM,
  and more or fewer of them are needed. A step updates the moments of every pair, also of those
  that the batch does not hold, so a pass costs less with larger batches.
* Parameters are logits in float32 that start near 1, which is a probability of 0.73.
* Its own test step computes marginal probabilities: for UBM that is unrolled over all pairs of
  ranks and takes minutes to compile. Here only conditional ones are asked for.
* It takes all the cores that the process may use. CPU times count them all; for wall times pin the
  process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.benchmark import BenchError
from bench.timing import Samples
from bench.timing import version as version_of

PACKAGE = "clax-models"
MODELS = {
    "UBM": "UserBrowsingModel",
    "PBM": "PositionBasedModel",
    "DBN": "DynamicBayesianNetwork",
    "CCM": "ClickChainModel",
}


def is_installed() -> bool:
    """Tell whether the peer can be measured."""
    return all(find_spec(name) for name in ("clax", "jax", "flax", "optax"))


def version() -> str | None:
    """Return the versions that matter, or None."""
    if not is_installed():
        return None
    return f"{PACKAGE} {version_of(PACKAGE)}, jax {version_of('jax')}"


def module(name: str) -> Any:
    """Import a module of the peer, or of what it stands on."""
    if not is_installed():
        raise BenchError(
            f"{PACKAGE} is not installed: pip install {PACKAGE}==0.1.1 jax==0.7.2 jaxlib==0.7.2"
        )
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    return import_module(name)


@dataclass(frozen=True)
class Log:
    """Result pages as arrays of one width.

    Attributes
    ----------
    pairs : (pages, ranks) int32
        Numbers of query and document, from 0.
    clicks : (pages, ranks)
        0 or 1.
    mask : (pages, ranks) bool
        False past a page's end.
    """

    pairs: NDArray[np.int32]
    clicks: NDArray[Any]
    mask: NDArray[np.bool_]

    def batches(
        self, size: int, rng: np.random.Generator | None = None
    ) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield whole batches as the peer takes them, in log order or shuffled.

        What is left over is left out: another shape would be compiled anew.
        """
        pages, ranks = self.pairs.shape
        order = np.arange(pages) if rng is None else rng.permutation(pages)
        positions = np.broadcast_to(np.arange(1, ranks + 1, dtype=np.int16), (size, ranks))
        for start in range(0, pages - size + 1, size):
            rows = order[start : start + size]
            yield {
                "query_doc_ids": self.pairs[rows].astype(np.int32),
                "positions": np.where(self.mask[rows], positions, np.int16(0)),
                "mask": self.mask[rows].astype(np.bool_),
                "clicks": self.clicks[rows].astype(np.float16),
            }


@dataclass
class Passes:
    """What some passes over a log took.

    Attributes
    ----------
    model : object
        The peer's model after them.
    pages : int
        Pages a pass went over.
    compiled : Samples
        The one first step, most of which is compilation; it is undone before the passes.
    taken : Samples
        Seconds of each pass.
    loss : list of float
        Mean loss of each pass: negative conditional log-likelihood, mean over ranks and pages.
    """

    model: Any
    pages: int
    compiled: Samples = field(default_factory=Samples)
    taken: Samples = field(default_factory=Samples)
    loss: list[float] = field(default_factory=list)

    @property
    def microseconds(self) -> list[float]:
        """Return the CPU time of a page in each pass."""
        return [1e6 * seconds / self.pages for seconds in self.taken.cpu]


def new_model(name: str, pairs: int, ranks: int, seed: int = 0) -> Any:
    """Return an untrained model over so many pairs."""
    sizes = {"positions": ranks} if name in {"UBM", "PBM"} else {}
    rngs = module("flax.nnx").Rngs(seed)
    return getattr(module("clax"), MODELS[name])(query_doc_pairs=pairs, rngs=rngs, **sizes)


def train(
    name: str,
    log: Log,
    batch_size: int = 1000,
    passes: int = 3,
    learning_rate: float = 0.003,
    random_state: int | None = None,
) -> Passes:
    """Train by the peer's own step; a `random_state` shuffles the pages of each pass."""
    clax, nnx = module("clax"), module("flax.nnx")
    jax, metric = module("jax"), module("clax.metrics")
    pairs, ranks = int(log.pairs.max()) + 1, log.pairs.shape[1]
    size = min(batch_size, len(log.pairs))
    rng = None if random_state is None else np.random.default_rng(random_state)
    trainer = clax.Trainer(optimizer=module("optax").adamw(learning_rate))
    model = new_model(name, pairs, ranks, random_state or 0)
    optimizer = nnx.ModelAndOptimizer(model, trainer.optimizer)
    metrics = metric.MultiMetric({"loss": metric.Average("loss")})
    done = Passes(model, len(log.pairs) // size * size)

    def step(batch: dict[str, NDArray[Any]]) -> None:
        trainer._train_step(model, optimizer, metrics, batch)

    model.train()
    # Copied, because the step may write where the old values lie.
    before = jax.tree.map(lambda leaf: leaf.copy(), nnx.state(optimizer))
    with done.compiled.taken():
        step(next(log.batches(size)))
        jax.block_until_ready(nnx.state(optimizer))
    nnx.update(optimizer, before)
    metrics.reset()
    for _ in range(passes):
        batches = list(log.batches(size, rng))
        with done.taken.taken():
            for batch in batches:
                step(batch)
            jax.block_until_ready(nnx.state(optimizer))
        done.loss.append(float(metrics.compute(prefix="")["loss"]))
        metrics.reset()
    model.eval()
    return done


def conditional_click_probabilities(
    model: Any, log: Log, batch_size: int = 1000
) -> NDArray[np.float64]:
    """Return P(click | clicks before) of each rank; NaN past a page's end."""
    predict = module("flax.nnx").jit(lambda model, batch: model.predict_conditional_clicks(batch))
    found = np.full(log.pairs.shape, np.nan)
    pages = len(log.pairs)
    size = min(batch_size, pages)
    for start in range(0, pages, size):
        # The last batch reaches back, so that all are of one shape.
        first = min(start, pages - size)
        rows = slice(first, first + size)
        (batch,) = Log(log.pairs[rows], log.clicks[rows], log.mask[rows]).batches(size)
        found[rows] = np.exp(np.asarray(predict(model, batch), dtype=np.float64))
    found[~log.mask] = np.nan
    return found


def started() -> float:
    """Import the peer and return the CPU seconds that it took."""
    began = time.process_time()
    module("clax")
    return time.process_time() - began
