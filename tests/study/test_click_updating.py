"""Logs that are taken in bit by bit: from where they stood, into the same bits."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from purport.clicks import UBM
from purport.errors import FormatError, InputError, ModelCorruptError, RecordError
from purport.records.pages import Pages
from purport.sequence.crf import CRF
from purport.store.folders import ARRAYS, describe, load, save
from purport.study.click_logs import BEGINNING, MOST, Marks
from purport.study.click_models import fit_clicks, load_click_model
from purport.study.click_updating import Stream, forgetting, update_model

HEADER = "sid\tt\tqid\tdocs\tclicks\n"


def lines(first: int, end: int) -> list[str]:
    """Return rows of a log, of which each is different."""
    chance = np.random.default_rng(5)
    clicks = chance.random((end, 3)) < 0.4
    return [
        f"s{row}\t{row * 600}\tq{row % 5}\td{row % 7} d{row % 3 + 9} {row % 4}\t"
        + " ".join(str(int(click)) for click in clicks[row])
        + "\n"
        for row in range(first, end)
    ]


def write_log(path: Path, first: int, end: int) -> None:
    path.write_text(HEADER + "".join(lines(first, end)), encoding="utf-8")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with a model of a log of 200 pages, and a log of 500 more."""
    write_log(tmp_path / "old.tsv", 0, 200)
    write_log(tmp_path / "new.tsv", 200, 700)
    fitted = fit_clicks(UBM(sync_every=64), [str(tmp_path / "old.tsv")])
    save(fitted.model, tmp_path / "model")
    return tmp_path


def bits_of(folder: Path) -> tuple[bytes, dict[str, Any]]:
    """Return all that a model holds; logs that were taken in have other names in some tests."""
    settings = describe(folder)["settings"]
    return (folder / ARRAYS).read_bytes(), {
        name: value for name, value in settings.items() if name != "taken"
    }


def test_however_often_snapshots_are_written_bits_are_the_same(place: Path) -> None:
    found = []
    for number, every in enumerate((1_000_000, 500, 170, 33)):
        model = place / f"model {number}"
        shutil.copytree(place / "model", model)
        told = update_model(model, [str(place / "new.tsv")], Stream(every=every))
        assert (told.pages, told.in_all, told.snapshots) == (500, 700, -(-500 // every))
        found.append(bits_of(model))
    assert found == found[:1] * 4


def test_what_was_taken_in_is_not_taken_in_again(place: Path) -> None:
    model, log = place / "model", str(place / "new.tsv")
    update_model(model, [log])
    before = bits_of(model)
    told = update_model(model, [log, str(place / "old.tsv")])
    assert (told.pages, told.before, told.snapshots) == (0, 700, 0)
    assert bits_of(model) == before
    assert told.line() == "0 pages taken in, 700 in all; 700 of these logs had been before"


def test_a_log_that_has_grown_goes_on_where_it_stood(place: Path) -> None:
    update_model(place / "model", [str(place / "new.tsv")])
    shutil.copytree(place / "model", place / "again")
    with (place / "new.tsv").open("a", encoding="utf-8") as log:
        log.writelines(lines(700, 800))
    assert update_model(place / "model", [str(place / "new.tsv")]).pages == 100
    write_log(place / "rest.tsv", 700, 800)
    update_model(place / "again", [str(place / "rest.tsv")])
    assert bits_of(place / "again") == bits_of(place / "model")


def test_another_log_of_the_same_name_is_new(place: Path) -> None:
    log = place / "new.tsv"
    update_model(place / "model", [str(log)])
    write_log(log, 900, 1000)
    assert update_model(place / "model", [str(log)]).pages == 100


def test_a_packed_log_of_the_same_name_and_size_is_told_by_its_beginning(place: Path) -> None:
    for first in (200, 300):
        Pages.read(str(place / "new.tsv"))[first - 200 : first].write(place / "day.parquet")
        assert update_model(place / "model", [str(place / "day.parquet")]).pages == 200
        assert update_model(place / "model", [str(place / "day.parquet")]).pages == 0


def test_a_log_that_has_shrunk_is_refused(place: Path) -> None:
    update_model(place / "model", [str(place / "new.tsv")])
    write_log(place / "new.tsv", 200, 400)
    before = bits_of(place / "model")
    with pytest.raises(InputError, match="taken in 500 pages of this log, and now it has fewer"):
        update_model(place / "model", [str(place / "new.tsv")])
    assert bits_of(place / "model") == before


def test_after_a_bad_row_the_rest_follows_once_it_is_mended(place: Path) -> None:
    rows = lines(200, 700)
    good = rows[400]
    rows[400] = "s\t1\tq\ta b\t1\n"
    (place / "new.tsv").write_text(HEADER + "".join(rows), encoding="utf-8")
    shutil.copytree(place / "model", place / "whole")
    with pytest.raises(RecordError, match="row 402: there are 2 docs but 1 clicks"):
        update_model(place / "model", [str(place / "new.tsv")], Stream(every=100))
    assert load_click_model(place / "model").pages_seen_ == 600
    rows[400] = good
    (place / "new.tsv").write_text(HEADER + "".join(rows), encoding="utf-8")
    assert update_model(place / "model", [str(place / "new.tsv")]).pages == 100
    update_model(place / "whole", [str(place / "new.tsv")])
    assert bits_of(place / "model") == bits_of(place / "whole")


@pytest.mark.parametrize("ending", ["tsv", "tsv.gz", "jsonl", "jsonl.gz", "parquet", "arrow"])
def test_every_kind_of_file_gives_the_same_bits(place: Path, ending: str) -> None:
    shutil.copytree(place / "model", place / "other")
    Pages.read(str(place / "new.tsv")).write(place / f"same.{ending}")
    update_model(place / "other", [str(place / f"same.{ending}")], Stream(every=120))
    update_model(place / "model", [str(place / "new.tsv")])
    assert bits_of(place / "other") == bits_of(place / "model")


# A snapshot that was cut short.


def test_of_a_damaged_model_the_snapshot_before_goes_on_and_it_is_said(place: Path) -> None:
    log, said = str(place / "new.tsv"), list[str]()
    shutil.copytree(place / "model", place / "whole")
    update_model(place / "whole", [log])
    update_model(place / "model", [log], Stream(every=200))
    data = (place / "model" / ARRAYS).read_bytes()
    (place / "model" / ARRAYS).write_bytes(data[: len(data) // 2])
    told = update_model(place / "model", [log], warn=said.append)
    assert len(said) == 1
    assert "not a usable model" in said[0]
    assert "Going on from model.previous, which had learnt from 600 pages." in said[0]
    assert (told.pages, told.before, told.in_all) == (100, 400, 700)
    assert bits_of(place / "model") == bits_of(place / "whole")


def test_a_damaged_model_is_mended_even_without_new_pages(place: Path) -> None:
    update_model(place / "model", [str(place / "new.tsv")], Stream(every=500))
    (place / "model" / ARRAYS).write_bytes(b"")
    (place / "empty.tsv").write_text(HEADER, encoding="utf-8")
    assert update_model(place / "model", [str(place / "empty.tsv")]).pages == 0
    assert load(place / "model").pages_seen_ == 200


def test_a_damaged_model_without_another_is_refused(place: Path) -> None:
    (place / "model" / ARRAYS).write_bytes(b"")
    with pytest.raises(ModelCorruptError, match="not a usable model"):
        update_model(place / "model", [str(place / "new.tsv")])


def test_a_full_disk_leaves_the_last_snapshot(place: Path, monkeypatch) -> None:
    write = Path.write_bytes
    written = []

    def full(self: Path, data: bytes) -> int:
        written.append(self)
        if len(written) > 4:  # two files each
            raise OSError(28, "No space left on device")
        return write(self, data)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        with pytest.raises(FormatError, match="No space left on device"):
            update_model(place / "model", [str(place / "new.tsv")], Stream(every=100))
    assert load(place / "model").pages_seen_ == 400
    assert load(place / "model.previous").pages_seen_ == 300
    assert update_model(place / "model", [str(place / "new.tsv")]).pages == 300


def test_only_click_models_are_updated(place: Path) -> None:
    save(CRF().fit([[["a"], ["b"]]], [["O", "B-x"]]), place / "tagger")
    with pytest.raises(InputError, match="a CRF is not a click model"):
        update_model(place / "tagger", [str(place / "new.tsv")])


# What logs are told by.


def test_a_model_remembers_many_logs_and_not_more(tmp_path: Path) -> None:
    held = [{"beginning": 1, "digest": f"{number:x}", "pages": 1} for number in range(MOST)]
    marks = Marks(held)
    write_log(tmp_path / "log.tsv", 0, 1)
    marks.of(tmp_path / "log.tsv")
    kept = marks.to_list()
    assert len(kept) == MOST
    assert kept[0]["digest"] == "1"


def test_a_mark_holds_no_word_of_the_log_and_no_folder(tmp_path: Path) -> None:
    write_log(tmp_path / "log.tsv", 0, 1)
    marks = Marks()
    marks.of(tmp_path / "log.tsv")
    (mark,) = marks.to_list()
    assert mark["beginning"] < BEGINNING
    assert len(mark["digest"]) == 64
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(tmp_path / "log.tsv", tmp_path / "elsewhere" / "log.tsv")
    assert Marks(marks.to_list()).of(tmp_path / "elsewhere" / "log.tsv").digest == mark["digest"]
    shutil.copy(tmp_path / "log.tsv", tmp_path / "other.tsv")
    assert Marks(marks.to_list()).of(tmp_path / "other.tsv").digest != mark["digest"]


@pytest.mark.parametrize("said", ["", "often", "0.1,0.2,0.3", "0.1,"])
def test_what_says_nothing_of_forgetting_is_refused(said: str) -> None:
    with pytest.raises(InputError, match="--forget takes auto, a share, or two"):
        forgetting(said)


def test_forgetting_that_finds_its_rate_goes_on_from_a_snapshot_to_the_same_bits(
    place: Path,
) -> None:
    log, how = place / "new.tsv", Stream(forget="auto", every=100)
    whole, cut = place / "whole", place / "cut"
    shutil.copytree(place / "model", whole)
    shutil.copytree(place / "model", cut)
    update_model(whole, [str(log)], how)
    good = log.read_text(encoding="utf-8")
    rows = lines(200, 700)
    rows[350] = "s\t1\tq\ta b\t1\n"
    log.write_text(HEADER + "".join(rows), encoding="utf-8")
    with pytest.raises(RecordError, match="row 352"):
        update_model(cut, [str(log)], how)
    assert load_click_model(cut).pages_seen_ == 500
    log.write_text(good, encoding="utf-8")
    update_model(cut, [str(log)], how)
    assert bits_of(cut) == bits_of(whole)
    assert load_click_model(cut).rate_ in load_click_model(cut).rates_tried_
