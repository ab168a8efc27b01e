"""The bench of learning without its measurements: what is counted, and what the tables say."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from bench.benchmark import Setting
from bench.learning import PARTS, batches, partial, rules
from bench.timing import SHORTEST, Others
from purport.simulate.utterances import utterance_world


@pytest.fixture
def data(tmp_path: Path) -> Setting:
    """Invented utterances where the real ones are looked for."""
    for name in ("atis", "snips"):
        folder = tmp_path / name
        folder.mkdir()
        for split, count, seed in (("train", 640, 1), ("dev", 30, 2), ("test", 30, 3)):
            rows = "".join(utterance_world(count, seed).lines("jsonl"))
            (folder / f"{split}.jsonl.gz").write_bytes(gzip.compress(rows.encode()))
    return Setting(tmp_path, quick=True)


def test_it_has_its_parts() -> None:
    assert list(PARTS) == ["rules", "partial", "batches"]


def test_pairs_are_counted_with_the_ends() -> None:
    forbidden: set[tuple[str | None, str | None]] = {("O", "I-x"), (None, "I-x"), ("I-x", None)}
    assert rules.count_pairs([["O", "I-x"], ["I-x"], ["B-x", "O"]], forbidden) == 4
    assert rules.breaks(["I-x"])
    assert rules.breaks(["B-y", "I-x"])
    assert not rules.breaks(["B-x", "I-x", "I-x", "O"])
    assert not rules.is_torn("I-x", None)


def test_no_forbidden_pair_is_said(data: Setting) -> None:
    table = rules.broken(data, "atis")
    verdicts = [table.verdict(row) for row in table.rows]
    assert verdicts == ["", "passed", "", "passed"]
    free = [row.figure for row in table.rows if row.bar is None]
    assert max(figure or 0 for figure in free) > 0


def test_only_what_was_scored_counts_as_scored(data: Setting) -> None:
    table = partial.curve(data, "atis", one_of=64)
    scored = sum(row.figure is not None for row in table.rows)
    assert 0 < scored < len(table.rows)
    assert f"{scored} settings scored once each" in table.notes[0]


def test_batches_and_the_optimum_are_told_side_by_side(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(batches, "TEST", 50)
    gold = utterance_world(50, batches.TEST_SEED, **batches.WORLD).slots

    def told(path: Path, how: str, folder: str) -> dict[str, Any]:
        found = {
            "labels": gold, "likelihood": -0.1, "seconds": 1.0, "start": 100.0, "peak": 150.0,
            "weights": 5, "features": 3, "how": "3 passes",
        }  # fmt: skip
        return dict(json.loads(json.dumps(found)))

    monkeypatch.setattr(batches, "_alone", told)
    scores, memory = batches.run(Setting(quick=True))
    who = [row.who for row in scores.rows]
    assert who[:3] == [
        "20000 sequences, at once: L-BFGS to its end",
        "20000 sequences, in batches",
        "2000 sequences, in batches",
    ]
    assert scores.rows[3].figure == 0.0
    assert [row.figure for row in memory.rows] == [50.0] * 3


def test_others_are_not_asked_twice_within_a_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([(0.0, 0.0, 0.0), (1.0, 1.5, 0.5), (1.0 + SHORTEST / 10, 9.0, 0.5)])
    monkeypatch.setattr(Others, "_now", staticmethod(lambda: next(now)))
    others = Others()
    assert others.cores() == 1.0
    assert others.cores() == 1.0
