"""How far probabilities can be believed: the reliability diagram and what it says in numbers."""

from __future__ import annotations

from purport.measure.reliability import Calibration
from purport.report.drawing import line, picture, text
from purport.report.markup import Markup, element, joined, table
from purport.report.words import bounds, percent

_SIDE, _LEFT, _TOP, _BELOW = 320.0, 64.0, 30.0, 90.0
_MASS = 44.0  # the height of the strip that shows how many there are


def reliability_part(told: Calibration, positions: str) -> Markup:
    """Return the diagram, its numbers and how to read them.

    Examples
    --------
    >>> from purport.measure import calibration
    >>> told = calibration([["x"]], [[{"x": 0.75, "y": 0.25}]])
    >>> "Expected calibration error" in str(reliability_part(told, "words"))
    True
    """
    verdict = element(
        "p",
        "Expected calibration error ",
        element("strong", percent(told.error.value, 2)),
        f" ({bounds(told.error, 2)}): so far, in the mean over {positions}, lies the probability of"
        f" a label from how often it is right. Brier score {told.brier.value:.4f}"
        f" ({told.brier.low:.4f} to {told.brier.high:.4f}), negative log-likelihood"
        f" {told.log_loss.value:.4f} ({told.log_loss.low:.4f} to {told.log_loss.high:.4f}).",
    )
    unmet = (
        [
            element(
                "p",
                f"{told.unmet:,} {positions} have a label that the model does not know; they count"
                " as wrong and are left out of the likelihood.",
            )
        ]
        if told.unmet
        else []
    )
    legend = element(
        "p",
        f"Each dot is a bin of {positions} by the probability of their label; it would lie on the"
        " rising line if probabilities were right. Below the line the model is too sure. The"
        f" upright lines are {told.error.confidence:.0%} intervals; the strip shows how many"
        f" {positions} a bin holds, on a scale of powers of ten.",
        class_="legend",
    )
    rows = [
        (
            f"{percent(each.low)} to {percent(each.high)}",
            f"{each.count:,}",
            percent(each.probability),
            percent(each.right.value),
            bounds(each.right),
        )
        for each in told.bins
    ]
    numbers = table(
        ("Probability", "Count", "Mean", "Right", "Interval"),
        rows,
        "Labels by their probability",
        frozenset(range(1, 5)),
    )
    figure = element("figure", reliability_picture(told), element("figcaption", legend))
    folded = element("details", element("summary", "The numbers"), numbers)
    return joined([verdict, *unmet, figure, folded])


def reliability_picture(told: Calibration) -> Markup:
    """Draw how often labels are right over how probable they are.

    Examples
    --------
    >>> from purport.measure import calibration
    >>> told = calibration([["x"]], [[{"x": 0.75, "y": 0.25}]])
    >>> str(reliability_picture(told)).count('class="dot"')
    1
    """
    right, bottom = _LEFT + _SIDE, _TOP + _SIDE

    def x(share: float) -> float:
        return _LEFT + _SIDE * share

    def y(share: float) -> float:
        return bottom - _SIDE * share

    drawn: list[Markup] = []
    for fifth in range(6):
        mark = fifth / 5
        drawn += [
            line(x(mark), _TOP, x(mark), bottom, "grid"),
            line(_LEFT, y(mark), right, y(mark), "grid"),
            text(_LEFT - 8, y(mark) + 4.5, f"{mark:g}", "end", "tick"),
            text(x(mark), bottom + _MASS + 26, f"{mark:g}", "middle", "tick"),
        ]
    drawn.append(line(_LEFT, bottom, right, _TOP, "ideal"))
    most = max((len(str(each.count)) for each in told.bins), default=1)
    floor = bottom + _MASS + 8
    for each in told.bins:
        height = _MASS * min(1.0, len(str(each.count)) / most)
        drawn += [
            element(
                "rect",
                x=x(each.low) + 1,
                y=floor - height,
                width=max(1.0, x(each.high) - x(each.low) - 2),
                height=height,
                class_="mass",
            ),
        ]
        if not each.right.too_few:
            low, high = y(each.right.low), y(each.right.high)
            drawn.append(line(x(each.probability), low, x(each.probability), high, "whisker"))
    way = " ".join(f"{x(each.probability):.1f},{y(each.right.value):.1f}" for each in told.bins)
    drawn.append(element("polyline", points=way, class_="curve"))
    drawn += [
        element("circle", cx=x(each.probability), cy=y(each.right.value), r=4, class_="dot")
        for each in told.bins
    ]
    drawn += [
        text(8, 14, "share that is right", "start", "label"),
        text((_LEFT + right) / 2, bottom + _BELOW, "probability of the label", "middle", "label"),
    ]
    surest = told.bins[-1] if told.bins else None
    described = (
        f" Of the {surest.count:,} with the highest probabilities, {percent(surest.probability)} in"
        f" the mean, {percent(surest.right.value)} are right."
        if surest
        else ""
    )
    return picture(
        _LEFT + _SIDE + 24,
        bottom + _BELOW + 10,
        "Reliability of probabilities",
        f"How often labels are right over how probable they are, in {len(told.bins)} bins."
        f"{described} The table below holds the numbers.",
        drawn,
        narrow=True,
    )
