"""Models saved by earlier versions load for ever and say the same as on the day they were saved.

Each folder under `models` is named after the format of its models. A new format gets a new folder,
made by running this file (``python tests/golden/test_saved_models.py``). Models that stand there
are never changed afterwards: run again, the file adds those that are new.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from purport.clicks.model import ClickModel
from purport.clicks.models import DBN, UBM
from purport.features.sensor_windows import SensorWindows
from purport.features.token_windows import TokenWindows
from purport.margin.svm import LinearSVM
from purport.records.pages import Pages
from purport.records.sessions import Sessions
from purport.records.utterances import Utterances
from purport.sequence.crf import CRF
from purport.sequence.ldcrf import LDCRF
from purport.sequence.shdcrf import SHDCRF
from purport.store.classes import CLASSES
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
WORDS = [["play", "jazz"], ["play", "blues"], ["wake", "me"], ["stop"], ["wake", "up"]]
KINDS = ["music", "music", "alarm", "halt", "alarm"]
PAGES = [
    ("cats", ["a", "b", "c"], [0, 1, 0], 0),
    ("7", ["12", "c", "a"], [1, 0, 0], 3_600),
    ("cats", ["b", "a", "d"], [1, 0, 1], 90_000),
    ("dögs", ["a", "12", "b"], [0, 0, 0], 180_000),
    ("7", ["c", "12", "b"], [1, 1, 0], 270_000),
    ("cats", ["a", "b", "c"], [1, 0, 0], 360_000),
]
ASKED = [
    ("cats", ["c", "b", "x"], [1, 0, 0], 450_000),
    ("new", ["a", "12", "y"], [0, 1, 0], 450_001),
]
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


def log_of_pages(pages: list[tuple[str, list[str], list[int], int]]) -> Pages:
    asked, shown, clicked, times = map(list, zip(*pages, strict=True))
    return Pages.from_lists(asked, shown, clicked, times=times)


def make(folder: Path) -> None:
    """Write the models of the present format that are not there yet, and what they say."""
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
    labelled = [features(line) for line in sentences], [line.split() for line in slots]
    pages = log_of_pages(PAGES)
    models = {
        "crf-lists": lists,
        "crf-online": online,
        "crf-records": records,
        "crf-rows": rows,
        "crf-sensors": sensors,
        "crf-sessions": sessions,
        "dbn-pages": DBN(prior=(0.4, 3.0), ranks=3)
        .fit(pages, tol=1e-2)
        .update(pages, forget=(0.01, 0.1), half_life_days=2.0),
        "ldcrf-lists": LDCRF(states_per_label=2, random_state=1, tol=1e-3).fit(*labelled),
        "shdcrf-lists": SHDCRF(states=8, random_state=1, tol=1e-3).fit(*labelled),
        "svm-lists": LinearSVM(C=0.5).fit(WORDS, KINDS),
        "ubm-pages": UBM(shards=2, sync_every=4).update(pages),
    }
    for name, model in models.items():
        if not (folder / name).exists():
            save(model, folder / name)
    said = {name: says(folder, name) for name in models}
    if (folder / "said.json").exists():
        said |= json.loads((folder / "said.json").read_text(encoding="utf-8"))
    text = json.dumps(said, indent=1) + "\n"
    (folder / "said.json").write_text(text, encoding="utf-8", newline="\n")


def says(folder: Path, name: str) -> dict[str, object]:
    """Return what a saved model says of what it has not seen."""
    model = load(folder / name)
    if isinstance(model, ClickModel):
        return says_of_clicks(model)
    if isinstance(model, LinearSVM):
        return {
            "labels": model.predict([["play", "me"], ["nothing"]]).tolist(),
            "probabilities": model.decision_function([["play", "me"], ["nothing"]]).tolist(),
            "transitions": model.coef_.tolist(),
            "classes": model.classes_.tolist(),
            "parameters": repr(model),
        }
    X = {
        "crf-lists": [features(line) for line in UNKNOWN],
        "crf-online": talk(UNKNOWN),
        "crf-records": talk(UNKNOWN),
        "crf-rows": NUMBERS,
        "crf-sensors": log([["10", "11", "00"]]),
        "crf-sessions": log([["a query", "another", "never seen"]]),
        "ldcrf-lists": [features(line) for line in UNKNOWN],
        "shdcrf-lists": [features(line) for line in UNKNOWN],
    }[name]
    groups = {"groups": [0, 0, 0, 1, 1]} if name == "crf-rows" else {}
    return {
        "labels": [np.asarray(sequence).tolist() for sequence in model.predict(X, **groups)],
        "probabilities": [sequence.tolist() for sequence in model.predict_proba(X, **groups)],
        "transitions": model.transitions_.tolist(),
        "classes": model.classes_.tolist(),
        "parameters": repr(model),
    }


def says_of_clicks(model: ClickModel) -> dict[str, object]:
    """Return what a model says of pages, before and after it has gone on with them."""
    asked = log_of_pages(ASKED)
    found = {
        "probabilities": [
            model.click_probabilities(asked).tolist(),
            model.conditional_click_probabilities(asked).tolist(),
            model._cells().tolist(),
        ],
        "pairs": model.n_pairs_,
        "parameters": repr(model),
    }
    model.update(asked, forget=0.1, half_life_days=1.0)
    return found | {"after": [model.click_probabilities(asked).tolist(), model._cells().tolist()]}


# What went without saying when a format was new, and is said since a default has changed.
SAID_SINCE = {"2": ", texts='bits'"}


def flat(numbers: list[object]) -> list[float]:
    if isinstance(numbers, list):
        return [number for inner in numbers for number in flat(inner)]
    return [numbers]


@pytest.mark.parametrize(
    ("written", "name"),
    sorted((path.parent.name, path.name) for path in MODELS.glob("*/*-*")),
)
def test_an_old_model_says_what_it_said(written: str, name: str) -> None:
    folder = MODELS / written
    before = json.loads((folder / "said.json").read_text(encoding="utf-8"))[name]
    now = says(folder, name)
    assert describe(folder / name)["format"] == int(written)
    now["parameters"] = str(now["parameters"]).replace(SAID_SINCE.get(written, ""), "")
    assert now.keys() == before.keys()
    for said, expected in before.items():
        # Weights are read, so they agree to the bit; what is computed from them may round anew.
        if said in ("probabilities", "after"):
            assert flat(now[said]) == pytest.approx(flat(expected), rel=1e-9)
        else:
            assert now[said] == expected


def test_every_class_that_can_be_saved_has_a_model() -> None:
    """But for those whose parts are others': features go with a CRF, click models are all alike."""
    kept = {describe(path)["class"] for path in (MODELS / str(FORMAT)).glob("*-*")}
    features = {"SensorWindows", "SessionWindows", "TokenWindows"}
    alike = {name for name, module in CLASSES.items() if module == "purport.clicks.models"}
    assert kept == set(CLASSES) - features - alike | {"DBN", "UBM"}


def test_every_format_has_its_models() -> None:
    assert sorted(int(path.name) for path in MODELS.glob("*")) == list(range(1, FORMAT + 1))


if __name__ == "__main__":
    make(MODELS / str(FORMAT))
