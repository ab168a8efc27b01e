"""The paper's Figures 3, 4 and 5: F over the number of hidden states, and over the sparsity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bench.benchmark import Setting
from bench.shdcrf.data import Labelled, Labels, invented
from bench.shdcrf.scores import Scores, interval, paired_gain
from bench.shdcrf.settings import (
    BAR_SEED,
    FIGURE_SEEDS,
    FIGURE_UNLABELLED,
    INVENTED,
    SESSIONS,
    SPARSITIES,
)
from bench.shdcrf.systems import FREE, LATENT, SELF, SPARSE, Trained, fitted, ldcrf, shdcrf
from bench.tables import Bar, Row, Table
from purport.records.sessions import Sessions

LABELS = 8
EACH = (2, 3, 4, 5, 6)
"""States a label: 16 to 48 states."""
SHOWN = (16, 32, 48)
RANDOM_STARTS = (0, 1, 2)
TRAIN = 1000


def states(setting: Setting) -> Iterator[Table]:
    rows: list[Row] = []
    worlds = [_parts(setting, seed) for seed in FIGURE_SEEDS[: 1 if setting.quick else None]]
    gold = [labels for _, test, _ in worlds for labels in test.labels]
    groups = [group for _, test, _ in worlds for group in test.groups]
    for each in EACH[:1] if setting.quick else EACH:
        found: dict[str, Labels] = {LATENT: [], SPARSE: [], SELF: []}
        for train, test, more in worlds:
            for name, model in _of_width(each, train, more).items():
                found[name] += model.predict(test.sessions)
        for name, labels in found.items():
            note = ""
            if name != LATENT:
                beside = SPARSE if name == SELF else LATENT
                low, high, p = paired_gain(gold, labels, found[beside], groups)
                f, other = (float(Scores.of(gold, one).f) for one in (labels, found[beside]))
                note = (
                    f"over {beside}: {100 * (f / other - 1):+.1f} % ({100 * low:+.1f} to"
                    f" {100 * high:+.1f}), p {p:.2g}"
                )
            f = float(Scores.of(gold, labels).f)
            spread = interval(gold, labels, groups)
            rows.append(Row(f"{each * LABELS} states: {name}", f, None, spread, note=note))
    notes = [
        *(note for world in worlds for note in _notes(*world)),
        "The paper: alike with few states, SHDCRF ahead of LDCRF with more, flat in the end."
        " The world has 24 sub-intents, two to four of each label: with 24 states LDCRF has three"
        " for each label, from 32 on enough for all.",
        f"Settings scored on test: {len(rows)}.",
    ]
    yield Table("Figure 3: F over the hidden states", "F", rows, notes, not setting.quick)


def _of_width(each: int, train: Labelled, more: Sessions) -> dict[str, Trained]:
    """Train the models with so many states a label."""
    number = each * LABELS
    itself = shdcrf(number, INVENTED, semi="self-training")
    return {
        LATENT: fitted(ldcrf(each, INVENTED.ldcrf), train),
        SPARSE: fitted(shdcrf(number, INVENTED), train),
        SELF: fitted(itself, train, unlabeled=more),
    }


def sparsity(setting: Setting) -> Iterator[Table]:
    train, test, more = _parts(setting, BAR_SEED)
    shown = SHOWN[:1] if setting.quick else SHOWN
    starts = RANDOM_STARTS[:1] if setting.quick else RANDOM_STARTS
    yield _over_sparsity(f"Figure 4: F of {SPARSE} over the sparsity", train, test, None, shown,
                         starts, setting)  # fmt: skip
    yield _over_sparsity(f"Figure 5: F of {FREE} over the sparsity", train, test, more, SHOWN[1:2],
                         starts[:1], setting)  # fmt: skip


def _over_sparsity(
    title: str,
    train: Labelled,
    test: Labelled,
    more: Sessions | None,
    shown: tuple[int, ...],
    starts: tuple[int, ...],
    setting: Setting,
) -> Table:
    """Measure from random starts, as the paper's, and from ours."""
    rows = []
    for number in shown:
        for value in (0.0, *SPARSITIES):
            found = {
                init: [_from(init, seed, number, value, train, test, more) for seed in seeds]
                for init, seeds in (("random", starts), ("split", (0,)))
            }
            scores = {
                init: [float(Scores.of(test.labels, labels).f) for labels in each]
                for init, each in found.items()
            }
            for init, each in scores.items():
                who = "random starts" if init == "random" else "our start"
                spread = (min(each), max(each)) if len(each) > 1 else None
                mean = sum(each) / len(each)
                rows.append(Row(f"{number} states, sparsity {value:g}: {who}", mean, None, spread))
            if value == INVENTED.sparsity:
                best = max(scores["random"])
                other = found["random"][scores["random"].index(best)]
                low, high, p = paired_gain(test.labels, found["split"][0], other, test.groups)
                rows.append(
                    Row(
                        f"{number} states: our start less the best random one",
                        scores["split"][0] - best,
                        bar=Bar("figure", "at least", 0.0),
                        note=f"{100 * low:+.1f} to {100 * high:+.1f} % of F, p {p:.2g}",
                    )
                )
    notes = [
        *_notes(train, test, more),
        f"Random starts: mean, least and greatest of the seeds {starts}. The paper: F collapses at"
        " 0 and hardly depends on the sparsity elsewhere.",
        f"Settings scored on test: {len(shown) * (1 + len(SPARSITIES)) * (1 + len(starts))}.",
    ]
    return Table(title, "F", rows, notes, not setting.quick)


def _from(
    init: str,
    seed: int,
    number: int,
    value: float,
    train: Labelled,
    test: Labelled,
    more: Sessions | None,
) -> Labels:
    """Train from one start, and label the test sessions."""
    model = shdcrf(number, replace(INVENTED, sparsity=value), init=init, random_state=seed)
    return fitted(model, train, unlabeled=more).predict(test.sessions)


def _parts(setting: Setting, seed: int) -> tuple[Labelled, Labelled, Sessions]:
    """Return what is trained on, what is tested on, and sessions without labels."""
    sizes = (60, 60, 60) if setting.quick else (TRAIN, SESSIONS, FIGURE_UNLABELLED)
    train, test, more = (
        invented(seed, size, draw).labelled for draw, size in zip((2, 3, 4), sizes, strict=True)
    )
    return train, test, more.sessions


def _notes(train: Labelled, test: Labelled, more: Sessions | None) -> list[str]:
    told = "" if more is None else f"; {len(more)} sessions without labels"
    return [
        f"Trained on {len(train.sessions)} sessions, tested on {test}{told}. Spread: 95 % of a"
        f" bootstrap over people. Penalties as in Table 4: {INVENTED}."
    ]
