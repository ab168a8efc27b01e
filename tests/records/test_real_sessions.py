"""The public sets of sessions and trees: each opens with one call, as large as its source says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from purport.records.sessions import Sessions
from purport.records.utterances import Utterances


@pytest.mark.parametrize(
    ("name", "sessions", "steps", "labels"),
    [
        ("sessions-intentions/sequences", 80, 613, 8),
        ("sessions-swda/sequences", 1155, 199740, 41),
        ("sessions-sgd/sequences", 17193, 156125, 47),
        ("activity-kasteren-a/event_sequences", 26, 1229, None),
        ("activity-tapia-s1/event_sequences", 16, 2772, 22),
        ("activity-tapia-s2/event_sequences", 16, 1962, 24),
        ("activity-ordonez-a/event_sequences", 15, 409, 10),
    ],
)
def test_sessions(
    real_data: Path, tmp_path: Path, name: str, sessions: int, steps: int, labels: int | None
) -> None:
    log = Sessions.read(real_data / f"{name}.jsonl.gz")
    assert (len(log), int(log.offsets[-1])) == (sessions, steps)
    told = {label for session in log.known_labels or [] for label in session}
    assert labels is None or len(told) == labels
    for ending in ("parquet", "arrow"):
        log.write(tmp_path / f"log.{ending}")
        assert Sessions.read(tmp_path / f"log.{ending}") == log


def test_slices_of_a_house_are_one_session_a_day(real_data: Path) -> None:
    days = Sessions.read(
        real_data / "activity-kasteren-a/slices.tsv.gz",
        columns={"id": "day", "t": "time", "obs": "raw"},
    )
    assert (len(days), int(days.offsets[-1])) == (29, 40006)
    assert np.diff(days.offsets)[0] == 160
    assert days.texts is not None
    for bits in (days.texts, days.step_field("change"), days.step_field("last")):
        assert {len(word) for day in bits for word in day} == {14}
    raw = "".join(word or "" for day in days.texts for word in day)
    assert raw.count("1") / len(raw) == pytest.approx(0.0945, abs=5e-5)
    told = [label for day in days.known_labels or [] for label in day]
    assert (told.count("use toilet"), told.count("go to bed")) == (380, 11601)


def test_single_queries_with_columns_of_other_names(real_data: Path) -> None:
    gold = Sessions.read(
        real_data / "sessions-orcas-i/gold.tsv.gz",
        columns={"id": "qid", "obs": "query", "label": "label_manual"},
    )
    assert (len(gold), int(gold.offsets[-1])) == (1000, 1000)
    told = [label for session in gold.known_labels or [] for label in session]
    assert (told.count("Abstain"), told.count("Transactional")) == (364, 43)


@pytest.mark.parametrize(
    ("name", "utterances"),
    # One more than the 893 of ATIS: the file ends with a sentence that is no part of it.
    [("labeled", 498), ("unlabeled", 4480), ("test", 894)],
)
def test_trees(real_data: Path, name: str, utterances: int) -> None:
    talk = Utterances.read(real_data / f"atis-trees/{name}.txt.gz")
    assert len(talk) == utterances
    assert talk.slots is not None
    assert None not in {slot for slots in talk.slots for slot in slots}
