"""Whether hidden states mean something: states of coarse labels beside fine ones never seen.

Every method learns from the coarse labels of the same sessions, and gives each step of other
sessions a state; all have as many states. Inside each coarse label its states are compared with the
fine labels, by adjusted mutual information and by the V-measure, averaged over labels by their
steps. The coarse label alone would score 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.benchmark import Setting
from bench.shdcrf import choosing, real
from bench.shdcrf.choosing import Grid
from bench.shdcrf.data import (
    Half,
    Labelled,
    Labels,
    calls,
    coarse_acts,
    dialogues,
    invented,
    services,
)
from bench.shdcrf.settings import (
    BAR_SEED,
    GRID_OF_COARSE,
    MEANING,
    SESSIONS,
    Penalties,
    windows,
)
from bench.shdcrf.systems import fitted, ldcrf, shdcrf
from bench.tables import Bar, Row, Table
from purport.features.rows import Rows
from purport.fold.thread_engine import threads
from purport.sequence import decoding
from purport.sequence.beginnings import cluster, states_of_labels, step_profiles

SEED = 0
DRAWS = 200
"""Of the bootstrap; adjusted mutual information takes its time."""
OURS, LATENT = "SHDCRF", "LDCRF"
EVEN, DEALT, AROUND = (
    "k-means inside each label, as many for each",
    "k-means inside each label, more for the frequent",
    "k-means of steps with what is around them",
)
CHANCE = "chance: any state of the label"
OPPONENTS = (LATENT, EVEN, DEALT, CHANCE)


@dataclass(frozen=True)
class Steps:
    """Sessions with coarse and fine labels, of which some are to compare on.

    Attributes
    ----------
    data : Labelled
        Train and test sessions together, the labels coarse.
    fine : list of lists of str
        The fine labels.
    train : int
        So many sessions, the first, are to train on.
    states_per_label : int
        Of each method.
    of : dict
        Windows.
    penalties : Penalties
        Chosen elsewhere, for the coarse labels.
    """

    data: Labelled
    fine: Labels
    train: int
    states_per_label: int
    of: dict[str, Any]
    penalties: Penalties

    @property
    def known(self) -> Labelled:
        """The sessions to train on."""
        return self.data.take(np.arange(self.train))

    @property
    def coarse(self) -> NDArray[np.int64]:
        """The number of the label of every step."""
        return numbers(self.data.labels)

    @property
    def tested(self) -> NDArray[np.bool_]:
        """Which steps are of test sessions."""
        offsets = self.data.sessions.offsets
        return np.arange(offsets[-1]) >= offsets[self.train]


def numbers(labels: Labels) -> NDArray[np.int64]:
    """Return a number for every step's label."""
    flat = [label for each in labels for label in each]
    return np.unique(flat, return_inverse=True)[1].astype(np.int64)


def run(setting: Setting) -> Iterator[Table]:
    yield compare(searches(setting), setting)
    for read in (acts, intents):
        if setting.choose:
            steps = read(setting, "development")
            pairs = real.development(steps.data)
            grid = Grid(**GRID_OF_COARSE)
            found = choosing.choose(pairs, steps.states_per_label, steps.of, None, grid)
            yield choosing.table(f"Choosing penalties: other sessions of {steps.data.name}", found)
        yield compare(read(setting), setting)


def searches(setting: Setting) -> Steps:
    """Labels and sub-intents of an invented log."""
    size = 60 if setting.quick else SESSIONS * 2
    log = invented(BAR_SEED, size, draw=5)
    return Steps(log.labelled, log.sub_intents, size * 4 // 5, *MEANING["searches"])


def acts(setting: Setting, half: Half = "tables") -> Steps:
    """Groups of dialogue acts, and the acts."""
    size = 10 if setting.quick else 100
    data = calls(setting, size, half)
    coarse = data.relabelled("sessions-swda, groups of acts", coarse_acts(data.labels))
    return Steps(coarse, data.labels, size * 4 // 5, *MEANING["acts"])


def intents(setting: Setting, half: Half = "tables") -> Steps:
    """Services of dialogues, and the intents."""
    size = 100 if setting.quick else 2000
    data = dialogues(setting, size, half)
    coarse = data.relabelled("sessions-sgd, services", services(data))
    return Steps(coarse, data.labels, size * 4 // 5, *MEANING["intents"])


def compare(steps: Steps, setting: Setting) -> Table:
    """Measure one set."""
    tested, coarse, fine = steps.tested, steps.coarse, numbers(steps.fine)
    people = np.repeat(np.arange(len(steps.data.sessions)), np.diff(steps.data.sessions.offsets))
    found = states_of(steps)
    told = {
        name: inside(coarse[tested], fine[tested], states[tested]) for name, states in found.items()
    }
    ours = told[OURS]
    rows = []
    for name, each in told.items():
        note = f"V-measure {each.v_measure:.4f}"
        bar = None
        if name == OURS:
            bar = Bar("figure", "at least", max(told[other].mutual for other in OPPONENTS))
            note += "; the bar is the best of LDCRF, k-means inside each label, and chance"
        rows.append(Row(name, each.mutual, bar=bar, note=note))
    best_v = max(told[other].v_measure for other in OPPONENTS)
    bar = Bar("figure", "at least", best_v)
    rows.append(Row(f"{OURS}, V-measure", ours.v_measure, bar=bar))
    rows += _differences(coarse[tested], fine[tested], people[tested],
                         {name: states[tested] for name, states in found.items()})  # fmt: skip
    labels = int(coarse.max()) + 1
    within = len(set(zip(coarse.tolist(), fine.tolist(), strict=True)))
    notes = [
        f"{steps.data}; {within} fine ones inside them. Trained on the first {steps.train},"
        f" compared on the {int(tested.sum())} steps of the other sessions."
        f" {labels * steps.states_per_label} states for every method.",
        "k-means takes the features of a step by itself and is told the coarse labels of all"
        " steps, also of those that are compared; SHDCRF and LDCRF are not, unless the row says so:"
        " their state is argmax p(h | x).",
        f"Penalties, chosen by the F of the coarse labels on other sessions: {steps.penalties}.",
        f"Differences: 95 % of {DRAWS} bootstrap draws of sessions.",
    ]
    title = f"States beside fine labels: {steps.data.name}"
    return Table(title, "AMI inside labels", rows, notes, not setting.quick)


def states_of(steps: Steps) -> dict[str, NDArray[np.int64]]:
    """Return the states that every method gives to all steps."""
    data, train = steps.data, steps.known
    labels = int(steps.coarse.max()) + 1
    total = labels * steps.states_per_label
    models = {
        OURS: fitted(shdcrf(total, steps.penalties, steps.of), train),
        LATENT: fitted(ldcrf(steps.states_per_label, steps.penalties.ldcrf, steps.of), train),
    }
    found: dict[str, NDArray[np.int64]] = {}
    for name, model in models.items():
        found[name] = flat(model.predict_states(data.sessions))
        found[f"{name}, told the coarse labels"] = told_states(model, data)
    rows = windows(steps.of).fit_transform(data.sessions)
    even = np.full(labels, steps.states_per_label)
    dealt = states_of_labels(np.bincount(steps.coarse), total)
    found[EVEN] = inside_labels(own_profiles(rows), steps.coarse, even)
    found[DEALT] = inside_labels(own_profiles(rows), steps.coarse, dealt)
    found[AROUND] = inside_labels(step_profiles(rows), steps.coarse, dealt)
    drawn = np.random.default_rng(SEED).integers(steps.states_per_label, size=len(steps.coarse))
    found[CHANCE] = steps.coarse * steps.states_per_label + drawn
    return found


def flat(states: list[list[int]]) -> NDArray[np.int64]:
    return np.array([state for each in states for state in each], np.int64)


def told_states(model: Any, data: Labelled) -> NDArray[np.int64]:
    """Return argmax p(h | x, y), the coarse labels y being known."""
    rows = model._rows(data.sessions)
    known = model._known(data.labels, rows)
    return decoding.posteriors(rows, model._scores(), threads(None), known).argmax(axis=1)


def own_profiles(rows: Rows) -> Any:
    """Return what each step says, features counting by how rare they are."""
    return step_profiles(rows)[:, : rows.width]


def inside_labels(
    profile: Any, coarse: NDArray[np.int64], each: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Cluster the steps of every label; states of different labels differ."""
    random = np.random.default_rng(SEED)
    found = np.zeros(len(coarse), np.int64)
    first = 0
    for label, count in enumerate(each.tolist()):
        steps = np.flatnonzero(coarse == label)
        found[steps] = first + cluster(profile[steps], count, random)
        first += count
    return found


@dataclass(frozen=True)
class Agreement:
    """How much states tell of fine labels inside coarse ones; 1 is all, 0 nothing."""

    mutual: float
    v_measure: float


def inside(
    coarse: NDArray[np.int64], fine: NDArray[np.int64], states: NDArray[np.int64]
) -> Agreement:
    """Compare inside each coarse label that has several fine ones, averaged by steps.

    >>> coarse, fine = np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 2, 3])
    >>> inside(coarse, fine, fine)
    Agreement(mutual=1.0, v_measure=1.0)
    >>> inside(coarse, fine, coarse)
    Agreement(mutual=0.0, v_measure=0.0)
    """
    from sklearn.metrics import adjusted_mutual_info_score, v_measure_score

    mutual, v_measure, steps = [], [], []
    for label in np.unique(coarse).tolist():
        here = coarse == label
        if len(np.unique(fine[here])) > 1:
            mutual.append(adjusted_mutual_info_score(fine[here], states[here]))
            v_measure.append(v_measure_score(fine[here], states[here]))
            steps.append(int(here.sum()))
    return Agreement(
        float(np.average(mutual, weights=steps)), float(np.average(v_measure, weights=steps))
    )


def _differences(
    coarse: NDArray[np.int64],
    fine: NDArray[np.int64],
    sessions: NDArray[np.int64],
    found: Mapping[str, NDArray[np.int64]],
) -> Iterator[Row]:
    """Yield by how much more SHDCRF's states tell than those of the others, with its interval."""
    random = np.random.default_rng(SEED)
    starts = np.flatnonzero(np.diff(sessions, prepend=-1))
    pieces = np.split(np.arange(len(sessions)), starts[1:])
    others = [name for name in OPPONENTS if name != CHANCE]
    drawn: dict[str, list[float]] = {name: [] for name in others}
    for _ in range(DRAWS):
        chosen = np.concatenate([pieces[n] for n in random.integers(len(pieces), size=len(pieces))])
        ours = inside(coarse[chosen], fine[chosen], found[OURS][chosen]).mutual
        for name in others:
            theirs = inside(coarse[chosen], fine[chosen], found[name][chosen]).mutual
            drawn[name].append(ours - theirs)
    whole = inside(coarse, fine, found[OURS]).mutual
    for name in others:
        low, high = np.quantile(drawn[name], [0.025, 0.975]).tolist()
        difference = whole - inside(coarse, fine, found[name]).mutual
        yield Row(f"{OURS} less {name}", difference, None, (low, high))
