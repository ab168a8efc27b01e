"""The bench of records: peers that read the same, spoilt files, and findings that are found."""

from __future__ import annotations

import gzip
import sys
import warnings
from pathlib import Path

import pytest

from bench.benchmark import Setting
from bench.records import PARTS, fuzzer, reading_spoilt
from bench.records.features import plain_strings, word2features
from bench.records.mutations import originals
from bench.records.peers import DUCKDB, FLOOR, PYARROW, readers
from bench.records.reading import files, measured
from bench.records.reading_spoilt import Tally, WrongError, check, read_spoilt
from bench.timing import version
from purport.features.token_windows import TokenWindows
from purport.records.sessions import Sessions
from purport.records.sources import Faults
from purport.records.utterances import Utterances

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", ".* has text alone")
    ORIGINALS = originals()
linux_only = pytest.mark.skipif(sys.platform == "win32", reason="needs signals and limits")


def test_it_has_its_parts() -> None:
    assert list(PARTS) == ["reading", "features", "fuzzer"]


@pytest.mark.parametrize("is_log", [True, False])
def test_peers_read_the_same(tmp_path: Path, is_log: bool) -> None:
    for path in files(tmp_path, is_log, count=40):
        found = {name: read(path, is_log) for name, read in readers(path).items() if name != FLOOR}
        assert found.keys() >= {"purport", PYARROW}
        assert (DUCKDB in found) == (version(DUCKDB) is not None)
        for result in found.values():
            assert result.plain() == found["purport"].plain()
        assert len(found["purport"].ids) == 40


def test_a_table_of_reading(tmp_path: Path) -> None:
    (path, *_) = files(tmp_path, is_log=True, count=5)
    table = measured(path, is_log=True, setting=Setting(quick=True))
    assert not table.judged
    assert {row.who for row in table.rows} >= {"purport", PYARROW, DUCKDB}
    assert "MB/s" in table.rows[0].note


def test_plain_python_makes_the_same_strings() -> None:
    talk = Utterances.from_lists([["fly", "to", "San", "José", "4you"], ["x"], []])
    assert plain_strings(talk.tokens) == TokenWindows().strings(talk)
    assert word2features(["x"], 0).keys() >= {"BOS", "EOS", "word[-3:]"}
    assert word2features(["a", "b"], 1)["-1:word.lower()"] == "a"


@pytest.mark.parametrize("name", ORIGINALS)
def test_originals_can_be_read_and_spoilt_alike_every_time(name: str, tmp_path: Path) -> None:
    original = ORIGINALS[name]
    path = tmp_path / f"original{original.ending}"
    packed = original.ending.endswith(".gz")
    path.write_bytes(gzip.compress(original.data) if packed else original.data)
    assert len(original.kind.read(path)) >= 2
    assert [original.spoilt(n) for n in range(9)] == [original.spoilt(n) for n in range(9)]
    assert len({original.spoilt(n) for n in range(50)}) > 30


@linux_only
@pytest.mark.parametrize("name", [name for name, one in ORIGINALS.items() if not one.is_table])
def test_spoilt_files_do_no_harm(name: str, tmp_path: Path) -> None:
    tally = read_spoilt(ORIGINALS[name], range(400), tmp_path)
    assert tally.findings == []
    assert tally.inputs == 400
    assert min(tally.good, tally.skipped + tally.refused, tally.rows_skipped) > 0


@linux_only
@pytest.mark.parametrize("name", [name for name, one in ORIGINALS.items() if one.is_table])
def test_spoilt_tables_do_no_harm(name: str) -> None:
    # In a process of its own: what a library does to damaged bytes could end this one.
    tally = fuzzer.read_apart(ORIGINALS[name], 150)
    assert tally.findings == []
    assert tally.inputs == 150
    assert min(tally.good, tally.refused) > 0


@linux_only
def test_other_errors_and_wrong_counts_are_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = ORIGINALS["Utterances jsonl"]

    def fail(self: Faults, row: int, bad: Exception) -> None:
        raise KeyError(row)

    def forget(self: Faults, row: int, bad: Exception) -> None:
        pass

    for broken in (fail, forget):
        monkeypatch.setattr(Faults, "add", broken)
        tally = read_spoilt(original, range(30), tmp_path)
        assert tally.findings
        assert tally.inputs == 30
    monkeypatch.undo()
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "a"}\nnonsense\n', encoding="utf-8")
    assert check(Utterances, path, thoroughly=True) == 1
    assert check(Sessions, path, thoroughly=True) == 2
    monkeypatch.setattr(reading_spoilt, "rows_of", lambda path: 5)
    with pytest.raises(WrongError, match="5 rows: 1 read, 1 left out"):
        check(Utterances, path, thoroughly=False)


@linux_only
def test_a_process_that_dies_is_a_finding_and_the_rest_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "python"
    program.write_text(
        f"#!{sys.executable}\n"
        "import json, os, sys\n"
        "first, count, folder = int(sys.argv[4]), int(sys.argv[5]), sys.argv[6]\n"
        "if first <= 3 < first + count:\n"
        "    open(folder + '/number', 'w').write('3')\n"
        "    os.kill(os.getpid(), 11)\n"
        "print(json.dumps({'good': count}))\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setattr(fuzzer.sys, "executable", str(program))
    tally = fuzzer.read_apart(ORIGINALS["Utterances parquet"], 10)
    assert tally.findings == ["Utterances parquet 3: the process died with -11: nothing said"]
    assert (tally.good, tally.inputs) == (9, 10)


@linux_only
@pytest.mark.filterwarnings("ignore:.* has text alone")
def test_the_table_of_the_fuzzer_counts_all_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(original: object, count: int) -> Tally:
        return Tally(good=count - 1, findings=["one"])

    monkeypatch.setattr(fuzzer, "read_apart", told)
    (table,) = fuzzer.run(Setting())
    assert (
        sum(fuzzer.TABLES if one.is_table else fuzzer.TEXTS for one in ORIGINALS.values())
        >= 1_000_000
    )
    assert {table.verdict(row) for row in table.rows} == {"missed"}
    assert "1,000,000 inputs" in table.notes[0]
