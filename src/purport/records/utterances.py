"""Utterances: what people said or typed, as tokens, with the slots and intents that are known."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from purport.errors import ShapeError
from purport.records.arrow import (
    UnfitError,
    coded_array,
    coded_of,
    extras_of,
    identities_of,
    known_of,
    list_array,
    lists_of,
    ragged_array,
    ragged_of,
    spaced_lists,
    string_array,
    table_of,
    values_of,
)
from purport.records.checks import (
    KNOWN,
    Probability,
    checked,
    checked_probability,
    from_text,
    strings,
)
from purport.records.columns import (
    UNKNOWN,
    Coded,
    Coder,
    RaggedStrings,
    all_unknown,
    each_or_none,
    frozen,
    joined_coded,
    joined_lists,
    joined_offsets,
    known_or_none,
    offsets_of,
    positions_of,
    ragged,
)
from purport.records.formats import (
    TAGGED,
    UNKNOWN_LABEL,
    USUAL_COLUMNS,
    Fields,
    Row,
    read_cells,
    write_iob,
)
from purport.records.labelled import LabelledRecords, Labels
from purport.records.plain_lines import PlainLines, pieces_of_cells
from purport.records.session_rows import Ended
from purport.records.sources import BadRowError, Faults, Line, Source, TextKind

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

FIRST = ("id", "tokens", "slots", "intent", "domain")
LAST = ("labels", "probability")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Utterances(LabelledRecords):
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

    _tokens: Coded
    _slots: Coded | None = None
    _intents: Coded | None = None
    _domains: Coded | None = None

    _needed: ClassVar[tuple[str, ...]] = ("tokens", "text")
    _position: ClassVar[str] = "token"
    _spaced: ClassVar[frozenset[str]] = TAGGED

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
                builder.add({"tokens": strings(words, "tokens", unknown=False), **fields})
            except BadRowError as bad:
                faults.add(number + 1, bad)
        talk = builder.finish()
        talk._check_characters()
        return talk

    @classmethod
    def _builder(cls) -> _Builder:
        return _Builder()

    @classmethod
    def _rows_of(cls, rows: Iterator[Row], source: Source, faults: Faults) -> Iterator[Row]:
        if source.kind == "jsonl":
            return rows
        return ((number, from_text(fields)) for number, fields in rows)

    @classmethod
    def _from_table(cls, table: pa.Table) -> Utterances:
        return _of_columns(table)

    @classmethod
    def _pieces_of_cells(
        cls, source: Source, header: list[str], faults: Faults
    ) -> Iterator[Row | PlainLines]:
        def rows(lines: Iterable[Line]) -> Iterator[Row]:
            return cls._rows_of(read_cells(lines, header, faults), source, faults)

        def make(table: pa.Table) -> Utterances:
            return _of_columns(_typed_cells(table))

        return pieces_of_cells(source, header, make, rows)

    @classmethod
    def _joined(cls, parts: Sequence[Utterances]) -> Utterances:
        lengths = [len(part) for part in parts]
        positions = [len(part.token_codes) for part in parts]

        def coded(name: str, sizes: list[int]) -> Coded | None:
            return joined_coded([getattr(part, name) for part in parts], sizes)

        def listed(name: str) -> list[Any] | None:
            return joined_lists([getattr(part, name) for part in parts], lengths)

        return Utterances(
            offsets=joined_offsets([part.offsets for part in parts]),
            skipped=sum(part.skipped for part in parts),
            _tokens=Coded.joined([part._tokens for part in parts]),
            _slots=coded("_slots", positions),
            _intents=coded("_intents", lengths),
            _domains=coded("_domains", lengths),
            _ids=listed("_ids"),
            _labels=coded("_labels", positions),
            _probability=listed("_probability"),
            _extra=listed("_extra"),
        )

    def _taken(self, records: NDArray[np.int64]) -> Utterances:
        positions, offsets = positions_of(records, self.offsets)
        chosen = records.tolist()
        return Utterances(
            offsets=frozen(offsets),
            _tokens=self._tokens.take(positions),
            _slots=self._slots and self._slots.take(positions),
            _intents=self._intents and self._intents.take(records),
            _domains=self._domains and self._domains.take(records),
            _ids=self._ids and [self._ids[record] for record in chosen],
            _labels=self._labels and self._labels.take(positions),
            _probability=self._probability and [self._probability[record] for record in chosen],
            _extra=self._extra and [self._extra[record] for record in chosen],
        )

    def _texts(self) -> Iterator[Sequence[str | None]]:
        for column in (self._tokens, self._slots, self._intents, self._domains, self._labels):
            if column is not None:
                yield column.vocabulary
        yield self.ids or []

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

    @property
    def known_labels(self) -> Labels | None:
        """The slots, as the labels that a model of sequences learns from."""
        return self.slots

    @cached_property
    def intents(self) -> list[str | None] | None:
        """The intent of each utterance; None when not one is known."""
        return self._intents.strings() if self._intents else None

    @cached_property
    def domains(self) -> list[str | None] | None:
        """The domain of each utterance; None when not one is known."""
        return self._domains.strings() if self._domains else None

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each utterance as a dictionary, as JSON lines hold it; the unknown is left out.

        Examples
        --------
        >>> next(Utterances.from_lists([["stop"]], ids=["u1"]).rows())
        {'id': 'u1', 'tokens': ['stop']}
        """
        columns = (self.ids, self.tokens, self.slots, self.intents, self.domains)
        predictions = zip(each_or_none(self.labels), each_or_none(self.probability), strict=False)
        extras = each_or_none(self._extra)
        for *values, (labels, probability), extra, _ in zip(
            *map(each_or_none, columns), predictions, extras, range(len(self)), strict=False
        ):
            row = {
                name: value
                for name, value in zip(FIRST, values, strict=True)
                if value is not None and not (name == "slots" and all_unknown(value))
            }
            if extra:
                row.update(extra)
            if labels is not None and not all_unknown(labels):
                row["labels"] = labels
            if probability is not None:
                row["probability"] = probability
            yield row

    def lines(self, kind: TextKind = "jsonl") -> Iterator[str]:
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
        if kind == "iob":
            return write_iob(self.rows(), self.iob_columns())
        return super().lines(kind)

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

    def flat_rows(self, ended: Ended) -> Iterator[dict[str, Any]]:
        # With slots always: in one column alone an empty row would be a blank line.
        return ({"tokens": [], "slots": None} | row for row in self.rows())

    @classmethod
    def ordered(cls, names: Iterable[str]) -> list[str]:
        given = list(names) or ["tokens", "slots"]
        first = [name for name in FIRST if name in given]
        last = [name for name in LAST if name in given]
        return [*first, *(name for name in given if name not in {*first, *last}), *last]

    def to_arrow(self) -> pa.Table:
        """Return a table with the columns of the JSON lines.

        Examples
        --------
        >>> Utterances.from_lists([["stop"]], intents=["halt"]).to_arrow().to_pydict()
        {'tokens': [['stop']], 'intent': ['halt']}
        """
        nested = {"tokens": self._tokens, "slots": self._slots, "labels": self._labels}
        flat = {"intent": self._intents, "domain": self._domains}
        table: dict[str, Any] = {} if self._ids is None else {"id": string_array(self._ids)}
        table |= {name: coded_array(column) for name, column in flat.items() if column}
        for name, coded in nested.items():
            if coded:
                table[name] = ragged_array(coded, self.offsets)
        return table_of(table | self._other_columns(), first=FIRST)


def _of_columns(table: pa.Table) -> Utterances:
    """Take whole columns of a table in which every row is good."""
    names = set(table.column_names)
    tokens, present = _tokens_of(table)
    if not present.all() or np.any(tokens.codes == UNKNOWN):
        raise UnfitError
    offsets = tokens.offsets
    lengths = np.diff(offsets)

    def tags(name: str) -> Coded | None:
        if name not in names:
            return None
        values, present = ragged_of(table[name])
        if np.any(np.diff(values.offsets)[present] != lengths[present]):
            raise UnfitError
        codes = np.full(len(tokens.codes), UNKNOWN, np.int32)
        codes[np.repeat(present, lengths)] = values.codes
        return known_of(Coded(frozen(codes), values.vocabulary))

    def flat(name: str) -> Coded | None:
        return known_of(coded_of(table[name])) if name in names else None

    ids = known_of(identities_of(table["id"])) if "id" in names else None
    others = [field for field in table.schema if field.name not in KNOWN]
    return Utterances(
        offsets=offsets,
        _tokens=tokens.strings,
        _slots=tags("slots"),
        _intents=flat("intent"),
        _domains=flat("domain"),
        _ids=None if ids is None else ids.strings(),
        _labels=tags("labels"),
        _probability=_probabilities(table, lengths) if "probability" in names else None,
        _extra=extras_of([(field, table[field.name]) for field in others]),
    )


def _tokens_of(table: pa.Table) -> tuple[RaggedStrings, NDArray[np.bool_]]:
    """Return the tokens of each row, and which rows have any; of texts the words are the tokens."""
    if "tokens" in table.column_names:
        return ragged_of(table["tokens"])
    if "text" not in table.column_names:
        raise UnfitError
    texts = coded_of(table["text"])
    if np.any(texts.codes == UNKNOWN):
        raise UnfitError
    words = [text.split() for text in texts.strings() if text is not None]
    coder = Coder()
    coder.extend(chain.from_iterable(words))
    strings = RaggedStrings(frozen(offsets_of(list(map(len, words)))), coder.finish())
    return strings, np.ones(len(words), np.bool_)


def _typed_cells(table: pa.Table) -> pa.Table:
    """Return the cells of TSV in the types of JSON, as `from_text` does; raises `UnfitError`."""
    import pyarrow as pa

    columns = {name: table[name] for name in table.column_names}
    if "probability" in columns:
        raise UnfitError
    for name in TAGGED.intersection(columns):
        columns[name] = spaced_lists(columns[name], None if name == "tokens" else UNKNOWN_LABEL)
    if "tokens" in columns and columns["tokens"].null_count:
        if "text" in columns:
            raise UnfitError
        values, offsets, _ = lists_of(columns["tokens"])
        columns["tokens"] = list_array(values, offsets)
    return pa.table(columns)


def _probabilities(table: pa.Table, lengths: NDArray[np.int64]) -> list[Any] | None:
    values = values_of(table["probability"], table.schema.field("probability"), "the table")
    try:
        return known_or_none(list(map(checked_probability, values, lengths.tolist())))
    except BadRowError:
        raise UnfitError from None


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

    def add(self, fields: Fields) -> None:
        row = checked(fields)
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

    def finish(self) -> Utterances:
        return Utterances(
            offsets=frozen(offsets_of(self._lengths)),
            _tokens=self._tokens.finish(),
            _slots=self._slots.finish_known(),
            _intents=self._intents.finish_known(),
            _domains=self._domains.finish_known(),
            _ids=known_or_none(self._ids),
            _labels=self._labels.finish_known(),
            _probability=known_or_none(self._probability),
            _extra=known_or_none(self._extra),
        )
