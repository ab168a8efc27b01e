"""One gradient of SHDCRF, both lattices, beside python-crfsuite's of one chain as wide.

The peer has no hidden states: it is given as many labels as ours has states, all pairs of features
and labels and of labels, and walks one lattice. Ours walks two.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np
from threadpoolctl import threadpool_limits

from bench.benchmark import Setting
from bench.crf import crfsuite, ours
from bench.crf.data import Sentences
from bench.crf.gradient import OURS_A_ROUND, PEERS_STEP
from bench.tables import Bar, Row, Table
from bench.timing import Ratio, Samples, alternate
from purport.sequence.latent_likelihood import LatentLikelihood
from purport.sequence.shdcrf import SHDCRF

if TYPE_CHECKING:
    from numpy.typing import NDArray

LABELS, STATES = 8, 32
BAR = 4.0
SIZES = (8, 4, 2, 1)
"""One sentence of so many."""
WIDTHS = (8, 16, 32, 64, 128)


def run(setting: Setting) -> Iterator[Table]:
    atis = Sentences.read(setting, "atis", "train", one_of=8 if setting.quick else 1)
    yield beside_the_peer(setting, atis)
    yield over_positions(setting, atis)
    yield over_states(setting, atis)


def gradient_of(
    sentences: Sentences, states: int, n_threads: int
) -> tuple[LatentLikelihood, NDArray[np.float64]]:
    """Return what `fit` would minimise, and weights to compute it at."""
    shd = SHDCRF(states, init="random", n_threads=n_threads, random_state=0)
    with mock.patch("purport.sequence.latent.train") as train:
        shd.fit(sentences.strings, sentences.labels)
    _, objective, start, *_ = train.call_args.args
    return objective, start


def beside_the_peer(setting: Setting, atis: Sentences) -> Table:
    """Alternate our gradients with the iterations of the peer."""
    labelled = atis.merged_by_hash(LABELS)
    gradients = {threads: gradient_of(labelled, STATES, threads) for threads in (1, 2)}
    theta = ours.on_the_way(*gradients[1])
    samples = {threads: Samples() for threads in gradients}

    def measure() -> None:
        with threadpool_limits(1):
            for threads, (objective, _) in gradients.items():
                for _ in range(OURS_A_ROUND):
                    with samples[threads].taken():
                        objective(theta)

    for objective, _ in gradients.values():
        objective(theta)
    rows = []
    notes = [
        f"{labelled.name}: {len(labelled.labels)} sentences, {labelled.tokens} positions;"
        f" {LABELS} labels by a hash, {STATES} states, {len(theta)} weights.",
    ]
    peer = None
    if crfsuite.is_installed():
        peer = crfsuite.train(
            atis.merged_by_hash(STATES),
            lambda number: measure() if number > 1 else None,
            c2=1.0,
            max_iterations=setting.rounds + 1,
            feature_possible_states=1,
            feature_possible_transitions=1,
        )
        wall, cpu = peer.per_evaluation()
        who = f"python-crfsuite, one lattice of {STATES} labels"
        rows.append(Row(who, 1e3 * median(wall), 1.0, note=str(Samples(wall, cpu))))
        notes += [
            f"python-crfsuite: {STATES} labels by the same hash, {peer.features} weights,"
            f" {len(peer)} iterations, the first left out, {sum(peer.evaluations)} evaluations;"
            f" after each iteration {OURS_A_ROUND} gradients of ours on each number of threads.",
            PEERS_STEP,
        ]
    else:
        rows.append(Row.not_found("python-crfsuite", crfsuite.PACKAGE))
        for _ in range(setting.rounds):
            measure()
    for threads, taken in samples.items():
        rows.append(_our_row(taken, threads, peer))
    title = f"One gradient of SHDCRF: {LABELS} labels, {STATES} states, both lattices"
    return Table(title, "ms", rows, notes, not setting.quick)


def _our_row(taken: Samples, threads: int, peer: crfsuite.Iterations | None) -> Row:
    who = f"purport, {threads} thread{'s' if threads > 1 else ''}"
    bar = Bar("ratio", "at least", BAR) if threads == 2 else None
    figure, note = 1e3 * median(taken.wall), str(taken)
    if peer is None:
        return Row(who, figure, bar=bar, note=note)
    wall, cpu = peer.per_evaluation()
    ratio = Ratio.of(wall, taken.wall)
    note += f"; ratio of CPU times {Ratio.of(cpu, taken.cpu).middle:.4g}x"
    return Row(who, figure, ratio.middle, ratio.spread, bar, note)


def over_positions(setting: Setting, atis: Sentences) -> Table:
    """Show that the cost grows as the number of positions."""
    parts = {}
    for one_of in SIZES:
        records = atis.records[::one_of]
        part = Sentences(atis.name, records, atis.labels[::one_of], atis.windows)
        parts[f"{part.tokens} positions"] = part.merged_by_hash(LABELS)
    sizes = [part.tokens for part in parts.values()]
    return _grown(
        "Cost over positions",
        {who: gradient_of(part, STATES, 1) for who, part in parts.items()},
        sizes,
        f"{STATES} states, 1 thread. Linear is 1; below it, what all gradients share is spread over"
        " more positions, and more rows and sentences repeat.",
        setting,
    )


def over_states(setting: Setting, atis: Sentences) -> Table:
    """Show that the cost grows at most as the square of the number of states."""
    labelled = atis.merged_by_hash(LABELS)
    widths = WIDTHS[:3] if setting.quick else WIDTHS
    return _grown(
        "Cost over states",
        {f"{states} states": gradient_of(labelled, states, 1) for states in widths},
        widths,
        f"{labelled.tokens} positions, 1 thread. Quadratic is 2; features cost as many times as"
        " there are states, pairs of states as their square.",
        setting,
    )


def _grown(
    title: str,
    gradients: dict[str, tuple[LatentLikelihood, NDArray[np.float64]]],
    sizes: tuple[int, ...] | list[int],
    note: str,
    setting: Setting,
) -> Table:
    with threadpool_limits(1):
        taken = alternate(
            {
                who: (lambda objective=objective, theta=theta: objective(theta))
                for who, (objective, theta) in gradients.items()
            },
            setting.rounds,
        )
    rows = []
    before: tuple[int, float] | None = None
    for (who, samples), size in zip(taken.items(), sizes, strict=True):
        # Others on the machine slow the wall clock down; on one thread CPU time is what it costs.
        seconds = min(samples.cpu)
        told = f"{1e9 * seconds / size:.4g} ns for each"
        if before is not None:
            power = np.log(seconds / before[1]) / np.log(size / before[0])
            told += f"; grew as the power {power:.2f}"
        before = (size, seconds)
        rows.append(Row(who, 1e3 * seconds, note=told))
    return Table(title, "ms of CPU", rows, [note, "The least of all rounds."])
