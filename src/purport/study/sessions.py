"""The stage on sessions: trains models with and without hidden states, keeps one, tests all.

Which model is kept is decided on a part of the training sessions that no model learnt from; test
data are scored once by each model and decide nothing.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any, Final

from purport.errors import InputError
from purport.measure.bootstrap import score_comparisons, score_intervals
from purport.measure.tokens import token_scores
from purport.records.parting import numbers_of_groups
from purport.records.people import MIN_PEOPLE
from purport.records.sessions import Sessions
from purport.report.findings import StateFindings
from purport.report.page import Section
from purport.report.session_findings import (
    Gain,
    ModelFinding,
    SessionFindings,
    SessionSize,
    StepShown,
)
from purport.report.sessions import USELESS, session_section
from purport.report.states import states_section
from purport.report.told import numbers
from purport.sequence.crf import CRF
from purport.sequence.explaining import StateSummary
from purport.sequence.ldcrf import LDCRF
from purport.sequence.shdcrf import SHDCRF
from purport.study.defaults import L2_HIDDEN, MAX_ITER
from purport.study.evaluation import Questions, ask, evaluate
from purport.study.floors import label_before, most_frequent_label
from purport.study.learning import described
from purport.study.session_models import SequenceModel
from purport.study.stages import Material, Outcome, Settings, Stage
from purport.study.tested_records import people_of_sessions, values_of_field, with_known_labels

DEV: Final = 0.2
"""The share of the training sessions that decides which model is kept."""

STATES_EACH: Final = 3
"""Hidden states for each label, in all models with hidden states alike."""

MOST_STATES: Final = 96
"""Of many labels each has fewer: time grows with the square of the states."""

PENALTIES_OF_CRF: Final = (1.0, 0.3, 0.1)
"""A CRF learns so fast that the dev part may choose its penalty, too."""

TOL: Final = 1e-3
"""A study shows how models compare; `fit sessions` trains those with hidden states longer."""

SHOWN_ERRORS = 10
SHOWN_OF_STATES = 5  # labels, features, followers and examples of each, at most
SHOWN_EXAMPLES, LONGEST_EXAMPLE = 2, 8

Labels = list[list[str]]


@dataclass(frozen=True)
class Trained:
    """A model that has learnt, and what it says of the dev part and of the test sessions."""

    name: str
    model: SequenceModel
    dev: float
    seconds: float
    said: Labels

    @property
    def states(self) -> int | None:
        """How many hidden states it has."""
        return None if isinstance(self.model, CRF) else self.model.label_given_state_.shape[1]


@dataclass(frozen=True)
class Parts:
    """The sessions of a study: to learn from, to choose by, to test on; all with known labels."""

    learning: Sessions
    dev: Sessions
    test: Sessions
    unlabeled: Sessions | None
    groups: list[int] | None

    @classmethod
    def of(
        cls,
        train: Sessions,
        test: Sessions,
        unlabeled: Sessions | None = None,
        groups: str | None = None,
    ) -> Parts:
        """Cut the dev part off the training sessions, no group of them apart."""
        known, _ = with_known_labels(train, "training", "tokens")
        tested, _ = with_known_labels(test, "test", "tokens")
        assert isinstance(known, Sessions) and isinstance(tested, Sessions)
        shares = (1.0 - DEV, DEV)
        learning, dev = known.split(*shares, by=_groups_of(known, groups))
        if not len(learning) or not len(dev):  # one group is nearly all
            learning, dev = known.split(*shares)
        if not len(dev):
            raise InputError(
                f"The study of sessions needs at least 3 training sessions with labels, to learn"
                f" from and to choose by; there are {len(known)}."
            )
        drawn = _groups_of(tested, groups)
        numbers = None if drawn is None else numbers_of_groups(len(tested), drawn).tolist()
        return cls(learning, dev, tested, unlabeled, numbers)


def _groups_of(records: Sessions, field: str | None) -> list[Hashable] | None:
    """Return the group of each session; None if there is but one, which cannot be drawn from."""
    groups = people_of_sessions(records) if field is None else values_of_field(records, field)
    return None if groups is None or len(set(groups)) < 2 else groups


def study_sessions(
    train: Sessions,
    test: Sessions,
    unlabeled: Sessions | None = None,
    *,
    invented: bool = False,
    settings: Settings | None = None,
) -> tuple[SequenceModel, SessionFindings]:
    """Train models of sessions, keep the best on a part cut off for that, and test all.

    Parameters
    ----------
    train, test : Sessions
        With labels; sessions without any are left out.
    unlabeled : Sessions, optional
        Without labels; one model more then learns from them, too.
    invented : bool
        Whether the findings may show what is said in them.
    settings : Settings, optional
        Threads, progress and draws.

    Examples
    --------
    >>> from purport.simulate.searches import SearchWorld
    >>> world = SearchWorld(seed=3)
    >>> train, test = world.sessions(60, 1).sessions, world.sessions(20, 2).sessions
    >>> model, findings = study_sessions(train, test, settings=Settings(samples=20))
    >>> [model.name for model in findings.models][-3:], findings.examples is None
    (['CRF', 'LDCRF', 'SHDCRF'], True)
    """
    chosen = Settings() if settings is None else settings
    parts = Parts.of(train, test, unlabeled, chosen.groups)
    trained = _train(parts, chosen)
    best = _best(trained)
    asked = Questions(
        confusion=True,
        calibration=True,
        errors=SHOWN_ERRORS,
        groups=_groups_of(test, chosen.groups),
        min_people=0 if invented else MIN_PEOPLE,
        samples=chosen.samples,
    )
    shown = list(dict.fromkeys((trained[0].name, best.name)))
    findings = SessionFindings(
        train=_size(parts.learning),
        dev=_size(parts.dev),
        test=_size(parts.test),
        unlabeled=0 if parts.unlabeled is None else len(parts.unlabeled),
        models=_findings(parts, trained, chosen.samples),
        kept=best.name,
        gains=_gains(parts, trained, chosen.samples),
        tested=evaluate(best.model, test, asked),
        shown=tuple(shown) if invented else (),
        examples=_examples(parts.test, [one for one in trained if one.name in shown])
        if invented
        else None,
    )
    return best.model, findings


def _train(parts: Parts, settings: Settings) -> list[Trained]:
    """Train all models, from the plainest to the richest."""
    usual: dict[str, Any] = {"n_threads": settings.n_threads, "verbose": settings.verbose}
    hidden = usual | {"l2": L2_HIDDEN, "max_iter": MAX_ITER, "tol": TOL, "random_state": 0}
    labels = len(_labels_of(parts.learning))
    each = max(1, min(STATES_EACH, MOST_STATES // labels))
    states = each * labels
    trained = [
        _best_crf(parts, usual),
        _taught(parts, "LDCRF", LDCRF(each, **hidden)),
        _taught(parts, "SHDCRF", SHDCRF(states, **hidden)),
    ]
    if parts.unlabeled is not None:
        model = SHDCRF(states, semi="self-training", **hidden)
        trained.append(_taught(parts, "SHDCRF, self-trained", model, parts.unlabeled))
    return trained


def _best_crf(parts: Parts, usual: dict[str, Any]) -> Trained:
    tried = [
        _taught(parts, "CRF", CRF(l2=l2, max_iter=MAX_ITER, **usual)) for l2 in PENALTIES_OF_CRF
    ]
    return replace(_best(tried), seconds=sum(one.seconds for one in tried))


def _best(trained: Sequence[Trained]) -> Trained:
    """Return what gets most steps of the dev part right, of equals the first, the plainest."""
    return max(trained, key=lambda one: one.dev)


def _taught(
    parts: Parts, name: str, model: SequenceModel, unlabeled: Sessions | None = None
) -> Trained:
    began = time.perf_counter()
    if isinstance(model, SHDCRF):
        model.fit(parts.learning, unlabeled=unlabeled)
    else:
        model.fit(parts.learning)
    ended = time.perf_counter()
    dev = _right(parts.dev, ask(model, parts.dev, surely=False).labels)
    said = ask(model, parts.test, surely=False).labels
    return Trained(name, model, dev, ended - began, said)


def _findings(parts: Parts, trained: Sequence[Trained], samples: int) -> tuple[ModelFinding, ...]:
    """Return what each floor and each model comes to on the test sessions."""
    gold, groups = _gold(parts.test), parts.groups

    def found(name: str, said: Labels, **more: Any) -> ModelFinding:
        overall = score_intervals(
            gold, said, level="tokens", samples=samples, groups=groups
        ).overall
        return ModelFinding(name, overall["token_accuracy"], overall["macro_f1"], **more)

    floors = [
        found("most frequent label", most_frequent_label(parts.learning, parts.test)),
        found("label of the step before", label_before(parts.learning, parts.test)),
    ]
    models = [
        found(
            one.name,
            one.said,
            model=described(one.model),
            states=one.states,
            dev=one.dev,
            seconds=one.seconds,
            iterations=len(one.model.history_) - 1,
        )
        for one in trained
    ]
    return (*floors, *models)


def _gains(parts: Parts, trained: Sequence[Trained], samples: int) -> tuple[Gain, ...]:
    """Compare the best and the SHDCRF with the CRF, and each model with the one before it."""
    by_name = {one.name: one for one in trained}
    plain = trained[0].name
    pairs = [(_best(trained).name, plain), ("SHDCRF", plain)]
    pairs += [(late.name, early.name) for early, late in pairwise(trained)]
    gold, groups = _gold(parts.test), parts.groups
    return tuple(
        Gain(
            a,
            b,
            score_comparisons(
                gold,
                by_name[a].said,
                by_name[b].said,
                level="tokens",
                samples=samples,
                groups=groups,
            ).overall["token_accuracy"],
        )
        for a, b in dict.fromkeys(pairs)
        if a != b
    )


def _examples(test: Sessions, models: Sequence[Trained]) -> tuple[tuple[StepShown, ...], ...]:
    """Return the short sessions of which the last model gets more steps right than the first."""
    gold, texts = _gold(test), test.texts or []

    def ahead(number: int) -> int:
        right = [
            sum(a == b for a, b in zip(gold[number], one.said[number], strict=True))
            for one in models
        ]
        return right[-1] - right[0]

    short = [number for number in range(len(texts)) if 1 < len(texts[number]) <= LONGEST_EXAMPLE]
    chosen = sorted(short, key=lambda number: -ahead(number))[:SHOWN_EXAMPLES]
    return tuple(
        tuple(
            StepShown(text or "", label or "", said)
            for text, label, *said_by in zip(
                texts[number], gold[number], *(one.said[number] for one in models), strict=True
            )
            for said in [tuple(said_by)]
        )
        for number in chosen
    )


def _run(material: Material, settings: Settings) -> Outcome:
    train, test = material.train_sessions, material.test_sessions
    if train is None or test is None:
        raise InputError("The study of sessions needs sessions to learn from and to test on.")
    model, findings = study_sessions(
        train, test, material.unlabeled_sessions, invented=material.invented, settings=settings
    )
    best = findings.best
    others = {one.name: one.accuracy.value for one in findings.models}
    beside = [name for name in (findings.floor.name, "CRF") if name != best.name]
    headline = (
        f"sessions: {best.name}: steps right {best.accuracy.value:.1%} ({best.accuracy.low:.1%} to"
        f" {best.accuracy.high:.1%}); " + ", ".join(f"{name} {others[name]:.1%}" for name in beside)
    )
    warning = "" if findings.above_floor else f"sessions: {USELESS}"
    told = _numbers(findings)
    further: tuple[Section, ...] = ()
    if not isinstance(model, CRF):
        least = 0 if material.invented else MIN_PEOPLE
        states = StateFindings.of(model, test, top=SHOWN_OF_STATES, min_people=least)
        further = (states_section(states, title="Hidden states of sessions"),)
        told["states"] = [_of_state(summary) for summary in states.summaries]
    return Outcome("sessions", model, session_section(findings), told, headline, warning, further)


STAGE = Stage(
    "sessions",
    lambda material: material.train_sessions is not None and material.test_sessions is not None,
    _run,
)


def _numbers(findings: SessionFindings) -> dict[str, Any]:
    told = asdict(findings)
    del told["examples"], told["shown"]
    tested = numbers(findings.tested)
    for mistake in tested["errors"]["mistakes"]:
        del mistake["text"]
    return told | {"tested": tested}


def _of_state(summary: StateSummary) -> dict[str, Any]:
    told = asdict(summary)
    del told["features"], told["examples"]
    return told


def _right(records: Sessions, said: Labels) -> float:
    return token_scores(_gold(records), said).accuracy


def _gold(records: Sessions) -> list[list[str | None]]:
    return [labels or [] for labels in records.known_labels or []]


def _labels_of(records: Sessions) -> set[str]:
    return {label for labels in _gold(records) for label in labels if label is not None}


def _size(records: Sessions) -> SessionSize:
    return SessionSize(len(records), int(records.offsets[-1]))
