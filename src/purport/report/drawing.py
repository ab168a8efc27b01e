"""What every picture is made of: a frame with title and description, lines and texts.

Colours come from the page's style sheet, so that a picture follows light, dark and print.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from purport.report.markup import Content, Markup, element

Scale = Callable[[float], float]

WIDTH = 720.0
CHARACTER = 7.3  # of the 13 pixel sans-serif that pictures are written in, on average
LONGEST = 33  # characters of a label; a longer one is cut


def picture(
    width: float,
    height: float,
    title: str,
    description: str,
    drawn: Sequence[Content],
    *,
    narrow: bool = False,
) -> Markup:
    """Return a picture for those who see it, and its title and description for those who do not.

    Examples
    --------
    >>> str(picture(9, 9, "A title", "What it shows.", []))[-55:]
    '<title>A title</title><desc>What it shows.</desc></svg>'
    """
    # The title and description of a picture are its first children: it needs no ids, which could
    # meet twice in a page.
    return element(
        "svg",
        element("title", title),
        element("desc", description),
        *drawn,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        class_="picture narrow" if narrow else "picture",
    )


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    """Return a line of one of the kinds that the style sheet knows."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def text(x: float, y: float, said: str, anchor: str, kind: str) -> Markup:
    """Return a text that begins, ends or has its middle at a place."""
    return element("text", said, x=x, y=y, text_anchor=anchor, class_=kind)


def shortened(label: str) -> str:
    """Return a label that fits beside a picture.

    Examples
    --------
    >>> shortened("city"), len(shortened("c" * 80))
    ('city', 33)
    """
    return label if len(label) <= LONGEST else label[: LONGEST - 1] + "…"


def margin(labels: Sequence[str]) -> float:
    """Return the width that labels beside a picture take.

    Examples
    --------
    >>> margin(["a" * 10])
    89.0
    """
    return min(260.0, 16 + CHARACTER * max(map(len, labels), default=0))
