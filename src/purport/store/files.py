"""Files and folders that are either whole or not there: a temporary one beside, fsync, rename.

A process that is killed leaves at most a temporary file or folder beside the target, named
``.<name>.<random>.part`` (new, not whole) or ``.old`` (what stood there before).
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from purport.errors import FormatError, OutputExistsError

ATTEMPTS = 100
"""How often a writer tries again when another one was quicker."""

_TAKEN = {errno.EEXIST, errno.ENOTEMPTY}


@contextmanager
def whole_file(path: str | os.PathLike[str], overwrite: bool = True) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears under its name only when the block ends well.

    Parameters
    ----------
    path : path
        Where the file shall stand. A failure inside the block leaves what was there untouched. Of
        a symbolic link the file that it leads to is replaced; into a pipe or a terminal is written
        directly.
    overwrite : bool
        False raises `OutputExistsError` when something stands there already, or has come there by
        the end of the block. A file that is replaced passes its permissions on.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with whole_file(folder / "greeting.txt") as file:
    ...     _ = file.write(b"hello")
    >>> (folder / "greeting.txt").read_bytes()
    b'hello'
    """
    if is_stream(path):
        # A rename would put a file in the place of the device for everybody.
        with Path(path).open("wb") as stream:
            yield stream
        return
    target = _resolved(path)
    if not overwrite and _stands(path):
        raise _file_exists(path)
    mode = _mode(target)
    if mode is not None and not stat.S_ISREG(mode):
        reason = "a folder has that name" if stat.S_ISDIR(mode) else "it is not a plain file"
        raise FormatError.unwritable(str(path), reason)
    part = _beside(target, "part")
    # Made by `open`, so that the umask is obeyed without being asked for, which no thread can do
    # without changing it for all.
    made = _made(path, part)
    try:
        with made as file:
            if mode is not None:
                part.chmod(stat.S_IMODE(mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        _place_file(part, target, overwrite)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


@contextmanager
def whole_folder(
    path: str | os.PathLike[str], overwrite: bool = False, aside: Path | None = None
) -> Iterator[Path]:
    """Fill a folder that appears under its name only when the block ends well.

    An existing folder is moved aside, replaced, and only then removed: at every moment either the
    old or the new one is complete on disk. Of several writers at once the last one wins, whole.

    Parameters
    ----------
    path : path
        Where the folder shall stand; folders above it are made. Of a symbolic link the folder that
        it leads to is replaced.
    overwrite : bool
        False raises `OutputExistsError` when something stands there already, or has come there by
        the end of the block. True replaces a folder with all that it holds, but no file.
    aside : path, optional
        What is replaced stands there afterwards, in the place of what stood there.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "new"
    >>> with whole_folder(target) as fresh:
    ...     _ = (fresh / "greeting.txt").write_text("hello", encoding="utf-8")
    >>> [file.name for file in target.iterdir()]
    ['greeting.txt']
    """
    target = _resolved(path)
    if not overwrite and _stands(path):
        raise _folder_exists(path)
    mode = _mode(target)
    if mode is not None and not stat.S_ISDIR(mode):
        raise FormatError.unwritable(str(path), "a file has that name")
    fresh = _beside(target, "part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh.mkdir()
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        usual = stat.S_IMODE(fresh.stat().st_mode)
        # Nobody else looks in before it is known who may.
        fresh.chmod(usual & ~0o077)
        yield fresh
        _sync_all(fresh)
        fresh.chmod(usual if mode is None else stat.S_IMODE(mode))
        _place_folder(fresh, target, overwrite, aside)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    _sync_folder(target.parent)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path leads to a pipe, a terminal or the like: written to, never replaced.

    Examples
    --------
    >>> is_stream(os.devnull), is_stream("nothing of that name")
    (True, False)
    """
    mode = _mode(Path(path))
    return mode is not None and (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode))


def _resolved(path: str | os.PathLike[str]) -> Path:
    """Follow links, and hold fast to where a relative path leads now."""
    try:
        return Path(path).resolve()
    except RuntimeError as error:  # how Python before 3.13 speaks of links in a circle
        raise FormatError.unwritable(str(path), "links lead in a circle") from error
    except OSError as error:
        raise _unwritable(path, error) from error


def _stands(path: str | os.PathLike[str]) -> bool:
    """Tell whether anything has that name, a link to nothing included."""
    return os.path.lexists(path)


def _mode(path: Path) -> int | None:
    """Return kind and permissions of what a path leads to, asked at once; None for nothing."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unwritable(path, error) from error


def _beside(target: Path, kind: str) -> Path:
    """Return a new name in the same folder; cut, for a name may be as long as systems allow."""
    return target.with_name(f".{target.name[:32]}.{secrets.token_hex(8)}.{kind}")


def _made(path: str | os.PathLike[str], part: Path) -> IO[bytes]:
    try:
        return part.open("xb")
    except OSError as error:
        raise _unwritable(path, error) from error


def _place_file(part: Path, target: Path, overwrite: bool) -> None:
    if overwrite:
        part.replace(target)
        return
    try:
        # Unlike a rename, a second name is refused where something has come to stand meanwhile.
        target.hardlink_to(part)
    except FileExistsError:
        raise _file_exists(target) from None
    except OSError:
        # A file system without hard links.
        if _stands(target):
            raise _file_exists(target) from None
        part.replace(target)
        return
    part.unlink()


def _place_folder(fresh: Path, target: Path, overwrite: bool, kept: Path | None) -> None:
    if not overwrite:
        try:
            fresh.rename(target)
        except OSError as error:
            if _stands(target):
                raise _folder_exists(target) from error
            raise
        return
    for attempt in range(ATTEMPTS):
        if _replace_folder(fresh, target, kept, last=attempt == ATTEMPTS - 1):
            return


def _replace_folder(fresh: Path, target: Path, kept: Path | None, last: bool) -> bool:
    """Put one folder in the place of another; False if another writer was quicker."""
    aside = kept or _beside(target, "old")
    if kept is not None:
        # Not after the other is moved there: that is the only one for an instant.
        shutil.rmtree(kept, ignore_errors=True)
    try:
        with contextlib.suppress(FileNotFoundError):
            target.rename(aside)
        fresh.rename(target)
    except BaseException as failure:
        quicker = isinstance(failure, OSError) and failure.errno in _TAKEN
        if not quicker:
            # What cannot be put back stays beside: it may be the only copy.
            with contextlib.suppress(OSError):
                aside.rename(target)
            raise
        # The other writer's folder is whole, and later than what was moved aside.
        shutil.rmtree(aside, ignore_errors=True)
        if last:
            raise
        return False
    if kept is None:
        shutil.rmtree(aside, ignore_errors=True)
    return True


def _sync_all(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_dir():
            _sync_folder(path)
        else:
            with path.open("rb+") as opened:
                os.fsync(opened.fileno())
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    """Make a rename last; systems that cannot open a folder do not need it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _file_exists(path: str | os.PathLike[str]) -> OutputExistsError:
    return OutputExistsError.at(os.fspath(path), "Choose another name or allow overwriting.")


def _folder_exists(path: str | os.PathLike[str]) -> OutputExistsError:
    return OutputExistsError.at(os.fspath(path), "Choose another name or pass overwrite=True.")


def _unwritable(path: str | os.PathLike[str], error: OSError) -> FormatError:
    return FormatError.unwritable(os.fspath(path), error.strerror or type(error).__name__)
