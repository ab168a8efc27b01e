"""Rules of the house that no linter knows: read from the source itself."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "purport"
SOURCES = sorted(PACKAGE.rglob("*.py"))
LARGEST_FILE = 1_000_000
TEXT_METHODS = {"read_text": 0, "write_text": 1}  # the position of `encoding` among the arguments
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def kept_files() -> list[Path]:
    """Return what git keeps or would keep; outside a checkout, nothing."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    names = listed.stdout.decode("utf-8").split("\0") if listed.returncode == 0 else []
    return [path for name in names if name and (path := ROOT / name).is_file()]


def calls_in(path: Path) -> list[ast.Call]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_no_file_of_the_package_imports_the_root(path: Path) -> None:
    # Import-linter does not see the root, and ruff's banned-api would ban all that is under it.
    if path == PACKAGE / "__init__.py":
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            # Without `as`, `import purport.store.files` binds the root too.
            roots = [n.name if n.asname else n.name.split(".")[0] for n in node.names]
            assert "purport" not in roots, f"{name_of(path)}:{node.lineno} imports the root"
        elif isinstance(node, ast.ImportFrom):
            assert node.module != "purport", f"{name_of(path)}:{node.lineno} imports the root"


def states_encoding(call: ast.Call, position: int) -> bool:
    named = {keyword.arg for keyword in call.keywords}
    return "encoding" in named or None in named or len(call.args) > position


def is_binary(call: ast.Call, position: int) -> bool:
    """Tell whether the mode, if it is a constant, is binary; an unknown mode counts as text."""
    given = [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    given += call.args[position : position + 1]
    return any(isinstance(mode, ast.Constant) and "b" in str(mode.value) for mode in given)


def unstated_encodings(path: Path) -> list[int]:
    """Return the lines that open text without saying in which encoding."""
    lines = []
    for call in calls_in(path):
        function = call.func
        if isinstance(function, ast.Name) and function.id == "open":
            wrong = not is_binary(call, 1) and not states_encoding(call, 3)
        elif isinstance(function, ast.Attribute) and function.attr in TEXT_METHODS:
            wrong = not states_encoding(call, TEXT_METHODS[function.attr])
        elif isinstance(function, ast.Attribute) and function.attr == "TextIOWrapper":
            wrong = not states_encoding(call, 1)
        elif isinstance(function, ast.Attribute) and function.attr in {"open", "fdopen"}:
            # path.open(mode), gzip.open(file, mode), os.fdopen(handle, mode)
            low_level = isinstance(function.value, ast.Name) and function.value.id == "os"
            binary = is_binary(call, 0) or is_binary(call, 1)
            wrong = not binary and not states_encoding(call, 3)
            wrong = wrong and not (low_level and function.attr == "open")
            # gzip, bz2 and lzma open bytes unless told otherwise
            packed = isinstance(function.value, ast.Name) and function.value.id in {
                "bz2",
                "gzip",
                "lzma",
            }
            wrong = wrong and not (packed and len(call.args) < 2 and not call.keywords)
        else:
            continue
        if wrong:
            lines.append(call.lineno)
    return lines


@pytest.mark.parametrize(
    "path",
    [*SOURCES, *sorted((ROOT / "scripts").glob("*.py")), *sorted((ROOT / "bench").rglob("*.py"))],
    ids=name_of,
)
def test_every_text_file_is_opened_with_an_encoding(path: Path) -> None:
    assert not unstated_encodings(path)


def test_the_rule_on_encodings_finds_what_it_should(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text(
        "open(a)\nopen(a, 'rb')\nopen(a, encoding='utf-8')\np.open()\np.open('wb')\n"
        "p.read_text()\np.read_text('utf-8')\np.write_text(t)\nos.open(a, flags)\n"
        "gzip.open(a)\ngzip.open(a, 'rt')\nos.fdopen(h, 'w')\n",
        encoding="utf-8",
    )
    assert unstated_encodings(source) == [1, 4, 6, 8, 11, 12]


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_file_opens_by_saying_what_it_is_for(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring
    assert len(docstring.splitlines()[0]) > 20


def test_every_folder_of_the_package_says_what_it_is_for() -> None:
    # Without an __init__.py a folder would also be unseen by import-linter.
    folders = {path.parent for path in SOURCES}
    assert not [name_of(folder) for folder in folders if not (folder / "__init__.py").exists()]


def test_test_files_have_names_of_their_own() -> None:
    files = [path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py"]
    assert sorted(files) == sorted(set(files))
    assert "__init__.py" not in files


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_names_say_what_a_thing_is(path: Path) -> None:
    parts = {
        piece
        for part in path.relative_to(PACKAGE).with_suffix("").parts
        for piece in part.split("_")
    }
    assert not parts & FORBIDDEN_NAMES


@pytest.mark.parametrize("path", [p for p in SOURCES if p.name == "__init__.py"], ids=name_of)
def test_what_a_folder_offers_never_shares_its_name_with_a_module(path: Path) -> None:
    # One would hide the other, depending on which was imported first.
    bound = {
        alias.asname or alias.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    modules = {child.stem for child in path.parent.iterdir() if child.suffix == ".py"}
    assert not bound & modules


def test_no_kept_file_is_large() -> None:
    large = {name_of(p): size for p in kept_files() if (size := p.stat().st_size) > LARGEST_FILE}
    assert not large


TEXT_KINDS = {"", ".cff", ".json", ".md", ".py", ".pyi", ".sh", ".toml", ".tsv", ".txt"}
# Written in pieces, so that this file does not find itself.
NOTES_TO_ONESELF = re.compile(
    r"\b(" + "TO" + "DO|FIX" + "ME|X" + r"XX|NotImplemented" + r"Error)\b"
)
FOLDERS_OF_ONE_MACHINE = re.compile(r"(?<![\w.~/$}-])/(?:wor" + r"k|home|root|Users)/\w")


@pytest.mark.parametrize("pattern", [NOTES_TO_ONESELF, FOLDERS_OF_ONE_MACHINE])
def test_no_kept_file_holds_what_it_should_not(pattern: re.Pattern[str]) -> None:
    found = [
        f"{name_of(path)}:{number}"
        for path in kept_files()
        if path.suffix in TEXT_KINDS
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]
    assert not found
