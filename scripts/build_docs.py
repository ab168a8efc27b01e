"""Writes the guide as HTML and fails when a link inside it leads nowhere.

    python scripts/build_docs.py FOLDER

The pages are README.md, CHANGELOG.md and docs/*.md; other files that they link to are copied. That
their examples work is the business of tests/docs.
"""

from __future__ import annotations

import re
import shutil
import sys
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

ROOT = Path(__file__).resolve().parent.parent
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 1rem/1.5 system-ui, sans-serif; }}
body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }}
pre {{ background: #f4f4f4; padding: 0.8rem; overflow-x: auto; }}
code {{ overflow-wrap: anywhere; }}
table {{ border-collapse: collapse; display: block; overflow-x: auto; }}
td, th {{ border: 1px solid #ccc; padding: 0.2rem 0.6rem; text-align: left; vertical-align: top; }}
</style>
</head>
<body>
<nav><a href="{index}">The guide</a></nav>
{body}</body>
</html>
"""


def main(arguments: list[str]) -> int:
    target = Path(arguments[0]).resolve()
    parsed = {path: MarkdownIt("commonmark").enable("table").parse(text(path)) for path in pages()}
    broken = list(broken_links(parsed))
    for fault in broken:
        print(fault, file=sys.stderr)
    if broken:
        return 1
    shutil.rmtree(target, ignore_errors=True)
    for path, tokens in parsed.items():
        write_page(target, path, tokens)
    for file in linked_files(parsed):
        shutil.copyfile(file, target / file.relative_to(ROOT))
    print(f"{len(parsed)} pages in {target}")
    return 0


def pages() -> list[Path]:
    return [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def broken_links(parsed: dict[Path, list[Token]]) -> Iterator[str]:
    """Yield a line for each link to a file or heading that is not there."""
    anchors = {path: set(anchors_of(tokens)) for path, tokens in parsed.items()}
    for path, tokens in parsed.items():
        for link in links_of(tokens):
            if re.match(r"[a-z]+:", link):
                continue
            file, _, anchor = link.partition("#")
            aim = (path.parent / file).resolve() if file else path
            if not aim.exists():
                yield f"{path.relative_to(ROOT)}: there is no file {file}"
            elif anchor and anchor not in anchors.get(aim, set()):
                yield f"{path.relative_to(ROOT)}: there is no heading {link}"


def linked_files(parsed: dict[Path, list[Token]]) -> set[Path]:
    """Return the files in the root that pages link to and that are no pages themselves."""
    aims = {
        (path.parent / link.partition("#")[0]).resolve()
        for path, tokens in parsed.items()
        for link in links_of(tokens)
    }
    return {aim for aim in aims - parsed.keys() if aim.is_file() and aim.parent == ROOT}


def links_of(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in {"link_open", "image"}:
            yield str(token.attrGet("href") or token.attrGet("src"))
        yield from links_of(token.children or [])


def anchors_of(tokens: list[Token]) -> Iterator[str]:
    """Yield the anchors of the headings, made as the usual hosts make them; set them on the way."""
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            kept = re.sub(r"[^\w\- ]", "", inline.content.lower())
            anchor = kept.replace(" ", "-")
            opening.attrSet("id", anchor)
            yield anchor


def write_page(target: Path, path: Path, tokens: list[Token]) -> None:
    renderer = MarkdownIt("commonmark").enable("table")
    body = renderer.renderer.render(tokens, renderer.options, {})
    body = re.sub(r'href="([^":#]+)\.md(#[^"]*)?"', r'href="\1.html\2"', body)
    title = next((t.content for t in tokens if t.type == "inline"), path.stem)
    index = "index.html" if path.parent.name == "docs" else "docs/index.html"
    page = target / path.relative_to(ROOT).with_suffix(".html")
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(PAGE.format(title=escape(title), index=index, body=body), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
