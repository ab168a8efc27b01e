"""Labelled sessions with what must stay together: invented logs, and three real sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bench.benchmark import Setting
from purport.records.parting import cut_at_shares
from purport.records.sessions import Sessions
from purport.simulate.searches import SearchWorld

Labels = list[list[str]]

HALVES_SEED = 0


@dataclass(frozen=True)
class Labelled:
    """Sessions whose steps all have a label.

    Attributes
    ----------
    name : str
        What they are.
    sessions : Sessions
        What was said and clicked; labels that are in them are not looked at.
    labels : list of lists of str
        One a step.
    groups : list
        Of each session who or what must be in one fold alone: a person, a call, a dialogue.
    """

    name: str
    sessions: Sessions
    labels: Labels
    groups: Sequence[Hashable]

    @classmethod
    def of(cls, name: str, sessions: Sessions, groups: Sequence[Hashable]) -> Labelled:
        """Take the labels that are in the sessions."""
        labels = [[str(label) for label in each] for each in sessions.known_labels or []]
        return cls(name, sessions, labels, groups)

    @property
    def steps(self) -> int:
        return int(self.sessions.offsets[-1])

    def take(self, numbers: NDArray[np.int64]) -> Labelled:
        """Return some of the sessions."""
        groups, labels = (
            [of[number] for number in numbers.tolist()] for of in (self.groups, self.labels)
        )
        return replace(self, sessions=self.sessions[numbers], labels=labels, groups=groups)

    def relabelled(self, name: str, labels: Labels) -> Labelled:
        """Return the same sessions with other labels."""
        return replace(self, name=name, labels=labels)

    def folds(self, count: int, seed: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield the numbers of the sessions to train on and to test on, so many times."""
        everyone = np.arange(len(self.sessions))
        for test in cut_at_shares(len(everyone), (1.0 / count,) * count, self.groups, seed):
            yield np.setdiff1d(everyone, test), test

    def __str__(self) -> str:
        different = {label for labels in self.labels for label in labels}
        return (
            f"{self.name}: {len(self.sessions)} sessions, {self.steps} steps,"
            f" {len(different)} labels"
        )


@dataclass(frozen=True)
class Invented:
    """A log of searches that was invented.

    Attributes
    ----------
    world : SearchWorld
        Where it comes from.
    labelled : Labelled
        Its sessions.
    sub_intents : list of lists of str
        What is hidden at each step.
    """

    world: SearchWorld
    labelled: Labelled
    sub_intents: Labels


def invented(seed: int, count: int, draw: int = 0, **knobs: Any) -> Invented:
    """Invent a log; draws of one world share its words, but no session and nobody."""
    world = SearchWorld(seed, **knobs)
    log = world.sessions(count, seed + 1000 * draw)
    told = "".join(f", {name} {value:g}" for name, value in knobs.items())
    people = [f"{seed} {draw} {person}" for person in log.sessions.field("who")]
    name = f"invented searches, seed {seed}{told}"
    return Invented(world, Labelled.of(name, log.sessions, people), log.sub_intents)


OF_BEFORE = "reformulationType_prev_"
"""How features begin that hold the true label of the query before, which nobody knows in use."""


def intentions(setting: Setting) -> Labelled:
    """Read real search sessions whose queries are labelled by how they were reformulated."""
    given = Sessions.read(setting.folder("sessions-intentions") / "sequences.jsonl.gz")
    rows = []
    for row in given.rows():
        steps = [
            {
                "label": step["label"],
                "obs": {k: v for k, v in step["obs"].items() if not k.startswith(OF_BEFORE)},
            }
            for step in row["steps"]
        ]
        rows.append({"id": row["id"], "steps": steps})
    sessions = Sessions.from_rows(rows)
    return Labelled.of("sessions-intentions, reformulation types", sessions, given.field("user"))


Half = Literal["tables", "development"]


def dialogues(setting: Setting, count: int, half: Half = "tables") -> Labelled:
    """Read some of the training dialogues of SGD, labelled by intents."""
    return _some(setting, "sessions-sgd", "intents", count, half)


def calls(setting: Setting, count: int, half: Half = "tables") -> Labelled:
    """Read some of the training calls of Switchboard, labelled by acts."""
    return _some(setting, "sessions-swda", "acts", count, half)


def _some(setting: Setting, folder: str, what: str, count: int, half: Half) -> Labelled:
    """Return the first sessions of one half of the split "train", drawn at random."""
    sessions = Sessions.read(setting.folder(folder) / "sequences.jsonl.gz")
    train = np.flatnonzero(np.array(sessions.field("split")) == "train")
    order = np.random.default_rng(HALVES_SEED).permutation(train)
    middle = len(order) // 2
    # In the order drawn, so that the first are like the last: files go from simple to difficult.
    chosen = sessions[(order[:middle] if half == "tables" else order[middle:])[:count]]
    return Labelled.of(f"{folder}, {what}", chosen, chosen.field("id"))


GROUPS_OF_ACTS = {
    "statement": ("sd", "sv", "^q", "h", "no", "^h", "t1", "t3"),
    "question": ("qy", "qw", "qy^d", "bh", "qo", "qh", "qrr", "^g", "qw^d", "br"),
    "answer": ("ny", "nn", "na", "ng", "arp_nd", "aap_am", "aa", "ar"),
    "listening": ("b", "bk", "ba", "bf", "b^m", "^2", "bd"),
    "manners": ("fc", "fp", "fa", "ft", "ad", "oo_co_cc"),
    "unfinished": ("%", 'fo_o_fw_"_by_bc'),
}
"""Six groups of the 41 acts, made before anything was measured."""


def coarse_acts(acts: Labels) -> Labels:
    """Return the group of each act."""
    group_of = {act: group for group, members in GROUPS_OF_ACTS.items() for act in members}
    return [[group_of[act] for act in each] for each in acts]


def services(data: Labelled) -> Labels:
    """Return the kind of service that each step of a dialogue of SGD is about.

    A step that is about several is about the one that its intent is most often about among steps
    that are about one.
    """
    told = data.sessions.step_field("services") or []
    kinds = [[sorted({name.split("_")[0] for name in names}) for names in each] for each in told]
    often: Counter[tuple[str, str]] = Counter()
    for intents, each in zip(data.labels, kinds, strict=True):
        for intent, names in zip(intents, each, strict=True):
            if len(names) == 1:
                often[intent, names[0]] += 1

    def usual(intent: str, names: list[str]) -> str:
        return max(names, key=lambda name: often[intent, name])

    return [list(map(usual, *pair)) for pair in zip(data.labels, kinds, strict=True)]
