"""How low the objective gets when both systems go on until hardly anything changes."""

from __future__ import annotations

from collections.abc import Iterator

from bench.benchmark import Setting
from bench.crf import crfsuite, ours
from bench.crf.data import Sentences
from bench.tables import Bar, Row, Table
from purport.sequence.crf import CRF

BAR = 1e-6
TOLERANCE = 1e-8


def run(setting: Setting) -> Iterator[Table]:
    atis = Sentences.read(setting, "atis", "train", one_of=8 if setting.quick else 1)
    crf = ours.fit(CRF(max_iter=2000, tol=TOLERANCE), atis.strings, atis.labels)
    lowest = min(now["objective"] for now in crf.history_)
    evaluations = sum(int(now["evaluations"]) for now in crf.history_)
    note = f"objective {lowest:.8f}; {len(crf.history_) - 1} iterations, {evaluations} evaluations"
    bar = Bar("figure", "at most", BAR)
    if not crfsuite.is_installed():
        rows = [
            Row("purport", None, bar=bar, note=note),
            Row.not_found("python-crfsuite", crfsuite.PACKAGE),
        ]
    else:
        peer = crfsuite.train(atis, epsilon=TOLERANCE, delta=TOLERANCE)
        least = min(peer.loss)
        told = f"objective {least:.6f}; {len(peer)} iterations, {sum(peer.evaluations)} evaluations"
        rows = [
            Row("purport", (lowest - least) / least, bar=bar, note=note),
            Row("python-crfsuite", 0.0, note=told),
        ]
    yield Table(
        f"The optimum: {atis.name}, {atis.label_count} labels, {crf.n_features_} weights",
        "above crfsuite's, relative",
        rows,
        [f"c2 = l2 = 1; tol = epsilon = delta = {TOLERANCE:g}. Below 0 is lower than the peer."],
        judged=not setting.quick,
    )
