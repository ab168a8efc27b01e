"""Batches of records into one file, of any kind, without ever holding them all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from purport.records.formats import TAGGED, USUAL_COLUMNS, write_iob, write_tsv
from purport.records.sources import Kind
from purport.records.targets import write_lines
from purport.records.utterances import FIRST, Utterances

_LAST = ("labels", "probability")


def write_batches(
    batches: Iterable[Utterances], path: str | os.PathLike[str], overwrite: bool = True
) -> int:
    r"""Write batches one after the other into one file; return how many records there were.

    Parameters
    ----------
    batches : iterable of Utterances
        Each is let go before the next one is asked for.
    path : path
        Its ending names the kind, as for `Utterances.write`. The header of a TSV file has to name
        the columns of all records, so these wait in a temporary file.
    overwrite : bool
        False keeps what stands there and raises `OutputExistsError`.

    Examples
    --------
    >>> path = Path(tempfile.mkdtemp()) / "talk.tsv"
    >>> one, two = Utterances.from_lists([["a"]]), Utterances.from_lists([["b"]], ids=["x"])
    >>> write_batches([one, two], path)
    2
    >>> path.read_text(encoding="utf-8").splitlines()
    ['id\ttokens\tslots', '\ta\t', 'x\tb\t']
    """
    count = 0

    def counted() -> Iterator[Utterances]:
        nonlocal count
        for batch in batches:
            count += len(batch)
            yield batch

    def lines(kind: Kind) -> Iterator[str]:
        if kind == "tsv":
            return _tsv_lines(counted(), Path(path).parent)
        if kind == "iob":
            return _iob_lines(counted())
        return chain.from_iterable(batch.lines(kind) for batch in counted())

    write_lines(path, lines, overwrite)
    return count


def _tsv_lines(batches: Iterable[Utterances], folder: Path) -> Iterator[str]:
    # Beside the target, like all that holds somebody's words; it has no name and ends with us.
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n", dir=folder) as waiting:
        names: dict[str, None] = {"tokens": None, "slots": None}
        for batch in batches:
            for row in batch.rows():
                names.update(dict.fromkeys(row))
                waiting.write(json.dumps(row) + "\n")
        waiting.seek(0)
        yield from write_tsv(map(json.loads, waiting), _ordered(names), TAGGED)


def _iob_lines(batches: Iterable[Utterances]) -> Iterator[str]:
    before: tuple[str, ...] = USUAL_COLUMNS
    for batch in batches:
        columns = batch.iob_columns()
        yield from write_iob(batch.rows(), columns, before)
        before = columns


def _ordered(names: Iterable[str]) -> list[str]:
    """Return the columns as a table of one batch has them: known ones first, predictions last."""
    given = list(names)
    first = [name for name in FIRST if name in given]
    last = [name for name in _LAST if name in given]
    return [*first, *(name for name in given if name not in first and name not in last), *last]
