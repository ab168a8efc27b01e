"""The verbs: what each prints, writes and returns, run in this process."""

from __future__ import annotations

import gzip
import io
import json
import sys
import warnings
from pathlib import Path

import pytest

import purport.cli
from purport.cli import console
from purport.cli.program import VERBS, main
from purport.cli.warm import kernel_modules
from purport.errors import PurportWarning
from purport.records.pages import Pages
from purport.records.sessions import Sessions
from purport.records.utterances import Utterances
from purport.sequence.crf import CRF
from purport.store.folders import save
from purport.study.defaults import L2, MAX_ITER
from purport.study.demonstration import demonstrate
from purport.version import VERSION

SECRET = "xyzzysecretword"
FEW = {"train_sessions": 60, "test_sessions": 25, "unlabeled": 20, "pages_a_day": 40}


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    """Return a folder with train.jsonl, test.jsonl, new.jsonl and slots-model."""
    folder = tmp_path_factory.mktemp("world")
    demonstrate(folder, train=200, test=60, **FEW)
    return folder


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, *words):
    """Return exit code, stdout and stderr."""
    code = main([str(word) for word in words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_help_names_every_verb_in_order(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    listed = out.split("Commands:")[1]
    assert [line.split()[0] for line in listed.strip().splitlines()] == list(VERBS)


@pytest.mark.parametrize("verb", [*VERBS, "fit slots"])
def test_every_verb_explains_itself(capsys, verb):
    code, out, err = run(capsys, *verb.split(), "-h")
    assert (code, err) == (0, "")
    assert out.startswith(f"Usage: purport {verb}")
    if verb != "fit":
        assert "--quiet" in out
        assert "--traceback" in out


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"purport {VERSION}\n", "")


@pytest.mark.parametrize(
    "words",
    [(), ("fit",), ("nonsense",), ("label",), ("label", "a", "b", "--nonsense"), ("fit", "slots")],
)
def test_what_cannot_be_understood_is_the_users_error(capsys, words):
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert "Usage: purport" in err


@pytest.mark.parametrize(
    "option", [("--l2", "-1"), ("--max-iter", "0"), ("--threads", "0"), ("--on-error", "guess")]
)
def test_impossible_values_are_the_users_error(capsys, world, option):
    code, _, err = run(capsys, "fit", "slots", world / "train.jsonl", "-o", "m", *option)
    assert code == 2
    assert option[0] in err
    assert not Path("m").exists()


def test_fit_label_and_evaluate(capsys, world):
    code, out, err = run(capsys, "fit", "slots", world / "train.jsonl", "-o", "m", "--l2", "0.5")
    assert (code, out) == (0, "")
    assert "m: learnt" in err
    assert "200 utterances" in err
    code, out, _ = run(capsys, "label", "m", world / "new.jsonl")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert len(rows) == 20
    assert all(len(row["labels"]) == len(row["tokens"]) for row in rows)
    assert all(0 < row["probability"] <= 1 for row in rows)
    code, out, _ = run(capsys, "evaluate", "m", world / "test.jsonl")
    assert code == 0
    assert "precision" in out
    assert "F1" in out.splitlines()[-1]


def test_fit_says_the_same_to_programs(capsys, world):
    words = ("fit", "slots", world / "train.jsonl", "-o", "m", "--window", "rich", "--json", "-q")
    code, out, err = run(capsys, *words, "--dev", world / "test.jsonl", "--l1", "0.1")
    told = json.loads(out)
    assert (code, err) == (0, "")
    assert told["model"] == "m"
    assert told["utterances"] == 200
    assert told["converged"] is True
    assert 0.5 < told["dev"]["f1"] <= 1


def test_fit_takes_several_files(capsys, world):
    files = (world / "train.jsonl", world / "test.jsonl")
    code, out, _ = run(capsys, "fit", "slots", *files, "-o", "m", "--json", "--max-iter", "60")
    assert code == 0
    assert json.loads(out)["utterances"] == 260


def test_a_model_does_not_remember_how_progress_was_shown(capsys, world):
    run(capsys, "fit", "slots", world / "train.jsonl", "-o", "m")
    _, out, _ = run(capsys, "inspect", "m")
    assert out.startswith(f"CRF(l2={L2}, max_iter={MAX_ITER}), written by purport")


def test_a_warning_is_a_note_of_one_line(capsys, world):
    words = ("fit", "slots", world / "train.jsonl", "-o", "m", "--max-iter", "1")
    _, _, err = run(capsys, *words)
    notes = [line for line in err.splitlines() if line.startswith("purport: note: ")]
    assert len(notes) == 1
    assert "max_iter=1" in notes[0]
    _, _, err = run(capsys, *words, "--force", "--quiet")
    assert err == ""


def test_other_warnings_are_left_as_they_are():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with console.notes(console.Manner()):
            warnings.warn("old", DeprecationWarning, stacklevel=1)
    assert [warning.category for warning in caught] == [DeprecationWarning]


def test_a_note_is_said_once(capsys):
    with console.notes(console.Manner()):
        for _ in range(3):
            warnings.warn("strange", PurportWarning, stacklevel=1)
    assert capsys.readouterr().err == "purport: note: strange\n"


def test_an_output_that_stands_there_is_kept(capsys, world):
    train, new, model = world / "train.jsonl", world / "new.jsonl", world / "slots-model"
    Path("taken.jsonl").write_text("mine", encoding="utf-8")
    for words in (
        ("fit", "slots", train, "-o", "taken.jsonl"),
        ("label", model, new, "-o", "taken.jsonl"),
        ("study", train, train, "-o", "taken.jsonl"),
    ):
        code, out, err = run(capsys, *words)
        assert (code, out) == (2, "")
        assert err.startswith("purport: error: taken.jsonl: exists already and is kept.")
        assert "--force" in err
    assert Path("taken.jsonl").read_text(encoding="utf-8") == "mine"
    assert run(capsys, "label", model, new, "-o", "taken.jsonl", "--force")[0] == 0
    assert len(Utterances.read("taken.jsonl")) == 20


def test_force_replaces_a_model_but_never_another_folder(capsys, world):
    words = ("fit", "slots", world / "test.jsonl", "-o", "m", "-q")
    assert run(capsys, *words)[0] == 0
    assert run(capsys, *words)[0] == 2
    assert run(capsys, *words, "--force")[0] == 0
    Path("photos").mkdir()
    Path("photos/one").write_text("dear to me", encoding="utf-8")
    code, _, err = run(capsys, "fit", "slots", world / "test.jsonl", "-o", "photos", "--force")
    assert code == 2
    assert "not a model folder" in err
    assert Path("photos/one").exists()


def test_bad_rows_stop_or_are_left_out(capsys, world):
    lines = (world / "train.jsonl").read_text(encoding="utf-8")
    bad = f'{{"tokens": ["{SECRET}"], "slots": ["O", "O"]}}\n'
    Path("bad.jsonl").write_text(lines + bad, encoding="utf-8")
    code, _, err = run(capsys, "fit", "slots", "bad.jsonl", "-o", "m")
    assert code == 2
    assert "bad.jsonl, row 201" in err
    assert SECRET not in err
    code, _, err = run(capsys, "fit", "slots", "bad.jsonl", "-o", "m", "--on-error", "skip")
    assert code == 0
    assert "purport: note: 1 bad rows were left out" in err
    assert SECRET not in err


@pytest.mark.parametrize("name", ["out.jsonl", "out.tsv", "out.iob", "out.jsonl.gz"])
def test_label_writes_the_kind_that_the_ending_names(capsys, world, name):
    code, out, err = run(capsys, "label", world / "slots-model", world / "test.jsonl", "-o", name)
    assert (code, out) == (0, "")
    assert "60 records labelled" in err
    told, given = Utterances.read(name), Utterances.read(world / "test.jsonl")
    assert told.tokens == given.tokens
    assert told.ids == given.ids
    if not name.endswith("iob"):  # whose last column, the labels, is read as slots
        assert told.slots == given.slots
        assert told.labels is not None
    assert name.endswith(".gz") == (Path(name).read_bytes()[:2] == b"\x1f\x8b")


def test_label_reads_stdin_in_small_batches(capsys, world, monkeypatch):
    monkeypatch.setattr(purport.cli.label, "BATCH", 7)
    packed = gzip.compress((world / "new.jsonl").read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed), encoding="utf-8"))
    code, out, _ = run(capsys, "label", world / "slots-model", "-", "-o", "-")
    assert code == 0
    assert len(out.splitlines()) == 20


def test_label_keeps_fields_that_it_does_not_know(capsys, world):
    Path("x.jsonl").write_text('{"text": "play luma", "shop": 7}\n', encoding="utf-8")
    _, out, _ = run(capsys, "label", world / "slots-model", "x.jsonl")
    assert json.loads(out)["shop"] == 7


def test_label_of_nothing_is_nothing(capsys, world):
    Path("x.jsonl").touch()
    assert run(capsys, "label", world / "slots-model", "x.jsonl") == (0, "", "")


def test_results_are_utf8_whatever_the_terminal_is_set_to(world, monkeypatch):
    Path("x.jsonl").write_text('{"text": "play 東京 naïve"}\n', encoding="utf-8")
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    assert main(["label", str(world / "slots-model"), "x.jsonl"]) == 0
    assert "東京" in written.getvalue().decode("utf-8")


def test_long_labelling_says_how_far_it_is(capsys, monkeypatch):
    monkeypatch.setattr(console, "SECONDS_BETWEEN_LINES", 0.0)
    batches = [[1, 2], [3]]
    assert list(console.counting(batches, quiet=False)) == batches
    assert capsys.readouterr().err == "2 records so far\n3 records so far\n"
    list(console.counting(batches, quiet=True))
    assert capsys.readouterr().err == ""


def test_evaluate_says_the_same_to_programs(capsys, world):
    _, out, _ = run(capsys, "evaluate", world / "slots-model", world / "test.jsonl", "--json")
    told = json.loads(out)
    assert told["sentences"] == 60
    assert told["f1_interval"]["low"] <= told["f1"] <= told["f1_interval"]["high"]
    assert {row["label"] for row in told["slots"]} >= {"city", "day"}


@pytest.mark.parametrize(("least", "expected"), [("0.1", 0), ("1", 1)])
def test_a_check_that_fails_ends_with_1(capsys, world, least, expected):
    words = ("evaluate", world / "slots-model", world / "test.jsonl", "--min-f1", least)
    code, out, err = run(capsys, *words)
    assert code == expected
    assert "F1" in out
    assert ("lower than 1" in err) == bool(expected)


def test_evaluate_shows_what_is_asked_for(capsys, world):
    words = ("evaluate", world / "slots-model", world / "test.jsonl", "-q")
    _, plain, _ = run(capsys, *words)
    assert "95% interval" in plain
    options = ("--confusion", "--calibration", "--errors", "3")
    code, out, err = run(capsys, *words, *options, "--compare", world / "slots-model")
    assert (code, err) == (0, "")
    assert out.startswith(plain.rstrip("\n"))
    assert "expected calibration error" in out
    assert "was given as what stands in a column" in out
    assert "errors worth a look: 3 of" in out
    assert "record " in out
    assert "The data do not tell which is better" in out
    assert max(map(len, out.splitlines())) <= 100


def test_evaluate_tells_programs_everything(capsys, world):
    words = ("evaluate", world / "slots-model", world / "test.jsonl", "--json", "--errors", "2")
    _, out, _ = run(capsys, *words, "--compare", world / "slots-model")
    told = json.loads(out)
    assert {"intervals", "confusion", "calibration", "compared"} <= set(told)
    assert len(told["errors"]["mistakes"]) == 2
    assert {mistake["text"] for mistake in told["errors"]["mistakes"]} == {None}


def test_evaluate_draws_groups_and_shows_what_many_sent(capsys, world):
    rows = [json.loads(line) for line in (world / "test.jsonl").read_text("utf-8").splitlines()]
    for number, row in enumerate(rows):
        row["slots"] = ["O"] * len(row["tokens"])  # so that nearly all is a mistake
        row["user"] = number % 6
    many = "\n".join(json.dumps(row | {"user": user}) for row in rows for user in range(5))
    Path("many.jsonl").write_text(many, encoding="utf-8")
    few = "\n".join(json.dumps(row | {"user": 1}) for row in rows for _ in range(5))
    Path("few.jsonl").write_text(few, encoding="utf-8")
    options = ("--groups", "user", "--people", "user", "--errors", "2", "-q")
    code, out, _ = run(capsys, "evaluate", world / "slots-model", "many.jsonl", *options)
    assert code == 0
    assert "5 groups of utterances drawn whole" in out
    assert out.count(" text  ") == 2
    _, out, _ = run(capsys, "evaluate", world / "slots-model", "few.jsonl", *options)
    assert " text  " not in out
    code, _, err = run(capsys, "evaluate", world / "slots-model", "few.jsonl", "--groups", "nobody")
    assert code == 2
    assert "no field 'nobody'" in err


def test_evaluate_writes_a_page_and_keeps_what_stands_there(capsys, world):
    words = ("evaluate", world / "slots-model", world / "test.jsonl", "-o", "page.html")
    code, out, err = run(capsys, *words)
    assert code == 0
    assert out.count("\n") < 40
    assert "page.html: the page" in err
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 3
    assert "Errors worth a look" in page
    Path("page.html").write_text("mine", encoding="utf-8")
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert "exists already and is kept" in err
    assert Path("page.html").read_text(encoding="utf-8") == "mine"
    assert run(capsys, *words, "--force")[0] == 0
    assert Path("page.html").read_text(encoding="utf-8") != "mine"
    code, _, err = run(capsys, *words[:-1], "nowhere/page.html")
    assert (code, "no such folder" in err) == (2, True)


@pytest.mark.parametrize(("least", "expected"), [("0.1", 0), ("1", 1)])
def test_accuracy_may_be_the_check(capsys, world, least, expected):
    words = ("evaluate", world / "slots-model", world / "test.jsonl", "--min-accuracy", least)
    code, out, err = run(capsys, *words)
    assert code == expected
    assert "words right" in out
    assert ("Accuracy is" in err) == bool(expected)


def test_evaluate_needs_slots(capsys, world):
    code, _, err = run(capsys, "evaluate", world / "slots-model", world / "new.jsonl")
    assert code == 2
    assert "have no slots" in err


def test_evaluate_leaves_out_what_is_not_known(capsys, world):
    rows = (world / "test.jsonl").read_text(encoding="utf-8") + '{"text": "hello there"}\n'
    Path("x.jsonl").write_text(rows, encoding="utf-8")
    _, out, _ = run(capsys, "evaluate", world / "slots-model", "x.jsonl")
    assert "1 without known slots left out" in out


def test_inspect_shows_what_speaks_for_a_label(capsys, world):
    words = ("inspect", world / "slots-model", "--label", "B-artist", "--label", "O", "--top", "3")
    code, out, _ = run(capsys, *words)
    assert code == 0
    assert "what speaks for B-artist" in out
    assert "strongest transitions" in out
    _, out, _ = run(capsys, *words, "--json")
    told = json.loads(out)
    assert told["class"] == "CRF"
    assert len(told["features"]["B-artist"]) == 3
    assert len(told["transitions"]) == 3


def test_inspect_of_a_label_that_is_not_there(capsys, world):
    code, _, err = run(capsys, "inspect", world / "slots-model", "--label", "nonsense")
    assert code == 2
    assert "no label 'nonsense'" in err
    assert "B-artist" in err


def test_study_writes_a_report_without_words(capsys, world):
    train = Utterances.read(world / "train.jsonl")
    secret = Utterances.from_lists([[SECRET, "rome"]], slots=[["O", "B-city"]])
    train.write("train.jsonl")
    secret.write("test.jsonl")
    code, out, err = run(capsys, "study", "train.jsonl", "test.jsonl", "-o", "r.html")
    assert code == 0
    assert out.startswith("slots: F1")
    assert SECRET not in out + err + Path("r.html").read_text(encoding="utf-8")
    code, out, _ = run(capsys, "study", "train.jsonl", "test.jsonl", "-o", "r.html", "--json")
    assert code == 2
    code, out, _ = run(capsys, "study", "train.jsonl", "test.jsonl", "--json", "-q")
    assert json.loads(out)["slots"]["train"]["utterances"] == 200
    assert Path("report.html").exists()


def test_a_study_of_sessions_shows_only_what_enough_people_sent(capsys, world):
    log = Sessions.read(world / "train-sessions.jsonl")
    rows = list(log.rows())
    for number, row in enumerate(rows):
        row["steps"][0] |= {"obs": f"{SECRET} {number % 4}", "who": f"u{number % 4}"}
        row["steps"][-1] |= {"obs": "everybodys query"}
    with Path("log.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    words = ("study", "log.jsonl", "log.jsonl", "-o", "r.html")
    code, out, err = run(capsys, *words, "--unlabeled", world / "unlabeled-sessions.jsonl")
    assert code == 0, err
    assert out.startswith("sessions: ")
    html = Path("r.html").read_text(encoding="utf-8")
    assert "SHDCRF, self-trained" in html
    assert SECRET not in out + err + html
    assert "No sessions are shown" in html
    code, out, _ = run(
        capsys, "study", "log.jsonl", "log.jsonl", "--json", "-q", "--as", "sessions"
    )
    assert code == 0
    told = json.loads(out)["sessions"]
    assert [model["name"] for model in told["models"]][2:] == ["CRF", "LDCRF", "SHDCRF"]
    assert "query" not in out


def test_a_study_of_pages_shows_no_id(capsys, world):
    log = Pages.read(world / "train-pages.tsv")[:120]
    rows = [{**row, "qid": f"{SECRET} {row['qid']}"} for row in log.rows()]
    Pages.from_rows(rows).write("log.tsv")
    code, out, err = run(capsys, "study", "log.tsv", "log.tsv", "-o", "r.html")
    assert code == 0, err
    assert out.startswith("clicks: ")
    html = Path("r.html").read_text(encoding="utf-8")
    assert SECRET not in out + err + html
    assert "How far people look" in html
    code, out, _ = run(capsys, "study", "log.tsv", "log.tsv", "--json", "-q", "--as", "pages")
    assert code == 0
    assert json.loads(out)["clicks"]["floor"] == "RCTR"
    assert SECRET not in out
    code, _, err = run(capsys, "study", "log.tsv", "log.tsv", "--groups", "day", "-o", "s.html")
    assert code == 2
    assert "--groups is for sessions; the files hold none" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("{train}", "{test}", "--unlabeled", "{test}"), "in studies of sessions alone"),
        (("{train}", "{test}", "--groups", "day"), "--groups is for sessions"),
        (("{log}", "{log}", "--groups", "day"), "no field 'day'"),
        (("{train}", "{log}"), "tokens"),
        (("{log}", "{test}"), "steps"),
        (("{log}", "{more}"), "The test records have no labels"),
        (("{more}", "{log}"), "The training records have no labels"),
        (("{log}", "{log}", "--as", "utterances"), "tokens"),
    ],
)
def test_a_study_of_what_does_not_fit(capsys, world, words, said):
    files = {
        "train": "train",
        "test": "test",
        "log": "train-sessions",
        "more": "unlabeled-sessions",
    }
    places = {name: world / f"{file}.jsonl" for name, file in files.items()}
    code, out, err = run(capsys, "study", *(word.format(**places) for word in words))
    assert (code, out) == (2, "")
    assert said in err
    assert not Path("report.html").exists()


def test_demo_writes_what_it_says_and_its_advice_works(capsys, monkeypatch):
    few = {"train": 100, **FEW}
    monkeypatch.setattr(demonstrate, "__kwdefaults__", {**demonstrate.__kwdefaults__, **few})
    code, out, err = run(capsys, "demo", "--out", "my demo")
    assert code == 0
    assert out.startswith("slots: F1")
    assert "\nsessions: " in out
    assert "\nclicks: " in out
    for name in (
        *("report.html", "slots-model", "train.jsonl", "test.jsonl", "new.jsonl"),
        *("sessions-model", "train-sessions.jsonl", "test-sessions.jsonl"),
        *("unlabeled-sessions.jsonl", "clicks-model", "train-pages.tsv", "test-pages.tsv"),
    ):
        assert name in err
        assert Path("my demo", name).exists()
    assert Sessions.read("my demo/unlabeled-sessions.jsonl").known_labels is None
    import shlex

    advice = [line for line in err.splitlines() if line.startswith("  purport ")]
    assert len(advice) == 6
    for line in advice:
        assert run(capsys, *shlex.split(line)[1:])[0] == 0
    code, _, err = run(capsys, "demo", "--out", "my demo")
    assert code == 2
    assert "--force" in err
    Path("my demo/mine.txt").write_text("mine", encoding="utf-8")
    assert run(capsys, "demo", "--out", "my demo", "--force", "--quiet")[2] == ""
    assert Path("my demo/mine.txt").exists()


def test_demo_into_a_file(capsys):
    Path("taken").touch()
    code, _, err = run(capsys, "demo", "--out", "taken", "--force")
    assert code == 2
    assert "a file has that name" in err


def test_every_module_with_kernels_is_found():
    package = Path(purport.cli.__file__).parent.parent
    decorated = {
        ".".join(("purport", *path.relative_to(package).with_suffix("").parts))
        for path in package.rglob("*.py")
        if "\n@kernel(" in path.read_text(encoding="utf-8")
    }
    assert len(decorated) > 5
    assert decorated <= set(kernel_modules())
    assert "purport.fold.kernel" not in kernel_modules()


def test_warm_says_how_many_kernels_there_are(capsys):
    code, out, err = run(capsys, "warm")
    assert (code, out) == (0, "")
    assert "kernels are compiled" in err.splitlines()[-1]
    assert run(capsys, "warm", "--quiet") == (0, "", "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("label", "nowhere", "x.jsonl"), "nowhere"),
        (("label", "{model}", "nowhere.jsonl"), "no such file"),
        (("label", "{model}", "{model}"), "it is a folder"),
        (("label", "{model}", "{new}", "-o", "x.pdf"), "unknown kind"),
        (("label", "{model}", "{new}", "-o", "nowhere/x.jsonl"), "no such folder"),
        (("label", "{model}", "{new}", "-o", "."), "a folder has that name"),
        (("study", "{new}", "{new}"), "no slots"),
        (("study", "{new}", "{new}", "-o", "nowhere/x.html"), "no such folder"),
        (("fit", "slots", "{new}", "-o", "m"), "no slots"),
        (("fit", "slots", "nowhere.tsv", "-o", "m"), "no such file"),
        (("fit", "slots", "{train}", "-o", "m", "--dev", "nowhere.tsv"), "no such file"),
        (("inspect", "{new}"), "not a usable model"),
    ],
)
def test_mistakes_of_the_user_are_one_line(capsys, world, words, said):
    places = {name: world / f"{name}.jsonl" for name in ("new", "train")}
    code, out, err = run(capsys, *(w.format(model=world / "slots-model", **places) for w in words))
    assert (code, out) == (2, "")
    assert err.startswith("purport: error: ")
    assert err.count("\n") == 1
    assert said in err
    assert list(Path().iterdir()) == []


def test_traceback_shows_where(capsys):
    code, _, err = run(capsys, "label", "nowhere", "x.jsonl", "--traceback")
    assert code == 2
    assert "Traceback (most recent call last)" in err
    assert err.splitlines()[-1].startswith("purport: error: nowhere")


def test_models_of_lists_do_not_label_records(capsys, world):
    save(CRF().fit([[["a"], ["b"]]], [["X", "Y"]]), "m")
    code, _, err = run(capsys, "label", "m", world / "new.jsonl")
    assert code == 2
    assert "was not fitted on records" in err
    assert run(capsys, "inspect", "m")[0] == 0


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "purport: interrupted\n"),
        (
            PermissionError(13, "Permission denied", "m"),
            2,
            "purport: error: m: Permission denied.\n",
        ),
        (OSError(28, "No space left on device"), 2, "purport: error: No space left on device.\n"),
        (BrokenPipeError(32, "Broken pipe"), 0, ""),
    ],
)
def test_other_endings(capsys, world, monkeypatch, raised, code, said):
    def fail(*arguments, **options):
        raise raised

    monkeypatch.setattr(CRF, "label", fail)
    monkeypatch.setattr(console, "leave_quietly", lambda: None)
    found = run(capsys, "label", world / "slots-model", world / "new.jsonl", "-o", "x.jsonl")
    assert found == (code, "", said)
    assert list(Path().iterdir()) == []


def test_a_fault_of_the_program_is_not_hidden(world, monkeypatch):
    def fail(*arguments, **options):
        raise ZeroDivisionError

    monkeypatch.setattr(CRF, "label", fail)
    with pytest.raises(ZeroDivisionError):
        main(["label", str(world / "slots-model"), str(world / "new.jsonl")])


@pytest.mark.parametrize("kind", ["jsonl", "tsv", "iob"])
@pytest.mark.parametrize("source", ["test.jsonl", "new.jsonl"])
def test_labels_never_read_as_slots(capsys, world, kind, source):
    model = world / "slots-model"
    code, expected, told = run(capsys, "evaluate", model, world / source, "--json")
    assert run(capsys, "label", model, world / source, "-o", f"labelled.{kind}")[0] == 0
    assert run(capsys, "evaluate", model, f"labelled.{kind}", "--json") == (code, expected, told)
    assert code == (0 if source == "test.jsonl" else 2)
    assert Utterances.read(f"labelled.{kind}").labels is not None


def test_a_bad_row_is_answered_for_the_shell_too(capsys, world):
    Path("bad.jsonl").write_text("nonsense\n", encoding="utf-8")
    _, _, err = run(capsys, "label", world / "slots-model", "bad.jsonl")
    assert 'leave bad rows out: on_error="skip" (--on-error skip).' in err


def test_an_unknown_kind_on_stdin_is_told_what_stdin_may_hold(capsys, world, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"non\tsense\n")))
    code, _, err = run(capsys, "label", world / "slots-model", "-")
    assert code == 2
    assert "JSON lines, TSV with a column 'text' or 'tokens', or IOB/CoNLL" in err
    assert ".jsonl" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="has no such devices")
def test_what_is_no_file_is_written_to_without_force(capsys, world):
    words = ("label", world / "slots-model", world / "new.jsonl")
    _, out, _ = run(capsys, *words)
    assert run(capsys, *words, "-o", "/dev/stdout") == (0, out, "")
    assert run(capsys, *words, "-o", "/dev/null", "-q") == (0, "", "")
    code, _, err = run(capsys, "fit", "slots", world / "test.jsonl", "-o", "/dev/null")
    assert code == 2
    assert Path("/dev/null").is_char_device(), err


def test_a_study_says_when_nothing_was_gained(capsys, world):
    # Tags that words alone tell, and too few utterances to learn even these.
    train = Utterances.from_lists([["rome"], ["stop"]], slots=[["B-city"], ["O"]])
    train.write("train.jsonl")
    train.write("test.jsonl")
    code, _, err = run(capsys, "study", "train.jsonl", "test.jsonl")
    assert code == 0
    notes = [line for line in err.splitlines() if line.startswith("purport: note: ")]
    assert [note for note in notes if "F1 is not above the floor" in note]
    assert "F1 is not above the floor" in Path("report.html").read_text(encoding="utf-8")
    _, _, err = run(capsys, "study", world / "train.jsonl", world / "test.jsonl", "-o", "b.html")
    assert "not above the floor" not in err
    assert "not above the floor" not in Path("b.html").read_text(encoding="utf-8")
