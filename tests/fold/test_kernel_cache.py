"""Compiled kernels on disk: where they are kept, when they are made anew, life without a disk."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest

from purport.errors import KernelCacheWarning
from purport.fold import kernel as kernels

PATIENCE = 120
PACKAGE = Path(kernels.__file__).parents[1]

CALLEE = """
from purport.fold.kernel import kernel

@kernel()
def change(x):
    return x * FACTOR
"""

CALLER = """
from purport.fold.kernel import kernel
from purport.tiny.callee import change

@kernel("float64(float64)")
def changed_twice(x):
    return change(change(x))
"""

SCRIPT = """
import json, sys, warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    from purport.fold.kernel import cache_folder
    from purport.tiny.caller import changed_twice
    result = changed_twice(1.0)
json.dump({
    "result": result,
    "hits": sum(changed_twice.stats.cache_hits.values()),
    "folder": str(cache_folder()),
    "warnings": [f"{note.category.__name__}: {note.message}" for note in told],
}, sys.stdout)
"""


class Copied:
    """A copy of the package with two small kernels, one calling the other, for new processes."""

    def __init__(self, folder):
        self.package = folder / "purport"
        skipped = shutil.ignore_patterns("__kernels__", "__pycache__")
        shutil.copytree(PACKAGE, self.package, ignore=skipped)
        tiny = self.package / "tiny"
        tiny.mkdir()
        (tiny / "__init__.py").write_text("", encoding="utf-8")
        (tiny / "caller.py").write_text(CALLER, encoding="utf-8")
        self.set_factor(3)
        self.places = {}

    def set_factor(self, factor):
        source = CALLEE.replace("FACTOR", repr(float(factor)))
        (self.package / "tiny" / "callee.py").write_text(source, encoding="utf-8")

    def start(self):
        inherited = {
            name: value
            for name, value in os.environ.items()
            if name not in {kernels.CACHE_VARIABLE, "XDG_CACHE_HOME", "LOCALAPPDATA"}
        }
        return subprocess.Popen(
            [sys.executable, "-B", "-c", SCRIPT],
            env=inherited | {"PYTHONPATH": str(self.package.parent)} | self.places,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def run(self):
        return finish(self.start())


def finish(process):
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    return json.loads(output)


@pytest.fixture
def copied(tmp_path):
    return Copied(tmp_path)


def test_an_edited_callee_in_another_file_is_noticed(copied, tmp_path):
    first = copied.run()
    assert (first["result"], first["hits"], first["warnings"]) == (9.0, 0, [])
    assert Path(first["folder"]).parent == copied.package / "fold" / "__kernels__"
    second = copied.run()
    assert (second["result"], second["hits"]) == (9.0, 1)
    copied.set_factor(5)
    third = copied.run()
    assert (third["result"], third["hits"]) == (25.0, 0)
    assert third["folder"] != first["folder"]


def test_two_cold_processes_at_once_agree(copied, tmp_path):
    copied.places = {kernels.CACHE_VARIABLE: str(tmp_path / "kept")}
    both = [copied.start(), copied.start()]
    for found in map(finish, both):
        assert (found["result"], found["warnings"]) == (9.0, [])
        assert Path(found["folder"]).parent == tmp_path / "kept"
    assert copied.run()["hits"] == 1


def test_a_read_only_install_without_a_writable_home_works(copied, tmp_path):
    """Folders below a file can be made by nobody, not even by root."""
    (copied.package / "fold" / "__kernels__").write_bytes(b"")
    (tmp_path / "home").write_bytes(b"")
    home = str(tmp_path / "home")
    copied.places = {
        "HOME": home,
        "USERPROFILE": home,
        "XDG_CACHE_HOME": home,
        "LOCALAPPDATA": home,
    }
    found = copied.run()
    assert (found["result"], found["folder"]) == (9.0, "None")
    (told,) = found["warnings"]
    assert told.startswith("KernelCacheWarning: Compiled kernels cannot be kept")
    assert kernels.CACHE_VARIABLE in told


# Where they are kept, without processes.


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A package folder and a home of the test's own, neither with a cache yet."""
    source = tmp_path / "package" / "fold" / "kernel.py"
    source.parent.mkdir(parents=True)
    source.write_bytes(b"")
    (tmp_path / "home").mkdir()
    monkeypatch.setattr(kernels, "__file__", str(source))
    monkeypatch.setattr(sys, "platform", "linux")
    for name in (kernels.CACHE_VARIABLE, "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    return tmp_path


def chosen():
    """Choose anew: the choice of this process is made already."""
    folder = kernels.cache_folder.__wrapped__()
    assert folder is None or folder.is_dir()
    return folder and folder.parent


def test_the_package_comes_before_the_home(machine):
    assert chosen() == machine / "package" / "fold" / "__kernels__"


def test_the_variable_wins(machine, monkeypatch):
    monkeypatch.setenv(kernels.CACHE_VARIABLE, str(machine / "asked" / "for"))
    assert chosen() == machine / "asked" / "for"
    assert not (machine / "package" / "fold" / "__kernels__").exists()


def test_a_read_only_package_uses_the_home(machine, monkeypatch):
    (machine / "package" / "fold" / "__kernels__").write_bytes(b"")
    assert chosen() == machine / "home" / ".cache" / "purport" / "kernels"
    monkeypatch.setenv("XDG_CACHE_HOME", str(machine / "xdg"))
    assert chosen() == machine / "xdg" / "purport" / "kernels"
    monkeypatch.setenv("LOCALAPPDATA", str(machine / "local"))
    monkeypatch.setattr(sys, "platform", "win32")
    assert chosen() == machine / "local" / "purport" / "kernels"


def test_a_filled_folder_serves_even_if_it_cannot_be_written_to(machine, monkeypatch):
    """As in an image that was warmed by who made it and is run by another user."""
    filled = kernels.cache_folder.__wrapped__()
    (filled / "some.kernel.nbi").write_bytes(b"")

    def read_only(dir):
        if dir == filled:
            raise PermissionError(errno.EACCES, "read-only")
        return tempfile.SpooledTemporaryFile()

    monkeypatch.setattr(kernels.tempfile, "TemporaryFile", read_only)
    assert chosen() == machine / "package" / "fold" / "__kernels__"
    (filled / "some.kernel.nbi").unlink()
    assert chosen() == machine / "home" / ".cache" / "purport" / "kernels"


def test_nowhere_to_keep_them_is_told(machine, monkeypatch):
    (machine / "file").write_bytes(b"")
    monkeypatch.setenv(kernels.CACHE_VARIABLE, str(machine / "file" / "below"))
    with pytest.warns(KernelCacheWarning, match="cannot be kept"):
        assert chosen() is None


# Damaged files and full disks, with one small kernel in this process.


@pytest.fixture
def compiled_anew(tmp_path, monkeypatch):
    """Return a function that makes the kernel as a new process would, and calls it."""
    monkeypatch.setattr(kernels, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(kernels, "KERNELS", {})

    def five_times(x: float) -> float:
        return 5.0 * x

    def call():
        dispatcher = kernels.kernel("float64(float64)")(five_times)
        assert dispatcher(2.0) == 10.0
        return sum(dispatcher.stats.cache_hits.values())

    return call


def truncated(content):
    return content[: len(content) // 2]


def emptied(content):
    return b""


def altered(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def text(content):
    return b"not a kernel at all"


@pytest.mark.parametrize("damage", [truncated, emptied, altered, text])
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_damaged_file_is_made_anew(compiled_anew, tmp_path, kind, damage):
    assert compiled_anew() == 0
    assert compiled_anew() == 1
    (path,) = tmp_path.glob(f"*.{kind}")
    path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(KernelCacheWarning, match=r"made anew \(it is damaged\)") as told:
        assert compiled_anew() == 0
    assert len(told) == 1
    assert compiled_anew() == 1


def test_a_missing_file_is_made_anew(compiled_anew, tmp_path):
    assert compiled_anew() == 0
    (path,) = tmp_path.glob("*.nbc")
    path.unlink()
    assert compiled_anew() == 0
    assert compiled_anew() == 1


def test_a_full_disk_is_only_a_warning(compiled_anew, tmp_path, monkeypatch):
    def full(self, filepath):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as disk:
        disk.setattr(kernels._CheckedFiles, "_open_for_write", full)
        with pytest.warns(KernelCacheWarning, match="could not be kept"):
            assert compiled_anew() == 0
    assert compiled_anew() == 0
    assert compiled_anew() == 1


def test_a_cache_that_vanishes_is_only_a_warning(compiled_anew, tmp_path):
    assert compiled_anew() == 0
    for path in tmp_path.iterdir():
        path.unlink()
    tmp_path.rmdir()
    tmp_path.write_bytes(b"")
    with pytest.warns(KernelCacheWarning):
        assert compiled_anew() == 0
    tmp_path.unlink()
    tmp_path.mkdir()


def test_compile_all_reports_and_compiles(compiled_anew, monkeypatch):
    compiled_anew()
    reported = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernels.compile_all(lambda *report: reported.append(report))
    (name,) = kernels.KERNELS
    assert reported == [(0, 1, name), (1, 1, "")]
    dispatcher, _ = kernels.KERNELS[name]
    assert len(dispatcher.signatures) == 1
    assert name.endswith("five_times")


def test_what_compile_all_made_is_what_a_call_finds(compiled_anew, tmp_path):
    def six_times(x: float) -> float:
        return 6.0 * x

    kernels.kernel("float64(float64)")(six_times)
    kernels.compile_all(lambda *report: None)
    dispatcher = kernels.kernel("float64(float64)")(six_times)
    assert dispatcher(2.0) == 12.0
    assert sum(dispatcher.stats.cache_hits.values()) == 1
    assert len(list(tmp_path.glob("*.nbc"))) == 1
