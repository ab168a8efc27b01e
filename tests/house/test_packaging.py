"""The files around the package agree with each other."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import purport

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PIN = re.compile(r"^(?P<name>[a-z0-9-]+)==(?P<version>[^\s;]+)(?: ; (?P<marker>.+))?$")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def pins(name: str) -> dict[str, set[str]]:
    """Return the versions of each package in a constraints file; some differ by Python version."""
    found: dict[str, set[str]] = {}
    for line in read(name).splitlines():
        match = PIN.match(line)
        assert match, f"{name}: not a plain pin: {line}"
        found.setdefault(match["name"], set()).add(match["version"])
    return found


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=!~;\[ ]", requirement, maxsplit=1)[0] for requirement in requirements}


@pytest.mark.parametrize("name", ["constraints/run.txt", "constraints/dev.txt"])
def test_constraints_name_no_place(name: str) -> None:
    text = read(name)
    assert "://" not in text
    assert "file:" not in text
    assert not re.search(r"^-", text, flags=re.MULTILINE)


def test_constraints_hold_every_dependency_and_agree() -> None:
    run, dev = pins("constraints/run.txt"), pins("constraints/dev.txt")
    groups = PROJECT["dependency-groups"]
    assert names(PROJECT["project"]["dependencies"]) <= set(run)
    assert names(groups["dev"]) | names(groups["bench"]) <= set(dev)
    assert {name: dev[name] for name in run} == run


def test_every_dependency_has_its_reason() -> None:
    groups = PROJECT["dependency-groups"]
    needed = (
        names(PROJECT["project"]["dependencies"]) | names(groups["dev"]) | names(groups["bench"])
    )
    explained = set(
        re.findall(r"^\| `([a-z0-9-]+)` \|", read("docs/dependencies.md"), re.MULTILINE)
    )
    assert explained == needed | names(PROJECT["build-system"]["requires"])


def test_one_version_everywhere() -> None:
    assert re.search(
        rf"^## \[{re.escape(purport.__version__)}\]", read("CHANGELOG.md"), re.MULTILINE
    )
    assert f"\nversion: {purport.__version__}\n" in read("CITATION.cff")


def test_the_package_is_typed_and_licensed() -> None:
    package = Path(purport.__file__).parent
    assert (package / "py.typed").exists()
    assert (package / "__init__.pyi").exists()
    assert "Apache License" in read("LICENSE")
    assert PROJECT["project"]["license"] == "Apache-2.0"


def test_make_help_lists_every_target() -> None:
    makefile = read("Makefile")
    phony = set(re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)[1].split())
    explained = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    assert explained == phony - {"setup", "setup-bench"}


@pytest.mark.skipif(sys.platform == "win32", reason="needs sh")
def test_a_machine_without_python_is_told_so() -> None:
    run = subprocess.run(
        ["/bin/sh", str(ROOT / "scripts" / "find_python.sh")],
        env={"PATH": "", "PYTHON": "no-such-python"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 1
    assert not run.stdout
    assert run.stderr.startswith("No Python 3.11 or newer was found")


@pytest.mark.skipif(sys.platform == "win32", reason="needs sh")
def test_a_python_without_venv_is_told_so(tmp_path: Path) -> None:
    # A Python that is new enough and cannot import ensurepip.
    fake = tmp_path / "python3"
    fake.write_text(
        '#!/bin/sh\ncase "$2" in *ensurepip*) exit 1;; esac\nexit 0\n', encoding="utf-8"
    )
    fake.chmod(0o755)
    run = subprocess.run(
        ["/bin/sh", str(ROOT / "scripts" / "find_python.sh")],
        env={"PATH": "/usr/bin:/bin", "PYTHON": str(fake)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 1
    assert "venv" in run.stderr


def test_a_full_disk_is_told_so(tmp_path: Path) -> None:
    code = (
        "import collections, pathlib, shutil, sys; sys.path.insert(0, sys.argv[1]); import set_up\n"
        "usage = collections.namedtuple('usage', 'total used free')\n"
        "shutil.disk_usage = lambda path: usage(10**10, 10**10 - 10**8, 10**8)\n"
        "sys.exit(set_up.main([sys.argv[2], 'dev']))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(ROOT / "scripts"), str(tmp_path / "environment")],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 1
    assert "has 0.1 GB free" in run.stderr
    assert not (tmp_path / "environment").exists()


@pytest.fixture
def set_up(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.delenv("PYTHON", raising=False)
    spec = importlib.util.spec_from_file_location("set_up", ROOT / "scripts" / "set_up.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_half_made_or_outdated_environment_is_not_ready(
    set_up: ModuleType, tmp_path: Path
) -> None:
    python = set_up.python_of(tmp_path)
    python.parent.mkdir()
    python.touch()
    assert not set_up.is_ready(tmp_path, "wanted")
    (tmp_path / "stamp").write_text("of before", encoding="utf-8")
    assert not set_up.is_ready(tmp_path, "wanted")
    (tmp_path / "stamp").write_text("wanted", encoding="utf-8")
    assert set_up.is_ready(tmp_path, "wanted")
    python.unlink()
    assert not set_up.is_ready(tmp_path, "wanted")


def test_a_named_python_wins_over_the_environment_that_is_there(
    set_up: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "pyvenv.cfg"
    set_up.python_of(tmp_path).parent.mkdir()
    set_up.python_of(tmp_path).touch()
    (tmp_path / "stamp").write_text("wanted", encoding="utf-8")
    config.write_text("version = 3.99.0\n", encoding="utf-8")
    assert set_up.is_ready(tmp_path, "wanted")
    monkeypatch.setenv("PYTHON", sys.executable)
    assert not set_up.is_ready(tmp_path, "wanted")


def test_two_set_ups_do_not_work_at_once(set_up: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with set_up.only_one(path), path.open("a+b") as other:
        assert not set_up.try_lock(other.fileno())
    with path.open("a+b") as other:
        assert set_up.try_lock(other.fileno())
