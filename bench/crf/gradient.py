"""One gradient: ours on one and two threads, run between the iterations of python-crfsuite.

All systems compute the same function, the log-likelihood and its gradient by every weight, of the
same features and labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any

from threadpoolctl import threadpool_limits

from bench.benchmark import Setting
from bench.crf import crfsuite, ours
from bench.crf.data import Sentences
from bench.crf.limits import limits
from bench.tables import Bar, Row, Table
from bench.timing import Ratio, Samples
from purport.sequence.crf import CRF

BARS_120 = {1: 12.0, 2: 20.0}
BAR_SMALL = 3.0
BAR_DENSE = 4.0
OURS_A_ROUND = 3
PEERS_STEP = (
    "The peer's time is that of its whole iterations by their evaluations: its L-BFGS step is in it"
    " and cannot be taken out from outside. Ours is the gradient alone; the part `optimiser` shows"
    " what our step costs."
)
"""So many of our gradients are measured after each iteration of the peer."""


def run(setting: Setting) -> Iterator[Table]:
    atis = Sentences.read(setting, "atis", "train")
    yield compare(setting, atis, "window features, observed transitions", BARS_120)
    yield compare(
        setting, atis, "all transitions", {1: BAR_DENSE, 2: None}, feature_possible_transitions=1
    )
    for labels in (22, 8):
        how = f"{labels} labels by a hash of the label (a synthetic mapping)"
        yield compare(setting, atis.merged_by_hash(labels), how, {1: BAR_SMALL, 2: None})
        how = f"the {labels - 1} most frequent first parts of slot names, and O"
        yield compare(setting, atis.merged_by_slot(labels), how, {1: BAR_SMALL, 2: None})


def compare(
    setting: Setting,
    sentences: Sentences,
    how: str,
    bars: Mapping[int, float | None],
    **parameters: Any,
) -> Table:
    """Measure one table."""
    dense = bool(parameters)
    gradients = {}
    for threads in bars:
        crf = CRF(n_threads=threads, all_possible_transitions=dense)
        gradients[threads] = ours.objective_of(crf, sentences.strings, sentences.labels)
    theta = ours.on_the_way(*gradients[1])
    samples = {threads: Samples() for threads in bars}

    def measure() -> None:
        with threadpool_limits(1):
            for threads, (objective, _) in gradients.items():
                for _ in range(OURS_A_ROUND):
                    with samples[threads].taken():
                        objective(theta)

    for objective, _ in gradients.values():
        objective(theta)
    rows = []
    peer = None
    if crfsuite.is_installed():
        # The first iteration computes more than it reports, so it is no round.
        peer = crfsuite.train(
            sentences,
            lambda number: measure() if number > 1 else None,
            c2=1.0,
            max_iterations=setting.rounds + 1,
            **parameters,
        )
        wall, cpu = peer.per_evaluation()
        rows.append(Row("python-crfsuite", 1e3 * median(wall), 1.0, note=str(Samples(wall, cpu))))
    else:
        rows.append(Row.not_found("python-crfsuite", crfsuite.PACKAGE))
        for _ in range(setting.rounds):
            measure()
    for threads, bound in bars.items():
        rows.append(_our_row(samples[threads], threads, bound, peer))
    rows += limits(sentences, dense, rows[0].figure)
    title = f"One gradient: {sentences.name}, {sentences.label_count} labels, {how}"
    return Table(title, "ms", rows, _notes(sentences, len(theta), peer))


def _our_row(
    samples: Samples, threads: int, bound: float | None, peer: crfsuite.Iterations | None
) -> Row:
    who = f"purport, {threads} thread{'s' if threads > 1 else ''}"
    bar = None if bound is None else Bar("ratio", "at least", bound)
    note = str(samples)
    figure = 1e3 * median(samples.wall)
    if peer is None:
        return Row(who, figure, bar=bar, note=note)
    wall, cpu = peer.per_evaluation()
    ratio = Ratio.of(wall, samples.wall)
    if threads == 1:
        note += f"; ratio of CPU times {Ratio.of(cpu, samples.cpu).middle:.4g}x"
    return Row(who, figure, ratio.middle, ratio.spread, bar, note)


def _notes(sentences: Sentences, weights: int, peer: crfsuite.Iterations | None) -> list[str]:
    notes = [
        f"{len(sentences.labels)} sentences, {sentences.tokens} tokens, {weights} weights;"
        " l2 = c2 = 1."
    ]
    if peer is not None:
        notes.append(
            f"python-crfsuite: {peer.features} weights, {len(peer)} iterations, the first left out,"
            f" {sum(peer.evaluations)} evaluations; after each iteration {OURS_A_ROUND} gradients"
            " of ours on each number of threads."
        )
        notes.append(PEERS_STEP)
    return notes
