"""Every example of the README and the guide runs, page by page and block by block.

Each page has an empty folder. A block marked ``python`` runs in the namespace of its page; where a
line is ``print(...)  # text``, that text must be what it prints. In a block marked ``sh`` the lines
that begin with ``purport`` go to the command line; a block in which a line has a pipe or a
redirection goes to a shell as it stands. A block marked ``text`` is what the block before it writes
to stdout. A block marked with a kind and a file name (``tsv train.tsv``) becomes that file.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RESULT = re.compile(r"\)  # (.+)$")
PIPED = re.compile(r"^[^#]*[|<>]", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    kind: str
    file: str
    code: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in BLOCK.finditer(text):
        kind, _, file = match[1].strip().partition(" ")
        found.append(Block(kind, file, match[2], text.count("\n", 0, match.start()) + 2))
    return found


def run_python(block: Block, page: Path, namespace: dict[str, Any]) -> str:
    """Run a block by statements, compare what is printed with what the page says; return it all."""
    lines = block.code.splitlines()
    everything = ""
    for statement in ast.parse(block.code).body:
        ast.increment_lineno(statement, block.line - 1)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            module = ast.Module([statement], type_ignores=[])
            exec(compile(module, str(page), "exec"), namespace)
        said = RESULT.search(lines[(statement.end_lineno or 0) - block.line])
        if said and isinstance(statement, ast.Expr):
            assert printed.getvalue().strip() == said[1], f"{page.name}, line {statement.lineno}"
        everything += printed.getvalue()
    return everything


def run_commands(block: Block, page: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the lines that begin with `purport`, as typed, in this process; return their results."""
    commands = block.code.replace("\\\n", " ").splitlines()
    if PIPED.search(block.code):
        return run_shell(block, page)
    results = io.StringIO()
    for words in (shlex.split(line, comments=True) for line in commands):
        if words[:1] != ["purport"]:
            continue
        from purport.cli.program import main

        monkeypatch.setattr(sys, "argv", words)
        try:
            with contextlib.redirect_stdout(results):
                code = main()
        except SystemExit as end:
            code = end.code
        assert not code, f"{page.name}: {shlex.join(words)} ended with {code}"
    return results.getvalue()


def run_shell(block: Block, page: Path) -> str:
    """Run a block in a shell that knows the program of this environment."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    run = subprocess.run(
        ["sh", "-ec", block.code],
        env={**os.environ, "PATH": path},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 0, f"{page.name}, line {block.line}: {run.stderr}"
    return run.stdout


def same_lines(found: str, said: str) -> bool:
    """Compare without regard to white space at the ends of lines."""
    both = ([line.rstrip() for line in text.strip("\n").splitlines()] for text in (found, said))
    return next(both) == next(both)


# Examples leave out bad rows on purpose; any other warning would mislead whoever copies them.
@pytest.mark.filterwarnings("ignore::purport.errors.SkippedRowsWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_example_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed = ""
    for block in blocks_of(page):
        if block.file:
            Path(block.file).write_text(block.code, encoding="utf-8")
        elif block.kind == "python":
            printed = run_python(block, page, namespace)
        elif block.kind == "sh":
            printed = run_commands(block, page, monkeypatch)
        elif block.kind == "text":
            assert same_lines(printed, block.code), f"{page.name}, line {block.line}:\n{printed}"


def test_the_readme_begins_with_the_install_line_and_six_lines_of_python() -> None:
    install, python = blocks_of(ROOT / "README.md")[:2]
    assert install.code == "pip install purport\n"
    assert python.kind == "python"
    assert len([line for line in python.code.splitlines() if line]) == 6


def test_a_wrong_result_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\nprint(x + 1)  # 3\n```\n", encoding="utf-8")
    (block,) = blocks_of(page)
    with pytest.raises(AssertionError, match=r"page\.md, line 3"):
        run_python(block, page, {})


def test_what_a_block_prints_is_compared(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\nprint(2)\n```\n\n```text\n1\n2\n```\n", encoding="utf-8")
    block, said = blocks_of(page)
    printed = run_python(block, page, {})
    assert same_lines(printed, said.code)
    assert not same_lines(printed, "1\n3\n")


def test_every_verb_and_option_is_on_the_page_of_the_command_line() -> None:
    from typer.main import get_command

    from purport.cli.program import program

    said = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    waiting: list[Any] = [get_command(program)]
    while waiting:
        command = waiting.pop()
        waiting += getattr(command, "commands", {}).values()
        assert str(command.name) in said
        for option in (name for each in command.params for name in each.opts):
            found = re.search(rf"`(purport )?{re.escape(option)}(?![\w-])", said)
            assert found or not option.startswith("-"), f"{command.name} {option}"


def test_the_guide_is_built_and_no_link_leads_nowhere(tmp_path: Path) -> None:
    script = str(ROOT / "scripts" / "build_docs.py")
    run = subprocess.run(
        [sys.executable, script, str(tmp_path)], capture_output=True, encoding="utf-8", check=False
    )
    assert run.returncode == 0, run.stderr
    for page in tmp_path.rglob("*.html"):
        for link in re.findall(r'href="([^"#]+)', page.read_text(encoding="utf-8")):
            assert "://" in link or (page.parent / link).exists(), f"{page.name}: {link}"
