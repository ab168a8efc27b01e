"""Labelling in batches gives what labelling at once gives, in every kind of file."""

from __future__ import annotations

import pytest

from purport.errors import FormatError, InputError, OutputExistsError
from purport.records.streams import write_batches
from purport.records.utterances import Utterances
from purport.sequence.crf import CRF
from purport.simulate.utterances import utterance_world
from purport.store.folders import save
from purport.study.labelling import label_batches, load_labeller


@pytest.fixture(scope="module")
def model():
    return CRF(max_iter=100, n_threads=1).fit(utterance_world(100, 1))


def cut(talk, size):
    return (talk[start : start + size] for start in range(0, len(talk), size))


@pytest.mark.parametrize("name", ["x.jsonl", "x.tsv", "x.iob", "x.jsonl.gz", "x.tsv.gz"])
def test_batches_are_written_as_one_whole(tmp_path, name):
    talk = utterance_world(25, 1)
    assert write_batches(cut(talk, 7), tmp_path / f"parts-{name}") == 25
    talk.write(tmp_path / f"whole-{name}")
    parts, whole = (tmp_path / f"{how}-{name}" for how in ("parts", "whole"))
    assert parts.read_bytes() == whole.read_bytes()


def test_a_table_has_the_columns_of_all_batches(tmp_path):
    plain = Utterances.from_lists([["a"]])
    rich = Utterances.from_lists([["b"]], ids=["x"], intents=["go"])
    told = plain.with_labels([["O"]], [0.5])
    write_batches([plain, told, rich], tmp_path / "x.tsv")
    lines = (tmp_path / "x.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "id\ttokens\tslots\tintent\tlabels\tprobability"
    assert lines[3] == "x\tb\t\tgo\t\t"


def test_batches_of_iob_name_their_columns_where_these_change(tmp_path):
    plain = Utterances.from_lists([["a"]], slots=[["O"]])
    told = plain.with_labels([["B-x"]])
    bare = Utterances.from_lists([["b"]]).with_labels([["B-x"]])
    assert write_batches([plain, told, told, bare, plain], tmp_path / "x.iob") == 5
    lines = (tmp_path / "x.iob").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        "# columns = tokens slots labels",
        "# columns = tokens labels",
        "# columns = tokens slots",
    ]
    talk = Utterances.read(tmp_path / "x.iob")
    assert talk.slots == [["O"], ["O"], ["O"], [None], ["O"]]
    assert talk.labels == [[None], ["B-x"], ["B-x"], ["B-x"], [None]]


def test_no_batches_give_an_empty_file(tmp_path):
    assert write_batches([], tmp_path / "x.jsonl") == 0
    assert (tmp_path / "x.jsonl").read_bytes() == b""
    assert write_batches([], tmp_path / "x.tsv") == 0
    assert len(Utterances.read(tmp_path / "x.tsv")) == 0


def test_a_failing_batch_leaves_nothing_behind(tmp_path):
    def batches():
        yield Utterances.from_lists([["a"]])
        raise InputError("the second batch is bad")

    for name in ("x.jsonl", "x.tsv"):
        with pytest.raises(InputError):
            write_batches(batches(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_what_stands_there_is_kept(tmp_path):
    (tmp_path / "x.jsonl").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputExistsError):
        write_batches([], tmp_path / "x.jsonl", overwrite=False)
    with pytest.raises(FormatError, match="unknown kind"):
        write_batches([], tmp_path / "x.pdf")


def test_the_size_of_batches_does_not_matter(tmp_path, model):
    talk = utterance_world(30, 2)
    talk.write(tmp_path / "x.jsonl")
    whole = model.label(talk)
    for size in (1, 7, 100):
        batches = list(label_batches(model, tmp_path / "x.jsonl", size))
        assert [tags for batch in batches for tags in batch.labels] == whole.labels
        sure = [share for batch in batches for share in batch.probability]
        assert sure == pytest.approx(whole.probability, rel=1e-12)


def test_a_labeller_works_with_the_threads_asked_for(tmp_path, model):
    save(model, tmp_path / "model")
    assert load_labeller(tmp_path / "model", 2).n_threads == 2


def test_other_models_do_not_label(tmp_path):
    from purport.features.token_windows import TokenWindows

    windows = TokenWindows().fit(Utterances.from_lists([["a"]]))
    save(windows, tmp_path / "windows")
    with pytest.raises(InputError, match="TokenWindows does not label records"):
        load_labeller(tmp_path / "windows")
