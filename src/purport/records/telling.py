"""Which records a source holds: utterances, sessions or pages, told by the names of its columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, islice

from purport.errors import FormatError
from purport.records.formats import read_jsonl
from purport.records.pages import Pages
from purport.records.records import Records, renamed
from purport.records.sessions import Sessions
from purport.records.sources import Faults, OnError, Source, Sources, open_sources
from purport.records.utterances import Utterances

KINDS: dict[str, type[Records]] = {
    "utterances": Utterances,
    "sessions": Sessions,
    "pages": Pages,
}
LOOKED_AT = 100
"""So many lines at most are looked at."""
WHOLE = 1_000_000
"""Records are read so many at a time where all of them are wanted."""


def told_batches(
    source: Sources,
    size: int,
    on_error: OnError = "raise",
    columns: Mapping[str, str] | None = None,
) -> tuple[type[Records], Iterator[Records]]:
    """Return the class of the records of a source, and them in batches.

    Parameters
    ----------
    source, size, on_error, columns
        As `Records.batches` takes them. Only the first of several sources is looked at.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.jsonl"
    >>> _ = path.write_text('{"steps": [{"obs": "hi"}]}', encoding="utf-8")
    >>> kind, batches = told_batches(path, 100)
    >>> kind.__name__, list(batches)
    ('Sessions', [Sessions(1 records, 1 steps; with obs)])
    """
    faults = Faults(on_error, "told_batches")
    needed = frozenset(name for kind in KINDS.values() for name in kind._needed)
    opened = open_sources(source, faults, needed, renamed(columns))
    first = next(opened, None)
    if first is None:
        raise FormatError.untold(faults.source)
    names = _columns(first)
    told = [
        kind
        for kind in KINDS.values()
        if names & set(kind._needed) and names.issuperset(kind._required)
    ]
    if len(told) != 1:
        raise FormatError.untold(faults.source)
    return told[0], told[0].batches_of(chain([first], opened), size, faults)


def told_records(
    source: Sources, on_error: OnError = "raise", columns: Mapping[str, str] | None = None
) -> Records:
    """Return all records of a source, of the class that its columns tell.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.jsonl"
    >>> _ = path.write_text('{"steps": [{"obs": "hi"}]}', encoding="utf-8")
    >>> told_records(path)
    Sessions(1 records, 1 steps; with obs)
    """
    kind, batches = told_batches(source, WHOLE, on_error, columns)
    return kind.concatenate(batches)


def _columns(source: Source) -> set[str]:
    """Return our names of the columns of a source; its lines stay to be read."""
    ours = dict(source.renamed)
    if source.tables is not None:
        names = {name for _, table in islice(source.tables(1), 1) for name in table.schema.names}
        return {ours.get(name, name) for name in names}
    if source.kind in ("iob", "text"):
        return {"tokens"}
    head = source.lines.look(LOOKED_AT if source.kind == "jsonl" else 1)
    if source.kind == "tsv":
        names = {name for _, line in head if isinstance(line, str) for name in line.split("\t")}
    else:
        # Bad lines are met again when the records are read.
        rows = read_jsonl(head, Faults("skip", "told_batches"))
        names = next((set(fields) for _, fields in rows), set())
    return {ours.get(name.strip(" "), name.strip(" ")) for name in names}
