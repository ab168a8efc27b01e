"""Models saved by earlier versions load for ever and say the same as on the day they were saved.

Each folder under `models` is named after the format of its models. A new format gets a new folder,
made once by running this file (``python tests/golden/test_saved_models.py``), and never changed
afterwards.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from purport.features.sensor_windows import SensorWindows
from purport.features.token_windows import TokenWindows
from purport.records.sessions import Sessions
from purport.records.utterances import Utterances
from purport.sequence.crf import CRF
from purport.store.folders import FORMAT, describe, load, save

MODELS = Path(__file__).parent / "models"
SENTENCES = [
    ("wake me at seven", "O O O B-time"),
    ("wake me at half past six", "O O O B-time I-time I-time"),
    ("play some jazz", "O O B-genre"),
    ("play Blue Train by Coltrane", "O B-title I-title O B-artist"),
    ("stop", "O"),
]
STEPS = [["a query", "another query", "a query"], ["another", "one"]]
BITS = [["00", "01", "01", "00"], ["10", "00"]]
NUMBERS = np.array([[0.5, 0.0], [1.5, 1.0], [2.0, -1.0], [0.1, 0.2], [1.1, 0.0]])
UNKNOWN = ["wake me at half past nine", "play some Blue Coltrane", "spiele Müsik"]


def talk(sentences: list[str], slots: list[str] | None = None) -> Utterances:
    labels = None if slots is None else [line.split() for line in slots]
    return Utterances.from_lists([sentence.split() for sentence in sentences], slots=labels)


def features(sentence: str) -> list[dict[str, object]]:
    words = sentence.split()
    return [
        {"word": word, "before": words[place - 1] if place else "<s>", "length": len(word) / 10}
        for place, word in enumerate(words)
    ]


def log(texts: list[list[str]]) -> Sessions:
    times = [[60 * place for place in range(len(line))] for line in texts]
    return Sessions.from_lists(texts, times=times)


def make(folder: Path) -> None:
    """Write the models of the present format, and what they say."""
    sentences, slots = map(list, zip(*SENTENCES, strict=True))
    windows = TokenWindows(words=(-1, 1), prefixes=(2,), suffixes=(), lowercase=True)
    records = CRF(l2=0.05, features=windows, max_iter=50).fit(talk(sentences, slots))
    lists = CRF(l2=0.05, l1=0.01, max_iter=200, tol=1e-4)
    lists.fit([features(sentence) for sentence in sentences], [line.split() for line in slots])
    online = CRF(l2=0.05, forbid="bio", random_state=3, features=TokenWindows(hash_bits=8))
    for _ in range(3):
        online.partial_fit(talk(sentences, slots))
    labels = [["a" if place % 2 else "b" for place in range(len(line))] for line in STEPS]
    sessions = CRF(l2=0.05, max_iter=200).fit(log(STEPS), labels)
    sensors = CRF(l2=0.05, max_iter=200, features=SensorWindows(representations=("raw", "last")))
    sensors.fit(log(BITS), [["on" if "1" in bits else "off" for bits in line] for line in BITS])
    rows = CRF(l2=0.05, max_iter=200).fit(NUMBERS, [0, 1, 1, 0, 1], groups=[0, 0, 1, 1, 1])
    models = {
        "crf-lists": lists,
        "crf-online": online,
        "crf-records": records,
        "crf-rows": rows,
        "crf-sensors": sensors,
        "crf-sessions": sessions,
    }
    for name, model in models.items():
        save(model, folder / name)
    said = {name: says(folder, name) for name in models}
    text = json.dumps(said, indent=1) + "\n"
    (folder / "said.json").write_text(text, encoding="utf-8", newline="\n")


def says(folder: Path, name: str) -> dict[str, object]:
    """Return what a saved model says of sentences that it has not seen."""
    model = load(folder / name)
    X = {
        "crf-lists": [features(line) for line in UNKNOWN],
        "crf-online": talk(UNKNOWN),
        "crf-records": talk(UNKNOWN),
        "crf-rows": NUMBERS,
        "crf-sensors": log([["10", "11", "00"]]),
        "crf-sessions": log([["a query", "another", "never seen"]]),
    }[name]
    groups = {"groups": [0, 0, 0, 1, 1]} if name == "crf-rows" else {}
    return {
        "labels": [np.asarray(sequence).tolist() for sequence in model.predict(X, **groups)],
        "probabilities": [sequence.tolist() for sequence in model.predict_proba(X, **groups)],
        "transitions": model.transitions_.tolist(),
        "classes": model.classes_.tolist(),
        "parameters": repr(model),
    }


# What went without saying when a format was new, and is said since a default has changed.
SAID_SINCE = {"2": ", texts='bits'"}


def flat(numbers: list[object]) -> list[float]:
    if isinstance(numbers, list):
        return [number for inner in numbers for number in flat(inner)]
    return [numbers]


@pytest.mark.parametrize(
    ("written", "name"),
    sorted((path.parent.name, path.name) for path in MODELS.glob("*/crf-*")),
)
def test_an_old_model_says_what_it_said(written: str, name: str) -> None:
    folder = MODELS / written
    before = json.loads((folder / "said.json").read_text(encoding="utf-8"))[name]
    now = says(folder, name)
    assert describe(folder / name)["format"] == int(written)
    assert now["labels"] == before["labels"]
    assert now["classes"] == before["classes"]
    assert str(now["parameters"]).replace(SAID_SINCE.get(written, ""), "") == before["parameters"]
    # Weights are read, so they agree to the bit; what is computed from them may round anew.
    assert now["transitions"] == before["transitions"]
    assert flat(now["probabilities"]) == pytest.approx(flat(before["probabilities"]), rel=1e-9)


def test_every_format_has_its_models() -> None:
    assert sorted(int(path.name) for path in MODELS.glob("*")) == list(range(1, FORMAT + 1))


if __name__ == "__main__":
    make(MODELS / str(FORMAT))
