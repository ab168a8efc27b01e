"""Which property of a log the gain comes from: F over each knob of the invented world.

At the zero of a knob no gain may be left: without persistence a sub-intent tells of its neighbours
nothing that its label does not, and with one sub-intent a label there is nothing hidden.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bench.benchmark import Setting
from bench.shdcrf.data import Labels, invented
from bench.shdcrf.scores import Scores, paired_gain
from bench.shdcrf.settings import INVENTED, KNOB_SEEDS, SESSIONS, STATES_PER_LABEL
from bench.shdcrf.systems import CHAIN, LATENT, SPARSE, supervised
from bench.tables import Bar, Row, Table

TRAIN = 1000
CURVES: dict[str, tuple[float, ...]] = {
    "persistence": (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0),
    "ambiguity": (0.0, 0.2, 0.4, 0.6, 0.8, 0.9),
    "disagreement": (0.0, 0.1, 0.2),
}
SIZES = (250, 500, 1000, 2000)
"""Labelled sessions."""
LABELS = 8
NOTE = (
    f"Mean over worlds with the seeds {KNOB_SEEDS}. Gain: F of SHDCRF over that of the CRF, less 1,"
    " in per cent; spread: 95 % of a paired bootstrap over people. Penalties as in Table 4."
)


def run(setting: Setting) -> Iterator[Table]:
    train = 60 if setting.quick else TRAIN
    for knob, values in CURVES.items():
        kept = values[:2] if setting.quick else values
        yield curve(
            f"Gain over {knob}",
            {f"{knob} {value:g}": (train, {knob: value}) for value in kept},
            f"{knob} 0" if knob == "persistence" else "",
            setting,
        )
    sizes = SIZES[:1] if setting.quick else SIZES
    yield curve(
        "Gain over the number of labelled sessions",
        {f"{size} sessions": (size, {}) for size in sizes},
        "",
        setting,
    )


def zero(setting: Setting) -> Iterator[Table]:
    train = 60 if setting.quick else TRAIN
    points = {f"sub_intents {number}": (train, {"sub_intents": number}) for number in (1, 2, 3, 4)}
    yield curve(
        "Gain over the number of sub-intents a label",
        dict(list(points.items())[: 1 if setting.quick else 4]),
        "sub_intents 1",
        setting,
    )


def curve(
    title: str, points: Mapping[str, tuple[int, dict[str, Any]]], zero: str, setting: Setting
) -> Table:
    """Measure at every point; where it is the zero, no gain may be left."""
    rows = []
    for where, (train, knobs) in points.items():
        gold, found, groups = _labelled(train, knobs, KNOB_SEEDS[: 1 if setting.quick else None])
        f = {name: float(Scores.of(gold, labels).f) for name, labels in found.items()}
        low, high, p = paired_gain(gold, found[SPARSE], found[CHAIN], groups)
        beside = paired_gain(gold, found[SPARSE], found[LATENT], groups)
        told = ", ".join(f"{name} {value:.4f}" for name, value in f.items())
        rows.append(
            Row(
                where,
                100.0 * (f[SPARSE] / f[CHAIN] - 1.0),
                None,
                (100.0 * low, 100.0 * high),
                note=f"F: {told}; p {p:.2g}; over LDCRF {100 * (f[SPARSE] / f[LATENT] - 1):+.2f} %"
                f" ({100 * beside[0]:+.2f} to {100 * beside[1]:+.2f})",
            )
        )
        if where == zero:
            bar = Bar("figure", "at most", 0.0)
            note = "no gain: the lower end of the interval is not above 0"
            rows.append(Row(f"{where}: lower end", 100.0 * low, None, None, bar, note))
    notes = [
        NOTE,
        f"Settings scored on test: {len(points)} points with {len(found)} systems each.",
    ]
    return Table(title, "% of F", rows, notes, not setting.quick)


def _labelled(
    train: int, knobs: Mapping[str, Any], seeds: tuple[int, ...]
) -> tuple[Labels, dict[str, Labels], list[str]]:
    """Return true labels, those of each system, and the people, of the test parts of all worlds."""
    gold: Labels = []
    found: dict[str, Labels] = {}
    groups: list[str] = []
    learners = supervised(STATES_PER_LABEL, LABELS, INVENTED, wide=None)
    for seed in seeds:
        known = invented(seed, train, **knobs).labelled
        test = invented(seed, min(SESSIONS, 10 * train), draw=1, **knobs).labelled
        gold += test.labels
        groups += test.groups
        for name, learn in learners.items():
            trained = learn(known)
            found[name] = found.get(name, []) + trained.predict(test.sessions)
    return gold, found, groups
