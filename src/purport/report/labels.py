"""How well each label is found: bars with intervals, and the numbers behind them."""

from __future__ import annotations

from collections.abc import Sequence

from purport.report.findings import LabelFinding
from purport.report.markup import Content, Markup, element, joined, table
from purport.report.pictures import Bar, bars
from purport.report.words import bounds, percent

MOST_BARS = 30


def labels_part(found: Sequence[LabelFinding], name: str) -> Markup:
    """Return the picture of the most frequent labels and the table of all.

    Parameters
    ----------
    found : list of LabelFinding
        The most frequent first; at least one.
    name : str
        What a label is called.

    Examples
    --------
    >>> from purport.measure.bootstrap import Interval
    >>> sure = Interval(0.9, 0.8, 1.0, 0.95)
    >>> "F1 of each slot" in str(labels_part([LabelFinding("city", 4, sure, sure, sure)], "slot"))
    True
    """
    shown = found[:MOST_BARS]
    rows = [
        Bar(
            one.label,
            one.f1.value,
            None if one.f1.too_few else one.f1.low,
            None if one.f1.too_few else one.f1.high,
            one.floor,
            f"{percent(one.f1.value)}  n={one.support}",
        )
        for one in shown
    ]
    worst = min(shown, key=lambda one: one.f1.value)
    drawn = bars(
        rows,
        f"F1 of each {name}",
        f"One bar a {name}, {len(shown)} of them, the most frequent first; the lowest is"
        f" {worst.label} with {percent(worst.f1.value)}. The table below holds the numbers.",
    )
    with_floor = any(one.floor is not None for one in found)
    floor = " the upright mark is the floor," if with_floor else ""
    many = f"each {name}" if len(shown) == len(found) else f"{len(shown)} of {len(found)} {name}s"
    legend = element(
        "p",
        f"F1 of {many}, the most frequent first; the thin line is the"
        f" {shown[0].f1.confidence:.0%} interval,{floor} n counts the {name} in the test data.",
        class_="legend",
    )
    floors = ["Floor"] if with_floor else []
    numbers = table(
        (name.capitalize(), "Precision", "Recall", "F1", *floors, "Count"),
        [_row(one, with_floor) for one in found],
        f"Scores of each {name}, with their {shown[0].f1.confidence:.0%} intervals",
        frozenset(range(1, 6)),
    )
    folded = element("details", element("summary", "The numbers"), numbers)
    return joined([element("figure", drawn, element("figcaption", legend)), folded])


def _row(one: LabelFinding, with_floor: bool) -> list[Content]:
    scores = [
        joined([percent(score.value), element("small", bounds(score))])
        for score in (one.precision, one.recall, one.f1)
    ]
    floor = [percent(one.floor or 0.0)] if with_floor else []
    return [one.label, *scores, *floor, f"{one.support:,}"]
