"""`purport inspect` of models with hidden states: what it says, and what it never does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import purport
from purport.cli.program import main

SECRET = "xyzzysecretword"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Work in an empty folder with a model of hidden states and the log it learnt from."""
    monkeypatch.chdir(tmp_path)
    steps = [["map of rome", "rome hotel", "love song"]] * 6 + [["rome hotel", SECRET]] * 3
    labels = [["travel", "travel", "fun"]] * 6 + [["travel", "fun"]] * 3
    ids = [f"s{number}" for number in range(9)]
    log = purport.Sessions.from_lists(steps, labels=labels, ids=ids)
    log.write("log.jsonl")
    purport.save(purport.SHDCRF(4, random_state=1).fit(log), "m")
    return tmp_path


def run(capsys, *words):
    code = main([str(word) for word in words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_states_are_told_without_data(capsys, here):
    code, out, _ = run(capsys, "inspect", "m", "--top", "50")
    assert code == 0
    assert "4 hidden states, as they were in training" in out
    assert {"travel", "fun"} <= set(out.splitlines())
    assert out.count("  state ") == 4
    assert "p(y|h)    " in out
    assert "next      " in out
    assert "word=map" in out
    assert "text=map of rome" in out
    assert f"text={SECRET}" not in out
    assert f"text[-1]={SECRET}" not in out
    assert "examples" not in out


def test_examples_come_with_data_and_only_what_enough_people_sent(capsys, here):
    words = ("inspect", "m", "--on", "log.jsonl", "--top", "1000")
    code, out, err = run(capsys, *words, "-o", "page.html")
    assert code == 0
    assert "map of rome" in out
    assert "text=map of rome" in out
    assert "s0" not in out  # places are named only where no text may be
    assert err == "page.html: the page. Open it in a browser.\n"
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.count("<rect") == 2 * 2 * 4
    assert page.count("<desc>2 rows of labels, 4 columns of states.") == 2
    assert "m on log.jsonl" in page
    assert "<li>map of rome</li>" in page
    code, told, _ = run(capsys, *words, "--json", "-q")
    assert code == 0
    assert SECRET not in out + err + page + told
    told = json.loads(told)
    assert told["class"] == "SHDCRF"
    assert [state["state"] for state in told["states"]] == [0, 1, 2, 3]
    assert sum(state["share"] for state in told["states"]) == pytest.approx(1.0)
    assert {len(row) for row in told["state_given_label"].values()} == {4}
    texts = [each["text"] for state in told["states"] for each in state["examples"]]
    assert {"map of rome", "rome hotel", "love song"} == set(texts) - {None}
    assert None in texts


def test_states_of_a_label(capsys, here):
    code, out, _ = run(capsys, "inspect", "m", "--label", "fun")
    assert code == 0
    assert "fun" in out.splitlines()
    assert "travel" not in out.splitlines()
    code, _, err = run(capsys, "inspect", "m", "--label", "nonsense")
    assert code == 2
    assert "no label 'nonsense'" in err


def test_the_page_needs_no_data(capsys, here):
    code, _, _ = run(capsys, "inspect", "m", "-o", "page.html", "--threads", "1")
    assert code == 0
    assert "Examples" not in Path("page.html").read_text(encoding="utf-8")
    code, out, err = run(capsys, "inspect", "m", "-o", "page.html")
    assert (code, out) == (2, "")
    assert "--force" in err
    assert run(capsys, "inspect", "m", "-o", "page.html", "--force")[0] == 0


def test_columns_and_bad_rows_are_as_everywhere(capsys, here):
    rows = [
        {"steps": [{"q": "map of rome"}, {"q": "love song"}]},
        {"steps": 3},
    ]
    Path("new.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    words = ("inspect", "m", "--on", "new.jsonl", "--columns", "obs=q")
    code, _, err = run(capsys, *words)
    assert code == 2
    assert "new.jsonl" in err
    code, out, _ = run(capsys, *words, "--on-error", "skip", "-q")
    assert code == 0
    assert "record 1 step 1" in out


def test_what_has_no_hidden_states_is_told_so(capsys, here):
    log = purport.Sessions.read("log.jsonl")
    purport.save(purport.CRF().fit(log), "crf")
    for words in (("--on", "log.jsonl"), ("-o", "page.html")):
        code, out, err = run(capsys, "inspect", "crf", *words)
        assert (code, out) == (2, "")
        assert "A CRF has no hidden states" in err
    assert not Path("page.html").exists()
    purport.save(purport.LDCRF(1).fit([[["a"], ["b"]]], [["X", "Y"]]), "lists")
    assert run(capsys, "inspect", "lists", "-o", "page.html")[0] == 0
    code, _, err = run(capsys, "inspect", "lists", "--on", "log.jsonl")
    assert code == 2
    assert "was not fitted on records" in err
