"""Kinds of text files: lines to fields by name, and fields to lines.

* JSON lines: one object a line; blank lines are passed over.
* Text: one text a line; read only, where a stream shows no other kind.
* TSV: a header names the columns; an empty cell is a missing value; nothing is quoted.
* IOB/CoNLL: one token a line, columns parted by tabs (or, where a line has none, by spaces), the
  slot in the last one, ``_`` for an unknown one, a blank line between records. Lines
  ``# name = value`` before the first token of a record are its other fields; ``-DOCSTART-`` lines
  are passed over. A line ``# columns = tokens slots labels`` there says what the columns hold from
  then on; it is written where there are predicted labels, so that these never read as slots.

What a kind has no way to write (a tab in a TSV cell, an empty token in IOB) raises; nothing is
changed silently. Values that are no text, in fields unknown to purport, come back from TSV and IOB
as text; a warning names these fields.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, chain
from types import MappingProxyType
from typing import Any

from purport.errors import FormatError, PurportWarning
from purport.records.sources import BadRowError, Faults, Line, NotTextError, Source

Fields = dict[str, Any]
Row = tuple[int, Fields]

NOTHING_RENAMED: Mapping[str, str] = MappingProxyType({})

UNKNOWN_LABEL = "_"
DOCUMENT_START = "-DOCSTART-"
COLUMNS = "columns"
"""The comment that names the columns of IOB."""
USUAL_COLUMNS = ("tokens", "slots")
"""What IOB is written with unless a comment says otherwise."""

TAGGED = frozenset({"tokens", "slots", "labels"})
"""The fields that hold one value a token."""

NUMBERS = frozenset({"t", "probability", "session.probability"})
"""The fields whose text is read as a number again."""

DEEPEST = 200
"""So deep JSON may be nested. Python's own bound depends on how deep the caller stands."""

_NO_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[^\[\]{}"]+', re.DOTALL)
_COMMENT = re.compile(r"# (\S+) = (.*)", re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_LINE_BREAKERS = frozenset("\t\n\r\0")
_JSON_WORDS = {
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "true or false",
    list: "an array",
    dict: "an object",
    type(None): "null",
}


def json_word(value: object) -> str:
    """Say what kind of JSON value something is."""
    return _JSON_WORDS.get(type(value), type(value).__name__)


def read_jsonl(lines: Iterable[Line], faults: Faults) -> Iterator[Row]:
    """Read one JSON object a line.

    Examples
    --------
    >>> list(read_jsonl([(1, '{"text": "stop"}')], Faults("raise", "example")))
    [(1, {'text': 'stop'})]
    """
    for row, line in lines:
        try:
            fields = _json_object(line)
        except BadRowError as bad:
            faults.add(row, bad)
            continue
        if fields is not None:
            yield row, fields


def read_text(lines: Iterable[Line], faults: Faults) -> Iterator[Row]:
    """Read one text a line; blank lines are passed over.

    Examples
    --------
    >>> list(read_text([(1, "play some jazz"), (2, "")], Faults("raise", "example")))
    [(1, {'text': 'play some jazz'})]
    """
    for row, line in lines:
        if isinstance(line, BadRowError):
            faults.add(row, line)
        elif line and not line.isspace():
            yield row, {"text": line}


def read_tsv(
    lines: Iterable[Line],
    faults: Faults,
    needed: tuple[str, ...],
    renamed: Mapping[str, str] = NOTHING_RENAMED,
) -> Iterator[Row]:
    r"""Read rows of cells under a header that holds at least one of the needed columns.

    `renamed` gives our names of columns that are called otherwise.

    Examples
    --------
    >>> lines = [(1, "id\ttext"), (2, "\tstop")]
    >>> list(read_tsv(lines, Faults("raise", "example"), needed=("text",)))
    [(2, {'text': 'stop'})]
    """
    each = iter(lines)
    header = read_header(each, faults.source, needed, renamed)
    yield from read_cells(each, header, faults)


def read_header(
    lines: Iterable[Line],
    source: str,
    needed: tuple[str, ...],
    renamed: Mapping[str, str] = NOTHING_RENAMED,
) -> list[str]:
    r"""Take the lines of TSV up to its header; return our names of its columns.

    Examples
    --------
    >>> read_header([(1, "id\ttext")], "example", needed=("text",))
    ['id', 'text']
    """
    for row, line in lines:
        if not _is_empty(line):
            return _tsv_header(row, line, source, needed, renamed)
    return []


def read_cells(lines: Iterable[Line], header: list[str], faults: Faults) -> Iterator[Row]:
    r"""Read rows of cells that stand under a header.

    Examples
    --------
    >>> list(read_cells([(2, "\tstop")], ["id", "text"], Faults("raise", "example")))
    [(2, {'text': 'stop'})]
    """
    for row, line in lines:
        if _is_empty(line):
            continue
        try:
            cells = _text(line).split("\t")
            if len(cells) != len(header):
                raise BadRowError(f"it has {len(cells)} cells, the header names {len(header)}")
        except BadRowError as bad:
            faults.add(row, bad)
            continue
        yield row, {name: cell for name, cell in zip(header, cells, strict=True) if cell}


def _is_empty(line: str | BadRowError) -> bool:
    return isinstance(line, str) and not line.strip(" ")


def read_iob(lines: Iterable[Line], faults: Faults) -> Iterator[Row]:
    """Read one token a line; a record has the number of its first line, or of its first bad one.

    Examples
    --------
    >>> list(read_iob([(1, "to O"), (2, "rome B-city")], Faults("raise", "example")))
    [(1, {'tokens': ['to', 'rome'], 'slots': ['O', 'B-city']})]
    >>> lines = [(1, "# columns = tokens labels"), (2, "rome B-city")]
    >>> list(read_iob(lines, Faults("raise", "example")))
    [(2, {'tokens': ['rome'], 'labels': ['B-city']})]
    """
    columns: tuple[str, ...] = ()
    fields = _no_tokens(columns)
    first, sound, width = 0, True, 0
    for row, line in chain(lines, [(0, "")]):
        if _is_empty(line):
            if sound and fields["tokens"]:
                yield first, fields
            fields, sound = _no_tokens(columns), True
            continue
        if not sound:
            continue
        if not fields["tokens"] and (named := _named_columns(line, faults.source)):
            columns, width = named, len(named)
            fields = _no_tokens(columns) | _without_columns(fields)
            continue
        try:
            found = _take_iob(_text(line), fields, columns)
            if found and found != (width := width or found):
                raise BadRowError(f"it has {found} columns, the lines above have {width}")
        except BadRowError as bad:
            sound = False
            faults.add(row, bad)
        first = row if len(fields["tokens"]) <= 1 else first


def write_jsonl(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    r"""Write one JSON object a line.

    Examples
    --------
    >>> list(write_jsonl([{"text": "stop"}]))
    ['{"text":"stop"}\n']
    """
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    for fields in rows:
        yield encode(fields) + "\n"


def write_tsv(
    rows: Iterable[Mapping[str, Any]], columns: list[str], spaced: frozenset[str]
) -> Iterator[str]:
    r"""Write a header and one line a row; `spaced` columns hold lists, parted by spaces.

    Examples
    --------
    >>> rows = [{"id": "a", "tokens": ["to", "rome"]}]
    >>> list(write_tsv(rows, ["id", "tokens"], frozenset({"tokens"})))
    ['id\ttokens\n', 'a\tto rome\n']
    """
    for name in columns:
        if not name or _LINE_BREAKERS.intersection(name):
            raise FormatError.cannot_carry("TSV", 1, "the name of a field is empty or holds a tab")
    yield "\t".join(columns) + "\n"
    made_text: set[str] = set()
    kept = spaced | NUMBERS
    for record, fields in enumerate(rows, start=1):
        try:
            cells = [_tsv_cell(name, fields.get(name), name in spaced) for name in columns]
        except BadRowError as bad:
            raise FormatError.cannot_carry("TSV", record, bad.reason) from None
        made_text.update(_not_text(fields, kept))
        yield "\t".join(cells) + "\n"
    _tell(made_text, "TSV")


def write_iob(
    rows: Iterable[Mapping[str, Any]],
    columns: tuple[str, ...] = USUAL_COLUMNS,
    before: tuple[str, ...] = USUAL_COLUMNS,
) -> Iterator[str]:
    r"""Write one token a line with the columns that are asked for.

    A comment names the columns unless they are those that stood `before` these rows.

    Examples
    --------
    >>> list(write_iob([{"tokens": ["stop"], "slots": ["O"]}]))
    ['stop\tO\n\n']
    >>> list(write_iob([{"tokens": ["stop"], "labels": ["O"]}], ("tokens", "labels")))
    ['# columns = tokens labels\n', 'stop\tO\n\n']
    """
    if columns != before:
        yield f"# {COLUMNS} = {' '.join(columns)}\n"
    made_text: set[str] = set()
    kept = TAGGED | NUMBERS
    for record, fields in enumerate(rows, start=1):
        try:
            yield _iob_block(fields, columns)
        except BadRowError as bad:
            raise FormatError.cannot_carry("IOB", record, bad.reason) from None
        made_text.update(_not_text(fields, kept))
    _tell(made_text, "IOB")


def _not_text(fields: Mapping[str, Any], kept: frozenset[str]) -> list[str]:
    return [
        name
        for name, value in fields.items()
        if not isinstance(value, str) and value is not None and name not in kept
    ]


def _tell(made_text: set[str], kind: str) -> None:
    if made_text:
        names = ", ".join(map(repr, sorted(made_text)))
        warnings.warn(
            f"{kind} has text alone: numbers, lists and the like in {names} come back as text."
            " JSON lines (.jsonl) and Parquet keep them.",
            PurportWarning,
            stacklevel=2,
        )


def plain(value: object) -> str:
    """Return a single value as text: strings as they are, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(line: str | BadRowError) -> str:
    if isinstance(line, BadRowError):
        raise line
    return line


def _constant(name: str) -> float | None:
    # What many programs write for a number that is missing.
    return None if name == "NaN" else float(name)


_DECODER = json.JSONDecoder(parse_constant=_constant)


def _json_object(line: str | BadRowError) -> Fields | None:
    text = _text(line)
    if not text or text.isspace():
        return None
    if text.count("[") + text.count("{") > DEEPEST and _depth(text) > DEEPEST:
        raise BadRowError("the JSON is nested too deeply")
    try:
        fields = _DECODER.decode(text)
    except RecursionError:
        raise BadRowError("the JSON is nested too deeply") from None
    except ValueError as error:
        # Only the decoder's own words, never its quotation of the text.
        where = f" at column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise BadRowError(f"not valid JSON{where} (one object a line is needed)") from None
    if not isinstance(fields, dict):
        raise BadRowError(f"the line is {json_word(fields)}, not an object")
    if _SURROGATE.search(text) and not _encodable(fields):
        raise BadRowError(
            "an escape (\\ud...) holds half of a surrogate pair, which is no character"
        )
    return fields


def _depth(text: str) -> int:
    """Return how deep brackets are nested, without those in strings."""
    steps = [1 if bracket in "[{" else -1 for bracket in _NO_BRACKETS.sub("", text)]
    return max(accumulate(steps), default=0)


def _encodable(fields: Fields) -> bool:
    try:
        json.dumps(fields, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _tsv_header(
    row: int,
    line: str | BadRowError,
    source: str,
    needed: tuple[str, ...],
    renamed: Mapping[str, str],
) -> list[str]:
    if isinstance(line, NotTextError):
        raise FormatError.not_utf8(source, row)
    if isinstance(line, BadRowError):
        raise FormatError.header(source, f"cannot be read: {line.reason}")
    header = [name.strip(" ") for name in line.split("\t")]
    if absent := [name for name in renamed if name not in header]:
        raise FormatError.header(source, f"names no column {absent[0]!r}")
    header = [renamed.get(name, name) for name in header]
    if not set(needed) & set(header):
        raise FormatError.no_column(source, needed)
    if len(set(header)) < len(header) or "" in header:
        raise FormatError.header(source, "names a column twice, or not at all")
    return header


def _no_tokens(columns: tuple[str, ...]) -> Fields:
    return {name: [] for name in columns or USUAL_COLUMNS}


def _without_columns(fields: Fields) -> Fields:
    return {name: value for name, value in fields.items() if name not in TAGGED}


def _named_columns(line: str | BadRowError, source: str) -> tuple[str, ...]:
    """Return the columns that a comment names; nothing if the line is not such a comment."""
    comment = _COMMENT.fullmatch(line) if isinstance(line, str) else None
    if not comment or not _names_columns(*comment.groups()):
        return ()
    names = tuple(comment[2].split())
    if len(set(names)) < len(names) or not TAGGED.issuperset(names):
        # Never a bad row to be left out: all that follows would be taken for something else.
        raise FormatError.header(source, "names other columns than tokens, slots and labels")
    return names


def _names_columns(name: str, value: str) -> bool:
    return name == COLUMNS and value.split()[:1] == ["tokens"]


def _take_iob(line: str, fields: Fields, columns: tuple[str, ...]) -> int:
    """Put what one line says into the fields; return how many columns it had, 0 for no token."""
    if not fields["tokens"] and "\t" not in line and (comment := _COMMENT.fullmatch(line)):
        name, value = comment.groups()
        if name in TAGGED:
            raise BadRowError(f"a comment may not set {name!r}")
        fields[name] = value
        return 0
    cells = line.split("\t") if "\t" in line else [cell for cell in line.split(" ") if cell]
    if cells[0] == DOCUMENT_START:
        return 0
    if not cells[0]:
        raise BadRowError("the token is empty")
    if columns:
        told = dict(zip(columns[1:], cells[1:], strict=False))
    else:
        told = {"slots": cells[-1] if len(cells) > 1 else UNKNOWN_LABEL}
    fields["tokens"].append(cells[0])
    for name, tag in told.items():
        fields[name].append(tag if tag not in ("", UNKNOWN_LABEL) else None)
    return len(cells)


def _tsv_cell(name: str, value: object, spaced: bool) -> str:
    if value is None:
        return ""
    if isinstance(value, list) and spaced:
        return " ".join([_tsv_part(name, part) for part in value])
    text = plain(value)
    if not text:
        raise BadRowError(f"{name} is an empty string, which reads as a missing value")
    return _on_one_line(name, text)


def _tsv_part(name: str, part: object) -> str:
    if part is None:
        return UNKNOWN_LABEL
    text = plain(part)
    if not text or " " in text:
        raise BadRowError(f"one of the {name} is empty or holds a space")
    if text == UNKNOWN_LABEL and name != "tokens":
        raise BadRowError(f"one of the {name} is {UNKNOWN_LABEL!r}, which reads as unknown")
    return _on_one_line(name, text)


def _on_one_line(name: str, text: str) -> str:
    if _LINE_BREAKERS.isdisjoint(text):
        return text
    raise BadRowError(f"{name} holds a tab, a line end or a NUL")


def _iob_block(fields: Mapping[str, Any], columns: tuple[str, ...]) -> str:
    tokens = fields["tokens"]
    if not tokens:
        raise BadRowError("it has no tokens")
    if not _are_labels(fields.get("labels"), len(tokens), "labels" in columns):
        raise BadRowError("its labels are not one a token")
    unknown = [None] * len(tokens)
    tags = [fields.get(name) or unknown for name in columns[1:]]
    comments = [_iob_comment(name, value) for name, value in fields.items() if name not in TAGGED]
    body = [
        "\t".join([_iob_token(token), *map(_iob_label, told)]) + "\n"
        for token, *told in zip(tokens, *tags, strict=True)
    ]
    return "".join(comments + body) + "\n"


def _are_labels(labels: object, length: int, asked: bool) -> bool:
    if labels is None:
        return True
    if not asked or not isinstance(labels, list) or len(labels) != length:
        return False
    return all(label is None or isinstance(label, str) for label in labels)


def _iob_comment(name: str, value: object) -> str:
    if not name or any(character.isspace() for character in name):
        raise BadRowError("the name of a field is empty or holds white space")
    text = _on_one_line(name, plain(value))
    if _names_columns(name, text):
        raise BadRowError(f"its field {COLUMNS!r} would read as the names of the columns")
    return f"# {name} = {text}\n"


def _iob_token(token: str) -> str:
    if not token or token == DOCUMENT_START:
        raise BadRowError(f"a token is empty or {DOCUMENT_START!r}")
    return _on_one_line("a token", token)


def _iob_label(label: str | None) -> str:
    if label is None:
        return UNKNOWN_LABEL
    if label in ("", UNKNOWN_LABEL):
        raise BadRowError(f"a label is empty or {UNKNOWN_LABEL!r}, which reads as unknown")
    return _on_one_line("a label", label)


def read_lines(source: Source, faults: Faults, needed: tuple[str, ...]) -> Iterator[Row]:
    """Read the rows of a text file of any kind; `needed` columns make a TSV header a good one.

    Examples
    --------
    >>> import io
    >>> from purport.records.sources import Lines
    >>> source = Source("x", "text", Lines(io.BytesIO(b"stop"), "x"), renamed={"text": "obs"})
    >>> list(read_lines(source, Faults("raise", "example"), ("obs",)))
    [(1, {'obs': 'stop'})]
    """
    renamed = source.renamed
    if source.kind == "tsv":
        yield from read_tsv(source.lines, faults, needed, renamed)
        return
    readers = {"jsonl": read_jsonl, "iob": read_iob, "text": read_text}
    yield from renamed_rows(readers[source.kind](source.lines, faults), renamed)


def renamed_rows(rows: Iterator[Row], renamed: Mapping[str, str]) -> Iterator[Row]:
    """Give fields our names of them.

    Examples
    --------
    >>> list(renamed_rows(iter([(1, {"query": "stop"})]), {"query": "text"}))
    [(1, {'text': 'stop'})]
    """
    if not renamed:
        return rows
    return (
        (number, {renamed.get(name, name): value for name, value in fields.items()})
        for number, fields in rows
    )
