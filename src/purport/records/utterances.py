"""Utterances: what people said or typed, as tokens, with the slots and intents that are known."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.errors import InputError, ShapeError
from purport.estimator.constraints import Whole, check_parameters
from purport.records.arrow import any_array, ragged_array, string_array, table_of
from purport.records.checks import (
    Probability,
    Utterance,
    checked,
    checked_probability,
    from_text,
    strings,
)
from purport.records.columns import (
    Coded,
    Coder,
    frozen,
    offsets_of,
    positions_of,
    ragged,
    records_of,
)
from purport.records.formats import (
    TAGGED,
    USUAL_COLUMNS,
    reader_of,
    write_iob,
    write_jsonl,
    write_tsv,
)
from purport.records.sources import (
    BadRowError,
    Faults,
    Kind,
    OnError,
    Paths,
    open_sources,
)
from purport.records.targets import write_lines

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

NEEDED = ("tokens", "text")
FIRST = ("id", "tokens", "slots", "intent", "domain")


@dataclass(frozen=True, eq=False, repr=False)
class Utterances:
    """Utterances as columns: tokens, and where known slots, intent, domain and id.

    Make them with `read`, `batches` or `from_lists`. They never change: slicing and `with_labels`
    give new ones that share what they can. An utterance may have no tokens at all.

    Attributes
    ----------
    offsets : (N + 1,) int64
        Where each utterance starts among all tokens.
    skipped : int
        How many bad rows were left out while reading.

    Examples
    --------
    >>> talk = Utterances.from_lists(
    ...     [["play", "some", "jazz"], ["stop"]], slots=[["O", "O", "B-genre"], ["O"]]
    ... )
    >>> talk
    Utterances(2 records, 4 tokens; with slots)
    >>> talk[0].tokens, talk.slots[0]
    ([['play', 'some', 'jazz']], ['O', 'O', 'B-genre'])
    """

    offsets: NDArray[np.int64]
    _tokens: Coded
    _slots: Coded | None = None
    _intents: Coded | None = None
    _domains: Coded | None = None
    _ids: list[str | None] | None = None
    _labels: Coded | None = None
    _probability: list[Probability | None] | None = None
    _extra: list[dict[str, Any] | None] | None = None
    skipped: int = 0

    @classmethod
    def read(cls, source: Paths, on_error: OnError = "raise") -> Utterances:
        """Read utterances from files or standard input.

        Parameters
        ----------
        source : path, list of paths or "-"
            JSON lines (``.jsonl``, ``.ndjson``, ``.json``), TSV (``.tsv``) or IOB/CoNLL (``.iob``,
            ``.bio``, ``.conll``), each also packed (``.gz``). ``"-"`` is standard input; its kind,
            and that of pipes, ``.txt`` files and names without ending, is told by the first line.
        on_error : "raise" or "skip"
            A bad row raises, or is left out; all that are left out give one warning and the count
            `skipped`.

        Returns
        -------
        Utterances
            A row has ``tokens``, or ``text``, which is split at white space.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "talk.jsonl"
        >>> _ = path.write_text('{"text": "play some jazz"}', encoding="utf-8")
        >>> Utterances.read(path).tokens
        [['play', 'some', 'jazz']]
        """
        faults = Faults(on_error, "Utterances.read")
        builder = _Builder()
        for row in _rows(source, faults):
            builder.add(row)
        faults.warn()
        return builder.finish(faults.skipped)

    @classmethod
    def batches(
        cls, source: Paths, size: int = 1000, on_error: OnError = "raise"
    ) -> Iterator[Utterances]:
        r"""Read utterances in batches, never holding more than one.

        Parameters
        ----------
        source, on_error
            As in `read`. The warning comes after the last batch.
        size : int
            The most utterances of one batch.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "talk.tsv"
        >>> _ = path.write_text("text\none\ntwo\nthree\n", encoding="utf-8")
        >>> [len(batch) for batch in Utterances.batches(path, size=2)]
        [2, 1]
        """
        check_parameters("Utterances.batches", {"size": size}, {"size": Whole(low=1)})
        return cls._batches(source, size, Faults(on_error, "Utterances.batches"))

    @classmethod
    def _batches(cls, source: Paths, size: int, faults: Faults) -> Iterator[Utterances]:
        rows = _rows(source, faults)
        told = 0
        while True:
            builder = _Builder()
            for row in islice(rows, size):
                builder.add(row)
            if not len(builder):
                break
            yield builder.finish(faults.skipped - told)
            told = faults.skipped
        faults.warn()

    @classmethod
    def from_lists(
        cls,
        tokens: Sequence[Sequence[str]],
        slots: Sequence[Sequence[str | None] | None] | None = None,
        intents: Sequence[str | None] | None = None,
        domains: Sequence[str | None] | None = None,
        ids: Sequence[str | None] | None = None,
    ) -> Utterances:
        """Make utterances from lists, one item an utterance.

        Parameters
        ----------
        tokens : list of lists of str
            The words.
        slots : list of lists of str, optional
            A tag a token; None where it is not known, also for a whole utterance.
        intents, domains, ids : list of str, optional
            One an utterance, None where there is none.

        Examples
        --------
        >>> Utterances.from_lists([["stop"], []], intents=["halt", None]).intents
        ['halt', None]
        """
        columns = {"slots": slots, "intent": intents, "domain": domains, "id": ids}
        given = {name: column for name, column in columns.items() if column is not None}
        for name, column in given.items():
            if len(column) != len(tokens):
                raise ShapeError.lengths(name, len(column), "tokens", len(tokens))
        faults = Faults("raise", "Utterances.from_lists")
        faults.source = "<lists>"
        builder = _Builder()
        for number, words in enumerate(tokens):
            fields = {name: column[number] for name, column in given.items()}
            try:
                builder.add(checked({"tokens": strings(words, "tokens", unknown=False), **fields}))
            except BadRowError as bad:
                faults.add(number + 1, bad)
        talk = builder.finish()
        _check_characters(talk)
        return talk

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def shape(self) -> tuple[int]:
        """The number of utterances, as a tuple."""
        return (len(self),)

    def __getitem__(self, key: object) -> Utterances:
        records = records_of(key, len(self))
        positions, offsets = positions_of(records, self.offsets)
        chosen = records.tolist()
        return Utterances(
            frozen(offsets),
            self._tokens.take(positions),
            self._slots and self._slots.take(positions),
            self._intents and self._intents.take(records),
            self._domains and self._domains.take(records),
            self._ids and [self._ids[record] for record in chosen],
            self._labels and self._labels.take(positions),
            self._probability and [self._probability[record] for record in chosen],
            self._extra and [self._extra[record] for record in chosen],
        )

    def __iter__(self) -> Iterator[Utterances]:
        return (self[record] for record in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Utterances):
            return NotImplemented
        return len(self) == len(other) and all(
            mine == theirs for mine, theirs in zip(self.rows(), other.rows(), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        columns = {
            "slots": self._slots,
            "intents": self._intents,
            "domains": self._domains,
            "labels": self._labels,
        }
        held = ", ".join(name for name, column in columns.items() if column is not None)
        size = f"{len(self)} records, {int(self.offsets[-1])} tokens"
        return f"Utterances({size}{'; with ' if held else ''}{held})"

    @property
    def vocabulary(self) -> list[str]:
        """The different tokens that `token_codes` number; a slice keeps those of the whole."""
        return self._tokens.vocabulary

    @property
    def token_codes(self) -> NDArray[np.int32]:
        """The number in `vocabulary` of each token of all utterances: (P,) int32."""
        return self._tokens.codes

    @property
    def slot_vocabulary(self) -> list[str]:
        """The different slot tags that `slot_codes` number."""
        return self._slots.vocabulary if self._slots else []

    @property
    def slot_codes(self) -> NDArray[np.int32] | None:
        """The number in `slot_vocabulary` of each tag, -1 where not known; None without slots."""
        return self._slots.codes if self._slots else None

    @cached_property
    def tokens(self) -> list[list[str]]:
        """The tokens of each utterance; made once, not to be changed."""
        return ragged(self._tokens.known(), self.offsets)

    @cached_property
    def slots(self) -> list[list[str | None]] | None:
        """The slot tags of each utterance, None where not known; None when not one is known."""
        return ragged(self._slots.strings(), self.offsets) if self._slots else None

    @cached_property
    def labels(self) -> list[list[str | None]] | None:
        """The predicted tags that `with_labels` put in, or that were read; None without any."""
        return ragged(self._labels.strings(), self.offsets) if self._labels else None

    @property
    def probability(self) -> list[Probability | None] | None:
        """How sure the predictions are: a number, or one a token, for each utterance."""
        return self._probability

    @cached_property
    def intents(self) -> list[str | None] | None:
        """The intent of each utterance; None when not one is known."""
        return self._intents.strings() if self._intents else None

    @cached_property
    def domains(self) -> list[str | None] | None:
        """The domain of each utterance; None when not one is known."""
        return self._domains.strings() if self._domains else None

    @property
    def ids(self) -> list[str | None] | None:
        """The id of each utterance; None when not one is known."""
        return self._ids

    def with_labels(
        self,
        labels: Sequence[Sequence[str | None]],
        probability: Sequence[Probability] | NDArray[np.float64] | None = None,
    ) -> Utterances:
        """Return the same utterances with predicted tags beside what they had.

        Parameters
        ----------
        labels : list of lists of str
            A tag a token.
        probability : list, optional
            For each utterance a number, or one number a token.

        Examples
        --------
        >>> talk = Utterances.from_lists([["play", "jazz"]])
        >>> told = talk.with_labels([["O", "B-genre"]], [0.9])
        >>> next(told.rows())
        {'tokens': ['play', 'jazz'], 'labels': ['O', 'B-genre'], 'probability': 0.9}
        """
        lengths = np.diff(self.offsets).tolist()
        if len(labels) != len(self):
            raise ShapeError.lengths("labels", len(labels), "the records", len(self))
        if probability is not None and len(probability) != len(self):
            raise ShapeError.lengths("probability", len(probability), "the records", len(self))
        coder = Coder()
        sure: list[Probability | None] = []
        for record, (tags, length) in enumerate(zip(labels, lengths, strict=True)):
            try:
                told = strings(tags, "labels", unknown=True)
                if probability is not None:
                    sure.append(checked_probability(probability[record], length))
            except BadRowError as bad:
                raise InputError(f"Record {record + 1}: {bad.reason}. Give one a token.") from None
            if len(told) != length:
                raise ShapeError.lengths(
                    f"labels[{record}]", len(told), f"tokens[{record}]", length
                )
            coder.extend(told)
        return replace(
            self, _labels=coder.finish(), _probability=None if probability is None else sure
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each utterance as a dictionary, as JSON lines hold it; the unknown is left out.

        Examples
        --------
        >>> next(Utterances.from_lists([["stop"]], ids=["u1"]).rows())
        {'id': 'u1', 'tokens': ['stop']}
        """
        columns = (self.ids, self.tokens, self.slots, self.intents, self.domains)
        predictions = zip(_or_none(self.labels), _or_none(self.probability), strict=False)
        extras = _or_none(self._extra)
        for *values, (labels, probability), extra, _ in zip(
            *map(_or_none, columns), predictions, extras, range(len(self)), strict=False
        ):
            row = {
                name: value
                for name, value in zip(FIRST, values, strict=True)
                if value is not None and not (name == "slots" and _unknown(value))
            }
            if extra:
                row.update(extra)
            if labels is not None and not _unknown(labels):
                row["labels"] = labels
            if probability is not None:
                row["probability"] = probability
            yield row

    def lines(self, kind: Kind = "jsonl") -> Iterator[str]:
        r"""Yield the lines of a file of some kind, each with its line end.

        Parameters
        ----------
        kind : "jsonl", "tsv" or "iob"
            IOB holds the slots and, after them, the labels: the last column is what readers take.

        Examples
        --------
        >>> list(Utterances.from_lists([["play", "jazz"]]).lines("tsv"))
        ['tokens\tslots\n', 'play jazz\t\n']
        """
        if kind == "jsonl":
            return write_jsonl(self.rows())
        if kind == "iob":
            return write_iob(self.rows(), self.iob_columns())
        return write_tsv(self.rows(), self._tsv_columns(), TAGGED)

    def iob_columns(self) -> tuple[str, ...]:
        """Return what the columns of IOB hold; predicted labels stand apart from slots.

        Examples
        --------
        >>> talk = Utterances.from_lists([["jazz"]])
        >>> talk.iob_columns(), talk.with_labels([["B-genre"]]).iob_columns()
        (('tokens', 'slots'), ('tokens', 'labels'))
        """
        if self._labels is None:
            return USUAL_COLUMNS
        return (*USUAL_COLUMNS, "labels") if self._slots else ("tokens", "labels")

    def write(self, path: str | os.PathLike[str], overwrite: bool = True) -> None:
        """Write a file of the kind that its ending names, whole or not at all.

        Parameters
        ----------
        path : path
            Ends in ``.jsonl``, ``.ndjson``, ``.json``, ``.tsv``, ``.iob``, ``.bio`` or ``.conll``,
            then perhaps ``.gz``. JSON lines hold everything; TSV and IOB raise where they cannot
            hold a record, and turn fields that purport does not know into text.
        overwrite : bool
            False keeps what stands there and raises `OutputExistsError`.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "talk.iob.gz"
        >>> Utterances.from_lists([["jazz"]], slots=[["B-genre"]]).write(path)
        >>> Utterances.read(path).slots
        [['B-genre']]
        """
        write_lines(path, self.lines, overwrite)

    def to_arrow(self) -> pa.Table:
        """Return a table with the columns of the JSON lines.

        Examples
        --------
        >>> Utterances.from_lists([["stop"]], intents=["halt"]).to_arrow().to_pydict()
        {'tokens': [['stop']], 'intent': ['halt']}
        """
        nested = {"tokens": self._tokens, "slots": self._slots, "labels": self._labels}
        flat = {"id": self.ids, "intent": self.intents, "domain": self.domains}
        table = {name: string_array(values) for name, values in flat.items() if values is not None}
        for name, coded in nested.items():
            if coded:
                table[name] = ragged_array(coded.strings(), self.offsets)
        for name in self._names():
            table[name] = any_array([(extra or {}).get(name) for extra in self._extra or []])
        if self._probability is not None:
            table["probability"] = any_array(self._probability)
        return table_of(table, first=FIRST)

    def _names(self) -> list[str]:
        """Return the names of the fields that purport does not know, in order of appearance."""
        return list(dict.fromkeys(name for extra in self._extra or [] for name in extra or {}))

    def _tsv_columns(self) -> list[str]:
        present = {
            "id": self._ids,
            "tokens": self._tokens,
            "slots": self._tokens,  # always: in one column alone an empty row is a blank line
            "intent": self._intents,
            "domain": self._domains,
        }
        predicted = {"labels": self._labels, "probability": self._probability}
        first = [name for name, column in present.items() if column is not None]
        last = [name for name, column in predicted.items() if column is not None]
        return list(dict.fromkeys([*first, *self._names(), *last]))


class _Builder:
    """Grows the columns row by row."""

    def __init__(self) -> None:
        self._lengths = array("q")
        self._tokens, self._slots, self._labels = Coder(), Coder(), Coder()
        self._intents, self._domains = Coder(), Coder()
        self._ids: list[str | None] = []
        self._probability: list[Probability | None] = []
        self._extra: list[dict[str, Any] | None] = []

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, row: Utterance) -> None:
        length = len(row.tokens)
        self._lengths.append(length)
        self._tokens.extend(row.tokens)
        self._slots.extend(repeat(None, length) if row.slots is None else row.slots)
        self._labels.extend(repeat(None, length) if row.labels is None else row.labels)
        self._intents.append(row.intent)
        self._domains.append(row.domain)
        self._ids.append(row.id)
        self._probability.append(row.probability)
        self._extra.append(row.extra)

    def finish(self, skipped: int = 0) -> Utterances:
        return Utterances(
            frozen(offsets_of(self._lengths)),
            self._tokens.finish(),
            _column(self._slots),
            _column(self._intents),
            _column(self._domains),
            _known(self._ids),
            _column(self._labels),
            _known(self._probability),
            _known(self._extra),
            skipped,
        )


def _rows(source: Paths, faults: Faults) -> Iterator[Utterance]:
    for opened in open_sources(source, faults, frozenset(NEEDED)):
        for number, fields in reader_of(opened.kind, NEEDED)(opened.lines, faults):
            try:
                row = checked(fields if opened.kind == "jsonl" else from_text(fields))
            except BadRowError as bad:
                faults.add(number, bad)
            else:
                yield row


def _check_characters(talk: Utterances) -> None:
    """Refuse strings that no file can hold; what was read from UTF-8 needs no look."""
    columns = (talk._tokens, talk._slots, talk._intents, talk._domains)
    held: list[Sequence[str | None]] = [column.vocabulary for column in columns if column]
    for texts in [*held, talk.ids or []]:
        try:
            "".join(text or "" for text in texts).encode("utf-8")
        except UnicodeEncodeError:
            raise InputError(
                "A string holds half of a surrogate pair, which is no character. Decode the text"
                " with errors='replace' first."
            ) from None


def _column(coder: Coder) -> Coded | None:
    return None if coder.empty else coder.finish()


def _known(values: list[Any]) -> list[Any] | None:
    return values if any(value is not None for value in values) else None


def _or_none(column: Iterable[Any] | None) -> Iterable[Any]:
    return repeat(None) if column is None else column


def _unknown(tags: list[str | None]) -> bool:
    return all(tag is None for tag in tags)
