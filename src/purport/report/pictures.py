"""Pictures as SVG inside the page: bars and dots with intervals, a curve; no script, no library.

Colours come from the page's style sheet, so that a picture follows light, dark and print. Each has
a title and a description for those who do not see it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from purport.report.drawing import WIDTH, Scale, line, margin, picture, shortened, text
from purport.report.markup import Markup, element

ROW = 26.0


@dataclass(frozen=True)
class Bar:
    """One bar from 0 to 1, perhaps with an interval, the mark of a floor and a note behind it.

    Examples
    --------
    >>> Bar("city", 0.9, low=0.8, high=1.0).value
    0.9
    """

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    floor: float | None = None
    note: str = ""


def bars(rows: Sequence[Bar], title: str, description: str) -> Markup:
    """Draw shares as bars, one a row.

    Examples
    --------
    >>> picture = bars([Bar("city", 0.9)], "F1 by slot", "One bar a slot.")
    >>> str(picture).startswith("<svg")
    True
    """
    left = margin([row.label for row in rows])
    right = WIDTH - 130
    top, bottom = 8.0, 8.0 + ROW * len(rows)

    def x(share: float) -> float:
        return left + (right - left) * share

    drawn: list[Markup] = []
    for tenth in range(0, 11, 2):
        at = x(tenth / 10)
        drawn.append(line(at, top, at, bottom, "grid"))
        drawn.append(text(at, bottom + 18, f"{tenth / 10:g}", "middle", "tick"))
    for number, row in enumerate(rows):
        drawn += _bar(row, top + ROW * number, left, x)
    return picture(WIDTH, bottom + 26, title, description, drawn)


def _bar(row: Bar, top: float, left: float, x: Scale) -> list[Markup]:
    middle = top + ROW / 2
    drawn = [
        text(left - 8, middle + 4.5, shortened(row.label), "end", "label"),
        element(
            "rect",
            x=left,
            y=top + 4,
            width=max(0.0, x(row.value) - left),
            height=ROW - 8,
            class_="bar",
        ),
    ]
    if row.floor is not None:
        drawn.append(line(x(row.floor), top + 2, x(row.floor), top + ROW - 2, "floor"))
    if row.low is not None and row.high is not None:
        drawn.append(line(x(row.low), middle, x(row.high), middle, "whisker"))
        drawn += [
            line(x(end), middle - 4, x(end), middle + 4, "whisker") for end in (row.low, row.high)
        ]
    drawn.append(text(x(1) + 12, middle + 4.5, row.note, "start", "note"))
    return drawn


@dataclass(frozen=True)
class Dot:
    """A value on a scale of its own, its interval and a note behind it.

    Examples
    --------
    >>> Dot("UBM", 0.02, 0.01, 0.03).value
    0.02
    """

    label: str
    value: float
    low: float
    high: float
    note: str = ""


def dots(rows: Sequence[Dot], title: str, description: str) -> Markup:
    """Draw values with their intervals, one a row, beside a line at 0.

    Examples
    --------
    >>> picture = dots([Dot("UBM", 0.02, 0.01, 0.03)], "Gain", "One dot a model.")
    >>> str(picture).count("<circle")
    1
    """
    left = margin([row.label for row in rows])
    right = WIDTH - margin([row.note for row in rows])
    top, bottom = 8.0, 8.0 + ROW * len(rows)
    marks = round_marks([0.0, *(end for row in rows for end in (row.value, row.low, row.high))])

    def x(value: float) -> float:
        return left + 8 + (right - left - 16) * _share(value, marks)

    drawn: list[Markup] = []
    for mark in marks:
        drawn.append(line(x(mark), top, x(mark), bottom, "grid" if mark else "axis"))
        drawn.append(text(x(mark), bottom + 18, f"{mark:g}", "middle", "tick"))
    for number, row in enumerate(rows):
        middle = top + ROW * number + ROW / 2
        drawn += [
            text(left - 8, middle + 4.5, shortened(row.label), "end", "label"),
            line(x(row.low), middle, x(row.high), middle, "whisker"),
            *(
                line(x(end), middle - 4, x(end), middle + 4, "whisker")
                for end in (row.low, row.high)
            ),
            element("circle", cx=x(row.value), cy=middle, r=5, class_="dot"),
            text(right + 12, middle + 4.5, row.note, "start", "note"),
        ]
    return picture(WIDTH, bottom + 26, title, description, drawn)


def curve(
    points: Sequence[tuple[float, float]],
    title: str,
    description: str,
    across: str,
    up: str,
) -> Markup:
    """Draw values over a quantity that only grows, joined by a line.

    Examples
    --------
    >>> picture = curve([(0, 5.0), (1, 2.0)], "Objective", "It falls.", "iteration", "objective")
    >>> "polyline" in str(picture)
    True
    """
    height, left, right, top = 260.0, 76.0, WIDTH - 24, 26.0
    bottom = height - 48
    shown = [(a, b) for a, b in points if math.isfinite(a) and math.isfinite(b)]
    marks_across = round_marks([a for a, _ in shown])
    marks_up = round_marks([b for _, b in shown])

    def x(value: float) -> float:
        return left + (right - left) * _share(value, marks_across)

    def y(value: float) -> float:
        return bottom - (bottom - top) * _share(value, marks_up)

    drawn: list[Markup] = []
    for mark in marks_up:
        drawn.append(line(left, y(mark), right, y(mark), "grid"))
        drawn.append(text(left - 8, y(mark) + 4.5, f"{mark:g}", "end", "tick"))
    for mark in marks_across:
        drawn.append(line(x(mark), bottom, x(mark), bottom + 5, "axis"))
        drawn.append(text(x(mark), bottom + 20, f"{mark:g}", "middle", "tick"))
    drawn.append(line(left, bottom, right, bottom, "axis"))
    drawn.append(text((left + right) / 2, height - 6, across, "middle", "label"))
    drawn.append(text(8, 14, up, "start", "label"))
    way = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in shown)
    drawn.append(element("polyline", points=way, class_="curve"))
    if shown:
        drawn.append(element("circle", cx=x(shown[-1][0]), cy=y(shown[-1][1]), r=4, class_="dot"))
    return picture(WIDTH, height, title, description, drawn)


def round_marks(values: Sequence[float], about: int = 5) -> list[float]:
    """Return evenly spaced round numbers that reach around all values.

    Examples
    --------
    >>> round_marks([0.3, 9.2])
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    """
    if not values:
        return [0.0, 1.0]
    low, high = min(values), max(values)
    if high <= low:
        high = low + (abs(low) or 1.0)
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(times * power for times in (1, 2, 5, 10) if times * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{number * step:.10g}") for number in range(first, last + 1)]


def _share(value: float, marks: Sequence[float]) -> float:
    return (value - marks[0]) / (marks[-1] - marks[0])
