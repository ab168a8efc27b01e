"""What is taken for what: a heat map of the labels that are confused most, and the pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from purport.measure.confusions import Confusion
from purport.report.drawing import CHARACTER, LONGEST, margin, picture, shortened, text
from purport.report.markup import Markup, element, joined, table

MOST_LABELS = 15
MOST_MISTAKES = 15
_CELL = 28.0
_SHADES = 6
_NARROW = 560.0  # a picture less wide than this would be drawn too large


def confusion_part(told: Confusion, name: str) -> Markup:
    """Return the heat map and the most frequent mistakes.

    Parameters
    ----------
    told : Confusion
        At least one mistake in it.
    name : str
        What a label is called.

    Examples
    --------
    >>> from purport.measure import confusion
    >>> told = confusion([["x"]], [["y"]], "tokens")
    >>> "taken for another" in str(confusion_part(told, "label"))
    True
    """
    wrong = told.mistakes
    total = sum(cell.count for cell in wrong)
    shown = wrong[:MOST_MISTAKES]
    pairs = table(
        (f"True {name}", "Given as", "Mistake", "Count", "First records"),
        [
            (
                cell.gold or f"no {name}",
                cell.predicted or f"no {name}",
                cell.words(),
                f"{cell.count:,}",
                ", ".join(str(number + 1) for number in cell.examples),
            )
            for cell in shown
        ],
        f"{sum(cell.count for cell in shown):,} of {total:,} mistakes",
        frozenset({3, 4}),
    )
    labels = told.most_confused(MOST_LABELS)
    borders = ", its borders right or wrong" if told.level == "spans" else ""
    legend = element(
        "p",
        f"The {len(labels)} of {len(told.labels)} {name}s that take part in most mistakes: what"
        " stands in a row was given as what stands in a column, which has the number of its row."
        f" The darker, the larger the share of the row; on the diagonal it is the same {name}"
        f"{borders}.",
        class_="legend",
    )
    figure = element("figure", heat_map(told, labels, name), element("figcaption", legend))
    return joined([figure, pairs])


def heat_map(told: Confusion, labels: Sequence[str], name: str = "label") -> Markup:
    """Draw how often labels were given for each other, as shades of rows.

    Parameters
    ----------
    told : Confusion
        At least one mistake in it.
    labels : list of str
        Which labels, in that order.
    name : str
        What a label is called.

    Examples
    --------
    >>> from purport.measure import confusion
    >>> drawn = str(heat_map(confusion([["x"]], [["y"]], "tokens"), ["x", "y"]))
    >>> drawn.count("<rect")
    4
    """
    shown: list[str | None] = [*labels, *([None] if told.level == "spans" else [])]
    counts = told.matrix(shown)
    nothing = f"no {name}"
    names = [label or nothing for label in shown]
    left = margin([f"{said} 00" for said in names])
    left = min(left, 16 + CHARACTER * (LONGEST + 3))
    top = 28.0
    of_row = _of_rows(told, shown)
    drawn: list[Markup] = []
    for row, said in enumerate(names):
        middle = top + _CELL * row + _CELL / 2 + 4.5
        number = f"{row + 1}" if shown[row] is not None else "-"
        drawn.append(text(left - 8, middle, f"{shortened(said)} {number}", "end", "label"))
        drawn.append(text(left + _CELL * (row + 0.5), top - 8, number, "middle", "tick"))
        for column, count in enumerate(counts[row].tolist()):
            share = count / of_row[row] if of_row[row] else 0.0
            # The first shade is for what occurs at all, so that a rare mistake is seen.
            shade = math.ceil(share * (_SHADES - 1)) if count else 0
            kind = "right" if row == column else "wrong"
            cell = element(
                "rect",
                element("title", f"{said}, given as {names[column]}: {count:,}"),
                x=left + _CELL * column + 1,
                y=top + _CELL * row + 1,
                width=_CELL - 2,
                height=_CELL - 2,
                class_=f"cell {kind} shade{shade}",
            )
            drawn.append(cell)
            if count:
                at = left + _CELL * (column + 0.5)
                told_count = f"{count}" if count < 1000 else f"{count / 1000:.0f}k"
                drawn.append(text(at, middle - 0.5, told_count, "middle", f"count over{shade}"))
    side = _CELL * len(names)
    frequent = told.mistakes[0]
    described = (
        f"The most frequent mistake is {frequent.gold or nothing}, given as"
        f" {frequent.predicted or nothing}, {frequent.count:,} times. The table below holds more."
    )
    width = left + side + 8
    return picture(
        width, top + side + 8, "What is taken for what", described, drawn, narrow=width < _NARROW
    )


def _of_rows(told: Confusion, shown: Sequence[str | None]) -> list[int]:
    """Return how often each label is gold, or how often something is found where nothing is."""
    sums: dict[str | None, int] = dict.fromkeys(shown, 0)
    for cell in told.cells:
        if cell.gold in sums:
            sums[cell.gold] += cell.count
    return [sums[label] for label in shown]
