"""`purport fit` beyond slots in memory: sessions, activities, batches, a penalty that is chosen."""

from __future__ import annotations

import json

import numpy as np
import pytest

import purport
from purport.cli.program import main
from purport.simulate.utterances import utterance_world


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    utterance_world(150, 1).write(tmp_path / "train.parquet")
    utterance_world(60, 2).write(tmp_path / "dev.jsonl")
    return tmp_path


def run(capsys, *words):
    code = main([str(word) for word in words])
    said = capsys.readouterr()
    return code, said.out, said.err


def invented_sessions(count, seed):
    random = np.random.default_rng(seed)
    goals = {"buy": ["cheap tv", "tv deals", "buy tv"], "learn": ["what is tv", "tv history"]}
    obs, labels = [], []
    for _ in range(count):
        goal = ["buy", "learn"][random.integers(2)]
        length = int(random.integers(1, 6))
        obs.append([goals[goal][random.integers(len(goals[goal]))] for _ in range(length)])
        labels.append([goal] * length)
    return purport.Sessions.from_lists(obs, labels=labels, ids=[f"s{n}" for n in range(count)])


def test_sessions_are_learnt_labelled_tested_and_inspected(capsys, here):
    invented_sessions(60, 1).write(here / "log.jsonl")
    invented_sessions(20, 2).write(here / "new.jsonl")
    code, _, err = run(capsys, "fit", "sessions", "log.jsonl", "-o", "m", "--dev", "new.jsonl")
    assert code == 0
    assert "m: learnt 2 labels from 60 sessions in " in err
    assert "m: dev: " in err
    code, out, _ = run(capsys, "label", "m", "new.jsonl")
    assert code == 0
    rows = [json.loads(line) for line in out.splitlines()]
    assert len(rows) == 20
    assert all(len(row["labels"]) == len(row["steps"]) for row in rows)
    assert run(capsys, "label", "m", "new.jsonl", "-o", "labelled.parquet")[0] == 0
    assert len(purport.Sessions.read("labelled.parquet")) == 20
    code, out, _ = run(capsys, "evaluate", "m", "new.jsonl", "--json")
    assert code == 0
    assert json.loads(out)["accuracy"] > 0.9
    code, out, _ = run(capsys, "inspect", "m", "--label", "buy", "--top", "1000")
    assert code == 0
    assert "what speaks for buy" in out
    assert "word=tv deals" in out
    # Many of the sixty sessions, each of somebody else for all that is known, said it.
    assert "text=tv deals" in out


def test_inspect_shows_no_text_that_few_people_sent(capsys, here):
    obs = [["well known"]] * 5 + [["my own name"]] * 4
    labels = [["buy"]] * 5 + [["learn"]] * 4
    purport.Sessions.from_lists(obs, labels=labels).write(here / "log.jsonl")
    assert run(capsys, "fit", "sessions", "log.jsonl", "-o", "m")[0] == 0
    words = ("inspect", "m", "--label", "buy", "--label", "learn", "--top", "99")
    code, out, _ = run(capsys, *words)
    assert code == 0
    assert "text=well known" in out
    assert "my own name" not in out
    assert "left out: 1 whole texts that fewer than 5 people are known to have sent" in out
    told = json.loads(run(capsys, *words, "--json")[1])
    assert told["left_out"] == {"buy": 0, "learn": 1}
    names = [name for name, _ in purport.load("m").state_features("learn", None)]
    assert "text=my own name" in names


@pytest.fixture
def logs(here):
    invented_sessions(60, 1).write(here / "log.jsonl")
    invented_sessions(20, 2).write(here / "new.jsonl")
    more = invented_sessions(40, 3)
    purport.Sessions.from_lists(more.texts).write(here / "more.jsonl")


@pytest.mark.parametrize(
    ("options", "states"),
    [
        (["--model", "ldcrf"], 8),
        (["--model", "ldcrf", "--states-per-label", "2", "--restarts", "2"], 4),
        (["--model", "shdcrf", "--states", "5", "--sparsity", "0.01", "--seed", "3"], 5),
        (["--model", "shdcrf", "--states", "4", "--unlabeled", "more.jsonl"], 4),
    ],
)
def test_hidden_states_are_learnt_labelled_and_tested(capsys, logs, options, states):
    words = ["fit", "sessions", "log.jsonl", "-o", "m", *options]
    code, out, err = run(capsys, *words, "--dev", "new.jsonl", "--json")
    assert code == 0, err
    told = json.loads(out)
    assert (told["states"], told["l2"], told["labels"]) == (states, 0.3, 2)
    assert told["dev"]["accuracy"] > 0.9
    assert f"m: {options[1].upper()}(" in err
    assert "l2=0.3" in err
    model = purport.load("m")
    assert model.get_params()["tol"] == 1e-4
    code, out, _ = run(capsys, "label", "m", "new.jsonl")
    assert code == 0
    assert len(out.splitlines()) == 20
    assert run(capsys, "evaluate", "m", "new.jsonl", "--min-accuracy", "0.9")[0] == 0


def test_sessions_without_labels_are_learnt_from_as_asked(capsys, logs):
    words = ["fit", "sessions", "log.jsonl", "--model", "shdcrf", "--states", "4"]
    words += ["--unlabeled", "more.jsonl"]
    code, _, err = run(capsys, *words, "-o", "a")
    assert code == 0
    assert "a: learnt from 40 sessions without labels, too." in err
    assert "semi='self-training'" in err
    assert run(capsys, *words, "-o", "b", "--semi", "free-sum", "-q") == (0, "", "")
    first, second = purport.load("a"), purport.load("b")
    assert (first.semi, second.semi) == ("self-training", "free-sum")


def test_the_penalty_of_hidden_states_is_chosen(capsys, logs):
    words = ["fit", "sessions", "log.jsonl", "--model", "ldcrf", "--states-per-label", "2"]
    code, out, err = run(capsys, *words, "-o", "m", "--tune", "--budget", "1", "--json")
    assert code == 0, err
    told = json.loads(out)
    assert told["l2"] in [trial["l2"] for trial in told["tuned"]]
    assert purport.load("m").l2 == told["l2"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--states", "4"], "--states goes with --model shdcrf alone"),
        (["--sparsity", "0.1"], "--sparsity goes with --model shdcrf alone"),
        (["--restarts", "2"], "--restarts goes with --model ldcrf or shdcrf"),
        (["--states-per-label", "4"], "--states-per-label goes with --model ldcrf alone"),
        (["--model", "shdcrf", "--states-per-label", "4"], "--model ldcrf alone"),
        (["--model", "ldcrf", "--states", "4"], "--states goes with --model shdcrf alone"),
        (["--model", "ldcrf", "--l1", "1"], "--l1 goes with --model crf alone"),
        (["--model", "shdcrf", "--passes", "2"], "--passes goes with --model crf alone"),
        (
            ["--model", "ldcrf", "--early-stop", "--dev", "new.jsonl"],
            "--early-stop goes with --model crf alone",
        ),
        (["--unlabeled", "more.jsonl"], "--unlabeled goes with --model shdcrf alone"),
        (["--model", "shdcrf", "--semi", "free-sum"], "--semi says how --unlabeled"),
        (["--model", "shdcrf", "--unlabeled", "nowhere.jsonl"], "no such file"),
        (["--model", "shdcrf", "--l2", "1", "--tune"], "does not go with --l2"),
        (["--model", "hmm"], "hmm"),
    ],
)
def test_options_that_do_not_go_with_the_model(capsys, logs, here, words, message):
    code, out, err = run(capsys, "fit", "sessions", "log.jsonl", "-o", "m", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert not (here / "m").exists()


def test_activities_are_learnt_from_sensors(capsys, here):
    lines = ["day\ttime\traw\tlabel"]
    for day in range(6):
        for minute in range(30):
            when = f"2026-01-{day + 1:02} 10:{minute:02}:00"
            seen = {1: "01", 6: "10"}.get(minute % 10, "00")
            label = "cook" if 1 <= minute % 10 < 6 else "sleep"
            lines.append(f"{day}\t{when}\t{seen}\t{label}")
    (here / "slices.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    named = ["--columns", "id=day", "--columns", "t=time", "--columns", "obs=raw"]
    code, _, err = run(capsys, "fit", "activity", "slices.tsv", "-o", "m", *named, "--l2", "0.01")
    assert code == 0, err
    code, out, _ = run(capsys, "evaluate", "m", "slices.tsv", *named, "--json")
    assert code == 0
    assert json.loads(out)["accuracy"] > 0.95


def test_activities_are_learnt_from_events(capsys, real_data):
    events = real_data / "activity-kasteren-a" / "event_sequences.jsonl.gz"
    code, _, err = run(capsys, "fit", "activity", events, "-o", "m", "--l2", "0.1")
    assert code == 0, err
    assert purport.load("m")._encoder.texts_ == "events"
    code, out, _ = run(capsys, "evaluate", "m", events, "--json")
    assert code == 0
    assert json.loads(out)["accuracy"] > 0.7


def test_a_penalty_is_chosen(capsys):
    code, out, err = run(
        capsys, "fit", "slots", "train.parquet", "-o", "m", "--tune", "--budget", "60", "--json"
    )
    assert code == 0
    told = json.loads(out)
    assert told["l2"] in [trial["l2"] for trial in told["tuned"]]
    assert told["tuned"][0]["l2"] == 0.03
    assert told["tuning"].keys() == {"folds", "measure", "stopped", "edge"}
    assert told["tuning"]["folds"] == 5
    assert "m: cross-validation in 5 folds:" in err
    assert "<-" in err
    assert purport.load("m").l2 == told["l2"]


def test_batches_that_stop_early(capsys):
    code, out, err = run(
        capsys, "fit", "slots", "train.parquet", "-o", "m", "--passes", "4", "--batch", "40",
        "--dev", "dev.jsonl", "--early-stop", "--json",
    )  # fmt: skip
    assert code == 0
    told = json.loads(out)
    assert told["utterances"] == 150
    assert 1 <= told["iterations"] <= 4
    assert " passes, " in err
    assert told["dev"]["f1"] > 0.5
    code, out, _ = run(capsys, "inspect", "m")
    assert f"training: converged after {told['iterations']} passes;" in out


def test_a_model_taught_batch_by_batch_has_no_iterations(capsys, here):
    purport.save(purport.CRF().partial_fit(utterance_world(20, 1)), here / "m")
    assert "training: batch by batch, as they came;" in run(capsys, "inspect", "m")[1]
    assert json.loads(run(capsys, "inspect", "m", "--json")[1])["iterations"] == 0


def test_bio_and_gazetteers(capsys, here):
    (here / "towns.txt").write_text("San Jose\nBoston\n", encoding="utf-8")
    code, _, err = run(
        capsys, "fit", "slots", "train.parquet", "-o", "m", "--bio", "--gazetteer", "town=towns.txt"
    )
    assert code == 0, err
    model = purport.load("m")
    assert model.forbid == "bio"
    (here / "towns.txt").unlink()
    assert purport.load("m").predict(utterance_world(3, 4))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--early-stop"], "--early-stop needs --dev"),
        (["--budget", "3"], "belong to --tune"),
        (["--tune", "--l2", "0.03"], "does not go with --l2"),
        (["--groups", "who"], "belong to --tune"),
        (["--passes", "2", "--tune"], "does not go with --passes"),
        (["--gazetteer", "towns"], "NAME=FILE"),
        (["--gazetteer", "a=b", "--gazetteer", "a=c"], "NAME=FILE"),
        (["--gazetteer", "a=missing.txt"], "missing.txt"),
        (["--gazetteer", "a=dev.jsonl"], "dev.jsonl: cannot be read: it holds JSON lines, not"),
        (["--tune", "--groups", "who"], "no field 'who'"),
    ],
)
def test_wishes_that_do_not_go_together(capsys, here, words, message):
    code, out, err = run(capsys, "fit", "slots", "train.parquet", "-o", "m", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert not (here / "m").exists()


@pytest.mark.parametrize("words", [[], ["--passes", "2"], ["--early-stop"], ["--tune"]])
@pytest.mark.parametrize("rows", ["", '{"tokens": ["stop"]}\n', '{"tokens": []}\n'])
def test_dev_records_without_labels_are_refused_before_training(
    capsys, here, monkeypatch, words, rows
):
    monkeypatch.setattr(purport.CRF, "fit", None)
    monkeypatch.setattr(purport.CRF, "fit_batches", None)
    (here / "bare.jsonl").write_text(rows, encoding="utf-8")
    code, _, err = run(
        capsys, "fit", "slots", "train.parquet", "-o", "m", "--dev", "bare.jsonl", *words
    )
    assert code == 2
    assert "The --dev records have no slots to compare with." in err


def test_records_without_slots_are_named_without_python(capsys, here):
    purport.Utterances.from_lists([["stop"]]).write(here / "bare.jsonl")
    code, _, err = run(capsys, "fit", "slots", "bare.jsonl", "-o", "m")
    assert code == 2
    assert "the records have no slots. Give records with slots.\n" in err


def test_models_of_other_records_are_not_compared(capsys, here):
    invented_sessions(9, 1).write(here / "log.jsonl")
    assert run(capsys, "fit", "sessions", "log.jsonl", "-o", "s")[0] == 0
    assert run(capsys, "fit", "slots", "dev.jsonl", "-o", "m")[0] == 0
    code, _, err = run(capsys, "evaluate", "m", "dev.jsonl", "--compare", "s")
    assert code == 2
    assert "s labels sessions, not utterances. Compare with a model of the same records." in err


def test_standard_input_cannot_be_read_twice(capsys):
    code, _, err = run(capsys, "fit", "slots", "-", "-o", "m", "--passes", "2")
    assert code == 2
    assert "give files, not -" in err
