"""The public sets: as many rows, tokens and slots as their sources say, read fast."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from purport.records.utterances import Utterances


@pytest.mark.parametrize(
    ("name", "rows", "tokens", "slots", "intents", "domains"),
    [
        ("atis/train", 4478, 50497, 120, 21, 1),
        ("atis/test", 893, 9164, None, 20, 1),
        ("snips/train", 13084, 117700, None, 7, 0),
        ("hwu64/train", 8884, 58204, None, 64, 18),
        ("clinc150/train", 15100, 127434, 0, 151, 11),
    ],
)
def test_counts(
    real_data: Path,
    tmp_path: Path,
    name: str,
    rows: int,
    tokens: int,
    slots: int | None,
    intents: int,
    domains: int,
) -> None:
    talk = Utterances.read(real_data / f"{name}.jsonl.gz")
    assert (len(talk), len(talk.token_codes)) == (rows, tokens)
    assert slots is None or len(talk.slot_vocabulary) == slots
    assert len(set(talk.intents or [])) == intents
    assert len(set(talk.domains or [])) == domains
    assert len(set(talk.ids or [])) == rows
    if name == "atis/test":
        for ending in ("tsv", "iob.gz"):
            talk.write(tmp_path / f"again.{ending}")
            assert Utterances.read(tmp_path / f"again.{ending}") == talk


def test_atis_is_read_in_a_blink(real_data: Path) -> None:
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        talk = Utterances.read(real_data / "atis/train.jsonl.gz")
        seconds.append(time.perf_counter() - start)
    assert len(talk) == 4478
    assert min(seconds) < 0.3
