"""The page of a report: its head, one section a task, its style; written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from purport.errors import FormatError
from purport.report.markup import Markup, element, joined
from purport.report.style import STYLE
from purport.store.files import whole_file


@dataclass(frozen=True)
class Fact:
    """One number that a reader wants first, with a word on how sure it is.

    Examples
    --------
    >>> Fact("F1", "94.3%", "93.1 to 95.4").name
    'F1'
    """

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Section:
    """What a report says about one task.

    Attributes
    ----------
    anchor : str
        Names the section in links.
    title : str
        Its heading.
    facts : tuple of Fact
        What stands first.
    body : Markup
        The rest.

    Examples
    --------
    >>> Section("slots", "Slots", (), element("p", "None.")).anchor
    'slots'
    """

    anchor: str
    title: str
    facts: tuple[Fact, ...]
    body: Markup


def page(sections: Sequence[Section], subject: str, made: datetime, version: str) -> str:
    """Return the HTML of a report.

    Parameters
    ----------
    sections : list of Section
        In the order in which they shall stand.
    subject : str
        What the data are, in a few words.
    made : datetime
        When.
    version : str
        Of purport.

    Examples
    --------
    >>> section = Section("slots", "Slots", (Fact("F1", "94%"),), element("p", "Good."))
    >>> html = page([section], "five utterances", datetime(2024, 5, 1), "0.1.0")
    >>> html.startswith("<!doctype html>"), "<h2>Slots</h2>" in html
    (True, True)
    """
    title = f"What users are after: {subject}"
    head = element(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        element("title", title),
        element("style", Markup(STYLE)),
    )
    links = [
        element("li", element("a", section.title, href=f"#{section.anchor}"))
        for section in sections
    ]
    header = element(
        "header",
        element("h1", "What users are after"),
        element("p", f"{subject} · purport {version} · {made:%Y-%m-%d %H:%M}", class_="subject"),
        *([element("nav", element("ul", *links), aria_label="Sections")] if len(links) > 1 else []),
    )
    footer = element(
        "footer",
        element(
            "p",
            "This file needs no network and holds no scripts. Intervals are percentiles of a"
            " bootstrap over whole records, or groups of them; they cover the choice of test data,"
            " not that of training data.",
        ),
    )
    main = element("main", *map(_section, sections))
    document = element("html", head, element("body", header, main, footer), lang="en")
    return f"<!doctype html>\n{document}\n"


def write_page(path: str | os.PathLike[str], html: str, overwrite: bool = True) -> None:
    """Write the HTML of a report, whole or not at all.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> write_page(path, page([], "nothing", datetime(2024, 5, 1), "0.1.0"))
    >>> path.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        reason = "a folder has that name" if target.is_dir() else "there is no such folder"
        raise FormatError.unwritable(str(target), reason)
    with whole_file(target, overwrite) as file:
        file.write(html.encode("utf-8"))


def _section(section: Section) -> Markup:
    facts = [
        element(
            "div",
            element("dt", fact.name),
            element("dd", element("strong", fact.value), " ", element("small", fact.note)),
        )
        for fact in section.facts
    ]
    told = [element("dl", *facts, class_="facts")] if facts else []
    parts = joined([element("h2", section.title), *told, section.body])
    return element("section", parts, id=section.anchor)
