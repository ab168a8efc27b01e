"""The bench without its measurements: tables, the command line, peers that are not installed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import crf
from bench.__main__ import main
from bench.benchmark import BENCHMARKS, BenchError, Part, Setting
from bench.crf import crfsuite, gradient, settings, startup
from bench.crf.data import Sentences
from bench.tables import Bar, Row, Table
from bench.timing import Others, Ratio, Samples, machine
from purport.features.token_windows import TokenWindows
from purport.records.utterances import Utterances
from purport.study.windows import WINDOWS

ROWS = [
    Row("purport", 63.071, 12.345, (11.5, 13.25), Bar("ratio", "at least", 12), "as it is"),
    Row("purport, all", 1234567.0, None, None, Bar("figure", "at most", 2), "word " * 60),
    Row.not_found("peer", "some-peer"),
    Row("limit", 0.0, 7.0),
]


def some_tables(setting: Setting) -> Iterator[Table]:
    yield Table("One question", "ms", ROWS, ["how it was taken"], judged=not setting.quick)


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Others, "cores", lambda self: None)
    made = {"fast": Part("a part", some_tables), "long": Part("another", some_tables, slow=True)}
    monkeypatch.setattr(crf, "PARTS", made)


def cells(line: str) -> list[str]:
    return [cell for cell in line.split("  ") if cell.strip()]


def test_a_table_shows_every_row_and_whether_its_bar_is_reached() -> None:
    lines = str(next(some_tables(Setting()))).splitlines()
    ours = next(line for line in lines if line.startswith("purport "))
    assert [cell.strip() for cell in cells(ours)] == [
        "purport", "63.07", "12.35x", "11.5 .. 13.25", ">= 12x", "passed", "as it is",
    ]  # fmt: skip
    assert "missed" in next(line for line in lines if line.startswith("purport, all"))
    assert any("some-peer is not installed" in line for line in lines)
    assert max(map(len, lines)) <= 160


def test_cut_down_data_are_not_judged_and_neither_is_what_was_not_measured() -> None:
    table = next(some_tables(Setting(quick=True)))
    assert {table.verdict(row) for row in table.rows} == {"not judged", ""}
    unmeasured = Row("purport", None, bar=Bar("ratio", "at least", 12))
    assert Table("One question", "ms", [unmeasured]).verdict(unmeasured) == "not judged"


@pytest.mark.parametrize(
    ("kind", "value", "met"),
    [("at least", 3.0, True), ("at least", 2.9, False), ("at most", 3.0, True)],
)
def test_a_bar_itself_is_reached(kind: str, value: float, met: bool) -> None:
    assert Bar("figure", kind, 3.0).is_met_by(Row("x", value)) is met


@pytest.mark.usefixtures("parts")
def test_json_holds_what_the_text_holds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["crf", "--json", "--skip-slow"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["benchmark"] == "crf"
    assert told["machine"].keys() == machine().keys()
    (table,) = told["tables"]
    assert main(["crf", "--part", "fast"]) == 0
    text = capsys.readouterr().out
    assert table["title"] in text
    assert table["unit"] in text
    for note in table["notes"]:
        assert note in text
    for row, given in zip(table["rows"], ROWS, strict=True):
        assert (row["who"], row["figure"], row["ratio"]) == (given.who, given.figure, given.ratio)
        assert row["note"] == given.note
        for shown in (row["who"], row["bar"] or "", row["verdict"]):
            assert shown in text


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize(
    ("arguments", "named"),
    [(["nothing"], list(BENCHMARKS)), (["crf", "--part", "nothing"], ["fast", "long"])],
)
def test_an_unknown_name_is_answered_with_those_there_are(
    arguments: list[str], named: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert "nothing" in told
    for name in named:
        assert name in told


@pytest.mark.usefixtures("parts")
def test_slow_parts_are_left_out_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    main(["crf", "--skip-slow"])
    assert "[long]" not in capsys.readouterr().err
    main(["crf"])
    assert "[long]" in capsys.readouterr().err


def test_missing_data_are_said(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="--data DIR"):
        Setting().folder("atis")
    with pytest.raises(BenchError, match="no folder atis"):
        Setting(tmp_path).folder("atis")


def test_a_ratio_pairs_the_runs_of_a_round() -> None:
    ratio = Ratio.of([6.0, 8.0, 10.0], [1.0, 1.0, 2.0, 2.0, 4.0, 4.0])
    assert (ratio.middle, ratio.spread) == (4.0, (2.5, 6.0))


def test_a_stopwatch_measures_what_it_encloses() -> None:
    samples = Samples()
    with samples.taken(share=0.5):
        sum(range(1000))
    assert samples.wall[0] > 0.0
    assert "1 runs" in str(samples)


@pytest.mark.parametrize(("cores", "said"), [(0.9, True), (0.01, False), (None, False)])
def test_a_table_says_when_others_used_the_machine(
    cores: float | None, said: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Others, "cores", lambda self: cores)
    (table,) = Part("a part", some_tables).tables(Setting())
    assert any("DISTURBED" in note for note in table.notes) is said


def test_what_others_do_is_measured_or_not_known() -> None:
    cores = Others().cores()
    assert cores is None or cores >= 0.0


def test_without_the_peer_the_table_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pycrfsuite", None)
    assert not crfsuite.is_installed()
    monkeypatch.setattr(startup, "_start", lambda program: None)
    (table,) = startup.run(Setting(quick=True))
    assert table.rows[-1].note == "not found: python-crfsuite is not installed"


def test_rich_is_the_same_window_here_and_on_the_command_line() -> None:
    rich = TokenWindows(
        words=(-3, 3),
        conjunctions=((-2, -1), (-1, 0), (0, 1), (1, 2)),
        lengths=True,
        previous_words=6,
    )
    measured = settings.Chosen("rich", 0.1, 0.01).windows
    assert repr(measured) == repr(WINDOWS["rich"]) == repr(rich)
    assert (measured.prefixes, measured.suffixes) == ((3,), (3,))


def test_the_gradient_table_says_what_is_in_the_time_of_the_peer() -> None:
    talk = Utterances.from_lists([["a"], ["b"]], slots=[["O"], ["B-x"]])
    sentences = Sentences("two", talk, [["O"], ["B-x"]], TokenWindows())
    peer = crfsuite.Iterations(loss=[1.0], evaluations=[1], features=4)
    assert gradient.PEERS_STEP in gradient._notes(sentences, 4, peer)
    assert gradient.PEERS_STEP not in gradient._notes(sentences, 4, None)
