"""How far a model has taken in each log, so that a log that is given again goes on where it stood.

A log is told by its name, without folders, and by what it begins with. Plain text may have grown
since: what was its beginning still is. Of packed and binary files the size counts, too. A pipe has
no beginning that could be told again: all that comes from it is new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from purport.errors import InputError
from purport.records.sources import STANDARD_INPUT, TABLE_KINDS, kind_of

BEGINNING = 4096
"""So many bytes at most tell a log from others."""
MOST = 10_000
"""So many logs are remembered; the one that was first met goes."""


@dataclass
class Mark:
    """How far a log was taken in.

    Attributes
    ----------
    beginning : int
        How many of its first bytes were looked at.
    digest : str
        A hash of its name and of these, from which neither can be read.
    pages : int
        How many of its pages were taken in, those included that were dropped.
    """

    beginning: int
    digest: str
    pages: int = 0


class Marks:
    r"""How far logs were taken in, in the order in which they were met.

    Parameters
    ----------
    held : list of dict
        What `to_list` gave.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "clicks.tsv"
    >>> header = "qid\tdocs\tclicks\n"
    >>> _ = path.write_text(header + "7\t1 2\t0 1\n", encoding="utf-8")
    >>> marks = Marks()
    >>> marks.of(path).pages = 1
    >>> _ = path.write_text(header + "7\t1 2\t0 1\n8\t3\t0\n", encoding="utf-8")
    >>> Marks(marks.to_list()).of(path).pages
    1
    """

    def __init__(self, held: Sequence[Mapping[str, Any]] = ()) -> None:
        self._marks = [Mark(**mark) for mark in held]

    def of(self, path: str | Path) -> Mark:
        """Return the mark of a log, which stays to be moved on; of a pipe a new one each time."""
        if str(path) == STANDARD_INPUT or not Path(path).is_file():
            return Mark(0, "")
        name, start, ending = _telling(Path(path))
        # The longest beginning first: a shorter one may be that of a log that was empty then.
        for mark in sorted(self._marks, key=lambda mark: -mark.beginning):
            if mark.beginning <= len(start) and mark.digest == _digest(
                name, start[: mark.beginning], ending
            ):
                return mark
        made = Mark(len(start), _digest(name, start, ending))
        self._marks = [*self._marks, made][-MOST:]
        return made

    def to_list(self) -> list[dict[str, Any]]:
        """Return the marks as a model keeps them."""
        return [asdict(mark) for mark in self._marks]


def _telling(path: Path) -> tuple[str, bytes, str]:
    """Return the name of a log, its beginning, and its size if it cannot grow."""
    kind, is_packed = kind_of(str(path))
    with path.open("rb") as file:
        start = file.read(BEGINNING)
    grows = kind not in TABLE_KINDS and not is_packed
    return path.name, start, "" if grows else str(path.stat().st_size)


def _digest(name: str, start: bytes, ending: str) -> str:
    return sha256(b"\0".join((name.encode("utf-8", "surrogateescape"), start, ending.encode()))
                  ).hexdigest()  # fmt: skip


def shorter(path: str, pages: int) -> InputError:
    """Say that a log has fewer pages than were taken in of it.

    Examples
    --------
    >>> print(shorter("clicks.tsv", 7))
    clicks.tsv: the model has taken in 7 pages of this log, and now it has fewer. Give it whole, or
    under another name if it is another log.
    """
    return InputError(
        f"{path}: the model has taken in {pages:,} pages of this log, and now it has fewer. Give it"
        " whole, or under another name if it is another log."
    )
