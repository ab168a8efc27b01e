"""Snapshots of a model that changes for hours: the one before is kept, and used if need be.

``MODEL`` is the last snapshot and ``MODEL.previous`` the one before it. At every moment one of them
is whole. ``.MODEL.lock`` is held by the process that writes them.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from purport.errors import FormatError, ModelCorruptError, ModelError
from purport.estimator.base import Estimator
from purport.store.folders import load, write_model

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def previous_of(folder: str | os.PathLike[str]) -> Path:
    """Return where the snapshot before stands.

    Examples
    --------
    >>> previous_of("models/clicks").name
    'clicks.previous'
    """
    place = Path(folder).resolve()
    return place.with_name(f"{place.name}.previous")


def save_snapshot(model: Estimator, folder: str | os.PathLike[str], is_sound: bool = True) -> None:
    """Write a model in the place of the one that stands there, which becomes the previous one.

    Parameters
    ----------
    model : estimator
        A fitted model of purport.
    folder : path
        As `save` takes it.
    is_sound : bool
        Whether what stands there can be used. If not it makes way, and the previous one stays.

    Examples
    --------
    >>> import tempfile
    >>> from purport.sequence.crf import CRF
    >>> folder = Path(tempfile.mkdtemp()) / "tagger"
    >>> crf = CRF().fit([[["play"], ["jazz"]]], [["O", "B-genre"]])
    >>> save_snapshot(crf, folder)
    >>> save_snapshot(crf, folder)
    >>> sorted(path.name for path in folder.parent.iterdir())
    ['tagger', 'tagger.previous']
    """
    aside = previous_of(folder) if is_sound else None
    write_model(model, folder, overwrite=True, aside=aside)


def load_snapshot(folder: str | os.PathLike[str]) -> tuple[Any, ModelError | None]:
    """Read a model, or if it is damaged or missing the snapshot before it.

    Returns
    -------
    estimator
        Fitted.
    error or None
        What is wrong with the one that stands in ``folder``, if the previous one was taken.
    """
    try:
        return load(folder), None
    except ModelCorruptError as error:
        previous = previous_of(folder)
        if not previous.is_dir():
            raise
        return load(previous), error


@contextmanager
def sole_writer(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Keep other processes from writing snapshots of the same model.

    The lock goes with the process, however it ends; its file may stay and locks nothing then.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "tagger"
    >>> with sole_writer(folder):
    ...     [path.name for path in folder.parent.iterdir()]
    ['.tagger.lock']
    """
    place = Path(folder).resolve()
    path = place.with_name(f".{place.name}.lock")
    handle = _locked(path, os.fspath(folder))
    try:
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode("ascii"))
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(handle)


def _locked(path: Path, folder: str) -> int:
    """Return a handle that holds the lock, on the file that has that name."""
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise FormatError.unwritable(os.fspath(path), reason) from error
        try:
            _lock(handle)
        except OSError as error:
            os.close(handle)
            raise ModelError(
                f"{folder}: process {_holder(path)} is updating this model. Wait until it is done,"
                " or end it."
            ) from error
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_ino == os.fstat(handle).st_ino:
                return handle
        # Who held it before has removed the file meanwhile.
        os.close(handle)


def _holder(path: Path) -> str:
    """Return the number of the process that has written its own into the file."""
    with contextlib.suppress(OSError):
        return path.read_text(encoding="ascii").strip() or "?"
    return "?"
