"""The penalty that suits the data: cross-validation inside the training records, within a budget.

Penalties are tried from the one of the model outwards, weaker and stronger in turn, each fold
starting from the weights of the one before, so that later ones cost less than the first; models
with hidden states begin anew. No record is scored by a model that has seen it, and test data are
never looked at.
"""

from __future__ import annotations

import logging
import math
import time
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import numpy as np

from purport.errors import ConvergenceWarning, InputError, ShapeError, UnseenWarning
from purport.estimator.constraints import Number, Several, Whole, check_parameters, optional
from purport.measure.slots import slot_scores
from purport.measure.tags import marks_spans
from purport.records.labelled import LabelledRecords
from purport.records.parting import numbers_of_groups
from purport.sequence.crf import CRF
from purport.study.session_models import SequenceModel

log = logging.getLogger("purport")

VALUES: Final = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
WORSE: Final = 2
"""After so many in a row that are worse than the best, none further that way are tried."""


@dataclass(frozen=True)
class Trial:
    """What one penalty came to.

    Attributes
    ----------
    l2 : float
        The penalty.
    score : float
        F1 of spans for BIO tags, else the share of labels that are right, of all records, each
        scored by the model of the folds that it is not in.
    log_likelihood : float
        Of a label, on average, in the same way.
    seconds : float
        What it took.
    """

    l2: float
    score: float
    log_likelihood: float
    seconds: float


@dataclass(frozen=True)
class Tuned:
    r"""The penalty chosen, and what was tried.

    Attributes
    ----------
    l2 : float
        The one with the highest score; of equals the strongest.
    measure : str
        What the score is.
    trials : tuple of Trial
        In the order in which they were made.
    folds : int
        Into how many parts the records were cut.
    stopped : str
        Why no more was tried; empty if all was.

    Examples
    --------
    >>> Tuned(0.1, "F1", (Trial(0.1, 0.9, -0.2, 1.0),), 5, "").table()
    '     l2      F1  log-likelihood  seconds\n    0.1  0.9000         -0.2000      1.0  <-'
    """

    l2: float
    measure: str
    trials: tuple[Trial, ...]
    folds: int
    stopped: str

    @property
    def edge(self) -> str:
        """Whether the best is the "weakest", "strongest" or "only" one tried; else empty.

        Examples
        --------
        >>> tried = Trial(0.1, 0.9, -0.2, 1.0), Trial(1.0, 0.8, -0.3, 1.0)
        >>> Tuned(0.1, "F1", tried, 5, "").edge
        'weakest'
        """
        tried = [trial.l2 for trial in self.trials]
        if len(tried) == 1:
            return "only"
        if self.l2 == min(tried):
            return "weakest"
        return "strongest" if self.l2 == max(tried) else ""

    def table(self) -> str:
        """Return the trials as lines to read."""
        lines = [f"     l2  {self.measure:>6}  log-likelihood  seconds"]
        lines += [
            f"{trial.l2:7g}  {trial.score:6.4f}  {trial.log_likelihood:14.4f}  {trial.seconds:7.1f}"
            + ("  <-" if trial.l2 == self.l2 else "")
            for trial in self.trials
        ]
        return "\n".join(lines)


def choose_l2(
    crf: SequenceModel,
    records: LabelledRecords,
    *,
    values: Sequence[float] = VALUES,
    folds: int = 5,
    groups: Sequence[Hashable] | None = None,
    budget: float | None = None,
    random_state: int = 0,
) -> Tuned:
    """Choose the penalty of a model by cross-validation.

    Parameters
    ----------
    crf : CRF, LDCRF or SHDCRF
        With all other parameters; it is left as it is. The penalty nearest to its own comes first.
    records : Utterances or Sessions
        With labels.
    values : list of float
        The penalties.
    folds : int
        Into how many parts the records with labels are cut; fewer if there are fewer groups.
    groups : list, optional
        The user, call or day of each record: no group is cut apart.
    budget : float, optional
        Seconds. A penalty that would take longer than what is left is not begun; the first always
        is.
    random_state : int
        Decides the parts.

    Examples
    --------
    >>> from purport.simulate.utterances import utterance_world
    >>> tuned = choose_l2(CRF(max_iter=300), utterance_world(60, 1), values=[1.0, 0.1], folds=2)
    >>> tuned.l2, len(tuned.trials)
    (0.1, 2)
    """
    check_parameters(
        "choose_l2",
        {"values": list(values), "folds": folds, "budget": budget},
        {
            "values": Several(Number(low=0.0), least=1),
            "folds": Whole(low=2),
            "budget": optional(Number(low=0.0)),
        },
    )
    began = time.perf_counter()
    parts = _Folds.of(crf, records, folds, groups, random_state)
    trials: list[Trial] = []
    stopped = ""
    ways = _Ways.of(values, crf._l2 if isinstance(crf, CRF) else crf.l2)
    while (l2 := ways.next()) is not None:
        spent = time.perf_counter() - began
        if trials and budget is not None and spent + trials[-1].seconds > budget:
            stopped = f"the budget of {budget:g} s would not suffice for l2={l2:g}"
            break
        trials.append(parts.score(l2))
        log.info("choose_l2: %s", trials[-1])
        ways.take(trials[-1].score)
    else:
        stopped = ways.ended()
    best = max(trials, key=lambda trial: (trial.score, trial.l2))
    return Tuned(best.l2, parts.measure, tuple(trials), len(parts.held), stopped)


class _Ways:
    """Which penalty comes next: outwards from the first, one way and the other in turn."""

    def __init__(self, first: float, weaker: list[float], stronger: list[float]) -> None:
        self._first: float | None = first
        self._ahead = {"weaker": weaker, "stronger": stronger}
        self._worse = dict.fromkeys(self._ahead, 0)
        self._way = "stronger"
        self._best = -math.inf

    @classmethod
    def of(cls, values: Sequence[float], near: float) -> _Ways:
        ordered = sorted(map(float, values))
        least = 1e-12  # for a penalty of 0, which is as far from all others
        apart = [abs(math.log(max(value, least) / max(near, least))) for value in ordered]
        start = apart.index(min(apart))
        return cls(ordered[start], ordered[:start][::-1], ordered[start + 1 :])

    def next(self) -> float | None:
        """Return the next penalty; None if there is no more, or both ways lead to worse ones."""
        if self._first is not None:
            first, self._first = self._first, None
            return first
        open_ways = [
            way for way, ahead in self._ahead.items() if ahead and self._worse[way] < WORSE
        ]
        if not open_ways:
            return None
        other = [way for way in open_ways if way != self._way]
        self._way = (other or open_ways)[0]
        return self._ahead[self._way].pop(0)

    def take(self, score: float) -> None:
        """Take note of what the last one came to."""
        self._worse[self._way] = self._worse[self._way] + 1 if score < self._best else 0
        self._best = max(self._best, score)

    def ended(self) -> str:
        """Say why there is no more; nothing if all were tried."""
        left = [way for way, ahead in self._ahead.items() if ahead]
        return f"{' and '.join(left)} ones were worse than the best" if left else ""


@dataclass(frozen=True)
class _Folds:
    models: Sequence[SequenceModel]
    train: list[LabelledRecords]
    held: list[LabelledRecords]
    measure: str

    @classmethod
    def of(
        cls,
        crf: SequenceModel,
        records: LabelledRecords,
        folds: int,
        groups: Sequence[Hashable] | None,
        random_state: int,
    ) -> _Folds:
        if not isinstance(records, LabelledRecords):
            raise InputError(
                f"choose_l2 takes Utterances or Sessions; got {type(records).__name__}. For lists"
                " and rows use scikit-learn's GridSearchCV."
            )
        # What has no label teaches nothing and is scored on nothing.
        told = [
            any(label is not None for label in labels or ())
            for labels in records.known_labels or ()
        ]
        if not any(told):
            raise InputError("choose_l2 needs records with labels; not one is known.")
        if groups is not None:
            if len(groups) != len(records):
                raise ShapeError.lengths("groups", len(groups), "the list of records", len(records))
            groups = [group for group, known in zip(groups, told, strict=True) if known]
        records = records[np.array(told)]
        if len(records) < folds:
            raise InputError(f"choose_l2: {len(records)} records cannot be cut into {folds} folds.")
        if groups is not None:
            folds = min(folds, _count_groups(groups))
        parts = records.split(*[1 / folds] * folds, by=groups, random_state=random_state)
        held = [part for part in parts if len(part)]
        kind = type(records)
        train = [
            kind.concatenate(part for other, part in enumerate(held) if other != number)
            for number in range(len(held))
        ]
        models = [type(crf)(**crf.get_params(deep=False)) for _ in held]
        labels = {label for told in records.known_labels or () for label in told or () if label}
        return cls(models, train, held, "F1" if marks_spans(sorted(labels)) else "right")

    def score(self, l2: float) -> Trial:
        began = time.perf_counter()
        gold: list[list[Any]] = []
        predicted: list[list[Any]] = []
        likelihood = positions = 0.0
        for model, train, held in zip(self.models, self.train, self.held, strict=True):
            with warnings.catch_warnings():
                # A label that only the held part has counts as wrong, as it should.
                warnings.simplefilter("ignore", UnseenWarning)
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.set_params(l2=l2, verbose=False)
                # The weights that a strong penalty leaves are a bad start for hidden states.
                model.fit(train, warm_start=isinstance(model, CRF) and model._is_fitted())
                likelihood += model.log_likelihood(held)
            told = held.known_labels or []
            said = model.predict(held)
            gold += told
            predicted += said
            positions += sum(label is not None for label in chain.from_iterable(told))
        score = _score(gold, predicted, self.measure)
        return Trial(l2, score, likelihood / positions, time.perf_counter() - began)


def _count_groups(groups: Sequence[Hashable]) -> int:
    count = int(numbers_of_groups(len(groups), groups).max()) + 1
    if count < 2:
        raise InputError(
            "choose_l2: all records with labels are of one group, and no fold cuts a group apart."
            " Choose groups (--groups) of which there are at least 2, or leave them out."
        )
    return count


def _score(gold: list[Any], predicted: list[Any], measure: str) -> float:
    if measure == "F1":
        pairs = [
            (told, said) for told, said in zip(gold, predicted, strict=True) if None not in told
        ]
        if pairs:
            told, said = zip(*pairs, strict=True)
            return slot_scores(list(told), list(said)).f1
    right = [
        told == said
        for told, said in zip(
            chain.from_iterable(gold), chain.from_iterable(predicted), strict=True
        )
        if told is not None
    ]
    return float(np.mean(right))
