"""Several curves over the same steps, as ranks or days, each with its name at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from purport.report.drawing import CHARACTER, WIDTH, line, margin, picture, text
from purport.report.markup import Markup, element
from purport.report.pictures import round_marks

HUES = 5
_APART = 15.0  # names at the ends of curves that meet stand at least so far apart


@dataclass(frozen=True)
class Curve:
    """A curve and its name; one that is plain stands behind the others, which it is compared with.

    Examples
    --------
    >>> Curve("PBM", (1.0, 0.7)).is_plain
    False
    """

    name: str
    values: tuple[float, ...]
    is_plain: bool = False


def curves(
    drawn: Sequence[Curve],
    steps: Sequence[str],
    title: str,
    description: str,
    across: str,
    up: str,
    *,
    from_zero: bool = False,
) -> Markup:
    """Draw curves over steps.

    Parameters
    ----------
    drawn : list of Curve
        Each with a value a step.
    steps : list of str
        Their names.
    title, description : str
        For those who do not see it.
    across, up : str
        What the axes are.
    from_zero : bool
        Whether 0 must be seen.

    Examples
    --------
    >>> picture = curves([Curve("PBM", (1.0, 0.7))], "12", "Ranks", "It falls.", "rank", "share")
    >>> str(picture).count("<polyline")
    1
    """
    height, left, top = 300.0, 76.0, 30.0
    right, bottom = WIDTH - margin([curve.name for curve in drawn]), height - 48
    values = [value for curve in drawn for value in curve.values]
    marks = round_marks([*values, *([0.0] if from_zero else [])])
    apart = (right - left - 16) / max(1, len(steps) - 1)

    def x(step: int) -> float:
        return left + 8 + apart * step

    def y(value: float) -> float:
        return bottom - (bottom - top) * (value - marks[0]) / (marks[-1] - marks[0])

    parts: list[Markup] = []
    for mark in marks:
        parts.append(line(left, y(mark), right, y(mark), "grid"))
        parts.append(text(left - 8, y(mark) + 4.5, f"{mark:g}", "end", "tick"))
    parts.append(line(left, bottom, right, bottom, "axis"))
    room = CHARACTER * (max(map(len, steps)) + 2)
    every = max(1, -int(-room // apart)) if len(steps) > 1 else 1
    for step in range(0, len(steps), every):
        parts.append(line(x(step), bottom, x(step), bottom + 5, "axis"))
        parts.append(text(x(step), bottom + 20, steps[step], "middle", "tick"))
    parts.append(text((left + right) / 2, height - 6, across, "middle", "label"))
    parts.append(text(8, 14, up, "start", "label"))
    hues = iter(range(len(drawn)))
    kinds = ["plain" if curve.is_plain else f"hue{next(hues) % HUES}" for curve in drawn]
    for curve, kind in zip(drawn, kinds, strict=True):
        way = " ".join(f"{x(step):.1f},{y(value):.1f}" for step, value in enumerate(curve.values))
        parts.append(element("polyline", points=way, class_=f"way {kind}"))
    heights = _apart([y(curve.values[-1]) for curve in drawn], top, bottom)
    for curve, kind, at in zip(drawn, kinds, heights, strict=True):
        parts.append(text(right + 8, at + 4.5, curve.name, "start", f"name {kind}"))
    return picture(WIDTH, height, title, description, parts)


def _apart(heights: Sequence[float], top: float, bottom: float) -> list[float]:
    """Return heights near those given that leave room for a name each."""
    order = sorted(range(len(heights)), key=lambda place: heights[place])
    found = [0.0] * len(heights)
    least = top
    for place in order:
        found[place] = least = max(heights[place], least)
        least += _APART
    most = bottom
    for place in reversed(order):
        found[place] = most = min(found[place], most)
        most -= _APART
    return found
