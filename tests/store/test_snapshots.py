"""Snapshots: the one before is kept, and found whatever becomes of the last; one writer at once."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from purport.errors import FormatError, ModelCorruptError, ModelError, OutputExistsError
from purport.sequence.crf import CRF
from purport.store.folders import ARRAYS, MODEL, load, save
from purport.store.snapshots import load_snapshot, previous_of, save_snapshot, sole_writer

X, Y = [[["play"], ["jazz"]]], [["O", "B-genre"]]


@pytest.fixture(scope="module")
def models() -> list[CRF]:
    return [CRF(l2=l2).fit(X, Y) for l2 in (0.1, 0.2, 0.3)]


@pytest.fixture
def folder(models: list[CRF], tmp_path: Path) -> Path:
    """Return a folder with two snapshots."""
    for model in models[:2]:
        save_snapshot(model, tmp_path / "model")
    return tmp_path / "model"


def test_the_snapshot_before_is_kept(folder: Path, models: list[CRF]) -> None:
    assert (load(folder).l2, load(previous_of(folder)).l2) == (0.2, 0.1)
    save_snapshot(models[2], folder)
    assert (load(folder).l2, load(previous_of(folder)).l2) == (0.3, 0.2)
    assert sorted(path.name for path in folder.parent.iterdir()) == ["model", "model.previous"]


def cut_arrays(folder: Path) -> None:
    data = (folder / ARRAYS).read_bytes()
    (folder / ARRAYS).write_bytes(data[: len(data) // 2])


def cut_description(folder: Path) -> None:
    data = (folder / MODEL).read_bytes()
    (folder / MODEL).write_bytes(data[: len(data) // 2])


def remove_description(folder: Path) -> None:
    (folder / MODEL).unlink()


def remove_everything(folder: Path) -> None:
    shutil.rmtree(folder)


DAMAGES = [cut_arrays, cut_description, remove_description, remove_everything]


@pytest.mark.parametrize("damage", DAMAGES)
def test_of_a_damaged_snapshot_the_one_before_is_taken(damage, folder, models) -> None:
    damage(folder)
    model, error = load_snapshot(folder)
    assert model.l2 == 0.1
    assert isinstance(error, ModelCorruptError)
    assert str(error).startswith(str(folder))
    # What is damaged makes way; the sound one stays until there is another.
    save_snapshot(models[2], folder, is_sound=False)
    assert (load(folder).l2, load(previous_of(folder)).l2) == (0.3, 0.1)


@pytest.mark.parametrize("damage", DAMAGES)
def test_without_one_before_the_damage_is_told(damage, models, tmp_path) -> None:
    save_snapshot(models[0], tmp_path / "model")
    damage(tmp_path / "model")
    with pytest.raises(ModelCorruptError, match="model"):
        load_snapshot(tmp_path / "model")


def test_a_full_disk_leaves_both(folder, models, monkeypatch) -> None:
    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        with pytest.raises(FormatError, match="cannot be written: No space left on device"):
            save_snapshot(models[2], folder)
    assert (load(folder).l2, load(previous_of(folder)).l2) == (0.2, 0.1)
    assert sorted(path.name for path in folder.parent.iterdir()) == ["model", "model.previous"]


def test_a_snapshot_that_cannot_be_put_in_place_leaves_the_last(
    folder, models, monkeypatch
) -> None:
    rename = Path.rename

    def fails(self: Path, target: Path) -> Path:
        if self.name.endswith(".part"):
            raise OSError(5, "Input/output error")
        return rename(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", fails)
        with pytest.raises(FormatError, match="Input/output error"):
            save_snapshot(models[2], folder)
    assert load_snapshot(folder)[0].l2 == 0.2


def test_what_is_no_model_is_never_replaced(models, tmp_path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one.txt").touch()
    with pytest.raises(OutputExistsError, match="not a model folder"):
        save_snapshot(models[0], tmp_path / "photos", is_sound=False)
    assert (tmp_path / "photos" / "one.txt").exists()


# Killed at any moment.

SAVER = """
import sys
from purport.store.folders import load
from purport.store.snapshots import save_snapshot
models = [load(place) for place in sys.argv[2:]]
for number in range(100_000):
    save_snapshot(models[number % 2], sys.argv[1])
    if number == 0:
        print("begun", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")
def test_a_process_that_is_killed_leaves_a_snapshot(models: list[CRF], tmp_path: Path) -> None:
    for name, model in zip("ab", models, strict=False):
        save(model, tmp_path / name)
    for wait in (0.0, 0.003, 0.01, 0.02, 0.05):
        words = [sys.executable, "-c", SAVER, str(tmp_path / "model")]
        words += [str(tmp_path / "a"), str(tmp_path / "b")]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(wait)
            process.send_signal(signal.SIGKILL)
        assert load_snapshot(tmp_path / "model")[0].l2 in (0.1, 0.2)


# One writer at a time.

HOLDER = """
import sys
from purport.store.snapshots import sole_writer
with sole_writer(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_writer_is_refused_until_the_first_is_gone(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with (
            pytest.raises(ModelError, match=f"process {process.pid} is updating this model"),
            sole_writer(folder),
        ):
            pytest.fail("two at once")
        process.kill()
    # The file of the one that was killed is still there, and locks nothing.
    assert (folder.parent / ".model.lock").exists()
    with sole_writer(folder):
        assert (folder.parent / ".model.lock").read_text() == f"{os.getpid()}\n"
    assert not (folder.parent / ".model.lock").exists()


def test_a_lock_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be written"), sole_writer(tmp_path / "no" / "m"):
        pytest.fail("locked")
