"""The section on slots: how well they are found, where not, and how training went."""

from __future__ import annotations

from collections.abc import Sequence

from purport.measure.bootstrap import Interval
from purport.measure.tags import spans
from purport.report.findings import Example, SlotFindings
from purport.report.markup import Content, Markup, element, joined, table
from purport.report.page import Fact, Section
from purport.report.pictures import Bar, bars, curve

MOST_BARS = 30
MOST_MISTAKES = 15
HUES = 8

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
    >>> from purport.measure.bootstrap import Comparison
    >>> from purport.report.findings import Size
    >>> sure, size = Interval(1.0, 0.9, 1.0, 0.95), Size(1, 2)
    >>> gain = Comparison(1.0, 0.5, 0.5, 0.2, 0.8, 0.01, 0.95)
    >>> section = slot_section(
    ...     SlotFindings("", size, size, sure, sure, sure, gain, (), (), (), True, 1.0, 0.1, ())
    ... )
    >>> section.title
    'Slots'
    """
    parts = [
        _verdict(findings),
        element("h3", "Each slot"),
        _by_label(findings),
        element("h3", "Most frequent mistakes"),
        _mistakes(findings),
        element("h3", "Training"),
        _training(findings),
        element("h3", "Examples"),
        _examples(findings),
    ]
    facts = (
        Fact("F1 of slots", _percent(findings.f1.value), _bounds(findings.f1)),
        Fact(
            "Words right",
            _percent(findings.token_accuracy.value),
            _bounds(findings.token_accuracy),
        ),
        Fact(
            "Utterances all right",
            _percent(findings.exact_match.value),
            _bounds(findings.exact_match),
        ),
        Fact(
            "Trained in",
            _seconds(findings.train_seconds),
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
        element("strong", _percent(gain.a)),
        ". The floor, which gives each word the tag that it had most often, reaches"
        f" {_percent(gain.b)}. The difference is {points:+.1f} points (between"
        f" {gain.low * 100:+.1f} and {gain.high * 100:+.1f} with {gain.confidence:.0%} confidence,"
        " paired bootstrap over utterances).",
    )
    return told if findings.above_floor else joined([told, element("p", USELESS, class_="notice")])


def _by_label(findings: SlotFindings) -> Markup:
    shown = findings.by_label[:MOST_BARS]
    if not shown:
        return element("p", "The test data have no slots.")
    rows = [
        Bar(
            found.label,
            found.f1.value,
            found.f1.low,
            found.f1.high,
            found.floor,
            f"{_percent(found.f1.value)}  n={found.support}",
        )
        for found in shown
    ]
    worst = min(shown, key=lambda found: found.f1.value)
    picture = bars(
        rows,
        "F1 of each slot",
        f"One bar a slot, {len(shown)} of them, the most frequent first; the lowest is"
        f" {worst.label} with {_percent(worst.f1.value)}. The table below holds the numbers.",
    )
    legend = element(
        "p",
        f"F1 of {_how_many(len(shown), len(findings.by_label))}, the most frequent first; the thin"
        f" line is the {shown[0].f1.confidence:.0%} interval, the upright mark is the floor, n"
        " counts the slot in the test data.",
        class_="legend",
    )
    numbers = table(
        ("Slot", "Precision", "Recall", "F1", "Interval", "Floor", "Count"),
        [
            (
                found.label,
                _percent(found.precision),
                _percent(found.recall),
                _percent(found.f1.value),
                _bounds(found.f1),
                _percent(found.floor),
                f"{found.support:,}",
            )
            for found in findings.by_label
        ],
        "Scores of each slot",
        frozenset(range(1, 7)),
    )
    folded = element("details", element("summary", "The numbers"), numbers)
    return joined([element("figure", picture, element("figcaption", legend)), folded])


def _mistakes(findings: SlotFindings) -> Markup:
    if not findings.mistakes:
        return element("p", "None: every slot of the test data was found.")
    shown = findings.mistakes[:MOST_MISTAKES]
    total = sum(mistake.count for mistake in findings.mistakes)
    rows = [
        (
            mistake.gold or "no slot",
            mistake.predicted or "no slot",
            mistake.words(),
            f"{mistake.count:,}",
        )
        for mistake in shown
    ]
    return table(
        ("True slot", "Given as", "Mistake", "Count"),
        rows,
        f"{sum(mistake.count for mistake in shown):,} of {total:,} mistakes",
        frozenset({3}),
    )


def _training(findings: SlotFindings) -> Markup:
    speed = findings.test.tokens / max(findings.label_seconds, 1e-9)
    iterations = max(0, len(findings.history) - 1)
    ended = "converged" if findings.converged else "stopped at its limit"
    told = element(
        "p",
        element("code", findings.model),
        f" {ended} after {iterations} iterations and {_seconds(findings.train_seconds)},"
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


def _how_many(shown: int, all_there_are: int) -> str:
    return "each slot" if shown == all_there_are else f"{shown} of {all_there_are} slots"


def _percent(share: float) -> str:
    return f"{share:.1%}"


def _bounds(interval: Interval) -> str:
    return f"{interval.low * 100:.1f} to {interval.high * 100:.1f}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
