"""The stage on slots: trains a tagger, tests it beside its floor, finds where it goes wrong."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from purport.errors import InputError
from purport.measure.bootstrap import ScoreIntervals, paired_bootstrap, score_intervals
from purport.measure.confusions import confusion
from purport.measure.reliability import calibration
from purport.measure.slots import slot_scores
from purport.measure.tags import spans
from purport.records.people import MIN_PEOPLE
from purport.records.utterances import Utterances
from purport.report.findings import Example, LabelFinding, Size, SlotFindings
from purport.report.slots import USELESS, slot_section
from purport.sequence.crf import CRF
from purport.study.defaults import L2, MAX_ITER
from purport.study.evaluation import Questions, ask, find_errors, placed
from purport.study.floors import most_frequent_tags
from purport.study.learning import described
from purport.study.stages import Material, Outcome, Settings, Stage
from purport.study.tested_records import with_known_labels

SHOWN_EXAMPLES = 5  # of those that are wrong and of those that are right, each
SHOWN_ERRORS = 10

Tags = Sequence[Sequence[str | None]]


@dataclass(frozen=True)
class Compared:
    """Test utterances whose tags are all known, with the tags that tagger and floor gave them."""

    talk: Utterances
    gold: list[list[str]]
    predicted: list[list[str]]
    floor: list[list[str]]


def study_slots(
    train: Utterances,
    test: Utterances,
    crf: CRF | None = None,
    *,
    invented: bool = False,
    samples: int = 1000,
) -> tuple[CRF, SlotFindings]:
    """Train a slot tagger, test it, and say what was found.

    Parameters
    ----------
    train, test : Utterances
        With slots; test utterances with unknown tags are left out.
    crf : CRF, optional
        With its parameters; None takes those of `defaults`.
    invented : bool
        Whether the findings may show utterances.
    samples : int
        Draws of each bootstrap.

    Examples
    --------
    >>> from purport.simulate.utterances import utterance_world
    >>> train, test = utterance_world(60, 1), utterance_world(20, 2)
    >>> crf, findings = study_slots(train, test, samples=20)
    >>> findings.gain.a > findings.gain.b, findings.examples is None
    (True, True)
    """
    crf = CRF(l2=L2, max_iter=MAX_ITER) if crf is None else crf
    known, places = with_known_labels(test, "test")
    assert isinstance(known, Utterances)
    began = time.perf_counter()
    crf.fit(train)
    trained = time.perf_counter()
    crf.label(known[:1])  # the first call of a process also loads or compiles kernels
    ready = time.perf_counter()
    labels = crf.label(known).labels
    ended = time.perf_counter()
    tested = Compared(
        known,
        known_tags(known.slots),
        known_tags(labels),
        most_frequent_tags(train, known),
    )
    both = (tested.gold, tested.predicted)
    intervals = score_intervals(*both, samples=samples)
    answers = ask(crf, known, surely=True)
    assert answers.sureness is not None
    asked = Questions(errors=SHOWN_ERRORS, min_people=0 if invented else MIN_PEOPLE)
    findings = SlotFindings(
        model=described(crf),
        train=_size(train),
        test=_size(known),
        f1=intervals.overall["f1"],
        token_accuracy=intervals.overall["token_accuracy"],
        exact_match=intervals.overall["exact_match"],
        gain=paired_bootstrap(*both, tested.floor, "f1", samples),
        by_label=_by_label(tested, intervals),
        confusion=placed(confusion(*both), places),
        calibration=calibration(tested.gold, answers.sureness, samples=samples),
        errors=find_errors(known, answers, asked, test, places),
        history=tuple((now["seconds"], now["objective"]) for now in crf.history_),
        converged=crf.converged_,
        train_seconds=trained - began,
        label_seconds=ended - ready,
        examples=_examples(tested) if invented else None,
    )
    return crf, findings


def _run(material: Material, settings: Settings) -> Outcome:
    train, test = material.train_utterances, material.test_utterances
    if train is None or test is None:
        raise InputError("The study of slots needs utterances to learn from and to test on.")
    crf = CRF(l2=L2, max_iter=MAX_ITER, n_threads=settings.n_threads, verbose=settings.verbose)
    crf, findings = study_slots(
        train, test, crf, invented=material.invented, samples=settings.samples
    )
    gain = findings.gain
    headline = (
        f"slots: F1 {gain.a:.1%} ({findings.f1.low:.1%} to {findings.f1.high:.1%}); the most"
        f" frequent tag of each word reaches {gain.b:.1%}"
    )
    warning = "" if findings.above_floor else f"slots: {USELESS}"
    return Outcome("slots", crf, slot_section(findings), _numbers(findings), headline, warning)


STAGE = Stage(
    "slots",
    lambda material: material.train_utterances is not None and material.test_utterances is not None,
    _run,
)


def _numbers(findings: SlotFindings) -> dict[str, Any]:
    numbers = asdict(findings)
    del numbers["examples"], numbers["errors"]["texts"]
    return numbers


def known_tags(tags: Tags | None) -> list[list[str]]:
    """Return tags of which none is unknown as plain lists."""
    return [[str(tag) for tag in sentence] for sentence in tags or []]


def _size(talk: Utterances) -> Size:
    return Size(len(talk), int(talk.offsets[-1]))


def _by_label(tested: Compared, intervals: ScoreIntervals) -> tuple[LabelFinding, ...]:
    floor = {found.label: found.f1 for found in slot_scores(tested.gold, tested.floor).by_label}
    found = [
        LabelFinding.of(
            score.label,
            score.support,
            intervals.by_label[score.label],
            floor.get(score.label, 0.0),
        )
        for score in slot_scores(tested.gold, tested.predicted).by_label
    ]
    return tuple(sorted(found, key=lambda label: (-label.support, label.label)))


def _examples(tested: Compared) -> tuple[Example, ...]:
    """Return a few utterances that are wrong and a few that are right and have slots, in order."""
    every = [
        Example(tuple(tokens), tuple(tags), tuple(guesses))
        for tokens, tags, guesses in zip(
            tested.talk.tokens, tested.gold, tested.predicted, strict=True
        )
    ]
    wrong = [example for example in every if not example.right]
    right = [example for example in every if example.right and len(spans(example.gold)) > 1]
    return (*wrong[:SHOWN_EXAMPLES], *right[:SHOWN_EXAMPLES])
