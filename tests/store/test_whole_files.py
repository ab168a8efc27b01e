"""Files and folders are whole or not there, whatever happens while they are written."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from purport.errors import FormatError, OutputExistsError
from purport.store import files
from purport.store.files import whole_file, whole_folder

posix = pytest.mark.skipif(os.name != "posix", reason="permissions and links as POSIX has them")
Write = Callable[..., AbstractContextManager[Any]]


def fill(written: Any, text: str) -> None:
    """Write into what `whole_file` or `whole_folder` gives."""
    if isinstance(written, Path):
        (written / "one").write_text(text, encoding="utf-8")
        (written / "two").write_text(text, encoding="utf-8")
    else:
        written.write(text.encode("utf-8"))


def content(target: Path) -> set[str]:
    paths = list(target.iterdir()) if target.is_dir() else [target]
    return {path.read_text(encoding="utf-8") for path in paths}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


both = pytest.mark.parametrize("write", [whole_file, whole_folder])


@both
def test_nothing_stands_under_the_name_before_the_end(tmp_path: Path, write: Write) -> None:
    target = tmp_path / "target"
    with write(target) as written:
        fill(written, "new")
        assert not target.exists()
    assert content(target) == {"new"}
    assert names(tmp_path) == ["target"]


@both
@pytest.mark.parametrize(
    "failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), ValueError()]
)
def test_a_failure_leaves_what_was_there(
    tmp_path: Path, write: Write, failure: BaseException
) -> None:
    target = tmp_path / "target"
    with write(target) as written:
        fill(written, "old")
    with pytest.raises(type(failure)), write(target, overwrite=True) as written:
        fill(written, "new")
        raise failure
    assert content(target) == {"old"}
    assert names(tmp_path) == ["target"]


@both
def test_a_failure_leaves_nothing_where_nothing_was(tmp_path: Path, write: Write) -> None:
    with pytest.raises(ZeroDivisionError), write(tmp_path / "target") as written:
        fill(written, "new")
        raise ZeroDivisionError
    assert names(tmp_path) == []


@both
def test_a_disk_that_is_full_at_the_last_moment(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target"
    with write(target) as written:
        fill(written, "old")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"), write(target, overwrite=True) as written:
        fill(written, "new")
    assert content(target) == {"old"}
    assert names(tmp_path) == ["target"]


@both
def test_what_stands_there_is_kept_unless_told_otherwise(tmp_path: Path, write: Write) -> None:
    target = tmp_path / "target"
    with write(target) as written:
        fill(written, "old")
    kept = pytest.raises(OutputExistsError, match="exists already and is kept")
    with kept, write(target, overwrite=False) as written:
        fill(written, "new")
    assert content(target) == {"old"}
    with write(target, overwrite=True) as written:
        fill(written, "new")
    assert content(target) == {"new"}
    assert names(tmp_path) == ["target"]


@both
def test_what_comes_there_meanwhile_is_kept(tmp_path: Path, write: Write) -> None:
    target = tmp_path / "target"
    with pytest.raises(OutputExistsError), write(target, overwrite=False) as late:
        with write(target, overwrite=False) as quick:
            fill(quick, "quick")
        fill(late, "late")
    assert content(target) == {"quick"}
    assert names(tmp_path) == ["target"]


def test_no_overwriting_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(target: Path, part: Path) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refused)
    target = tmp_path / "target"
    with whole_file(target, overwrite=False) as file:
        file.write(b"first")
    target.unlink()
    with pytest.raises(OutputExistsError), whole_file(target, overwrite=False) as file:
        target.write_bytes(b"meanwhile")
        file.write(b"late")
    assert target.read_bytes() == b"meanwhile"
    assert names(tmp_path) == ["target"]


def test_a_failed_exchange_puts_the_old_folder_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target"
    with whole_folder(target) as fresh:
        fill(fresh, "old")
    rename = Path.rename

    def failing(self: Path, other: Path) -> Path:
        if self.suffix == ".part":
            raise PermissionError(errno.EACCES, "Permission denied")
        return rename(self, other)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(PermissionError), whole_folder(target, overwrite=True) as fresh:
        fill(fresh, "new")
    assert content(target) == {"old"}
    assert names(tmp_path) == ["target"]


@pytest.mark.parametrize("times", [1, 3, 1000])
def test_a_writer_that_was_quicker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    target = tmp_path / "target"
    target.mkdir()
    rename, left = Path.rename, [times]

    def overtaken(self: Path, other: Path) -> Path:
        if self.suffix == ".part" and left[0]:
            left[0] -= 1
            target.mkdir()
            (target / "one").write_text("quicker", encoding="utf-8")
        return rename(self, other)

    monkeypatch.setattr(Path, "rename", overtaken)
    if times < files.ATTEMPTS:
        with whole_folder(target, overwrite=True) as fresh:
            fill(fresh, "new")
        assert content(target) == {"new"}
    else:
        with pytest.raises(OSError), whole_folder(target, overwrite=True) as fresh:
            fill(fresh, "new")
        assert content(target) == {"quicker"}
    assert names(tmp_path) == ["target"]


@both
@posix
def test_permissions_are_those_of_a_plain_file_or_folder(tmp_path: Path, write: Write) -> None:
    plain = tmp_path / "plain"
    plain.touch() if write is whole_file else plain.mkdir()
    with write(tmp_path / "target") as written:
        fill(written, "new")
    assert (tmp_path / "target").stat().st_mode == plain.stat().st_mode


@both
@posix
def test_permissions_of_what_is_replaced_are_kept(tmp_path: Path, write: Write) -> None:
    target = tmp_path / "target"
    with write(target) as written:
        fill(written, "old")
    target.chmod(0o700)
    with write(target, overwrite=True) as written:
        fill(written, "new")
        part = next(path for path in tmp_path.iterdir() if path != target)
        assert not part.stat().st_mode & 0o077
    assert stat.S_IMODE(target.stat().st_mode) == 0o700
    assert content(target) == {"new"}


@posix
def test_the_umask_is_never_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "umask")
    with whole_file(tmp_path / "file") as file:
        file.write(b"new")
    with whole_folder(tmp_path / "folder") as fresh:
        fill(fresh, "new")


@both
def test_a_relative_path_means_where_it_led_at_first(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with write("target") as written:
        monkeypatch.chdir(tmp_path / "elsewhere")
        fill(written.resolve() if isinstance(written, Path) else written, "new")
    assert content(tmp_path / "target") == {"new"}
    assert names(tmp_path / "elsewhere") == []


@both
@posix
def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path, write: Write) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    with write(target) as written:
        fill(written, "old")
    link.symlink_to("target", target_is_directory=target.is_dir())
    with pytest.raises(OutputExistsError), write(link, overwrite=False):
        pass
    with write(link, overwrite=True) as written:
        fill(written, "new")
    assert link.is_symlink()
    assert content(target) == {"new"}
    assert names(tmp_path) == ["link", "target"]


@both
@posix
def test_a_link_to_nothing(tmp_path: Path, write: Write) -> None:
    link = tmp_path / "link"
    link.symlink_to("target")
    with pytest.raises(OutputExistsError), write(link, overwrite=False):
        pass
    with write(link, overwrite=True) as written:
        fill(written, "new")
    assert link.is_symlink()
    assert content(tmp_path / "target") == {"new"}


@both
@posix
def test_links_in_a_circle(tmp_path: Path, write: Write) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(FormatError, match="cannot be written"), write(tmp_path / "a", True):
        pass
    assert names(tmp_path) == ["a", "b"]


@posix
def test_devices_are_written_to_and_never_replaced(tmp_path: Path) -> None:
    before = Path(os.devnull).stat()
    for overwrite in (True, False):
        with whole_file(os.devnull, overwrite=overwrite) as file:
            file.write(b"away")
    assert Path(os.devnull).stat().st_ino == before.st_ino
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    with whole_file(pipe, overwrite=False) as file:
        file.write(b"through")
    reader.join()
    assert received == [b"through"]
    assert names(tmp_path) == ["pipe"]


def test_a_folder_is_no_file_and_a_file_no_folder(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with (
        pytest.raises(FormatError, match="a folder has that name"),
        whole_file(tmp_path / "folder"),
    ):
        pass
    refused = pytest.raises(FormatError, match="a file has that name")
    with refused, whole_folder(tmp_path / "file", overwrite=True):
        pass
    assert names(tmp_path) == ["file", "folder"]


def test_a_place_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file" / "under", tmp_path / "missing" / "under"):
        with pytest.raises(FormatError, match="cannot be written"), whole_file(place):
            pass
    refused = pytest.raises(FormatError, match="cannot be written")
    with refused, whole_folder(tmp_path / "file" / "under"):
        pass


@both
def test_a_name_as_long_as_systems_allow(tmp_path: Path, write: Write) -> None:
    target = tmp_path / ("é" * 127)
    with write(target) as written:
        fill(written, "new")
    assert content(target) == {"new"}


def test_folders_above_a_folder_are_made(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "a" / "b" / "c") as fresh:
        (fresh / "inner").mkdir()
        (fresh / "inner" / "file").touch()
    assert (tmp_path / "a" / "b" / "c" / "inner" / "file").exists()


@both
def test_a_process_that_dies_in_the_middle(tmp_path: Path, write: Write) -> None:
    target = tmp_path / "target"
    with write(target) as written:
        fill(written, "old")
    code = (
        f"import os, sys; from purport.store.files import {write.__name__} as write\n"
        "with write(sys.argv[1], overwrite=True) as written:\n"
        "    if hasattr(written, 'write'): written.write(b'ne'); written.flush()\n"
        "    else: (written / 'one').write_bytes(b'ne')\n"
        "    os._exit(9)"
    )
    dead = subprocess.run([sys.executable, "-c", code, str(target)], check=False)
    assert dead.returncode == 9
    assert content(target) == {"old"}
    with write(target, overwrite=True) as written:
        fill(written, "new")
    assert content(target) == {"new"}


WRITER = """
import sys
from purport.store.files import whole_file, whole_folder
place, text = sys.argv[1:]
for _ in range(60):
    with whole_folder(place + "/folder", overwrite=True) as fresh:
        for name in ("one", "two"):
            (fresh / name).write_text(text, encoding="utf-8")
    with whole_file(place + "/file") as file:
        for _ in range(2):
            file.write(text.encode("utf-8"))
"""


def test_two_processes_at_once(tmp_path: Path) -> None:
    texts = ["a" * 3000, "b" * 5000]
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), text]) for text in texts
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert len(content(tmp_path / "folder")) == 1
    assert (tmp_path / "file").read_text(encoding="utf-8") in {text * 2 for text in texts}
    assert names(tmp_path) == ["file", "folder"]


ONCE = """
import sys
from purport.errors import OutputExistsError
from purport.store.files import whole_file, whole_folder
won = 0
for number in range(40):
    for write in (whole_file, whole_folder):
        try:
            with write(f"{sys.argv[1]}/{write.__name__}{number}", overwrite=False) as written:
                if write is whole_folder:
                    (written / "one").touch()
            won += 1
        except OutputExistsError:
            pass
print(won)
"""


def test_of_two_processes_that_keep_what_is_there_one_wins(tmp_path: Path) -> None:
    command = [sys.executable, "-c", ONCE, str(tmp_path)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    won = [int(writer.communicate()[0]) for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    assert sum(won) == 80 == len(names(tmp_path))


def test_threads_at_once(tmp_path: Path) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for _ in range(20):
                with whole_folder(tmp_path / "folder", overwrite=True) as fresh:
                    fill(fresh, str(number))
        except BaseException as failure:
            failures.append(failure)
            raise

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(content(tmp_path / "folder")) == 1
    assert names(tmp_path) == ["folder"]
