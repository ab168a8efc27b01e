"""The section on sessions: models beside each other, the one that is kept, where it goes wrong."""

from __future__ import annotations

from collections.abc import Sequence

from purport.report.evaluation import evaluation_parts
from purport.report.markup import Content, Markup, element, joined, table
from purport.report.page import Fact, Section
from purport.report.pictures import Bar, bars
from purport.report.session_findings import Gain, ModelFinding, SessionFindings, StepShown
from purport.report.told import drawn_from
from purport.report.words import bounds, percent, seconds

USELESS = (
    "No model is above the floor: the most frequent label alone is as often right. Train on more"
    " sessions, or check that their labels are right."
)

WITHHELD = (
    "No sessions are shown: somebody may have typed them, and a report shows only invented ones."
)

NOT_KNOWN = "–"
CRF = "CRF"
"""The plain model, beside which the others are seen."""


def session_section(findings: SessionFindings) -> Section:
    """Return the section of the report on models of sessions.

    Examples
    --------
    >>> from purport.measure import score_intervals, token_scores
    >>> from purport.measure.bootstrap import Interval
    >>> from purport.report.findings import Evaluation, Wording
    >>> from purport.report.session_findings import SessionSize
    >>> size, sure = SessionSize(1, 1), Interval(1.0, 0.9, 1.0, 0.95)
    >>> models = ModelFinding("floor", sure, sure), ModelFinding("CRF", sure, sure, "CRF()")
    >>> words, labels = Wording("sessions", "steps", "labels"), [["buy"]]
    >>> scores = (token_scores(labels, labels), score_intervals(labels, labels, level="tokens"))
    >>> tested = Evaluation("tokens", *scores, words)
    >>> found = SessionFindings(size, size, size, 0, models, "CRF", (), tested, (), None)
    >>> session_section(found).facts[0].value
    '100.0%'
    """
    best = findings.best
    took = NOT_KNOWN if best.seconds is None else seconds(best.seconds)
    gained = [gain.accuracy for gain in findings.gains if (gain.of, gain.over) == (best.name, CRF)]
    facts = (
        Fact("Steps right", percent(best.accuracy.value), bounds(best.accuracy)),
        Fact("Mean F1 of labels", percent(best.macro_f1.value), bounds(best.macro_f1)),
        *(
            Fact(f"Points over the {CRF}", f"{told.difference * 100:+.1f}", bounds(told))
            for told in gained
        ),
        Fact("Trained in", took, f"{findings.train.sessions:,} sessions"),
    )
    parts = [
        _verdict(findings),
        element("h3", "Models beside each other"),
        _models(findings),
        *([element("h3", "What each brings"), _gains(findings.gains)] if findings.gains else []),
        *evaluation_parts(findings.tested),
        element("h3", "Examples"),
        _examples(findings),
    ]
    return Section("sessions", "Sessions", facts, joined(parts))


def _verdict(findings: SessionFindings) -> Markup:
    train, dev, test, best = findings.train, findings.dev, findings.test, findings.best
    more = (
        f" One of them also learnt from {findings.unlabeled:,} sessions without labels."
        if findings.unlabeled
        else ""
    )
    told = element(
        "p",
        f"The models learnt from {train.sessions:,} sessions ({train.steps:,} steps).{more}"
        f" {dev.sessions:,} others, which none of them saw, decided which is kept, and all were"
        f" tested on {test.sessions:,} more ({test.steps:,} steps). Kept is ",
        element("strong", best.name),
        f": it gets {percent(best.accuracy.value)} of the test steps right."
        f" The {findings.floor.name} would get {percent(findings.floor.accuracy.value)}.",
    )
    return told if findings.above_floor else joined([told, element("p", USELESS, class_="notice")])


def _models(findings: SessionFindings) -> Markup:
    rows = [
        Bar(
            one.name,
            one.accuracy.value,
            one.accuracy.low,
            one.accuracy.high,
            None,
            percent(one.accuracy.value) + ("  kept" if one.name == findings.kept else ""),
        )
        for one in findings.models
    ]
    best = findings.best
    drawn = bars(
        rows,
        "Share of steps that are right",
        f"One bar a model; {best.name}, which is kept, has {percent(best.accuracy.value)}. The"
        " table below holds the numbers.",
    )
    legend = element(
        "p",
        f"The share of test steps that are right; the thin line is the"
        f" {best.accuracy.confidence:.0%} interval{drawn_from(findings.tested)}. The first two are"
        " floors, which do not look at what a session says; the second one is told the true label"
        " of the step before.",
        class_="legend",
    )
    numbers = table(
        ("Model", "States", "Steps right", "Mean F1", "On the dev part", "Trained in"),
        [_row(one) for one in findings.models],
        "On the test sessions; the dev part is what decides which is kept",
        frozenset(range(1, 6)),
    )
    settings = [
        element("li", element("code", one.model), f", {one.iterations:,} iterations")
        for one in findings.trained
    ]
    how = element(
        "p",
        "A study trains on a part of the sessions, and not for long. ",
        element("code", "purport fit sessions --model"),
        " trains one model on all of them, as long as it takes.",
    )
    folded = element(
        "details", element("summary", "How they were trained"), element("ul", *settings), how
    )
    return joined([element("figure", drawn, element("figcaption", legend)), numbers, folded])


def _row(one: ModelFinding) -> list[Content]:
    scores: list[Content] = [
        joined([percent(score.value), element("small", bounds(score))])
        for score in (one.accuracy, one.macro_f1)
    ]
    return [
        one.name,
        NOT_KNOWN if one.states is None else f"{one.states:,}",
        *scores,
        NOT_KNOWN if one.dev is None else percent(one.dev),
        NOT_KNOWN if one.seconds is None else seconds(one.seconds),
    ]


def _gains(gains: Sequence[Gain]) -> Markup:
    told = gains[0].accuracy
    rows = [
        (
            f"{gain.of} over {gain.over}",
            f"{gain.accuracy.difference * 100:+.1f}",
            f"{gain.accuracy.low * 100:+.1f} to {gain.accuracy.high * 100:+.1f}",
            f"{gain.accuracy.p_value:.2g}",
        )
        for gain in gains
    ]
    return table(
        ("", "Points", f"{told.confidence:.0%} interval", "p"),
        rows,
        "Difference of the steps that are right, in points of a hundred, by a paired bootstrap",
        frozenset({1, 2, 3}),
    )


def _examples(findings: SessionFindings) -> Markup:
    if findings.examples is None:
        return element("p", WITHHELD, class_="notice")
    plain, *richer = findings.shown
    which = f", where the {richer[0]} is furthest ahead of the {plain}" if richer else ""
    said = element(
        "p", f"Short sessions{which}. They are invented, so they may be shown.", class_="legend"
    )
    heads = ("Query", "True", *findings.shown)
    shown = [
        table(heads, [_step(step) for step in steps], f"A session of {len(steps)} steps")
        for steps in findings.examples
    ]
    return joined([said, *shown])


def _step(step: StepShown) -> list[Content]:
    return [
        step.text,
        step.gold,
        *(
            said if said == step.gold else element("span", f"{said} ✗", class_="miss")
            for said in step.said
        ),
    ]
