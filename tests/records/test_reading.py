"""Reading utterances: kinds, packing, pipes, and every way in which a source can be bad."""

from __future__ import annotations

import copy
import gzip
import io
import json
import os
import subprocess
import sys
import threading
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from purport.errors import (
    FormatError,
    InputError,
    ParameterError,
    PurportError,
    RecordError,
    SkippedRowsWarning,
)
from purport.records import sources
from purport.records.utterances import Utterances

JSONL = (
    '{"id":"a","tokens":["fly","to","rome"],"slots":["O","O","B-city"],"intent":"flight"}\n'
    '{"id":"b","text":"good  morning","domain":"talk"}\n'
)
TSV = "id\ttokens\tslots\tintent\tdomain\na\tfly to rome\tO O B-city\tflight\t\n"
IOB = "fly O\nto O\nrome B-city\n\nstop O\n"


def put(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    data = content.encode("utf-8") if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def row(**fields: Any) -> str:
    return json.dumps(fields) + "\n"


def test_json_lines_give_all_columns(tmp_path: Path) -> None:
    talk = Utterances.read(put(tmp_path, "talk.jsonl", JSONL))
    assert talk.tokens == [["fly", "to", "rome"], ["good", "morning"]]
    assert talk.slots == [["O", "O", "B-city"], [None, None]]
    assert talk.intents == ["flight", None]
    assert talk.domains == [None, "talk"]
    assert talk.ids == ["a", "b"]
    assert talk.skipped == 0
    assert (len(talk), talk.shape) == (2, (2,))


def test_columns_are_typed_and_frozen(tmp_path: Path) -> None:
    talk = Utterances.read(put(tmp_path, "talk.jsonl", JSONL))
    assert talk.vocabulary == ["fly", "to", "rome", "good", "morning"]
    assert talk.token_codes.dtype == np.int32
    assert talk.offsets.tolist() == [0, 3, 5]
    assert talk.offsets.dtype == np.int64
    assert talk.slot_codes is not None
    assert talk.slot_codes.tolist() == [0, 0, 1, -1, -1]
    assert talk.slot_vocabulary == ["O", "B-city"]
    for array in (talk.token_codes, talk.offsets, talk.slot_codes, talk[1:].token_codes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize(
    ("ending", "content"),
    [
        (".jsonl", JSONL),
        (".json", JSONL),
        (".ndjson", JSONL),
        (".JSONL", JSONL),
        (".tsv", TSV),
        (".iob", IOB),
        (".bio", IOB),
        (".conll", IOB),
        ("", JSONL),
        (".txt", JSONL),
        (".txt", TSV),
        (".txt", IOB),
    ],
)
def test_kinds_by_ending(tmp_path: Path, ending: str, content: str, packed: str) -> None:
    talk = Utterances.read(put(tmp_path, f"talk{ending}{packed}", content))
    assert talk.tokens[0] == ["fly", "to", "rome"]
    assert talk.slots is not None
    assert talk.slots[0] == ["O", "O", "B-city"]


def test_gz_is_known_by_its_bytes(tmp_path: Path) -> None:
    path = put(tmp_path, "talk.jsonl", gzip.compress(JSONL.encode()) * 2)
    assert len(Utterances.read(path)) == 4


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("content", [JSONL, TSV, IOB, "\n \n" + JSONL, "\ufeff" + TSV])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, content: str, pack: Any) -> None:
    given = io.TextIOWrapper(io.BytesIO(pack(content.encode("utf-8"))))
    monkeypatch.setattr(sys, "stdin", given)
    assert Utterances.read("-").tokens[0] == ["fly", "to", "rome"]


@pytest.mark.parametrize("content", [b"", b"\n", gzip.compress(b"")])
def test_empty_standard_input(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert len(Utterances.read("-")) == 0


def test_standard_input_of_unknown_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a secret\tsentence\n")))
    with pytest.raises(FormatError, match=r"<stdin>: .*JSON lines, TSV with a column") as caught:
        Utterances.read("-")
    assert "secret" not in str(caught.value)


def test_no_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(FormatError, match="no standard input"):
        Utterances.read("-")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are a POSIX thing")
def test_slow_named_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)

    def feed() -> None:
        with path.open("wb", buffering=0) as file:
            for byte in JSONL.encode():
                file.write(bytes([byte]))

    feeder = threading.Thread(target=feed)
    feeder.start()
    talk = Utterances.read(path)
    feeder.join()
    assert talk.ids == ["a", "b"]


def test_list_of_paths(tmp_path: Path) -> None:
    paths = [put(tmp_path, "a.jsonl", JSONL), str(put(tmp_path, "b.tsv", TSV))]
    assert Utterances.read(paths).ids == ["a", "b", "a"]
    assert Utterances.read(tuple(paths)).ids == ["a", "b", "a"]


@pytest.mark.parametrize("ending", ["jsonl", "tsv", "iob", "txt", "jsonl.gz"])
def test_empty_file_has_no_utterances(tmp_path: Path, ending: str) -> None:
    talk = Utterances.read(put(tmp_path, f"none.{ending}", ""))
    assert (len(talk), talk.tokens, talk.slots, talk.ids) == (0, [], None, None)
    assert len(talk[[]]) == len(talk[:5]) == 0


@pytest.mark.parametrize("content", [JSONL, TSV, IOB])
def test_byte_order_mark_and_windows_line_ends(tmp_path: Path, content: str) -> None:
    kind = {JSONL: "jsonl", TSV: "tsv", IOB: "iob"}[content]
    strange = "\ufeff" + content.replace("\n", "\r\n")
    talk = Utterances.read(put(tmp_path, f"strange.{kind}", strange))
    assert talk == Utterances.read(put(tmp_path, f"plain.{kind}", content))


def test_other_separators_of_lines_are_part_of_the_text(tmp_path: Path) -> None:
    tokens = ["a\u2028b", "c\x85d", "e\x0bf", "g\xa0h"]
    path = put(tmp_path, "odd.tsv", "tokens\tid\n" + " ".join(tokens) + "\tx\n")
    assert Utterances.read(path).tokens == [tokens]


def test_no_tokens_is_an_utterance(tmp_path: Path) -> None:
    content = row(tokens=[]) + row(text=" \t ") + row(tokens=[], slots=[])
    talk = Utterances.read(put(tmp_path, "talk.jsonl", content))
    assert talk.tokens == [[], [], []]
    cells = Utterances.read(put(tmp_path, "talk.tsv", "id\ttext\na\t\n\nb\t  \n"))
    assert (cells.tokens, cells.ids) == ([[], []], ["a", "b"])


def test_null_is_missing_and_numbers_are_ids(tmp_path: Path) -> None:
    content = row(id=7, tokens=["a", "b"], slots=["O", None], intent=None) + row(
        id=None, text="c", slots=None
    )
    talk = Utterances.read(put(tmp_path, "talk.jsonl", content))
    assert talk.slots == [["O", None], [None]]
    assert (talk.intents, talk.ids) == (None, ["7", None])


def test_tokens_go_before_text(tmp_path: Path) -> None:
    talk = Utterances.read(put(tmp_path, "talk.jsonl", row(text="don't", tokens=["do", "n't"])))
    assert talk.tokens == [["do", "n't"]]
    assert list(talk.rows()) == [{"tokens": ["do", "n't"], "text": "don't"}]


def test_duplicate_keys_take_the_last(tmp_path: Path) -> None:
    path = put(tmp_path, "talk.jsonl", '{"tokens":["a"],"tokens":["b"]}')
    assert Utterances.read(path).tokens == [["b"]]


def test_labels_of_others_do_not_disturb(tmp_path: Path) -> None:
    content = row(tokens=["a"], labels=3, probability="high") + row(tokens=["b"], labels=["x", "y"])
    talk = Utterances.read(put(tmp_path, "talk.jsonl", content))
    assert (talk.labels, talk.probability) == (None, None)
    assert next(talk.rows()) == {"tokens": ["a"], "labels": 3, "probability": "high"}
    told = talk.with_labels([["O"], ["O"]], [0.5, 0.25])
    assert next(told.rows()) == {"tokens": ["a"], "labels": ["O"], "probability": 0.5}


BAD_ROWS = {
    "lengths": (row(tokens=["a", "secret"], slots=["O"]), "2 tokens but 1 slots"),
    "text lengths": (row(text="a secret", slots=["O"]), "2 tokens but 1 slots"),
    "missing": (row(id="secret"), "neither tokens nor text"),
    "null": (row(tokens=None, text=None), "neither tokens nor text"),
    "tokens a string": (row(tokens="secret"), "tokens is a string, not an array"),
    "token true": (row(tokens=["secret", True]), r"tokens\[1\] is true or false"),
    "token number": (row(tokens=["secret", 3.5]), r"tokens\[1\] is a number"),
    "token null": (row(tokens=[None]), r"tokens\[0\] is null"),
    "token list": (row(tokens=[["secret"]]), r"tokens\[0\] is an array"),
    "text a number": (row(text=3), "text is a number"),
    "slot a number": (row(tokens=["secret"], slots=[1]), r"slots\[0\] is a number"),
    "slots a string": (row(tokens=["secret"], slots="O"), "slots is a string"),
    "intent a list": (row(tokens=["a"], intent=["secret"]), "intent is an array"),
    "domain true": (row(tokens=["a"], domain=True), "domain is true or false"),
    "id true": (row(tokens=["a"], id=True), "id is true or false"),
    "not an object": ('["secret"]\n', "the line is an array"),
    "true": ("true\n", "the line is true or false"),
    "invalid": ('{"tokens": ["secret"]\n', "not valid JSON at column"),
    "words": ("secret\n", "not valid JSON at column 1"),
    "two objects": ('{"text":"secret"} {"text":"b"}\n', "not valid JSON"),
    "deep": ("[" * 100_000 + "\n", "nested too deeply"),
    "long number": ('{"text":"a","n":' + "1" * 5000 + "}\n", "not valid JSON"),
    "half a pair": ('{"tokens":["secret","\\ud83d"]}\n', "half of a surrogate pair"),
    "NUL": ('{"text":"sec\0ret"}\n', "NUL"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_bad_json_row(tmp_path: Path, case: str) -> None:
    bad, reason = BAD_ROWS[case]
    path = put(tmp_path, "talk.jsonl", "\n" + row(text="good") + bad + row(text="too"))
    with pytest.raises(RecordError, match=reason) as caught:
        Utterances.read(path)
    assert (caught.value.source, caught.value.row) == (str(path), 3)
    assert "secret" not in str(caught.value)
    with pytest.warns(SkippedRowsWarning, match="1 bad rows were left out") as told:
        talk = Utterances.read(path, on_error="skip")
    assert (talk.tokens, talk.skipped, len(told)) == ([["good"], ["too"]], 1, 1)
    assert f"{path}, row 3: " in str(told[0].message)
    assert "secret" not in str(told[0].message)


def test_whole_surrogate_pairs_are_characters(tmp_path: Path) -> None:
    path = put(tmp_path, "talk.jsonl", '{"tokens":["\\ud83d\\ude00","\\ud55c"]}')
    assert Utterances.read(path).tokens == [["😀", "한"]]


BAD_CELLS = {
    "too few": ("only", "it has 1 cells, the header names 3"),
    "too many": ("a\tb\tO\tsecret", "it has 4 cells"),
    "lengths": ("a\ta secret\tO", "2 tokens but 1 slots"),
    "NUL": ("a\tsec\0ret\tO", "NUL"),
}


@pytest.mark.parametrize("case", BAD_CELLS)
def test_bad_tsv_row(tmp_path: Path, case: str) -> None:
    bad, reason = BAD_CELLS[case]
    path = put(tmp_path, "talk.tsv", f"id\ttokens\tslots\na\tb\tO\n{bad}\n\nc\td\t_\n")
    with pytest.raises(RecordError, match=rf"row 3: .*{reason}") as caught:
        Utterances.read(path)
    assert "secret" not in str(caught.value)
    with pytest.warns(SkippedRowsWarning):
        talk = Utterances.read(path, on_error="skip")
    assert (talk.ids, talk.slots, talk.skipped) == (["a", "c"], [["O"], [None]], 1)


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("id\tintent", "names no column 'tokens' or 'text'"),
        ("text\tid\tid", "twice"),
        ("text\t\tid", "not at all"),
        ("te\0xt", "NUL"),
    ],
)
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_bad_tsv_header(tmp_path: Path, header: str, reason: str, on_error: Any) -> None:
    with pytest.raises(FormatError, match=reason):
        Utterances.read(put(tmp_path, "talk.tsv", header + "\na\tb\tc\n"), on_error)


def test_header_that_is_not_utf8(tmp_path: Path) -> None:
    path = put(tmp_path, "talk.tsv", "text\n".encode("utf-16"))
    with pytest.raises(FormatError, match="row 1: the bytes are not UTF-8"):
        Utterances.read(path, on_error="skip")


def test_iob_dialects(tmp_path: Path) -> None:
    content = (
        "-DOCSTART- -X- O\n\n"
        "# id = a\n# intent = ask\nnew york\tNNP\tB-city\n#\t:\t_\n\n\n"
        "stop VB   O\n   \n"
        "# O O\n"
    )
    talk = Utterances.read(put(tmp_path, "talk.conll", content))
    assert talk.tokens == [["new york", "#"], ["stop"], ["#"]]
    assert talk.slots == [["B-city", None], ["O"], ["O"]]
    assert (talk.ids, talk.intents) == (["a", None, None], ["ask", None, None])


def test_iob_columns_that_are_named(tmp_path: Path) -> None:
    content = (
        "# id = a\n# columns = tokens slots labels\nrome\tB-city\tO\n\n"
        "# columns = tokens labels\nstop O\n\nto _\n\n"
        "# columns = labels\n# columns = tokens slots\n# id = d\nrome B-city\n"
    )
    talk = Utterances.read(put(tmp_path, "talk.iob", content))
    assert talk.tokens == [["rome"], ["stop"], ["to"], ["rome"]]
    assert talk.slots == [["B-city"], [None], [None], ["B-city"]]
    assert talk.labels == [["O"], ["O"], [None], [None]]
    assert talk.ids == ["a", None, None, "d"]
    assert [row.get("columns") for row in talk.rows()] == [None, None, None, "labels"]


@pytest.mark.parametrize("names", ["tokens POS slots", "tokens slots slots"])
def test_iob_columns_that_are_not_known(tmp_path: Path, names: str) -> None:
    path = put(tmp_path, "talk.iob", f"# columns = {names}\nrome NNP B-city\n")
    for on_error in ("raise", "skip"):
        with pytest.raises(FormatError, match="tokens, slots and labels"):
            Utterances.read(path, on_error=on_error)


def test_a_line_short_of_a_named_column_drops_its_record(tmp_path: Path) -> None:
    path = put(tmp_path, "talk.iob", "# columns = tokens slots labels\nrome O\n\nto O O\n")
    with pytest.raises(RecordError, match="row 2: it has 2 columns"):
        Utterances.read(path)
    with pytest.warns(SkippedRowsWarning):
        talk = Utterances.read(path, on_error="skip")
    assert (talk.tokens, talk.labels) == ([["to"]], [["O"]])


def test_iob_of_one_column_has_no_slots(tmp_path: Path) -> None:
    talk = Utterances.read(put(tmp_path, "talk.iob", "good\nmorning\n\nstop"))
    assert (talk.tokens, talk.slots) == ([["good", "morning"], ["stop"]], None)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"secret", "1 columns, the lines above have 2"),
        (b"\tO", "the token is empty"),
        (b"# slots = O\nsecret O", "may not set 'slots'"),
        (b"sec\0ret O", "NUL"),
    ],
)
def test_bad_iob_line_drops_its_record(tmp_path: Path, bad: bytes, reason: str) -> None:
    content = b"good O\n\n" + bad + b"\nand O\nmore\n\nlast O"
    path = put(tmp_path, "talk.iob", content)
    with pytest.raises(RecordError, match=rf"row 3: .*{reason}") as caught:
        Utterances.read(path)
    assert "secret" not in str(caught.value)
    with pytest.warns(SkippedRowsWarning, match="1 bad rows"):
        talk = Utterances.read(path, on_error="skip")
    assert talk.tokens == [["good"], ["last"]]


@pytest.mark.parametrize(
    ("kind", "content", "bad_row"),
    [
        ("jsonl", b'{"text":"a"}\n{"text":"\xff"}\n{"text":"b"}\n', 2),
        ("tsv", b"text\na\n\xff\nb\n", 3),
        ("iob", b"a O\n\n\xff O\nc O\n\nb O\n", 3),
    ],
)
def test_bytes_that_are_not_utf8(tmp_path: Path, kind: str, content: bytes, bad_row: int) -> None:
    path = put(tmp_path, f"talk.{kind}", content)
    with pytest.raises(FormatError, match=f"row {bad_row}: the bytes are not UTF-8"):
        Utterances.read(path)
    with pytest.warns(SkippedRowsWarning, match=f"row {bad_row}: the bytes are not UTF-8"):
        talk = Utterances.read(path, on_error="skip")
    assert (talk.tokens, talk.skipped) == ([["a"], ["b"]], 1)


def test_cut_gz(tmp_path: Path) -> None:
    lines = "".join(row(text=f"{number * 7919 % 10007}") for number in range(20_000))
    whole = gzip.compress(lines.encode())
    altered = whole[:-8] + b"\0\0\0\0" + whole[-4:]
    for data in (whole[: len(whole) // 2], whole[:-3], altered, whole[:10] + b"\xff" * 20):
        path = tmp_path / "cut.jsonl.gz"
        path.write_bytes(data)
        for on_error in ("raise", "skip"):
            with pytest.raises(FormatError, match=r"break after row \d+; the file was cut short"):
                Utterances.read(path, on_error=on_error)


@pytest.mark.parametrize("data", [b"", b"\x1f", b"\x1f\x8b", JSONL.encode()])
def test_gz_that_is_none(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(data)
    with pytest.raises(FormatError, match="break after row 0"):
        Utterances.read(path)


def test_long_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = row(text="word " * 1_000_000)
    path = put(tmp_path, "talk.jsonl", long + row(text="short"))
    assert [len(tokens) for tokens in Utterances.read(path).tokens] == [1_000_000, 1]
    monkeypatch.setattr(sources, "LONGEST_LINE", 1000)
    with pytest.raises(RecordError, match="row 1: the line is longer than 1000 bytes"):
        Utterances.read(path)
    with pytest.warns(SkippedRowsWarning):
        assert Utterances.read(path, on_error="skip").tokens == [["short"]]
    endless = put(tmp_path, "endless.jsonl", "x" * 5000)
    with pytest.warns(SkippedRowsWarning):
        assert len(Utterances.read(endless, on_error="skip")) == 0


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no such file"):
        Utterances.read(tmp_path / "absent.jsonl")
    with pytest.raises(FormatError, match="it is a folder"):
        Utterances.read(tmp_path)
    good = put(tmp_path, "talk.jsonl", JSONL)
    with pytest.raises(FormatError, match=r"unknown kind of file\. Known endings: \.jsonl\[\.gz\]"):
        # All names are checked before the first row is read.
        next(Utterances.batches([good, put(tmp_path, "talk.xlsx", "")]))


@pytest.mark.parametrize("source", [None, 3, {"a": 1}, np.zeros(3), [3], [], b"talk.jsonl"])
def test_no_source_at_all(source: Any) -> None:
    with pytest.raises(InputError, match=r"path|list of paths"):
        Utterances.read(source)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_forbidden_file(tmp_path: Path) -> None:
    path = put(tmp_path, "talk.jsonl", JSONL)
    path.chmod(0)
    with pytest.raises(FormatError, match="cannot be read"):
        Utterances.read(path)


def test_parameters_are_checked(tmp_path: Path) -> None:
    path = put(tmp_path, "talk.jsonl", JSONL)
    with pytest.raises(ParameterError, match="on_error"):
        Utterances.read(path, on_error="ignore")  # type: ignore[arg-type]
    for size in (0, -1, 2.5, True):
        with pytest.raises(ParameterError, match="size"):
            Utterances.batches(path, size=size)  # type: ignore[arg-type]


def test_many_bad_rows_give_one_short_warning(tmp_path: Path) -> None:
    paths = [put(tmp_path, f"{name}.jsonl", "x\n" * 50 + JSONL) for name in "ab"]
    with pytest.warns(SkippedRowsWarning) as told:
        talk = Utterances.read(paths, on_error="skip")
    assert (len(talk), talk.skipped, len(told)) == (4, 100, 1)
    message = str(told[0].message)
    assert message.startswith("100 bad rows were left out: ")
    assert message.endswith("and 95 more.")
    assert told[0].filename == __file__


def test_good_rows_give_no_warning(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Utterances.read(put(tmp_path, "a.jsonl", JSONL), on_error="skip").skipped == 0


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_batches_are_the_whole_in_pieces(tmp_path: Path, size: int) -> None:
    content = "".join(row(id=number, text="w " * number) + "bad\n" for number in range(7))
    path = put(tmp_path, "talk.jsonl", content)
    with pytest.warns(SkippedRowsWarning, match="7 bad rows"):
        batches = list(Utterances.batches(path, size, on_error="skip"))
    with pytest.warns(SkippedRowsWarning):
        whole = Utterances.read(path, on_error="skip")
    assert all(len(batch) == size for batch in batches[:-1])
    assert [fields for batch in batches for fields in batch.rows()] == list(whole.rows())
    assert sum(batch.skipped for batch in batches) <= 7


def test_batches_read_no_further_than_asked(tmp_path: Path) -> None:
    path = put(tmp_path, "talk.jsonl", row(text="a") * 3 + "bad\n")
    batches = Utterances.batches(path, 2)
    assert len(next(batches)) == 2
    with pytest.raises(RecordError, match="row 4"):
        next(batches)
    stopped = Utterances.batches(path, 1)
    next(stopped)
    stopped.close()  # type: ignore[attr-defined]


def test_errors_are_the_users_and_can_be_copied(tmp_path: Path) -> None:
    path = put(tmp_path, "talk.jsonl", "bad\n")
    with pytest.raises(PurportError) as caught:
        Utterances.read(path)
    assert caught.value.__suppress_context__
    again = copy.copy(caught.value)
    assert (str(again), vars(again)) == (str(caught.value), vars(caught.value))


def test_batches_hold_no_more_than_one_batch(tmp_path: Path) -> None:
    path = put(tmp_path, "talk.jsonl", "".join(row(text=f"w{n} " * 20) for n in range(5000)))
    tracemalloc.start()
    try:
        assert sum(map(len, Utterances.batches(path, 50))) == 5000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > 500_000
    assert peak < 1_000_000


def test_reading_loads_nothing_heavy(tmp_path: Path) -> None:
    path = put(tmp_path, "talk.jsonl", JSONL)
    code = (
        "import sys; from purport.records.utterances import Utterances;"
        "from purport.measure import slot_scores, paired_bootstrap;"
        f"talk = Utterances.read({str(path)!r}); talk[:1].write({str(tmp_path / 'a.tsv')!r});"
        "print(sorted({'pyarrow', 'sklearn', 'scipy', 'numba', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
