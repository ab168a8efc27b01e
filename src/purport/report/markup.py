"""HTML from strings: every text is escaped here and nowhere else, so that none is forgotten."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Markup:
    """A piece of HTML that is safe to put into a page as it is.

    Examples
    --------
    >>> str(element("p", "a < b"))
    '<p>a &lt; b</p>'
    """

    text: str

    def __str__(self) -> str:
        return self.text


Content = str | Markup


def element(name: str, *content: Content, **attributes: str | float | None) -> Markup:
    """Return an element; plain strings inside are escaped, attributes that are None left out.

    An underscore at the end of an attribute's name is dropped (``class_``), others become hyphens.

    Examples
    --------
    >>> str(element("text", "5 > 4", class_="tick", stroke_width=2))
    '<text class="tick" stroke-width="2">5 &gt; 4</text>'
    """
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_attribute(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{said}>{joined(content)}</{name}>")


def joined(parts: Iterable[Content]) -> Markup:
    """Put pieces one after the other; plain strings are escaped.

    Examples
    --------
    >>> str(joined(["a & ", element("b", "c")]))
    'a &amp; <b>c</b>'
    """
    return Markup("".join(map(_escaped, parts)))


def table(
    head: Sequence[Content],
    rows: Iterable[Sequence[Content]],
    caption: str,
    numbers: frozenset[int] = frozenset(),
) -> Markup:
    """Return a table; a row's first cell names it, the columns in `numbers` stand to the right.

    Examples
    --------
    >>> "<caption>Scores</caption>" in str(table(["slot"], [["city"]], "Scores"))
    True
    """
    sides = dict.fromkeys(numbers, "number")
    titles = [
        element("th", cell, scope="col", class_=sides.get(column))
        for column, cell in enumerate(head)
    ]
    lines = [
        element(
            "tr",
            element("th", row[0], scope="row"),
            *(element("td", row[at], class_=sides.get(at)) for at in range(1, len(row))),
        )
        for row in rows
    ]
    body = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *titles)),
        element("tbody", *lines),
    )
    return element("div", body, class_="scroll")


def _escaped(part: Content) -> str:
    return part.text if isinstance(part, Markup) else html.escape(part)


def _attribute(value: str | float) -> str:
    return html.escape(value) if isinstance(value, str) else f"{round(value, 2):g}"
