"""The paper's Figures 3, 4 and 5: F over the number of hidden states, and over the sparsity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bench.benchmark import Setting
from bench.shdcrf.data import Labelled, invented
from bench.shdcrf.scores import Scores, interval, paired_gain
from bench.shdcrf.settings import BAR_SEED, FIGURE_UNLABELLED, INVENTED, SESSIONS, SPARSITIES
from bench.shdcrf.systems import FREE, LATENT, SELF, SPARSE, Trained, fitted, ldcrf, shdcrf
from bench.tables import Row, Table
from purport.records.sessions import Sessions

LABELS = 8
EACH = (2, 3, 4, 5, 6)
"""States a label: 16 to 48 states."""
SHOWN = (16, 32, 48)
RANDOM_STARTS = (0, 1, 2)
TRAIN = 1000


def states(setting: Setting) -> Iterator[Table]:
    train, test, more = _parts(setting)
    rows = []
    for each in EACH[:1] if setting.quick else EACH:
        number = each * LABELS
        trained: dict[str, Trained] = {
            LATENT: fitted(ldcrf(each, INVENTED.ldcrf), train),
            SPARSE: fitted(shdcrf(number, INVENTED), train),
            SELF: fitted(shdcrf(number, INVENTED, semi="self-training"), train, unlabeled=more),
        }
        found = {name: model.predict(test.sessions) for name, model in trained.items()}
        for name, labels in found.items():
            note = ""
            if name != LATENT:
                beside = SPARSE if name == SELF else LATENT
                low, high, p = paired_gain(test.labels, labels, found[beside], test.groups)
                note = f"over {beside}: {100 * low:+.1f} to {100 * high:+.1f} %, p {p:.2g}"
            f = float(Scores.of(test.labels, labels).f)
            spread = interval(test.labels, labels, test.groups)
            rows.append(Row(f"{number} states: {name}", f, None, spread, note=note))
    notes = [
        *_notes(train, test, more),
        "The paper: alike with few states, SHDCRF ahead of LDCRF with more, flat in the end.",
        f"Settings scored on test: {len(rows)}.",
    ]
    yield Table("Figure 3: F over the hidden states", "F", rows, notes, not setting.quick)


def sparsity(setting: Setting) -> Iterator[Table]:
    train, test, more = _parts(setting)
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
            for init, seeds in (("random", starts), ("split", (0,))):
                scores = []
                for seed in seeds:
                    given: dict[str, Any] = {"init": init, "random_state": seed}
                    model = shdcrf(number, replace(INVENTED, sparsity=value), **given)
                    fitted(model, train, unlabeled=more)
                    scores.append(float(Scores.of(test.labels, model.predict(test.sessions)).f))
                who = "random starts" if init == "random" else "our start"
                mean = sum(scores) / len(scores)
                spread = (min(scores), max(scores)) if len(scores) > 1 else None
                rows.append(Row(f"{number} states, sparsity {value:g}: {who}", mean, None, spread))
    notes = [
        *_notes(train, test, more),
        f"Random starts: mean, least and greatest of the seeds {starts}. The paper: F collapses at"
        " 0 and hardly depends on the sparsity elsewhere.",
        f"Settings scored on test: {len(shown) * (1 + len(SPARSITIES)) * (1 + len(starts))}.",
    ]
    return Table(title, "F", rows, notes, not setting.quick)


def _parts(setting: Setting) -> tuple[Labelled, Labelled, Sessions]:
    """Return what is trained on, what is tested on, and sessions without labels."""
    sizes = (60, 60, 60) if setting.quick else (TRAIN, SESSIONS, FIGURE_UNLABELLED)
    train, test, more = (
        invented(BAR_SEED, size, draw).labelled for draw, size in zip((2, 3, 4), sizes, strict=True)
    )
    return train, test, more.sessions


def _notes(train: Labelled, test: Labelled, more: Sessions | None) -> list[str]:
    told = "" if more is None else f"; {len(more)} sessions without labels"
    return [
        f"Trained on {len(train.sessions)} sessions, tested on {test}{told}. Spread: 95 % of a"
        f" bootstrap over people. Penalties as in Table 4: {INVENTED}."
    ]
