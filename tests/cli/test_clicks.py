"""The verbs of click models: what each prints, writes and returns; killed, interrupted, at once."""

from __future__ import annotations

import io
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from purport.cli.program import main
from purport.records.pages import Pages
from purport.store.folders import ARRAYS, load
from purport.store.snapshots import load_snapshot
from purport.study.click_models import CLICK_MODELS

PROGRAM = [
    sys.executable,
    "-c",
    "import sys; from purport.cli.program import main; sys.exit(main())",
]
SECRET = "xyzzysecretword"
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")


def made_pages(count: int, seed: int) -> Pages:
    """Return pages on which the first result and even documents are clicked more often."""
    chance = np.random.default_rng(seed)
    asked = chance.integers(0, 6, count)
    shown = np.argsort(chance.random((count, 8)), axis=1)[:, :4]
    worth = np.where(shown % 2, 0.1, 0.8) * np.array([1.0, 0.6, 0.4, 0.2])
    return Pages.from_arrays(
        np.arange(0, 4 * count + 1, 4),
        [f"{SECRET} {number}" for number in asked.tolist()],
        [f"{SECRET}-{doc}" for doc in (shown + 10 * asked[:, None]).ravel().tolist()],
        (chance.random((count, 4)) < worth).ravel(),
        times=86_400 * (1 + 5 * seed) + np.arange(count) * 600,
        ids=[f"{seed}-{number}" for number in range(count)],
    )


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    """Return a folder with train.tsv, new.jsonl, test.parquet and a model `clicks`."""
    folder = tmp_path_factory.mktemp("clicks")
    for number, name in enumerate(("train.tsv", "new.jsonl", "test.parquet")):
        made_pages(600, number).write(folder / name)
    assert (
        main(["fit", "clicks", str(folder / "train.tsv"), "-o", str(folder / "clicks"), "-q"]) == 0
    )
    return folder


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def model(world, here) -> Path:
    """Return a model that may be changed."""
    shutil.copytree(world / "clicks", here / "m")
    return here / "m"


def run(capsys, *words):
    """Return exit code, stdout and stderr."""
    code = main([str(word) for word in words])
    said = capsys.readouterr()
    return code, said.out, said.err


# fit


@pytest.mark.parametrize("name", CLICK_MODELS)
def test_every_model_is_fitted(capsys, world, name) -> None:
    words = ("fit", "clicks", world / "train.tsv", "-o", "m", "--model", name, "--json")
    code, out, err = run(capsys, *words, "--prior", "0.5,2", "--max-iter", "500", "--ranks", "3")
    told = json.loads(out)
    assert code == 0
    assert (told["model"], told["pages"], told["results"], told["queries"]) == ("m", 600, 2400, 6)
    assert "m: learnt from 600 pages with 2,400 results of 6 queries" in err
    found = load("m")
    assert type(found) is CLICK_MODELS[name]
    assert (found.prior, found.ranks) == ((0.5, 2.0), 3)


def test_fit_takes_several_logs_and_a_pipe(capsys, world, monkeypatch) -> None:
    class Typed:
        buffer = io.BytesIO((world / "new.jsonl").read_bytes())

    monkeypatch.setattr(sys, "stdin", Typed())
    code, out, _ = run(capsys, "fit", "clicks", world / "train.tsv", "-", "-o", "m", "--json")
    assert (code, json.loads(out)["pages"]) == (0, 1200)


def test_a_model_that_stands_there_is_kept(capsys, world, model) -> None:
    before = (model / ARRAYS).read_bytes()
    code, _, err = run(capsys, "fit", "clicks", world / "train.tsv", "-o", "m")
    assert code == 2
    assert "exists already and is kept" in err
    assert (model / ARRAYS).read_bytes() == before


@pytest.mark.parametrize(
    "option",
    [("--model", "best"), ("--max-iter", "0"), ("--ranks", "0"), ("--prior", "0.5"),
     ("--prior", "2,2"), ("--max-pairs", "0")],
)  # fmt: skip
def test_impossible_values_are_the_users_error(capsys, world, option) -> None:
    code, _, err = run(capsys, "fit", "clicks", world / "train.tsv", "-o", "m", *option)
    assert code == 2
    assert option[0].strip("-") in err
    assert not Path("m").exists()


BAD_ROWS = [
    ("a b\t0 1 0", "there are 2 docs but 3 clicks"),
    ("a b\t0 7", "clicks[1] is neither 0 nor 1"),
    ("\t", "it has no docs"),
]


@pytest.mark.parametrize(("row", "reason"), BAD_ROWS)
@pytest.mark.parametrize("verb", ["fit", "update", "evaluate"])
def test_a_bad_page_is_told_by_its_row_and_not_by_its_words(
    capsys, model, verb, row, reason
) -> None:
    before = (model / ARRAYS).read_bytes()
    Path("log.tsv").write_text(f"qid\tdocs\tclicks\n{SECRET}\t{row}\n", encoding="utf-8")
    words = {
        "fit": ("fit", "clicks", "log.tsv", "-o", "new"),
        "update": ("update", "m", "log.tsv"),
        "evaluate": ("evaluate", "m", "log.tsv"),
    }[verb]
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"purport: error: log.tsv, row 2: {reason}.")
    assert SECRET not in err
    assert (model / ARRAYS).read_bytes() == before


# update


def test_update_takes_in_every_kind_and_tells(capsys, world, model) -> None:
    files = (world / "new.jsonl", world / "test.parquet")
    code, out, err = run(capsys, "update", "m", *files, "--every", "250", "--json")
    told = json.loads(out)
    assert code == 0
    assert told == {
        "model": "m", "pages": 1200, "dropped": 0, "before": 0, "in_all": 1800, "snapshots": 5,
    }  # fmt: skip
    assert err == "m: 1,200 pages taken in, 1,800 in all\n"
    assert sorted(path.name for path in Path().iterdir()) == ["m", "m.previous"]
    # A second time there is nothing new.
    assert run(capsys, "update", "m", *files, "-q") == (0, "", "")
    assert load("m").pages_seen_ == 1800


def test_update_from_a_pipe_drops_pages_that_come_twice(capsys, world, model, monkeypatch) -> None:
    class Typed:
        buffer = io.BytesIO((world / "new.jsonl").read_bytes() * 2)

    monkeypatch.setattr(sys, "stdin", Typed())
    code, _, err = run(capsys, "update", "m", "-", "--every", "500")
    assert code == 0
    assert "600 pages taken in, 1,200 in all; 600 left out whose id had come before" in err


@pytest.mark.parametrize(
    "options", [("--forget", "0.01"), ("--forget", "0.001,0.01"), ("--half-life-days", "0.1")]
)
def test_what_is_forgotten_makes_another_model(capsys, world, model, options) -> None:
    shutil.copytree("m", "plain")
    for name, words in (("plain", ()), ("m", options)):
        assert run(capsys, "update", name, world / "new.jsonl", "-q", *words)[0] == 0
    assert (model / ARRAYS).read_bytes() != (Path("plain") / ARRAYS).read_bytes()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--forget", "1.5"), "parameter 'forget' must be"),
        (("--forget", "much"), "--forget takes auto"),
        (("--half-life-days", "0"), "parameter 'half_life_days' must be"),
        (("--every", "0"), "--every"),
    ],
)
def test_impossible_ways_to_forget_leave_the_model(capsys, world, model, options, reason) -> None:
    before = (model / ARRAYS).read_bytes()
    code, _, err = run(capsys, "update", "m", world / "new.jsonl", *options)
    assert code == 2
    assert reason in err
    assert (model / ARRAYS).read_bytes() == before


def test_without_times_half_lives_are_refused(capsys, model) -> None:
    Path("log.tsv").write_text("qid\tdocs\tclicks\nq\ta b\t0 1\n", encoding="utf-8")
    code, _, err = run(capsys, "update", "m", "log.tsv", "--half-life-days", "7")
    assert code == 2
    assert "half_life_days needs times, in column t" in err


def test_of_a_damaged_model_the_one_before_is_used_and_it_is_said(capsys, world, model) -> None:
    run(capsys, "update", "m", world / "new.jsonl", "--every", "400")
    (model / ARRAYS).write_bytes((model / ARRAYS).read_bytes()[:1000])
    code, _, err = run(capsys, "update", "m", world / "new.jsonl")
    assert code == 0
    assert "purport: note: m: not a usable model" in err
    assert "Going on from m.previous, which had learnt from 1,000 pages." in err
    assert "200 pages taken in, 1,200 in all; 400 of these logs had been before" in err


def test_a_tagger_is_not_updated(capsys, world) -> None:
    from purport.sequence.crf import CRF
    from purport.store.folders import save

    save(CRF().fit([[["a"], ["b"]]], [["O", "B-x"]]), "tagger")
    code, _, err = run(capsys, "update", "tagger", world / "new.jsonl")
    assert code == 2
    assert "tagger: a CRF is not a click model" in err


# Ended from outside.


def started(*words: object, **pipes: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*PROGRAM, *map(str, words)], stderr=subprocess.PIPE, **pipes)


def wait_for(condition) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


@POSIX
def test_after_kill_9_the_same_command_ends_in_the_same_bits(world, model) -> None:
    made_pages(6000, 7).write("log.tsv")
    shutil.copytree("m", "whole")
    words = ("log.tsv", "--every", "50", "--forget", "0.0001,0.001")
    assert main(["update", "whole", *words, "-q"]) == 0
    stood = [600]
    for _ in range(3):
        shutil.rmtree("m.previous", ignore_errors=True)
        with started("update", "m", *words) as process:
            wait_for(lambda: Path("m.previous").exists())
            process.send_signal(signal.SIGKILL)
            assert process.wait(60) == -signal.SIGKILL
        stood.append(load_snapshot("m")[0].pages_seen_)
    assert stood == sorted(set(stood))
    assert stood[-1] < 6600
    assert main(["update", "m", *words, "-q"]) == 0
    assert load("m").pages_seen_ == 6600
    assert (model / ARRAYS).read_bytes() == (Path("whole") / ARRAYS).read_bytes()


@POSIX
def test_ctrl_c_ends_with_130_and_the_last_snapshot_stands(world, model) -> None:
    rows = (world / "new.jsonl").read_bytes().splitlines(keepends=True)
    with started("update", "m", "-", "--every", "100", stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        # The pipe stays open: it waits for more.
        process.stdin.write(b"".join(rows[:250]))
        process.stdin.flush()
        wait_for(lambda: load("m").pages_seen_ == 800)
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b"purport: interrupted\n"
        assert process.wait(60) == 130
    assert load("m").pages_seen_ == 800
    assert sorted(path.name for path in Path().iterdir()) == ["m", "m.previous"]


@POSIX
def test_two_updates_of_one_model_do_not_meet(capsys, world, model) -> None:
    with started("update", "m", "-", stdin=subprocess.PIPE) as process:
        wait_for(lambda: Path(".m.lock").exists() and Path(".m.lock").read_text())
        code, _, err = run(capsys, "update", "m", world / "new.jsonl")
        assert code == 2
        assert f"m: process {process.pid} is updating this model" in err
        process.kill()
    # A lock whose process is gone locks nothing.
    assert Path(".m.lock").exists()
    assert run(capsys, "update", "m", world / "new.jsonl", "-q")[0] == 0


@POSIX
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_output_is_told(model) -> None:
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run(
            [*PROGRAM, "relevance", "m"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert run.returncode == 2
    assert b"No space left on device" in run.stderr


# relevance


def test_relevance_gives_a_row_for_each_pair(capsys, world) -> None:
    code, out, err = run(capsys, "relevance", world / "clicks")
    rows = [line.split("\t") for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert rows[0] == ["query", "doc", "relevance", "low", "high", "evidence", "flags"]
    assert len(rows) == 1 + 6 * 8
    model = load(world / "clicks")
    worth: dict[str, list[float]] = {}
    for query, doc, mean, low, high, evidence, _ in rows[1:]:
        assert float(low) <= float(mean) <= float(high)
        assert float(evidence) > 0
        assert model.relevance(query, [doc])[0] == pytest.approx(float(mean), rel=1e-5)
        worth.setdefault(query, []).append(float(mean))
    assert all(values == sorted(values, reverse=True) for values in worth.values())


def test_relevance_of_what_was_asked_for_as_json_lines(capsys, world) -> None:
    words = ("--query", f"{SECRET} 3", "--query", "other", "--docs", f"{SECRET}-30", "--docs", "x")
    code, out, _ = run(
        capsys, "relevance", world / "clicks", *words, "--to", "jsonl", "--min-evidence", "2",
        "--interval", "0.5",
    )  # fmt: skip
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [(row["query"], row["doc"]) for row in rows[:2]] == [
        (f"{SECRET} 3", f"{SECRET}-30"),
        (f"{SECRET} 3", "x"),
    ]
    assert [row["flags"] for row in rows] == [[], ["new", "few"], ["new", "few"], ["new", "few"]]
    wide = json.loads(
        run(capsys, "relevance", world / "clicks", *words[:2], *words[4:6], "--to", "jsonl")[1]
    )
    assert wide["low"] < rows[0]["low"] < rows[0]["high"] < wide["high"]


def test_relevance_goes_into_files(capsys, world) -> None:
    for name, rows in (("r.tsv", 49), ("r.jsonl", 48)):
        code, out, err = run(capsys, "relevance", world / "clicks", "-o", name)
        assert (code, out, err) == (0, "", f"{name}: 48 rows written.\n")
        assert len(Path(name).read_text(encoding="utf-8").splitlines()) == rows
        assert run(capsys, "relevance", world / "clicks", "-o", name)[0] == 2
        assert run(capsys, "relevance", world / "clicks", "-o", name, "--force", "-q")[0] == 0
    assert run(capsys, "relevance", world / "clicks", "-o", "r.csv")[0] == 2
    assert run(capsys, "relevance", world / "clicks", "-o", "r.tsv", "--to", "tsv")[0] == 2


def test_relevance_keeps_to_the_best_and_to_what_has_evidence(capsys, world) -> None:
    _, out, _ = run(capsys, "relevance", world / "clicks", "--top", "2")
    assert len(out.splitlines()) == 1 + 6 * 2
    _, out, _ = run(capsys, "relevance", world / "clicks", "--min-evidence", "1e9")
    assert len(out.splitlines()) == 1


def test_relevance_is_refused_where_it_means_nothing(capsys, world) -> None:
    code, _, err = run(capsys, "relevance", world / "clicks", "--docs", "a")
    assert (code, "Say which, too." in err) == (2, True)
    code, _, err = run(capsys, "relevance", world / "clicks", "--interval", "1.5")
    assert (code, "parameter 'interval' must be" in err) == (2, True)
    run(capsys, "fit", "clicks", world / "train.tsv", "-o", "rates", "--model", "rctr")
    code, out, err = run(capsys, "relevance", "rates")
    assert (code, out) == (2, "")
    assert "one click rate for all documents" in err


# evaluate, inspect, label


def test_evaluate_tells_people_and_programs(capsys, world) -> None:
    words = ("evaluate", world / "clicks", world / "test.parquet")
    code, out, err = run(capsys, *words)
    assert (code, err) == (0, "")
    assert out.startswith("UBM on 600 pages with 2,400 results of 6 queries; 100.0% of the results")
    assert SECRET not in out
    told = json.loads(run(capsys, *words, "--json")[1])
    model, pages = load(world / "clicks"), Pages.read(world / "test.parquet")
    assert told["scores"]["log-likelihood"]["value"] == pytest.approx(model.log_likelihood(pages))
    for kind in ("conditional", "marginal"):
        score = told["scores"][f"{kind} perplexity"]
        assert score["value"] == pytest.approx(model.perplexity(pages, kind))
        assert score["low"] < score["value"] < score["high"]
        assert [rank[kind] for rank in told["ranks"]] == pytest.approx(
            model.perplexity_at_rank(pages, kind).tolist()
        )
    # Documents differ in worth, so rates of ranks are beaten.
    assert told["beside_floor"]["log-likelihood"]["low"] > 0
    assert told["beside_floor"]["conditional perplexity"]["high"] < 0


def test_the_floor_is_the_click_rate_of_each_rank(capsys, world) -> None:
    words = ("fit", "clicks", world / "test.parquet", "-o", "rates", "--model", "rctr")
    run(capsys, *words, "--prior", "0.5,1e-9")
    told = json.loads(run(capsys, "evaluate", "rates", world / "test.parquet", "--json")[1])
    for beside in told["beside_floor"].values():
        assert beside["difference"] == pytest.approx(0.0, abs=1e-9)


def test_evaluate_compares_two_click_models(capsys, world) -> None:
    run(capsys, "fit", "clicks", world / "train.tsv", "-o", "rates", "--model", "gctr")
    words = ("evaluate", world / "clicks", world / "test.parquet", "--compare", "rates")
    told = json.loads(run(capsys, *words, "--json")[1])
    assert told["beside_other"]["log-likelihood"]["difference"] > 0
    assert told["beside_other"]["log-likelihood"]["p_value"] < 0.05
    assert "beside the other model" in run(capsys, *words)[1]


@pytest.mark.parametrize(
    "option",
    [("--confusion",), ("--calibration",), ("--errors", "3"), ("--groups", "sid"),
     ("--people", "sid"), ("-o", "page.html"), ("--min-f1", "0.5"), ("--min-accuracy", "0.5")],
)  # fmt: skip
def test_options_of_labels_are_refused(capsys, world, option) -> None:
    code, _, err = run(capsys, "evaluate", world / "clicks", world / "test.parquet", *option)
    assert code == 2
    assert f"{option[0]} is for models of labels; a click model has none" in err


@pytest.mark.parametrize("name", CLICK_MODELS)
def test_inspect_shows_what_pages_share_and_no_id(capsys, world, name) -> None:
    words = ("fit", "clicks", world / "train.tsv", "-o", "m", "--model", name, "--max-iter", "500")
    run(capsys, *words)
    code, out, err = run(capsys, "inspect", "m", "--top", "3")
    assert (code, err) == (0, "")
    assert f"{type(load('m')).__name__}(), written by purport" in out
    assert "learnt from: 600 pages with 2,400 results" in out
    told = json.loads(run(capsys, "inspect", "m", "--json")[1])
    assert told["pages"] == 600
    assert all(0 < cell["value"] < 1 for cell in told["cells"])
    assert SECRET not in out + json.dumps(told)
    assert SECRET not in (Path("m") / "model.json").read_text(encoding="utf-8")


def test_inspect_shows_examination_by_rank_and_click_before(capsys, world) -> None:
    _, out, _ = run(capsys, "inspect", world / "clicks", "--top", "3")
    table = out[out.index("examination, by rank and by") :].splitlines()
    assert table[1].split() == ["rank", "none", "1", "2"]
    assert [len(line.split()) for line in table[2:]] == [2, 3, 4]
    state = load(world / "clicks")._state
    assert float(table[3].split()[2]) == pytest.approx(state.parameters[12], abs=1e-4)
    told = json.loads(run(capsys, "inspect", world / "clicks", "--json")[1])
    # The deepest rank stands for all below it, so a click before may be there as well.
    assert max(cell["last"] for cell in told["cells"]) == 10
    code, _, err = run(capsys, "inspect", world / "clicks", "--label", "x")
    assert (code, "--label is for models of labels" in err) == (2, True)


def test_label_says_that_pages_get_none(capsys, world) -> None:
    code, out, err = run(capsys, "label", world / "clicks", world / "test.parquet")
    assert (code, out) == (2, "")
    assert "a UBM does not label records" in err
    assert "purport relevance" in err


def test_no_message_holds_an_id(capsys, world, model) -> None:
    said = ""
    for words in (
        ("update", "m", world / "new.jsonl"),
        ("update", "m", "missing.tsv"),
        ("evaluate", "m", "missing.tsv"),
        ("relevance", "m", "-o", "r.tsv"),
        ("relevance", "m", "--query", f"{SECRET} 9", "--interval", "7"),
        ("inspect", "m"),
    ):
        _, out, err = run(capsys, *words)
        said += out + err
    assert SECRET not in said
    assert "m: 600 pages taken in" in said
