"""Keeping a click model up to date: logs in batches, and snapshots from which to go on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from purport.clicks.model import ClickModel
from purport.errors import InputError
from purport.fold.thread_engine import threads
from purport.records.pages import Pages
from purport.records.sources import OnError
from purport.store.snapshots import load_snapshot, previous_of, save_snapshot, sole_writer
from purport.study.click_logs import Mark, Marks, shorter
from purport.study.click_models import checked_click_model

BATCH = 1 << 16
"""So many pages at most are held at once."""
EVERY = 1_000_000
SECONDS_BETWEEN_LINES = 10.0


@dataclass(frozen=True)
class Stream:
    """How logs are taken in.

    Attributes
    ----------
    forget, half_life_days
        As `ClickModel.update` takes them.
    every : int
        After so many pages a snapshot is written, and at the end.
    on_error, columns
        How logs are read.
    n_threads : int, optional
        None takes all cores.

    Examples
    --------
    >>> Stream(forget=0.001).every
    1000000
    """

    forget: float | tuple[float, float] | str = 0.0
    half_life_days: float | None = None
    every: int = EVERY
    on_error: OnError = "raise"
    columns: Mapping[str, str] = field(default_factory=dict)
    n_threads: int | None = None


@dataclass(frozen=True)
class Updated:
    """What an update came to.

    Attributes
    ----------
    pages : int
        How many pages the model has learnt from now that it had not before.
    dropped : int
        How many had an id that had come before.
    before : int
        How many pages of these logs had been taken in before.
    in_all : int
        How many pages the model has learnt from.
    snapshots : int
        How many were written.

    Examples
    --------
    >>> Updated(7, 1, 0, 20, 1).line()
    '7 pages taken in, 20 in all; 1 left out whose id had come before'
    """

    pages: int
    dropped: int
    before: int
    in_all: int
    snapshots: int

    def numbers(self) -> dict[str, int]:
        """Return everything, as JSON can hold it."""
        return asdict(self)

    def line(self) -> str:
        """Return what there is to say, for people."""
        said = f"{self.pages:,} pages taken in, {self.in_all:,} in all"
        if self.before:
            said += f"; {self.before:,} of these logs had been before"
        if self.dropped:
            said += f"; {self.dropped:,} left out whose id had come before"
        return said


def update_model(
    folder: str | os.PathLike[str],
    logs: Sequence[str],
    how: Stream | None = None,
    *,
    tell: Callable[[str], None] = lambda line: None,
    warn: Callable[[str], None] = lambda line: None,
) -> Updated:
    """Take new pages into the click model of a folder.

    The folder always holds the last snapshot, which knows how far each log was taken in. After an
    interruption, a crash or a bad row the same call goes on there, and ends in the same bits as one
    that was not interrupted.

    Parameters
    ----------
    folder : path
        A model. If it is damaged, the snapshot before it is taken, and that is told.
    logs : list of str
        Files, in order; "-" is standard input. Of a file that was taken in before only what has
        been added since is new.
    how : Stream, optional
        How they are taken in.
    tell, warn : callable
        Get lines for people: how far it is, and that the model was damaged.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from purport.clicks import UBM
    >>> from purport.store.folders import save
    >>> place = pathlib.Path(tempfile.mkdtemp())
    >>> pages = Pages.from_lists([7, 8], [[1, 2], [3]], [[0, 1], [0]])
    >>> save(UBM().fit(pages), place / "clicks")
    >>> pages.write(place / "new.tsv")
    >>> update_model(place / "clicks", [str(place / "new.tsv")]).in_all
    4
    >>> update_model(place / "clicks", [str(place / "new.tsv")]).pages
    0
    """
    asked = Stream() if how is None else how
    with sole_writer(folder):
        loaded, damage = load_snapshot(folder)
        model = checked_click_model(loaded, folder)
        if damage is not None:
            warn(
                f"{damage} Going on from {previous_of(folder).name}, which had learnt from"
                f" {model.pages_seen_:,} pages."
            )
        return _Update(folder, model, asked, tell, damage is None).run(logs)


class _Update:
    """One run over some logs."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        model: ClickModel,
        how: Stream,
        tell: Callable[[str], None],
        is_sound: bool,
    ) -> None:
        self._folder, self._model, self._how, self._tell = folder, model, how, tell
        self._is_sound = is_sound
        self._marks = Marks(model._taken)
        self._engine = threads(how.n_threads)
        self._since, self._snapshots, self._before = 0, 0, 0
        self._told = time.monotonic()

    def run(self, logs: Sequence[str]) -> Updated:
        """Take in all logs, and leave a snapshot."""
        seen, dropped = self._model.pages_seen_, self._model.dropped_
        for path in logs:
            mark = self._marks.of(path)
            for batch in self._new_pages(path, mark):
                self._take_in(batch, mark)
        if self._since or not self._is_sound:
            self._save()
        return Updated(
            self._model.pages_seen_ - seen,
            self._model.dropped_ - dropped,
            self._before,
            self._model.pages_seen_,
            self._snapshots,
        )

    def _new_pages(self, path: str, mark: Mark) -> Iterator[Pages]:
        """Yield what was not taken in of a log before."""
        how, left = self._how, mark.pages
        size = min(BATCH, how.every)
        for batch in Pages.batches(path, size, how.on_error, columns=how.columns):
            passed = min(left, len(batch))
            left -= passed
            self._before += passed
            if passed < len(batch):
                yield batch[passed:] if passed else batch
        if left:
            raise shorter(path, mark.pages)

    def _take_in(self, pages: Pages, mark: Mark) -> None:
        how = self._how
        while len(pages):
            part = pages[: how.every - self._since]
            pages = pages[len(part) :]
            self._model.update(part, how.forget, how.half_life_days, self._engine)
            mark.pages += len(part)
            self._since += len(part)
            if self._since == how.every:
                self._save()
            self._report()

    def _save(self) -> None:
        self._model._taken = self._marks.to_list()
        save_snapshot(self._model, self._folder, self._is_sound)
        self._is_sound, self._since = True, 0
        self._snapshots += 1

    def _report(self) -> None:
        if time.monotonic() - self._told >= SECONDS_BETWEEN_LINES:
            self._tell(
                f"{self._model.pages_seen_:,} pages so far, {self._snapshots:,} snapshots written"
            )
            self._told = time.monotonic()


def forgetting(said: str) -> float | tuple[float, float] | str:
    """Return what the words of the command line say of forgetting.

    Examples
    --------
    >>> forgetting("auto"), forgetting("0.01"), forgetting("0.001,0.01")
    ('auto', 0.01, (0.001, 0.01))
    """
    if said == "auto":
        return said
    try:
        shares = [float(part) for part in said.split(",")]
    except ValueError:
        shares = []
    if len(shares) not in (1, 2):
        raise InputError(
            f"--forget takes auto, a share, or two with a comma between: of what all pages have in"
            f" common, and of pairs; got {said!r}."
        )
    return shares[0] if len(shares) == 1 else (shares[0], shares[1])
