"""The systems of the paper's tables, each learnt from sessions with labels and asked for others."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from bench.crf import ours
from bench.shdcrf.data import Labelled, Labels
from bench.shdcrf.settings import MAX_ITERATIONS, NEIGHBOURS, PER_QUERY, Penalties, windows
from purport.margin.svm import LinearSVM
from purport.records.columns import ragged
from purport.records.sessions import Sessions
from purport.sequence.crf import CRF
from purport.sequence.ldcrf import LDCRF
from purport.sequence.shdcrf import SHDCRF

SVM, CHAIN, WIDE, LATENT = "SVM", "CRF", "CRF that sees the neighbours", "LDCRF"
SPARSE, FREE, SELF = "SHDCRF", "SHDCRF*, free sum (the paper's)", "SHDCRF*, self-training"


class Trained(Protocol):
    """What can be asked for labels."""

    def predict(self, X: Sessions) -> Labels: ...


Learner = Callable[[Labelled], Trained]


@dataclass(frozen=True)
class PerStep:
    """A classifier of rows that labels each step by itself."""

    encoder: Any
    classifier: Any

    def predict(self, X: Sessions) -> Labels:
        rows = self.encoder.transform(X)
        found = self.classifier.predict(rows.matrix())[rows.index]
        return ragged(found.tolist(), rows.offsets)


def svm(train: Labelled, cost: float, of: Mapping[str, Any] = PER_QUERY) -> PerStep:
    """Train the multi-class SVM on steps, each by itself."""
    encoder = windows(dict(of))
    rows = encoder.fit_transform(train.sessions)
    labels = np.array([label for each in train.labels for label in each])
    return PerStep(encoder, LinearSVM(cost).fit(rows.matrix()[rows.index], labels))


def fitted(model: Any, train: Labelled, **given: Any) -> Any:
    """Fit on sessions and their labels."""
    return ours.fit(model, train.sessions, train.labels, **given)


def crf(l2: float, of: Mapping[str, Any] = PER_QUERY) -> CRF:
    """Return the chain of labels."""
    return CRF(l2=l2, max_iter=MAX_ITERATIONS["crf"], features=windows(dict(of)))


def ldcrf(
    states_per_label: int, l2: float, of: Mapping[str, Any] = PER_QUERY, **more: Any
) -> LDCRF:
    """Return the chain of hidden states that each belong to a label."""
    return LDCRF(
        states_per_label,
        l2,
        MAX_ITERATIONS["latent"],
        features=windows(dict(of)),
        random_state=0,
        **more,
    )


def shdcrf(
    states: int, penalties: Penalties, of: Mapping[str, Any] = PER_QUERY, **more: Any
) -> SHDCRF:
    """Return the chain of hidden states that find their labels."""
    given = {
        "sparsity": penalties.sparsity,
        "l2": penalties.shdcrf,
        "max_iter": MAX_ITERATIONS["latent"],
        "random_state": 0,
        **more,
    }
    return SHDCRF(states, features=windows(dict(of)), **given)


def supervised(
    states_per_label: int,
    labels: int,
    penalties: Penalties,
    of: Mapping[str, Any] = PER_QUERY,
    wide: Mapping[str, Any] | None = NEIGHBOURS,
) -> dict[str, Learner]:
    """Return the systems that learn from labels alone; all hidden ones have as many states."""
    states = states_per_label * labels
    made: dict[str, Learner] = {
        SVM: lambda train: svm(train, penalties.cost, of),
        CHAIN: lambda train: fitted(crf(penalties.crf, of), train),
    }
    if wide is not None:
        made[WIDE] = lambda train: fitted(crf(penalties.wide, wide), train)
    made[LATENT] = lambda train: fitted(ldcrf(states_per_label, penalties.ldcrf, of), train)
    made[SPARSE] = lambda train: fitted(shdcrf(states, penalties, of), train)
    return made


def with_unlabelled(states: int, penalties: Penalties, more: Sessions) -> dict[str, Learner]:
    """Return those that learn from sessions without labels too."""

    def learn(train: Labelled, semi: str) -> Any:
        return fitted(shdcrf(states, penalties, semi=semi), train, unlabeled=more)

    return {
        FREE: partial(learn, semi="free-sum"),
        SELF: partial(learn, semi="self-training"),
    }


@dataclass(frozen=True)
class Run:
    """What one system said of the test part of each fold.

    Attributes
    ----------
    found : list of labels
        One a fold.
    seconds : float
        Of learning and labelling, the median fold.
    """

    found: list[Labels]
    seconds: float


def timed(learn: Learner, train: Labelled, test: Sessions) -> Run:
    """Learn once and label the test sessions."""
    began = time.perf_counter()
    trained = learn(train)
    return Run([trained.predict(test)], time.perf_counter() - began)


def joined(runs: Sequence[Run]) -> Run:
    """Return the runs of one system on all folds as one."""
    found = [labels for run in runs for labels in run.found]
    return Run(found, float(np.median([run.seconds for run in runs])))


def cross_validate(
    data: Labelled, learners: Mapping[str, Learner], folds: int, seed: int
) -> tuple[list[Labelled], dict[str, Run]]:
    """Return the test part of each fold, and what every system said of it."""
    tests: list[Labelled] = []
    parts: dict[str, list[Run]] = {name: [] for name in learners}
    for train, test in data.folds(folds, seed):
        known = data.take(train)
        tests.append(data.take(test))
        for name, learn in learners.items():
            parts[name].append(timed(learn, known, tests[-1].sessions))
    return tests, {name: joined(runs) for name, runs in parts.items()}
