"""The paper's Tables 4 and 5 from what systems said of the folds of a set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from bench.shdcrf.data import Labelled, Labels
from bench.shdcrf.scores import DRAWS, Gain, gain, interval, mean_scores
from bench.shdcrf.systems import CHAIN, FREE, LATENT, SELF, SPARSE, SVM, Run
from bench.tables import Bar, Row, Table

LEVEL = 0.01
"""Of the tests."""

ORDER = (
    (CHAIN, SVM, 0.0),
    (LATENT, CHAIN, 0.0),
    (SPARSE, CHAIN, 12.4),
    (SPARSE, LATENT, 3.5),
    (SELF, SPARSE, 1.3),
    (FREE, SPARSE, None),
)
"""The paper's order: which is better than which, by what share of F, in per cent, at least."""


def table_4(
    title: str,
    tests: Sequence[Labelled],
    runs: Mapping[str, Run],
    more: Sequence[Row],
    notes: Sequence[str],
    judged: bool,
) -> Table:
    """Return the scores of all systems."""
    rows = [_scored(name, tests, run) for name, run in runs.items()]
    rows += [*more, floor(tests)]
    notes = [
        *notes,
        "F as the paper defines it: of accuracy (its recall), and of precision weighted by how"
        f" often labels are true; means over the folds. Spread: 95 % of {DRAWS} bootstrap draws of"
        " people, calls or dialogues.",
        f"Settings scored on test folds: {len(runs)}, one a system.",
    ]
    return Table(title, "F", rows, notes, judged)


def table_5(
    title: str, tests: Sequence[Labelled], runs: Mapping[str, Run], judged: bool, bars: bool = True
) -> list[Table]:
    """Return the gains in F along the paper's order, and how sure they are."""
    told = gains(tests, runs)
    share = [
        Row(
            f"{ours} over {theirs}",
            100.0 * each.relative,
            None,
            each.spread,
            Bar("figure", "at least", bound) if bars and bound is not None else None,
            "" if bound is None or bound == 0.0 else f"the paper: +{bound:g} %",
        )
        for (ours, theirs, bound), each in told.items()
    ]
    sure = [
        Row(
            f"{ours} over {theirs}",
            each.p,
            bar=Bar("figure", "at most", LEVEL) if bars and bound is not None else None,
            note=str(each),
        )
        for (ours, theirs, bound), each in told.items()
    ]
    return [
        Table(f"Gain in F, {title}", "% of F", share, (), judged),
        Table(
            f"Tests of the gains, {title}",
            "p",
            sure,
            [
                "The larger p of the corrected resampled t test over folds (Nadeau and Bengio) and"
                " of the paired bootstrap; the paired t test is the paper's. A small p does not say"
                " which is better: the table of gains does.",
            ],
            judged,
        ),
    ]


def gains(
    tests: Sequence[Labelled], runs: Mapping[str, Run]
) -> dict[tuple[str, str, float | None], Gain]:
    """Compare the systems that were run along the paper's order."""
    groups = [group for test in tests for group in test.groups]
    return {
        (ours, theirs, bound): gain(
            [
                (test.labels, a, b)
                for test, a, b in zip(tests, runs[ours].found, runs[theirs].found, strict=True)
            ],
            groups,
        )
        for ours, theirs, bound in ORDER
        if ours in runs and theirs in runs
    }


def _scored(name: str, tests: Sequence[Labelled], run: Run) -> Row:
    return scored_row(name, tests, run.found, f"; {run.seconds:.1f} s to learn")


def scored_row(name: str, tests: Sequence[Labelled], found: Sequence[Labels], note: str) -> Row:
    """Return the scores of one system's labels of all folds."""
    golds = [test.labels for test in tests]
    told = mean_scores(list(zip(golds, found, strict=True)))
    spread = interval(
        [labels for gold in golds for labels in gold],
        [labels for each in found for labels in each],
        [group for test in tests for group in test.groups],
    )
    detail = (
        f"accuracy {told.accuracy:.4f}, precision {told.precision:.4f}, macro F {told.macro_f:.4f}"
    )
    return Row(name, float(told.f), None, spread, note=f"{detail}{note}")


def floor(tests: Sequence[Labelled]) -> Row:
    """Return the row of the label that is most frequent."""
    golds = [test.labels for test in tests]
    ((most, _),) = Counter(label for gold in golds for each in gold for label in each).most_common(
        1
    )
    found = [[[most] * len(labels) for labels in gold] for gold in golds]
    return scored_row("floor: the most frequent label", tests, found, "")
