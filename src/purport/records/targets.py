"""Where records go: files of lines, whole or not there at all, packed if their name says so."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from purport.errors import FormatError
from purport.records.sources import KNOWN_ENDINGS, Kind, kind_of
from purport.store.files import is_stream, whole_file


def write_lines(
    path: str | os.PathLike[str], lines_of: Callable[[Kind], Iterator[str]], overwrite: bool
) -> None:
    r"""Write the lines of the kind that the ending of a path names.

    Parameters
    ----------
    path : path
        A known ending, then perhaps ``.gz``; a pipe without an ending takes JSON lines.
    lines_of : callable
        Gives the lines of a kind, each with its line end.
    overwrite : bool
        False keeps what stands there and raises `OutputExistsError`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "numbers.jsonl"
    >>> write_lines(path, lambda kind: iter(["1\n", "2\n"]), overwrite=False)
    >>> path.read_text(encoding="utf-8").split()
    ['1', '2']
    """
    target = Path(path)
    kind, packed = kind_of(str(target))
    if kind is None and is_stream(target):
        kind = "jsonl"
    if kind is None:
        raise FormatError.unknown_kind(str(target), KNOWN_ENDINGS)
    if target.is_dir() or not target.parent.is_dir():
        reason = "a folder has that name" if target.is_dir() else "there is no such folder"
        raise FormatError.unwritable(str(target), reason)
    encoded = (line.encode("utf-8") for line in lines_of(kind))
    with whole_file(target, overwrite) as file:
        if not packed:
            file.writelines(encoded)
            return
        # No name and no time inside: the same records give the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as pack:
            pack.writelines(encoded)
