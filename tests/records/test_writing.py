"""Writing utterances: what is read back is what was written, or writing says that it cannot be."""

from __future__ import annotations

import gzip
import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purport.errors import FormatError, InputError, OutputExistsError, PurportWarning, ShapeError
from purport.records.utterances import Utterances

KINDS = ["jsonl", "tsv", "iob"]
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
WORD = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\0"), min_size=1, max_size=5
)
TAG = st.sampled_from(["O", "B-x", "I-x", "B-é-y"])
PROBABILITY = st.floats(0, 1)


@st.composite
def utterances(draw: st.DrawFn, text: st.SearchStrategy[str], shortest: int = 0) -> Utterances:
    tokens = draw(st.lists(st.lists(text, min_size=shortest, max_size=4), max_size=4))

    def column(values: st.SearchStrategy[str]) -> list[str | None] | None:
        held = st.lists(st.none() | values, min_size=len(tokens), max_size=len(tokens))
        return draw(st.none() | held)

    def tags() -> list[list[str | None]]:
        return [draw(st.lists(st.none() | TAG, min_size=len(s), max_size=len(s))) for s in tokens]

    talk = Utterances.from_lists(
        tokens,
        slots=tags() if draw(st.booleans()) else None,
        intents=column(text),
        domains=column(text),
        ids=column(text),
    )
    if draw(st.booleans()):
        return talk
    sure: list[Any] = [
        draw(PROBABILITY | st.lists(PROBABILITY, min_size=len(s), max_size=len(s))) for s in tokens
    ]
    return talk.with_labels(tags(), sure)


def read_back(talk: Utterances, folder: Path, ending: str) -> Utterances:
    path = folder / f"talk.{ending}"
    talk.write(path)
    return Utterances.read(path)


@given(talk=utterances(ANY_TEXT), packed=st.booleans())
def test_json_lines_carry_everything(
    tmp_path_factory: pytest.TempPathFactory, talk: Utterances, packed: bool
) -> None:
    folder = tmp_path_factory.mktemp("talk")
    assert read_back(talk, folder, "jsonl.gz" if packed else "jsonl") == talk


@given(talk=utterances(WORD.filter(lambda word: word != "_")))
def test_tsv_carries_words(tmp_path_factory: pytest.TempPathFactory, talk: Utterances) -> None:
    folder = tmp_path_factory.mktemp("talk")
    assert read_back(talk, folder, "tsv") == talk
    assert read_back(Utterances.read(folder / "talk.tsv"), folder, "jsonl") == talk


@given(talk=utterances(WORD, shortest=1))
def test_iob_carries_words(tmp_path_factory: pytest.TempPathFactory, talk: Utterances) -> None:
    folder = tmp_path_factory.mktemp("talk")
    again = read_back(talk, folder, "iob")
    assert again == talk
    assert list(again.rows()) == list(talk.rows())
    assert read_back(again, folder, "jsonl") == talk


@given(talk=utterances(ANY_TEXT), kind=st.sampled_from(["tsv", "iob"]))
def test_other_kinds_carry_all_or_refuse(
    tmp_path_factory: pytest.TempPathFactory, talk: Utterances, kind: str
) -> None:
    bare = Utterances.from_lists(talk.tokens, talk.slots, talk.intents, talk.domains, talk.ids)
    folder = tmp_path_factory.mktemp("talk")
    try:
        again = read_back(bare, folder, kind)
    except FormatError:
        assert not (folder / f"talk.{kind}").exists()
    else:
        assert again == bare


@pytest.mark.parametrize(
    ("kind", "fields", "reason"),
    [
        ("tsv", {"tokens": ["new york"]}, "holds a space"),
        ("tsv", {"tokens": ["a\tb"]}, "tab"),
        ("tsv", {"tokens": ["a\rb"]}, "line end"),
        ("tsv", {"tokens": ["a\0"]}, "NUL"),
        ("tsv", {"tokens": [""]}, "empty"),
        ("tsv", {"tokens": ["a"], "slots": ["_"]}, "reads as unknown"),
        ("tsv", {"tokens": ["a"], "intent": ""}, "empty string"),
        ("tsv", {"tokens": ["a"], "intent": "x\ny"}, "line end"),
        ("iob", {"tokens": ["a\tb"]}, "tab"),
        ("iob", {"tokens": ["a\nb"]}, "line end"),
        ("iob", {"tokens": [""]}, "empty"),
        ("iob", {"tokens": ["-DOCSTART-"]}, "DOCSTART"),
        ("iob", {"tokens": []}, "no tokens"),
        ("iob", {"tokens": ["a"], "slots": ["_"]}, "reads as unknown"),
        ("iob", {"tokens": ["a"], "id": "x\ty"}, "tab"),
        ("iob", {"tokens": ["a"], "strange name": 1}, "name of a field"),
        ("iob", {"tokens": ["a"], "labels": "x"}, "labels"),
        ("iob", {"tokens": ["a"], "columns": "tokens labels"}, "names of the columns"),
    ],
)
def test_what_a_kind_cannot_carry(
    tmp_path: Path, kind: str, fields: dict[str, Any], reason: str
) -> None:
    given_ = tmp_path / "given.jsonl"
    given_.write_text('{"tokens":["fine"]}\n' + json.dumps(fields), encoding="utf-8")
    target = tmp_path / f"out.{kind}"
    target.write_text("old", encoding="utf-8")
    talk = Utterances.read(given_)
    with pytest.raises(FormatError, match=rf"cannot carry record 2: .*{reason}.*\.jsonl"):
        talk.write(target)
    assert target.read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["given.jsonl", target.name]
    assert read_back(talk, tmp_path, "jsonl") == talk


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_fields_are_kept(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "given.jsonl"
    fields = {"tokens": ["a"], "text": "A", "fold": 3, "note": "n n", "more": {"x": [1, None]}}
    path.write_text(json.dumps(fields) + '\n{"text":"b"}\n', encoding="utf-8")
    lost = f"{kind.upper()} has text alone: numbers, lists and the like in 'fold', 'more' come back"
    with nullcontext() if kind == "jsonl" else pytest.warns(PurportWarning, match=lost):
        rows = list(read_back(Utterances.read(path), tmp_path, kind).rows())
    if kind == "jsonl":
        assert rows == [fields, {"tokens": ["b"], "text": "b"}]
    else:
        told = {"tokens": ["a"], "text": "A", "fold": "3", "note": "n n"}
        assert rows == [told | {"more": '{"x": [1, null]}'}, {"tokens": ["b"], "text": "b"}]


def test_iob_has_gold_then_predicted(tmp_path: Path) -> None:
    talk = Utterances.from_lists([["to", "rome"]], slots=[["O", "B-city"]], ids=["a"])
    told = talk.with_labels([["O", None]], [0.5])
    assert "".join(told.lines("iob")) == (
        "# columns = tokens slots labels\n"
        "# id = a\n# probability = 0.5\nto\tO\tO\nrome\tB-city\t_\n\n"
    )
    bare = Utterances.from_lists([["stop"]]).with_labels([["O"]])
    assert "".join(bare.lines("iob")) == "# columns = tokens labels\nstop\tO\n\n"
    assert "".join(talk.lines("iob")) == "# id = a\nto\tO\nrome\tB-city\n\n"


def test_labels_are_added_and_nothing_is_lost(tmp_path: Path) -> None:
    talk = Utterances.from_lists([["to", "rome"], []], slots=[["O", "B-city"], []], ids=["a", "b"])
    told = talk.with_labels([["O", "O"], []], [[0.5, 0.25], []])
    assert (talk.labels, talk.probability) == (None, None)
    assert (told.slots, told.labels) == (talk.slots, [["O", "O"], []])
    first = {"id": "a", "tokens": ["to", "rome"], "slots": ["O", "B-city"]}
    assert next(told.rows()) == first | {"labels": ["O", "O"], "probability": [0.5, 0.25]}
    for kind in ("jsonl", "tsv"):  # IOB has no way to say that there are no tokens
        again = read_back(told, tmp_path, kind)
        assert again == told
        assert (again.labels, again.probability) == (told.labels, told.probability)
    assert told.with_labels([["B-x", "O"], []]).probability is None


@pytest.mark.parametrize(
    ("labels", "probability", "wrong"),
    [
        ([["O"]], None, "labels has length 1"),
        ([["O"], ["O"]], None, r"labels\[1\] has length 1"),
        ([["O"], ["O", 3]], None, r"Record 2: labels\[1\] is a number"),
        ([["O"], "OO"], None, "Record 2: labels is a string"),
        ([["O"], ["O", "O"]], [0.5], "probability has length 1"),
        ([["O"], ["O", "O"]], [0.5, [0.5]], "Record 2: probability"),
        ([["O"], ["O", "O"]], [float("nan"), 0.5], "Record 1: probability"),
        ([["O"], ["O", "O"]], [True, 0.5], "Record 1: probability"),
    ],
)
def test_labels_that_do_not_fit(labels: Any, probability: Any, wrong: str) -> None:
    talk = Utterances.from_lists([["a"], ["b", "c"]])
    with pytest.raises(InputError, match=wrong):
        talk.with_labels(labels, probability)


def test_same_bytes_every_time(tmp_path: Path) -> None:
    talk = Utterances.from_lists([["a"]])
    for name in ("x.jsonl.gz", "y.jsonl.gz"):
        talk.write(tmp_path / name)
    assert (tmp_path / "x.jsonl.gz").read_bytes() == (tmp_path / "y.jsonl.gz").read_bytes()
    assert gzip.decompress((tmp_path / "x.jsonl.gz").read_bytes()) == b'{"tokens":["a"]}\n'


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("talk.csv", "unknown kind"),
        ("talk.txt", "unknown kind"),
        ("talk", "unknown kind"),
        ("absent/talk.jsonl", "no such folder"),
        ("folder.jsonl", "a folder has that name"),
    ],
)
def test_targets_that_do_not_work(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(FormatError, match=reason):
        Utterances.from_lists([["a"]]).write(tmp_path / name)


def test_existing_file_can_be_kept(tmp_path: Path) -> None:
    talk = Utterances.from_lists([["a"]])
    talk.write(tmp_path / "a.jsonl")
    talk.write(tmp_path / "a.jsonl")
    with pytest.raises(OutputExistsError):
        talk.write(tmp_path / "a.jsonl", overwrite=False)


def test_arrow_table(tmp_path: Path) -> None:
    path = tmp_path / "given.jsonl"
    content = (
        '{"tokens":["a","b"],"slots":["O",null],"fold":3,"odd":1}\n{"tokens":[],"odd":"x","id":"i"}'
    )
    path.write_text(content, encoding="utf-8")
    talk = Utterances.read(path).with_labels([["O", "O"], []], [0.5, 0.25])
    table = talk.to_arrow()
    assert table.to_pydict() == {
        "id": [None, "i"],
        "tokens": [["a", "b"], []],
        "slots": [["O", None], []],
        "labels": [["O", "O"], []],
        "fold": [3, None],
        "odd": ["1", '"x"'],
        "probability": [0.5, 0.25],
    }
    assert talk[1:].to_arrow().num_rows == 1
    assert talk[[]].to_arrow().num_rows == 0
    mixed = talk.with_labels([["O", "O"], []], [[0.5, 0.5], 0.25]).to_arrow()
    assert mixed["probability"].to_pylist() == ["[0.5, 0.5]", "0.25"]


def test_lists_that_do_not_fit() -> None:
    with pytest.raises(ShapeError, match="intent has length 1"):
        Utterances.from_lists([["a"], ["b"]], intents=["x"])
    with pytest.raises(InputError, match="row 2: there are 1 tokens but 2 slots"):
        Utterances.from_lists([["a"], ["b"]], slots=[["O"], ["O", "O"]])
    with pytest.raises(InputError, match="row 1: tokens is a string"):
        Utterances.from_lists(["fly away"])
    with pytest.raises(InputError, match="surrogate"):
        Utterances.from_lists([["a"], ["\ud800"]])
    with pytest.raises(InputError, match="surrogate"):
        Utterances.from_lists([["a"]], ids=["\ud800"])
