"""The one writer of each shard: takes pages in the order of the log, and brings shards together.

Each shard of queries has a copy of the cells of its own, which its pages change as they come. After
every so many pages of the log what all copies have brought is summed up, in the order of the
shards, and each goes on from there. Where a log is cut into calls does not matter: the places at
which copies meet are counted from its beginning.

Symbols: S shards, M cells, R ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from purport.clicks.log import Log
from purport.clicks.state import ClickState, parameters_of_sums
from purport.clicks.stream import fill_parameters, stream_pages
from purport.fold.engine import Engine

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_DAYS = np.empty(0, np.int64)
NO_DAY = -(2**40)
"""Before there was a day."""


class Writer:
    """Online EM over a state.

    Parameters
    ----------
    state : ClickState
        What is changed. Its sums and parameters are those of all shards together after each call.
    every : int
        So many pages lie between two meetings of the shards.
    most : int, optional
        So many pairs may be left at each meeting. A log may then not go on behind one; see
        `stretches`.

    Attributes
    ----------
    seen : int
        How many pages of the log were taken in.
    day : int
        Up to which day sums have grown old; `NO_DAY` before there was one.
    aged : bool
        Whether they have.
    """

    def __init__(self, state: ClickState, every: int, most: int | None = None) -> None:
        self.state, self.every, self.most = state, every, most
        self.seen, self.day = 0, NO_DAY
        self.aged = False
        self._base = state.sums.copy()
        self._begin()

    @classmethod
    def after(cls, other: Writer) -> Self:
        """Go on where another writer is; what its shards have brought is summed up now."""
        writer = cls(other.state, other.every, other.most)
        writer.seen, writer.aged = other.seen, other.aged
        writer.learnt_until(other.day)
        return writer

    def _begin(self) -> None:
        """Give every shard a copy of what all know."""
        shards = len(self.state.tables)
        self._sums = np.tile(self._base, (shards, 1, 1))
        self._remaining = np.ones((shards, len(self._base)))
        self._parameters = np.tile(parameters_of_sums(self._base, self.state), (shards, 1))

    def _together(self) -> NDArray[np.float64]:
        """Return what the shards know together."""
        brought = self._sums - self._remaining[:, :, None] * self._base
        together: NDArray[np.float64] = np.prod(self._remaining, axis=0)[
            :, None
        ] * self._base + np.add.reduce(brought, axis=0)
        return together

    def stretches(self, pages: int) -> Iterator[slice]:
        """Yield the parts in which so many pages are to be written.

        Names of ids are forgotten with the pairs that go at a meeting of the shards, so that the
        ids of what comes behind it are numbered then and not before.
        """
        start = 0
        while start < pages:
            left = self.every - self.seen % self.every
            stop = pages if self.most is None else min(pages, start + left)
            yield slice(start, stop)
            start = stop

    def write(
        self,
        log: Log,
        forget: tuple[float, float],
        engine: Engine,
        days: NDArray[np.int64] = NO_DAYS,
        half_life: float = 1.0,
    ) -> None:
        """Take in pages.

        Parameters
        ----------
        log : Log
            In the order in which they happened.
        forget : tuple of 2 float
            The share of the sums of cells, and of pairs, that is forgotten when one is touched.
        engine : Engine
            Writes the shards side by side.
        days : (N,) int64
            Of each page, where sums grow old by calendar time; never less than the day before.
        half_life : float
            In days.
        """
        shards = self.state.shards_of(log)
        queries, pairs = np.empty(len(log), np.int32), np.empty(len(log.docs), np.int32)
        dawns = np.flatnonzero(np.diff(days, prepend=self.day) > 0)
        start = 0
        while start < len(log):
            if len(days) and days[start] > self.day:
                self._age(int(days[start]), half_life)
            stop = min(len(log), start + self.every - self.seen % self.every)
            stop = min(stop, *dawns[dawns > start][:1].tolist(), len(log))
            here = shards[start:stop]

            def write_shard(
                shard: int, _: None, start: int = start, here: NDArray[np.int64] = here
            ) -> None:
                chosen = start + np.flatnonzero(here == shard)
                if len(chosen):
                    self._write(shard, chosen, log, queries, pairs, forget, days, half_life)

            engine.map(engine.place(range(len(self.state.tables))), write_shard, None)
            self.seen += stop - start
            start = stop
            if self.seen % self.every == 0:
                self._base = self._together()
                self._begin()
                if self.most is not None:
                    self.state.evict(self.most, self.day, half_life if len(days) else None)
        self.state.sums[:] = self._together()
        self.state.refresh()

    def _write(
        self,
        shard: int,
        chosen: NDArray[np.int64],
        log: Log,
        queries: NDArray[np.int32],
        pairs: NDArray[np.int32],
        forget: tuple[float, float],
        days: NDArray[np.int64],
        half_life: float,
    ) -> None:
        state, table = self.state, self.state.tables[shard]
        priors = state.priors
        if state.width:
            self._find(shard, chosen, log, queries, pairs)
        stream_pages(
            state.kind.number, chosen, log.offsets, log.clicks, queries, pairs, days, state.ranks,
            np.array([*priors.strengths, priors.of_query]), forget[0], forget[1], half_life,
            state.width, table.kept, table.days, table.query_sums, self._sums[shard],
            self._remaining[shard], state.cell_priors, self._parameters[shard],
        )  # fmt: skip

    def _find(
        self,
        shard: int,
        chosen: NDArray[np.int64],
        log: Log,
        queries: NDArray[np.int32],
        pairs: NDArray[np.int32],
    ) -> None:
        """Fill in the rows of queries and pairs; those that are new are of the present day."""
        state, table = self.state, self.state.tables[shard]
        known = table.pairs
        table.find(
            chosen, log.offsets, log.queries, log.docs, queries, pairs,
            self._parameters[shard, state.cells :], state.priors.satisfied,
        )  # fmt: skip
        table.days[known : table.pairs] = self.day

    def learnt_until(self, day: int) -> None:
        """Let all that is known be as old as a day: that of the last page of what was learnt."""
        self.day = day
        for table in self.state.tables:
            table.days[: table.pairs] = day

    def _age(self, day: int, half_life: float) -> None:
        """Let all sums of cells grow old up to a day; those of pairs do so when they are met.

        What was learnt before there was a day is taken to be of the first one.
        """
        if self.day != NO_DAY:
            self.aged = True
            aged = 2.0 ** ((self.day - day) / half_life)
            self._base *= aged
            self._sums *= aged
            cells, priors = self.state.cells, self.state.cell_priors
            for sums, parameters in zip(self._sums, self._parameters, strict=True):
                fill_parameters(sums, priors, parameters[:cells])
        else:
            for table in self.state.tables:
                table.days[: table.pairs] = day
        self.day = day

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what must be kept to go on to the same bits."""
        return {
            "seen": np.array([self.seen, self.day, self.aged], np.int64),
            "base": self._base.copy(),
            "sums": self._sums.copy(),
            "remaining": self._remaining.copy(),
            "parameters": self._parameters.copy(),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `to_arrays` gave, or raise ValueError."""
        for name, held in self.to_arrays().items():
            if arrays[name].shape != held.shape or arrays[name].dtype != held.dtype:
                raise ValueError(f"the shape or the type of {name} is wrong")
        self.seen, self.day, aged = arrays["seen"].tolist()
        self.aged = bool(aged)
        self._base = np.array(arrays["base"])
        self._sums = np.array(arrays["sums"])
        self._remaining = np.array(arrays["remaining"])
        self._parameters = np.array(arrays["parameters"])
