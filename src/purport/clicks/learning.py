"""Which priors suit a log: those under which pages that were kept back are most likely.

Pages of the log are kept back in turns, never the first one of a query, as pages to come will be
mostly of queries known already. One setting after the other is changed as long as that helps. Where
a log is large, some of its queries, with all of their pages, are enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from purport.clicks.batch import PRIOR_ROUNDS, BatchEM
from purport.clicks.kinds import Kind
from purport.clicks.log import Log
from purport.clicks.pairs import mixed_numbers
from purport.clicks.scores import mean_log_likelihood
from purport.clicks.state import FIRM, ClickState, Priors
from purport.fold.engine import Engine

ENOUGH = 40_000
"""So many pages tell priors well enough."""
TURNS = 5
"""One in so many pages is kept back each time."""
LOOKS = (5, 10, 20)
"""After so many rounds the likelihood of what is kept back is looked at, to compare priors."""
NEXT_TO_NONE = 1e-4
"""A gain of likelihood that is not worth more rounds."""

BEGINS = (
    Priors(0.3, 1.0, 0.5, (4.0, 4.0), 8.0),
    Priors(0.5, 0.0, 0.5, (4.0, 4.0), 8.0),
    Priors(0.7, 0.0, 0.5, (4.0, 4.0), 2.0),
)
"""The best of these is changed step by step."""
LEVELS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.85)
STRENGTHS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
OF_QUERY = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, FIRM)
BY_RANK = (0.0, 0.5, 1.0)
CELLS = (1.0, 2.0, 8.0)
"""How many pages the prior of a cell, 1/2, counts as."""


@dataclass(frozen=True)
class Chosen:
    """What suits a log.

    Attributes
    ----------
    priors : Priors
        The best that were tried.
    rounds : int
        After how many rounds of EM they did best.
    settled : bool
        Whether more rounds did no good, or next to none.
    log_likelihood : float
        Of what was kept back, the mean over pages of the mean over ranks.
    """

    priors: Priors
    rounds: int
    settled: bool
    log_likelihood: float


def choose_priors(kind: Kind, log: Log, ranks: int, max_iter: int, engine: Engine) -> Chosen:
    """Choose priors for a log."""
    turns = list(_turns(_some_queries(log)))
    if not turns:
        return Chosen(BEGINS[1], max_iter, False, float("nan"))
    tried: dict[Priors, Chosen] = {}

    def judged(priors: Priors) -> Chosen:
        if priors not in tried:
            tried[priors] = _judge(kind, turns, ranks, max_iter, engine, priors)
        return tried[priors]

    best = max(map(judged, BEGINS if kind.has_pairs else BEGINS[:1]), key=_likelihood)
    moved = True
    while moved:
        before = best
        for setting, values in _settings(kind):
            place = values.index(_held(best.priors, setting))
            for step in (1, -1):
                while 0 <= place + step < len(values):
                    other = judged(_changed(best.priors, setting, values[place + step]))
                    if not other.log_likelihood > best.log_likelihood:
                        break
                    best, place = other, place + step
        moved = best is not before
    if kind.counts or max_iter <= LOOKS[-1]:
        return best
    return _judge(kind, turns, ranks, max_iter, engine, best.priors, range(10, max_iter + 1, 10))


Setting = Literal[
    "level", "by_rank", "satisfied", "strength", "strength of satisfaction", "of_query", "cells"
]


def _settings(kind: Kind) -> list[tuple[Setting, tuple[float, ...]]]:
    """Return what may be changed, and to what."""
    of_pairs: list[tuple[Setting, tuple[float, ...]]] = [
        ("level", LEVELS),
        ("strength", STRENGTHS),
        ("of_query", OF_QUERY),
        ("by_rank", BY_RANK),
    ]
    if kind.satisfies:
        of_pairs += [("satisfied", LEVELS), ("strength of satisfaction", STRENGTHS)]
    return [*(of_pairs if kind.has_pairs else ()), ("cells", CELLS)]


def _held(priors: Priors, setting: Setting) -> float:
    """Return what a setting is."""
    return {
        "level": priors.level,
        "by_rank": priors.by_rank,
        "satisfied": priors.satisfied,
        "strength": priors.strengths[0],
        "strength of satisfaction": priors.strengths[1],
        "of_query": priors.of_query,
        "cells": priors.cells[1],
    }[setting]


def _changed(priors: Priors, setting: Setting, value: float) -> Priors:
    """Return priors with one setting changed."""
    match setting:
        case "strength":
            return replace(priors, strengths=(value, priors.strengths[1]))
        case "strength of satisfaction":
            return replace(priors, strengths=(priors.strengths[0], value))
        case "cells":
            return replace(priors, cells=(value / 2.0, value))
        case "level":
            return replace(priors, level=value)
        case "by_rank":
            return replace(priors, by_rank=value)
        case "satisfied":
            return replace(priors, satisfied=value)
        case "of_query":
            return replace(priors, of_query=value)


def _some_queries(log: Log) -> Log:
    """Return the pages of so many queries that they are enough."""
    parts = -(-len(log) // ENOUGH)
    if parts == 1:
        return log
    chosen = np.flatnonzero(mixed_numbers(log.queries, parts) == 0)
    # Of few queries with many pages each it may be none: then the first pages have to do.
    return log.take(chosen if len(chosen) >= ENOUGH // TURNS else np.arange(ENOUGH))


def _turns(log: Log) -> Iterator[tuple[Log, Log]]:
    """Yield pages to learn from and pages to judge by."""
    _, first = np.unique(log.queries, return_index=True)
    turn = mixed_numbers(np.arange(len(log)), TURNS)
    turn[first] = -1
    for number in range(TURNS if len(log) < ENOUGH // TURNS else 1):
        back = turn == number
        if back.any():
            yield log.take(np.flatnonzero(~back)), log.take(np.flatnonzero(back))


def _judge(
    kind: Kind,
    turns: list[tuple[Log, Log]],
    ranks: int,
    max_iter: int,
    engine: Engine,
    priors: Priors,
    looks: Sequence[int] = LOOKS,
) -> Chosen:
    """Learn with some priors, and look at what was kept back after some of the rounds."""
    looks = [number for number in looks if number <= max_iter] or [max_iter]
    found = []
    for learnt, back in turns:
        em = BatchEM(ClickState(kind, ranks, 1, priors), learnt, engine)
        found.append(
            [mean_log_likelihood(em.state.probabilities(back), back) for _ in _rounds(em, looks)]
        )
    pages = np.array([len(back) for _, back in turns])
    means = pages @ np.array(found) / pages.sum()
    best = int(np.argmax(means))
    settled = best < len(means) - 1 or (best > 0 and means[best] - means[best - 1] < NEXT_TO_NONE)
    return Chosen(priors, looks[best], bool(settled), float(means[best]))


def _rounds(em: BatchEM, looks: Sequence[int]) -> Iterator[None]:
    """Do rounds, and stop for a look after some of them."""
    if em.state.kind.counts:
        looks = [PRIOR_ROUNDS]
    for number in range(1, looks[-1] + 1):
        em.round(learns_priors=number <= PRIOR_ROUNDS)
        if number in looks:
            yield


def _likelihood(chosen: Chosen) -> float:
    return chosen.log_likelihood
