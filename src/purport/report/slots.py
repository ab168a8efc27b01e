"""The section on slots: how well they are found, where not, and how training went."""

from __future__ import annotations

from collections.abc import Sequence

from purport.measure.tags import spans
from purport.report.confusion import confusion_part
from purport.report.errors import errors_part
from purport.report.findings import Example, SlotFindings, Wording
from purport.report.labels import labels_part
from purport.report.markup import Content, Markup, element, joined
from purport.report.page import Fact, Section
from purport.report.pictures import curve
from purport.report.reliability import reliability_part
from purport.report.words import bounds, percent, seconds

HUES = 8
WORDING = Wording("utterances", "words", "slots")

WITHHELD = (
    "No utterances are shown: somebody may have said them, and a report shows only invented ones."
)


USELESS = (
    "F1 is not above the floor: the tagger is no better than the most frequent tag of each word."
    " Train it on more utterances, or check that their slots are right."
)


def slot_section(findings: SlotFindings) -> Section:
    """Return the section of the report on a slot tagger.

    Examples
    --------
    >>> from purport.measure import calibration, confusion, errors_worth_a_look
    >>> from purport.measure.bootstrap import Comparison, Interval
    >>> from purport.report.findings import ErrorFindings, Size
    >>> tags, told = [["B-day"]], [[{"B-day": 1.0}]]
    >>> sure, size = Interval(1.0, 0.9, 1.0, 0.95), Size(1, 2)
    >>> gain = Comparison(1.0, 0.5, 0.5, 0.2, 0.8, 0.01, 0.95)
    >>> judged = (confusion(tags, tags), calibration(tags, told))
    >>> errors = ErrorFindings(errors_worth_a_look(tags, told), ())
    >>> tested = (size, size, sure, sure, sure, gain, (), *judged, errors)
    >>> slot_section(SlotFindings("", *tested, (), True, 1.0, 0.1, ())).title
    'Slots'
    """
    parts = [
        _verdict(findings),
        element("h3", "Each slot"),
        labels_part(findings.by_label, "slot")
        if findings.by_label
        else element("p", "The test data have no slots."),
        element("h3", "What is taken for what"),
        confusion_part(findings.confusion, "slot")
        if findings.confusion.mistakes
        else element("p", "Nothing: every slot of the test data was found."),
        element("h3", "How far probabilities can be believed"),
        reliability_part(findings.calibration, WORDING.positions),
        element("h3", "Errors worth a look"),
        errors_part(findings.errors, WORDING),
        element("h3", "Training"),
        _training(findings),
        element("h3", "Examples"),
        _examples(findings),
    ]
    facts = (
        Fact("F1 of slots", percent(findings.f1.value), bounds(findings.f1)),
        Fact(
            "Words right",
            percent(findings.token_accuracy.value),
            bounds(findings.token_accuracy),
        ),
        Fact(
            "Utterances all right",
            percent(findings.exact_match.value),
            bounds(findings.exact_match),
        ),
        Fact(
            "Trained in",
            seconds(findings.train_seconds),
            f"{findings.train.utterances:,} utterances",
        ),
    )
    return Section("slots", "Slots", facts, joined(parts))


def _verdict(findings: SlotFindings) -> Markup:
    gain = findings.gain
    points = gain.difference * 100
    test = findings.test
    told = element(
        "p",
        f"The tagger was trained on {findings.train.utterances:,} utterances and tested on"
        f" {test.utterances:,} others ({test.tokens:,} words). It finds slots with an F1 of ",
        element("strong", percent(gain.a)),
        ". The floor, which gives each word the tag that it had most often, reaches"
        f" {percent(gain.b)}. The difference is {points:+.1f} points (between"
        f" {gain.low * 100:+.1f} and {gain.high * 100:+.1f} with {gain.confidence:.0%} confidence,"
        " paired bootstrap over utterances).",
    )
    return told if findings.above_floor else joined([told, element("p", USELESS, class_="notice")])


def _training(findings: SlotFindings) -> Markup:
    speed = findings.test.tokens / max(findings.label_seconds, 1e-9)
    iterations = max(0, len(findings.history) - 1)
    ended = "converged" if findings.converged else "stopped at its limit"
    told = element(
        "p",
        element("code", findings.model),
        f" {ended} after {iterations} iterations and {seconds(findings.train_seconds)},"
        f" preparation included. It then labelled {speed:,.0f} words a second.",
    )
    if len(findings.history) < 2:
        return told
    values = [objective / findings.train.tokens for _, objective in findings.history]
    picture = curve(
        list(enumerate(values)),
        "The objective while training",
        f"The objective falls from {values[0]:.3g} to {values[-1]:.3g} a word over"
        f" {iterations} iterations.",
        "iteration",
        "objective a word",
    )
    return joined([told, element("figure", picture)])


def _examples(findings: SlotFindings) -> Markup:
    if findings.examples is None:
        return element("p", WITHHELD, class_="notice")
    names = sorted({found.label for found in findings.by_label})
    hues = {name: number % HUES for number, name in enumerate(names)}
    shown = [_example(example, hues) for example in findings.examples]
    return joined(
        [
            element("p", "These utterances are invented, so they may be shown.", class_="legend"),
            *shown,
        ]
    )


def _example(example: Example, hues: dict[str, int]) -> Markup:
    if example.right:
        lines = [_spoken("true and given", example.tokens, example.gold, hues)]
    else:
        lines = [
            _spoken("true", example.tokens, example.gold, hues),
            _spoken("given", example.tokens, example.predicted, hues),
        ]
    return element("dl", *lines, class_="example" if example.right else "example wrong")


def _spoken(who: str, tokens: Sequence[str], tags: Sequence[str], hues: dict[str, int]) -> Markup:
    pieces: list[Content] = []
    behind = 0
    for span in spans(tags):
        pieces += [f"{token} " for token in tokens[behind : span.start]]
        words = " ".join(tokens[span.start : span.end])
        name = element("small", span.label)
        pieces += [
            element("span", words, " ", name, class_=f"slot hue{hues.get(span.label, 0)}"),
            " ",
        ]
        behind = span.end
    pieces += [f"{token} " for token in tokens[behind:]]
    return joined([element("dt", who), element("dd", *pieces)])
