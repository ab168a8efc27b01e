"""Windows and penalties of the accuracy tables: which there are, and which were chosen on dev."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bench.benchmark import Setting
from bench.crf import ours
from bench.crf.data import Sentences
from bench.tables import Row, Table
from purport.features.token_windows import TokenWindows
from purport.measure.slots import slot_scores
from purport.sequence.crf import CRF
from purport.study import windows

MAX_ITERATIONS = 200

RICH: dict[str, Any] = windows.RICH.get_params(deep=False)
"""That of the command line's `--window rich`, so that it is what was measured."""
WINDOWS: dict[str, dict[str, Any]] = {
    "default": {},
    "rich": RICH,
    "affixes": RICH | {"prefixes": (2, 3, 4), "suffixes": (2, 3, 4)},
    "phrases": RICH | {"conjunctions": (*RICH["conjunctions"], (-1, 0, 1), (-1, 1), (-2, -1, 0))},
}
"""Prefix and suffix of 3 and whether there is a digit are in all of them."""

PENALTIES = ((0.1, 0.01), (0.3, 0.01), (0.03, 0.01), (0.0, 0.1), (0.0, 0.03))
"""l1 and l2; the first is that of the literature's figure."""


@dataclass(frozen=True)
class Chosen:
    """A frozen setting: the window's name, l1 and l2."""

    window: str
    l1: float
    l2: float

    @property
    def windows(self) -> TokenWindows:
        return TokenWindows(**WINDOWS[self.window])

    def crf(self) -> CRF:
        return CRF(l2=self.l2, l1=self.l1, max_iter=MAX_ITERATIONS, features=self.windows)

    def __str__(self) -> str:
        return f"window {self.window}, l1 {self.l1:g}, l2 {self.l2:g}"


CHOSEN = {
    "atis": Chosen("affixes", 0.1, 0.01),
    "snips": Chosen("phrases", 0.03, 0.01),
    "hwu64": Chosen("rich", 0.1, 0.01),
}
"""The best of each set on its dev split; `--choose` looks for them again."""


def choose(setting: Setting, name: str, one_of: int) -> Iterator[Table | Chosen]:
    """Score settings on dev, first penalties, then windows; yield their table, then the best."""
    train = Sentences.read(setting, name, "train", one_of=one_of)
    dev = Sentences.read(setting, name, "dev")
    scored: dict[Chosen, float] = {}

    def best() -> Chosen:
        return max(scored, key=scored.__getitem__)

    def score(candidate: Chosen) -> None:
        if candidate not in scored:
            crf = ours.fit(candidate.crf(), train.records, train.labels)
            scored[candidate] = slot_scores(dev.labels, crf.predict(dev.records)).f1

    for l1, l2 in PENALTIES:
        score(Chosen("rich", l1, l2))
    penalties = best()
    for window in WINDOWS:
        score(Chosen(window, penalties.l1, penalties.l2))
    rows = [
        Row(str(candidate), f1, note="chosen" if candidate == best() else "")
        for candidate, f1 in scored.items()
    ]
    notes = [f"Trained on {train.name}; test is not read. Frozen in bench/crf/settings.py."]
    yield Table(f"Choosing on {dev.name}", "span F1", rows, notes, judged=False)
    yield best()
