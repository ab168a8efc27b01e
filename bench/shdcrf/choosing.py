"""Chooses penalties: on invented worlds of development, or on sessions that no table is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bench.shdcrf.data import Labelled
from bench.shdcrf.scores import Scores
from bench.shdcrf.settings import COSTS, L2, NEIGHBOURS, PER_QUERY, SPARSITIES, Penalties
from bench.shdcrf.systems import Learner, crf, fitted, ldcrf, shdcrf, svm
from bench.tables import Row, Table

Pair = tuple[Labelled, Labelled]
START = Penalties(cost=0.1, crf=0.1, wide=0.1, ldcrf=0.3, shdcrf=0.3, sparsity=0.05)


@dataclass(frozen=True)
class Grid:
    """What is tried of each penalty, one after the other."""

    costs: Sequence[float] = COSTS
    l2: Sequence[float] = L2
    sparsities: Sequence[float] = SPARSITIES

    def items(self, wide: bool) -> Iterator[tuple[str, Sequence[float]]]:
        yield "cost", self.costs
        yield "crf", self.l2
        if wide:
            yield "wide", self.l2
        yield "ldcrf", self.l2
        yield "shdcrf", self.l2
        yield "sparsity", self.sparsities


def choose(
    pairs: Sequence[Pair],
    states_per_label: int,
    of: Mapping[str, Any] = PER_QUERY,
    wide: Mapping[str, Any] | None = NEIGHBOURS,
    grid: Grid | None = None,
) -> Iterator[tuple[str, float, float] | Penalties]:
    """Yield each penalty that is tried with its mean F, last what is best.

    Parameters
    ----------
    pairs : list of (train, dev)
        What is trained on and scored.
    states_per_label : int
        Of the hidden states.
    of, wide : dict
        Windows; without `wide` there is no CRF that sees neighbours.
    grid : Grid, optional
        What is tried.
    """
    best = START
    for name, tried in (grid or Grid()).items(wide is not None):
        scored: dict[float, float] = {}
        for value in tried:
            penalties = replace(best, **{name: value})
            scored[value] = float(
                np.mean([_f(name, penalties, pair, states_per_label, of, wide) for pair in pairs])
            )
            yield name, value, scored[value]
        best = replace(best, **{name: max(scored, key=scored.__getitem__)})
    yield best


def chosen_by(found: Iterator[tuple[str, float, float] | Penalties]) -> Penalties:
    """Return what was chosen and forget what was tried."""
    *_, best = found
    assert isinstance(best, Penalties)
    return best


def table(title: str, found: Iterator[tuple[str, float, float] | Penalties]) -> Table:
    """Return all that was tried."""
    rows, notes = [], []
    for told in found:
        if isinstance(told, Penalties):
            notes.append(f"Best: {told}. What the tables use stands in bench/shdcrf/settings.py.")
        else:
            name, value, f = told
            rows.append(Row(f"{name} {value:g}", f))
    return Table(title, "F", rows, notes, judged=False)


def _f(
    name: str,
    penalties: Penalties,
    pair: Pair,
    states_per_label: int,
    of: Mapping[str, Any],
    wide: Mapping[str, Any] | None,
) -> float:
    train, dev = pair
    labels = len({label for each in train.labels for label in each})
    learners: dict[str, Learner] = {
        "cost": lambda given: svm(given, penalties.cost, of),
        "crf": lambda given: fitted(crf(penalties.crf, of), given),
        "wide": lambda given: fitted(crf(penalties.wide, wide or of), given),
        "ldcrf": lambda given: fitted(ldcrf(states_per_label, penalties.ldcrf, of), given),
    }
    states = states_per_label * labels
    learn = learners.get(name, lambda given: fitted(shdcrf(states, penalties, of), given))
    return float(Scores.of(dev.labels, learn(train).predict(dev.sessions)).f)
