"""`purport convert`: any format into any other, and what it says where it cannot."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import purport.cli.convert
from purport.cli import console
from purport.cli.program import main
from purport.records import streams
from purport.records.pages import Pages
from purport.records.sessions import Sessions
from purport.records.utterances import Utterances

TALK = Utterances.from_rows(
    [
        {"id": f"u{n}", "tokens": ["play", "jazz"], "slots": ["O", "B-genre"], "intent": "play"}
        for n in range(5)
    ]
)
LOG = Sessions.from_rows(
    [
        {
            "id": f"s{n}",
            "steps": [{"obs": "hi", "features": {"tabs": n, "new": True}, "label": "greet", "t": n}]
            * (n + 1),
        }
        for n in range(5)
    ]
)
PAGES = Pages.from_rows(
    [
        {"sid": "s", "t": n, "qid": n, "docs": [f"d{n}" if n == 3 else n, 7], "clicks": [0, n % 2]}
        for n in range(5)
    ]
)
FORMATS = ("jsonl", "jsonl.gz", "tsv", "tsv.gz", "parquet", "arrow", "iob")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(purport.cli.convert, "BATCH", 2)
    return tmp_path


def run(capsys, *words):
    """Return exit code, stdout and stderr."""
    code = main([str(word) for word in words])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize("records", [TALK, LOG, PAGES], ids=["utterances", "sessions", "pages"])
@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_becomes_every_other(capsys, records, ending):
    formats = [name for name in FORMATS if name != "iob" or records is TALK]
    if ending not in formats:
        return
    records.write(f"given.{ending}")
    for other in formats:
        code, out, err = run(capsys, "convert", f"given.{ending}", "-o", f"made.{other}")
        assert (code, out) == (0, "")
        assert err == f"made.{other}: 5 {type(records).__name__.lower()} written.\n"
        assert type(records).read(f"made.{other}") == records
        Path(f"made.{other}").unlink()


@pytest.mark.parametrize("to", ["jsonl", "tsv", "iob", "parquet", "arrow"])
def test_stdin_to_stdout(monkeypatch, to):
    packed = gzip.compress("".join(TALK.lines("jsonl")).encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    assert main(["convert", "-", "--to", to]) == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(written.getvalue())))
    assert Utterances.read("-") == TALK


def test_columns_of_other_names(capsys):
    Path("gold.tsv").write_text("qid\tquery\tintent\n7\tbest reads\tAbstain\n", encoding="utf-8")
    words = ("convert", "gold.tsv", "--columns", "id=qid", "--columns", "text=query")
    code, out, _ = run(capsys, *words)
    assert code == 0
    assert json.loads(out) == {
        "id": "7", "tokens": ["best", "reads"], "intent": "Abstain", "text": "best reads",
    }  # fmt: skip
    code, out, _ = run(capsys, "convert", "gold.tsv", "--columns", "obs=query")
    assert json.loads(out) == {"steps": [{"obs": "best reads", "qid": "7", "intent": "Abstain"}]}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("both.jsonl", '{"text": "a", "steps": []}\n'),
        ("neither.jsonl", '{"words": "a"}\n'),
        ("neither.tsv", "words\tid\na\tb\n"),
        ("both.tsv", "text\tobs\na\tb\n"),
        ("none.jsonl", ""),
        ("bad.jsonl", "nonsense\n"),
    ],
)
def test_what_cannot_be_told_is_asked_for(capsys, name, content):
    Path(name).write_text(content, encoding="utf-8")
    code, out, err = run(capsys, "convert", name)
    assert (code, out) == (2, "")
    assert "--as utterances, --as sessions or --as pages" in err
    assert err.count("\n") == 1


def test_what_is_said_goes_before_what_is_told(capsys):
    Path("both.jsonl").write_text('{"text": "a", "steps": [{"obs": "b"}]}\n', encoding="utf-8")
    for held, told in (("utterances", "tokens"), ("sessions", "id")):
        words = ("convert", "both.jsonl", "--as", held, "--to", "tsv")
        assert run(capsys, *words)[1].startswith(told)
    Path("empty.jsonl").touch()
    for ending in ("tsv", "parquet", "arrow", "jsonl"):
        words = ("convert", "empty.jsonl", "--as", "sessions", "-o", f"none.{ending}", "-q")
        assert run(capsys, *words) == (0, "", "")
        assert len(Sessions.read(f"none.{ending}")) == 0


def test_bad_rows_stop_it_or_are_counted(capsys):
    Path("x.jsonl").write_text('{"text": "a"}\nnonsense\n{"text": "b"}\n', encoding="utf-8")
    code, out, err = run(capsys, "convert", "x.jsonl", "-o", "x.parquet")
    assert (code, out) == (2, "")
    assert "x.jsonl, row 2: " in err
    assert not Path("x.parquet").exists()
    code, _, err = run(capsys, "convert", "x.jsonl", "-o", "x.parquet", "--on-error", "skip")
    assert code == 0
    assert "1 bad rows were left out: x.jsonl, row 2: " in err
    assert len(Utterances.read("x.parquet")) == 2


def test_what_stands_there_is_kept(capsys):
    TALK.write("x.jsonl")
    Path("x.tsv").write_text("mine", encoding="utf-8")
    code, _, err = run(capsys, "convert", "x.jsonl", "-o", "x.tsv")
    assert code == 2
    assert "--force" in err
    assert Path("x.tsv").read_text(encoding="utf-8") == "mine"
    assert run(capsys, "convert", "x.jsonl", "-o", "x.tsv", "--force", "--quiet") == (0, "", "")
    assert Utterances.read("x.tsv") == TALK
    # Into itself: read to its end before it is replaced.
    assert run(capsys, "convert", "x.jsonl", "-o", "x.jsonl", "--force", "-q")[0] == 0
    assert Utterances.read("x.jsonl") == TALK


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere.jsonl",), "no such file"),
        (("x.csv",), "unknown kind"),
        (("x.jsonl", "-o", "y.csv"), "unknown kind"),
        (("x.jsonl", "-o", "nowhere/x.tsv"), "no such folder"),
        (("x.jsonl", "-o", "y.tsv", "--to", "iob"), "--to is for stdout"),
        (("x.jsonl", "--columns", "text"), "OURS=THEIRS"),
        (("x.jsonl", "--columns", "id=a", "--columns", "id=b"), "OURS=THEIRS"),
        (("s.jsonl", "-o", "s.iob"), "Sessions cannot be written as iob"),
        (("tab.jsonl", "-o", "tab.tsv"), "cannot carry record 1"),
        (("x.tsv", "--columns", "text=query"), "names no column 'query'"),
    ],
)
def test_mistakes_are_one_line_and_write_nothing(capsys, here, words, said):
    TALK.write("x.jsonl")
    TALK.write("x.tsv")
    LOG.write("s.jsonl")
    Path("x.csv").touch()
    Path("tab.jsonl").write_text('{"tokens": ["a\\tb"]}\n', encoding="utf-8")
    before = sorted(here.iterdir())
    code, out, err = run(capsys, "convert", *words)
    assert (code, out) == (2, "")
    assert err.startswith("purport: error: ")
    assert err.count("\n") == 1
    assert said in err
    assert sorted(here.iterdir()) == before


def test_long_work_says_how_far_it_is_and_can_be_interrupted(capsys, monkeypatch, here):
    TALK.write("x.jsonl")
    monkeypatch.setattr(console, "SECONDS_BETWEEN_LINES", 0.0)
    _, _, err = run(capsys, "convert", "x.jsonl", "-o", "y.parquet")
    assert err.splitlines()[:3] == [f"{count} records so far" for count in (2, 4, 5)]

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(streams, "write_tables", interrupt)
    code, out, err = run(capsys, "convert", "x.jsonl", "-o", "z.parquet", "-q")
    assert (code, out, err) == (130, "", "purport: interrupted\n")
    assert sorted(path.name for path in here.iterdir()) == ["x.jsonl", "y.parquet"]


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("atis/dev.jsonl.gz", []),
        ("atis-trees/test.txt.gz", []),
        ("hwu64/dev.jsonl.gz", []),
        ("sessions-intentions/sequences.jsonl.gz", []),
        ("sessions-orcas-i/gold.tsv.gz", ["id=qid", "obs=query", "label=label_manual"]),
        ("activity-ordonez-a/event_sequences.jsonl.gz", []),
        ("activity-kasteren-a/slices.tsv.gz", ["id=day", "t=time", "obs=raw"]),
    ],
)
def test_real_data_go_through_every_format(capsys, monkeypatch, real_data, name, columns):
    monkeypatch.setattr(purport.cli.convert, "BATCH", 300)
    named = [word for pair in columns for word in ("--columns", pair)]
    first = run(capsys, "convert", real_data / name, *named, "-q")[1]
    before = "first.jsonl"
    Path(before).write_text(first, encoding="utf-8")
    is_talk = "tokens" in json.loads(first.splitlines()[0])
    for ending in ("parquet", "arrow", "jsonl.gz", *(["iob"] if is_talk else [])):
        assert run(capsys, "convert", before, "-o", f"next.{ending}", "-q") == (0, "", "")
        before = f"next.{ending}"
    kind = Utterances if is_talk else Sessions
    last = kind.read(before)
    if not is_talk or "hwu64" not in name:  # whose field `fold` is a number, text in IOB
        assert last == kind.read("first.jsonl")
    # TSV holds whole sessions as lines of steps; other fields come back as text.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* has text alone")
        last.write("last.tsv")
    assert run(capsys, "convert", "last.tsv", "-o", "last.parquet", "-q") == (0, "", "")
    told, given = kind.read("last.parquet"), kind.read("last.tsv")
    assert told == given
    assert told.known_labels == last.known_labels


def test_what_becomes_text_is_said_once(capsys, monkeypatch):
    monkeypatch.setattr(purport.cli.convert, "BATCH", 2)
    lines = ['{"tokens": ["a"], "fold": 3, "day": "monday"}\n'] * 5
    Path("x.jsonl").write_text("".join(lines), encoding="utf-8")
    for ending, kind in (("tsv", "TSV"), ("iob", "IOB")):
        code, _, err = run(capsys, "convert", "x.jsonl", "-o", f"x.{ending}")
        assert code == 0
        assert err.count(f"note: {kind} has text alone: numbers, lists and the like in 'fold'") == 1
        assert "day" not in err
    assert "text alone" not in run(capsys, "convert", "x.jsonl", "-o", "x.parquet")[2]


def test_memory_is_bounded(here):
    steps = '"steps":[' + ",".join(['{"obs":"some words of a query","label":"x"}'] * 50) + "]"
    with Path("big.jsonl").open("w", encoding="utf-8") as file:
        for number in range(20_000):
            file.write(f'{{"id":"s{number}",{steps}}}\n')
    # VmHWM is the peak of this process alone; that of getrusage is handed on by the parent.
    program = (
        "import re, sys; from pathlib import Path\n"
        "from purport.cli.program import main\n"
        "assert main(sys.argv[1:]) == 0\n"
        "told = Path('/proc/self/status').read_text(encoding='utf-8')\n"
        "print(re.search(r'VmHWM:\\s+(\\d+)', told)[1])"
    )
    if not Path("/proc/self/status").exists():
        pytest.skip("this system does not tell the peak of a process")
    before = "big.jsonl"
    for ending in ("parquet", "jsonl.gz", "tsv", "arrow"):
        done = subprocess.run(
            [sys.executable, "-c", program, "convert", before, "-o", f"made.{ending}", "-q"],
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        assert int(done.stdout) < 400_000  # kilobytes; the file has a million steps
        before = f"made.{ending}" if ending != "tsv" else before
