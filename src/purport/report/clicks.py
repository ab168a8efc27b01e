"""The section on clicks: models beside each other, how people read, what position hides, days."""

from __future__ import annotations

from collections.abc import Sequence

from purport.measure.bootstrap import Interval
from purport.report.click_findings import (
    ClickFindings,
    ClickModelFinding,
    DayByDay,
    DocumentShown,
    PageSize,
    Reading,
)
from purport.report.curves import Curve, curves
from purport.report.drawing import picture, text
from purport.report.markup import Content, Markup, element, joined, table
from purport.report.page import Fact, Section
from purport.report.pictures import Dot, dots
from purport.report.words import percent, seconds

USELESS = (
    "No model is above the floor: the click rate of each rank alone foretells clicks as well. Give"
    " more pages of the same queries, or check that results stand in the order they were shown in."
)

WITHHELD = (
    "No queries and no documents are shown: they may be somebody's words. Only invented ones are."
)

ABOUT = {
    "RCTR": "a click rate for each rank.",
    "DCTR": "a click rate for each document of each query.",
    "PBM": "whether a result is looked at depends on its rank alone.",
    "CCM": "people read down, and go on or not by how relevant what they clicked was.",
    "DBN": "people read down until a result they clicked satisfies them.",
    "UBM": "whether a result is looked at depends on its rank and on where the last click was.",
}

_CELL, _LEFT, _TOP = 44.0, 76.0, 44.0


def click_section(findings: ClickFindings) -> Section:
    """Return the section of the report on click models.

    Examples
    --------
    >>> from purport.measure.bootstrap import Comparison
    >>> from purport.report.click_findings import Examined, Reversed
    >>> sure, size = Interval(1.2, 1.1, 1.3, 0.95), PageSize(9, 90, 8, 3)
    >>> gain = Comparison(1.2, 1.1, 0.1, 0.05, 0.15, 0.01, 0.95)
    >>> model = ClickModelFinding("PBM", sure, sure, sure, gain, 1.2, 0.5, 9)
    >>> looked, turned = Examined("PBM", (0.9, 0.3)), Reversed("PBM", 20, 9, 8, 1, None)
    >>> found = ClickFindings(
    ...     size, size, size, (model,), "PBM", "PBM", (0.5, 0.1), (looked,), (), (), turned, None,
    ...     None, None,
    ... )
    >>> click_section(found).facts[0].value
    '1.2000'
    """
    best = findings.best
    facts = (
        Fact("Log-likelihood", f"{best.log_likelihood.value:.4f}", _bounds(best.log_likelihood)),
        Fact(
            "Gain over the floor",
            f"{best.gain.difference:+.4f}",
            f"{best.gain.low:+.4f} to {best.gain.high:+.4f}",
        ),
        Fact("Perplexity", f"{best.conditional.value:.4f}", _bounds(best.conditional)),
        Fact("Learnt in", seconds(best.seconds), f"{findings.train.pages:,} pages"),
    )
    parts = [
        _verdict(findings),
        element("h3", "Click models beside each other"),
        _models(findings),
        element("h3", "How far people look"),
        _examination(findings),
        *_after_click(findings),
        *_readings(findings.readings),
        element("h3", "What position hides"),
        _hidden(findings),
        *([element("h3", "Day by day"), _days(findings.by_day)] if findings.by_day else []),
    ]
    return Section("clicks", "Clicks", facts, joined(parts))


def _verdict(findings: ClickFindings) -> Markup:
    train, dev, test, best = findings.train, findings.dev, findings.test, findings.best
    told = element(
        "p",
        f"Models of how people click learnt from {_sized(train)}. {dev.pages:,} other pages, which"
        " none had seen, decided which is kept; then all took in those as well, one by one. They"
        f" were tested on {_sized(test)}. Kept is ",
        element("strong", best.name),
        f": its log-likelihood is {best.log_likelihood.value:.4f}, that of the click rates of ranks"
        f" alone {findings.plainest.log_likelihood.value:.4f}.",
    )
    return told if findings.above_floor else joined([told, element("p", USELESS, class_="notice")])


def _sized(size: PageSize) -> str:
    return (
        f"{size.pages:,} pages of {size.queries:,} queries"
        f" ({percent(size.click_rate)} of results clicked)"
    )


def _models(findings: ClickFindings) -> Markup:
    compared = [one for one in findings.models if one.name != findings.floor]
    best, floor = findings.best, findings.floor
    drawn = dots(
        [
            Dot(
                one.name,
                one.gain.difference,
                one.gain.low,
                one.gain.high,
                f"{one.gain.difference:+.4f}" + ("  kept" if one.name == findings.kept else ""),
            )
            for one in compared
        ],
        f"Log-likelihood beyond that of {floor}",
        f"One dot a model; {best.name}, which is kept, gains {best.gain.difference:+.4f}. The table"
        " below holds the numbers.",
    )
    legend = element(
        "p",
        f"How much more log-likelihood each has than {floor}, the click rate of each rank; the thin"
        f" line is the {best.gain.confidence:.0%} interval of a paired bootstrap over queries."
        " DCTR, the click rate of each document, is the other floor: it knows nothing of position.",
        class_="legend",
    )
    numbers = table(
        ("Model", "Log-likelihood", "Perplexity", "Marginal perplexity", "On the dev part", "p"),
        [_row(one, one.name == floor) for one in findings.models],
        "On the test pages. Log-likelihood and perplexity are of each result given the clicks above"
        " it on its page, marginal perplexity when no clicks are known; perplexity is 1 for who"
        " knows all and 2 for who guesses. The dev part decided which is kept; p is that of the"
        " gain over the floor.",
        frozenset(range(1, 6)),
    )
    how = [
        element(
            "li",
            element("strong", one.name),
            f": {ABOUT.get(one.name, '')} {one.rounds:,}"
            f" {'round' if one.rounds == 1 else 'rounds'} of learning, {seconds(one.seconds)}.",
        )
        for one in findings.models
    ]
    folded = element(
        "details",
        element("summary", "What they are, and how long they learnt"),
        element("ul", *how),
        element(
            "p",
            "What a model believes of a document before it meets it was learnt as well, and takes"
            " most of the time.",
        ),
    )
    return joined([element("figure", drawn, element("figcaption", legend)), numbers, folded])


def _row(one: ClickModelFinding, is_compared_with: bool) -> list[Content]:
    scores: list[Content] = [
        joined([f"{score.value:.4f}", element("small", _bounds(score))])
        for score in (one.log_likelihood, one.conditional, one.marginal)
    ]
    return [
        one.name + (" (floor)" if one.is_floor else ""),
        *scores,
        f"{one.dev:.4f}",
        "–" if is_compared_with else f"{one.gain.p_value:.2g}",
    ]


def _examination(findings: ClickFindings) -> Markup:
    rates = findings.click_rates
    steps = [str(rank + 1) for rank in range(len(rates))]
    beside = tuple(rate / rates[0] for rate in rates) if rates[0] else rates
    drawn = [Curve(each.model, each.beside_first()) for each in findings.examined]
    kept = next((each for each in findings.examined if each.model == findings.kept), None)
    said = (
        f"{kept.model} has it that rank {len(steps)} is looked at {kept.beside_first()[-1]:.2f}"
        " times as often as the first; "
        if kept
        else ""
    )
    figure = curves(
        [Curve("click rate", beside, is_plain=True), *drawn],
        steps,
        "How often each rank is looked at, beside the first",
        f"A curve a model; {said}its click rate is {beside[-1]:.2f} times as high.",
        "rank",
        "times as often as the first rank",
        from_zero=True,
    )
    legend = element(
        "p",
        "How often a rank is looked at, as each model has it, in the mean over the test pages. The"
        " click rate falls for two reasons: fewer people look, and what stands there attracts less;"
        " where it lies below the curves, the second is at work as well. How the curves fall is"
        " what clicks tell; how high the first rank lies is not, so all begin at 1.",
        class_="legend",
    )
    numbers = table(
        ("Rank", "Click rate", *(each.model for each in findings.examined)),
        [
            (
                step,
                percent(rates[rank]),
                *(percent(each.by_rank[rank]) for each in findings.examined),
            )
            for rank, step in enumerate(steps)
        ],
        "How often results of each rank are clicked, and are looked at as each model has it",
        frozenset(range(1, 2 + len(findings.examined))),
    )
    folded = element("details", element("summary", "The numbers"), numbers)
    return joined([element("figure", figure, element("figcaption", legend)), folded])


def _after_click(findings: ClickFindings) -> list[Markup]:
    """Return the UBM's grid, if enough results tell anything."""
    told = [share for row in findings.after_click for share in row if share is not None]
    if len(told) < 2:
        return []
    legend = element(
        "p",
        "The UBM: how likely people look at a rank, a row, when their last click was at the rank of"
        " the column. The more, the stronger. The first column is before any click. Cells that few"
        " results tell of are empty.",
        class_="legend",
    )
    drawn = examination_grid(findings.after_click)
    return [element("figure", drawn, element("figcaption", legend))]


def examination_grid(rows: Sequence[Sequence[float | None]]) -> Markup:
    """Draw examination by rank and by the rank of the last click.

    Parameters
    ----------
    rows : list of lists of float or None
        For each rank the columns "no click yet", first rank, second rank and so on.

    Examples
    --------
    >>> str(examination_grid([(0.9, None), (0.6, 0.8)])).count("<rect")
    3
    """
    columns = len(rows)  # no click is further down than the rank above
    highest = max(share for row in rows for share in row if share is not None)
    drawn: list[Markup] = [text(8, 14, "rank", "start", "label")]
    drawn.append(text(_LEFT, 14, "last click at rank", "start", "label"))
    for column in range(columns):
        at = _LEFT + _CELL * (column + 0.5)
        drawn.append(text(at, _TOP - 8, str(column) if column else "none", "middle", "tick"))
    for rank, row in enumerate(rows):
        y = _TOP + _CELL * 0.62 * rank
        high = _CELL * 0.62
        drawn.append(text(_LEFT - 10, y + high / 2 + 4.5, str(rank + 1), "end", "tick"))
        for column, share in enumerate(row[: rank + 1]):
            if share is None:
                continue
            x, of = _LEFT + _CELL * column, share / highest
            told = f"rank {rank + 1}, last click at {column or 'none'}: {share:.2f}"
            drawn.append(
                element(
                    "rect",
                    element("title", told),
                    x=x + 1,
                    y=y + 1,
                    width=_CELL - 2,
                    height=high - 2,
                    class_="share",
                    style=f"--of:{0.75 * of:.0%}",
                )
            )
            shade = "count over5" if of > 0.6 else "count"
            drawn.append(text(x + _CELL / 2, y + high / 2 + 4, f"{share:.2f}", "middle", shade))
    return picture(
        max(_LEFT + _CELL * columns + 8, 544.0),
        _TOP + _CELL * 0.62 * len(rows) + 8,
        "How likely each rank is looked at after a click",
        f"{len(rows)} rows of ranks; columns are the rank of the last click. The highest is"
        f" {highest:.2f}.",
        drawn,
        narrow=True,
    )


def _readings(readings: Sequence[Reading]) -> list[Markup]:
    if not readings:
        return []
    rows = [(f"{told.model}: people {told.what}", percent(told.value)) for told in readings]
    caption = "Models that read from top to bottom: how likely people read on"
    return [table(("", "Chance"), rows, caption, frozenset({1}))]


def _hidden(findings: ClickFindings) -> Markup:
    told = findings.reversed
    said = (
        f"Of {told.documents:,} documents that were shown at least {told.least} times for their"
        f" query, {told.pairs:,} pairs belong to one query. In {told.reversed:,} of them"
        f" ({percent(told.share)}) the one that is clicked more often attracts less, says"
        f" {told.model}: it owed its clicks to its place."
    )
    if told.right is not None and told.reversed:
        said += (
            f" These data are invented, so the truth is known: {told.right:,} of the"
            f" {told.reversed:,} ({percent(told.right / told.reversed)}) are truly so."
        )
    parts = [element("p", said)]
    agreed = findings.agreement
    if agreed is not None:
        sure = not agreed.low <= 0.0 <= agreed.high
        verdict = (
            f"{told.model} is nearer"
            if sure and agreed.difference > 0.0
            else "click rates are nearer"
            if sure
            else "the data do not tell which is nearer"
        )
        parts.append(
            element(
                "p",
                f"Rank correlation with the true attractiveness: {agreed.a:.3f} for what"
                f" {told.model} learnt, {agreed.b:.3f} for plain click rates; difference"
                f" {agreed.difference:+.3f} ({agreed.low:+.3f} to {agreed.high:+.3f}): {verdict}.",
            )
        )
    if findings.misled is None:
        parts.append(element("p", WITHHELD, class_="notice"))
    elif findings.misled:
        parts.append(_misled(findings.misled, told.model))
    return joined(parts)


def _misled(pairs: Sequence[tuple[DocumentShown, DocumentShown]], model: str) -> Markup:
    rows = [
        (
            f"{one.query}: {one.doc}",
            f"{one.shown:,}",
            f"{one.rank:.1f}",
            percent(one.click_rate),
            percent(one.learnt),
            "" if one.true is None else percent(one.true),
        )
        for pair in pairs
        for one in pair
    ]
    caption = (
        "Where click rates mislead most: two documents of a query each, the first clicked more and"
        f" the second more attractive, says {model}. They are invented, so they may be shown."
    )
    heads = ("Query: document", "Shown", "Mean rank", "Click rate", "Learnt", "Truth")
    return table(heads, rows, caption, frozenset(range(1, 6)))


def _days(told: DayByDay) -> Markup:
    gain = told.gain
    sure = not gain.low <= 0.0 <= gain.high
    verdict = (
        "Keeping it up to date pays"
        if sure and gain.difference > 0.0
        else "Keeping it up to date harms"
        if sure
        else "The data do not tell whether keeping it up to date pays"
    )
    said = element(
        "p",
        f"{verdict}. {told.model} learnt from the first {told.history:,} days and then met the next"
        f" {len(told.days):,}: once as it was, once taking in each day after it was foretold (",
        element("code", "update"),
        f"). Log-likelihood {gain.a:.4f} against {gain.b:.4f}: {gain.difference:+.4f}"
        f" ({gain.low:+.4f} to {gain.high:+.4f}, p = {gain.p_value:.2g}).",
    )
    figure = curves(
        [
            Curve("kept up to date", tuple(day.online for day in told.days)),
            Curve("as it was", tuple(day.static for day in told.days), is_plain=True),
        ],
        [day.day[5:] for day in told.days],
        "Log-likelihood of each day",
        f"Two curves over {len(told.days)} days. The table below holds the numbers.",
        "day",
        "log-likelihood of the day",
    )
    legend = element(
        "p",
        "Training and test pages together, in the order of their times. Nothing is decided by them"
        " here.",
        class_="legend",
    )
    numbers = table(
        ("Day", "Pages", "As it was", "Kept up to date", "Difference"),
        [
            (
                day.day,
                f"{day.pages:,}",
                f"{day.static:.4f}",
                f"{day.online:.4f}",
                f"{day.online - day.static:+.4f}",
            )
            for day in told.days
        ],
        "Log-likelihood of each day",
        frozenset(range(1, 5)),
    )
    folded = element("details", element("summary", "The numbers"), numbers)
    return joined([said, element("figure", figure, element("figcaption", legend)), folded])


def _bounds(interval: Interval) -> str:
    return f"{interval.low:.4f} to {interval.high:.4f}"
