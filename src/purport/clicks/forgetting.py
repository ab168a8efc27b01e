"""How much to forget: of several models that differ in it, the one that foretells best is used.

Each candidate believes that attractiveness wanders by another rate: the deviation of the step that
a logit takes a day (see `purport.clicks.evidence`). Each says how likely the clicks of a day are
before it takes that day in; what it said counts the less the longer ago it was. Where times are not
known, so many pages as lie between two meetings of the shards stand for a day.

Symbols: C candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.clicks.evidence import EvidenceWriter, forget_what_was_not_seen
from purport.clicks.online import NO_DAY
from purport.clicks.pairs import PairTable
from purport.clicks.scores import page_log_likelihoods
from purport.clicks.state import ClickState
from purport.estimator.base import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.clicks.log import Log
    from purport.clicks.online import Writer
    from purport.fold.engine import Engine

RATES = (0.0, 0.05, 0.1, 0.2, 0.3)
"""Deviations of a day's step of the logit of an attractiveness."""
FIRST = 1
"""The candidate that is used before any has foretold a day."""
REMEMBERED = 0.8
"""What a candidate said of a day counts so much as much on the next."""
OF_HISTORY = 3.0
"""What was learnt evenly over T days tells of the last one as if all of it had been T / 3 before:
so large is the variance of a walk's mean around its end, beside that of its steps."""


class Candidates:
    """Models that forget at different rates.

    Parameters
    ----------
    rates : sequence of float
        Of each candidate, ascending.
    writers : list of EvidenceWriter
        One a candidate.
    by_day : bool
        Whether time is counted in days, or in pages.

    Attributes
    ----------
    moment : int
        The day that was met last, or the number of the stretch of pages; `NO_DAY` before there was
        one.
    scores : (C,) float64
        The log-likelihood of the pages foretold so far, those of long ago counting less.
    foretold : float
        How many pages that is.
    """

    def __init__(self, rates: Sequence[float], writers: list[EvidenceWriter], by_day: bool) -> None:
        self.rates, self.writers, self.by_day = tuple(rates), writers, by_day
        self.moment, self.foretold = NO_DAY, 0.0
        self.scores = np.zeros(len(self.rates))

    @classmethod
    def of(cls, state: ClickState, writer: Writer, history: float, by_day: bool) -> Candidates:
        """Begin with what a model knows.

        Parameters
        ----------
        state : ClickState
            Copied for each candidate.
        writer : Writer
            That of the model: how far it has come in the log.
        history : float
            Over how many days the model has learnt.
        by_day : bool
            Whether time is counted in days, or in pages.
        """
        writers = []
        for rate in RATES:
            own = _state_from(state, State(_arrays_of(state)))
            forget_what_was_not_seen(own)
            own_writer = EvidenceWriter(own, writer.every)
            own_writer.seen, own_writer.day = writer.seen, writer.day
            own_writer.wander(rate**2 * history / OF_HISTORY)
            writers.append(own_writer)
        return cls(RATES, writers, by_day)

    @property
    def best(self) -> int:
        """The number of the candidate that has foretold best."""
        return int(np.argmax(self.scores)) if self.foretold else FIRST

    @property
    def writer(self) -> EvidenceWriter:
        """The writer of the candidate that has foretold best; its state is the model's."""
        return self.writers[self.best]

    @property
    def rate(self) -> float:
        """That of the candidate that has foretold best."""
        return self.rates[self.best]

    def means(self) -> dict[float, float]:
        """Return for each rate the mean over the pages that were foretold."""
        foretold = self.foretold or float("nan")
        return dict(zip(self.rates, (self.scores / foretold).tolist(), strict=True))

    def take(self, log: Log, days: NDArray[np.int64], engine: Engine) -> None:
        """Foretell pages, then take them in.

        Parameters
        ----------
        log : Log
            In the order in which they happened.
        days : (N,) int64
            Of each page, never less than that of the page before; empty where time is not known.
        engine : Engine
            Writes the shards side by side.
        """
        for moment, part in self._parts(log, days):
            # At the very beginning no time has passed.
            passed = moment - self.moment if self.moment != NO_DAY else 1
            if passed > 0:
                self.moment = moment
                self.scores *= REMEMBERED**passed
                self.foretold *= REMEMBERED**passed
            for number, writer in enumerate(self.writers):
                writer.wander(self.rates[number] ** 2 * passed)
                told = page_log_likelihoods(writer.state.probabilities(part), part)
                self.scores[number] += told.sum()
                writer.write(part, (0.0, 0.0), engine)
                if self.by_day:
                    # What it knows of pairs is of that day, too: `wander` has seen to it.
                    writer.day = moment
            self.foretold += len(part)

    def _parts(self, log: Log, days: NDArray[np.int64]) -> Iterator[tuple[int, Log]]:
        """Yield the pages of each day, or of each stretch between meetings of the shards."""
        moments = days
        if not self.by_day:
            writer = self.writer
            moments = 1 + (writer.seen + np.arange(len(log))) // writer.every
        borders = np.flatnonzero(np.diff(moments, prepend=moments[:1] - 1))
        for first, last in zip(borders, [*borders[1:], len(log)], strict=True):
            yield int(moments[first]), log.take(np.arange(first, last))

    def to_state(self) -> State:
        """Return all but what the model has, too: the best candidate's state and writer."""
        made = State(
            arrays={"scores": self.scores},
            settings={
                "rates": list(self.rates),
                "by_day": self.by_day,
                "moment": self.moment,
                "foretold": self.foretold,
            },
        )
        for number, writer in enumerate(self.writers):
            if number != self.best:
                arrays = _arrays_of(writer.state)
                online = {f"online/{name}": held for name, held in writer.to_arrays().items()}
                made = made.join(f"candidate {number}", State(arrays | online))
        return made

    @classmethod
    def restore(cls, state: State, model: Writer) -> Candidates:
        """Take back what `to_state` gave beside the writer of the model, or raise ValueError."""
        settings = state.settings
        made = cls(settings["rates"], [], settings["by_day"])
        made.moment, made.foretold = settings["moment"], settings["foretold"]
        if state.arrays["scores"].shape != made.scores.shape:
            raise ValueError("there is not one score for each candidate")
        made.scores = np.array(state.arrays["scores"], np.float64)
        for number in range(len(made.rates)):
            part = state.nested(f"candidate {number}")
            is_best = number == made.best
            known = model.state if is_best else _state_from(model.state, part)
            writer = EvidenceWriter(known, model.every)
            writer.restore(model.to_arrays() if is_best else part.nested("online").arrays)
            made.writers.append(writer)
        return made


def _arrays_of(state: ClickState) -> dict[str, NDArray[Any]]:
    """Return all that a state knows but the names, which candidates share."""
    arrays = {"sums": state.sums}
    for number, table in enumerate(state.tables):
        held = table.to_arrays()
        arrays |= {f"shard {number}/{name}": array for name, array in held.items()}
    return arrays


def _state_from(like: ClickState, told: State) -> ClickState:
    """Return a state of the same model that knows other things, or raise ValueError."""
    made = ClickState(like.kind, like.ranks, len(like.tables), like.priors)
    made.query_names, made.doc_names = like.query_names, like.doc_names
    if told.arrays["sums"].shape != made.sums.shape:
        raise ValueError("the sums are not those of the cells")
    made.sums = np.array(told.arrays["sums"], np.float64)
    made.tables = [
        PairTable.from_arrays(made.width, told.nested(f"shard {number}").arrays)
        for number in range(len(like.tables))
    ]
    made.refresh()
    return made
