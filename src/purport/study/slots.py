"""The stage on slots: trains a tagger, tests it beside its floor, finds where it goes wrong."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from purport.errors import InputError
from purport.measure.bootstrap import bootstrap_interval, paired_bootstrap
from purport.measure.slots import slot_scores
from purport.measure.tags import Span, spans
from purport.records.utterances import Utterances
from purport.report.findings import Example, LabelFinding, Mistake, Size, SlotFindings
from purport.report.slots import USELESS, slot_section
from purport.sequence.crf import CRF
from purport.study.defaults import L2, MAX_ITER
from purport.study.floors import most_frequent_tags
from purport.study.stages import Material, Outcome, Settings, Stage

SHOWN_EXAMPLES = 5  # of those that are wrong and of those that are right, each
SAMPLES_A_LABEL = 500

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
    test = with_known_slots(test, "test")
    began = time.perf_counter()
    crf.fit(train)
    trained = time.perf_counter()
    crf.label(test[:1])  # the first call of a process also loads or compiles kernels
    ready = time.perf_counter()
    labels = crf.label(test).labels
    ended = time.perf_counter()
    tested = Compared(
        test,
        known_tags(test.slots),
        known_tags(labels),
        most_frequent_tags(train, test),
    )
    both = (tested.gold, tested.predicted)
    findings = SlotFindings(
        model=_described(crf),
        train=_size(train),
        test=_size(test),
        f1=bootstrap_interval(*both, "f1", samples),
        token_accuracy=bootstrap_interval(*both, "token_accuracy", samples),
        exact_match=bootstrap_interval(*both, "exact_match", samples),
        gain=paired_bootstrap(*both, tested.floor, "f1", samples),
        by_label=_by_label(tested, min(samples, SAMPLES_A_LABEL)),
        mistakes=_mistakes(tested),
        history=tuple((now["seconds"], now["objective"]) for now in crf.history_),
        converged=crf.converged_,
        train_seconds=trained - began,
        label_seconds=ended - ready,
        examples=_examples(tested) if invented else None,
    )
    return crf, findings


def with_known_slots(talk: Utterances, name: str) -> Utterances:
    """Return the utterances whose tags are all known; at least one must be.

    Examples
    --------
    >>> talk = Utterances.from_lists([["to", "rome"], ["stop"]], slots=[["O", None], ["O"]])
    >>> len(with_known_slots(talk, "test"))
    1
    """
    slots = talk.slots or []
    known = np.array([bool(tags) and None not in tags for tags in slots], np.bool_)
    if not known.any():
        raise InputError(
            f"The {name} records have no slots to compare with. Give records whose slots are known."
        )
    return talk if known.all() else talk[known]


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
    del numbers["examples"]
    return numbers


def known_tags(tags: Tags | None) -> list[list[str]]:
    """Return tags of which none is unknown as plain lists."""
    return [[str(tag) for tag in sentence] for sentence in tags or []]


def _described(crf: CRF) -> str:
    """Return the tagger with those parameters that decide what is learnt."""
    return repr(CRF(**crf.get_params(deep=False) | {"n_threads": None, "verbose": False}))


def _size(talk: Utterances) -> Size:
    return Size(len(talk), int(talk.offsets[-1]))


def _by_label(tested: Compared, samples: int) -> tuple[LabelFinding, ...]:
    floor = {found.label: found.f1 for found in slot_scores(tested.gold, tested.floor).by_label}
    found = [
        LabelFinding(
            score.label,
            score.support,
            score.precision,
            score.recall,
            bootstrap_interval(
                _only(score.label, tested.gold),
                _only(score.label, tested.predicted),
                samples=samples,
            ),
            floor.get(score.label, 0.0),
        )
        for score in slot_scores(tested.gold, tested.predicted).by_label
    ]
    return tuple(sorted(found, key=lambda label: (-label.support, label.label)))


def _only(label: str, tags: Tags) -> list[list[str]]:
    """Return the tags with all slots but one taken out."""
    kept = []
    for sentence in tags:
        told = ["O"] * len(sentence)
        for span in spans(sentence):
            if span.label == label:
                told[span.start] = f"B-{label}"
                told[span.start + 1 : span.end] = [f"I-{label}"] * (span.end - span.start - 1)
        kept.append(told)
    return kept


def _mistakes(tested: Compared) -> tuple[Mistake, ...]:
    counts = Counter(
        pair
        for tags, guesses in zip(tested.gold, tested.predicted, strict=True)
        for pair in _wrong_pairs(spans(tags), spans(guesses))
    )
    ordered = sorted(
        counts.items(), key=lambda item: (-item[1], item[0][0] or "", item[0][1] or "")
    )
    return tuple(Mistake(gold, predicted, count) for (gold, predicted), count in ordered)


def _wrong_pairs(
    gold: list[Span], predicted: list[Span]
) -> Iterator[tuple[str | None, str | None]]:
    """Pair each gold span that was missed with the wrong one that covers most of it, if any."""
    wrong = [span for span in predicted if span not in gold]
    for span in gold:
        if span in predicted:
            continue
        best = max(wrong, key=lambda guess: _shared(span, guess), default=None)
        met = best is not None and _shared(span, best) > 0
        yield span.label, best.label if best is not None and met else None
    for guess in wrong:
        if not any(_shared(span, guess) for span in gold):
            yield None, guess.label


def _shared(a: Span, b: Span) -> int:
    return max(0, min(a.end, b.end) - max(a.start, b.start))


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
