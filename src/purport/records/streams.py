"""Batches of records into one file, of any kind, without ever holding them all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from purport.errors import FormatError
from purport.records.arrow import JSON, json_array, json_field
from purport.records.formats import USUAL_COLUMNS, write_iob, write_tsv
from purport.records.records import Records
from purport.records.session_rows import Ended
from purport.records.sources import TABLE_KINDS, TextKind
from purport.records.targets import target_kind, write_lines, write_tables
from purport.records.utterances import Utterances

if TYPE_CHECKING:
    import pyarrow as pa


def write_batches(
    batches: Iterable[Records],
    path: str | os.PathLike[str],
    overwrite: bool = True,
    kind: type[Records] = Utterances,
) -> int:
    r"""Write batches one after the other into one file; return how many records there were.

    Parameters
    ----------
    batches : iterable of records
        All of one class. Each is let go before the next one is asked for.
    path : path
        Its ending names the kind, as for `Records.write`. A TSV or Parquet file has to name the
        columns of all records before the first of them, so these wait in a temporary file.
    overwrite : bool
        False keeps what stands there and raises `OutputExistsError`.
    kind : class of records
        What an empty file is one of, when there is no batch at all.

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

    def counted() -> Iterator[Records]:
        nonlocal count
        batch = None
        for batch in batches:
            count += len(batch)
            yield batch
        if batch is None:
            yield kind.concatenate([])

    def lines(kind: TextKind) -> Iterator[str]:
        if kind == "tsv":
            return _tsv_lines(counted(), Path(path).parent)
        if kind == "iob":
            return _iob_lines(counted())
        return chain.from_iterable(batch.lines(kind) for batch in counted())

    if target_kind(path) in TABLE_KINDS:
        with _waiting(Path(path).parent) as file:
            schema, stored = _stored(counted(), file, kind)
            write_tables(path, schema, stored, overwrite)
    else:
        write_lines(path, lines, overwrite)
    return count


def _waiting(folder: Path) -> IO[bytes]:
    # Beside the target, like all that holds somebody's words; it has no name and ends with us.
    return tempfile.TemporaryFile(dir=folder)


def _tsv_lines(batches: Iterable[Records], folder: Path) -> Iterator[str]:
    with _waiting(folder) as waiting:
        names: dict[str, None] = {}
        kind: type[Records] = Utterances
        ended = Ended()
        for batch in batches:
            kind = type(batch)
            for row in batch.flat_rows(ended):
                names.update(dict.fromkeys(row))
                waiting.write(json.dumps(row).encode("ascii") + b"\n")
        waiting.seek(0)
        yield from write_tsv(map(json.loads, waiting), kind.ordered(names), kind._spaced)


def _iob_lines(batches: Iterable[Records]) -> Iterator[str]:
    before: tuple[str, ...] = USUAL_COLUMNS
    for batch in batches:
        if not isinstance(batch, Utterances):
            raise FormatError.no_such_form(type(batch).__name__, "iob")
        columns = batch.iob_columns()
        yield from write_iob(batch.rows(), columns, before)
        before = columns


def _stored(
    batches: Iterable[Records], file: IO[bytes], kind: type[Records]
) -> tuple[pa.Schema, Iterator[pa.Table]]:
    """Store tables whose columns differ; return the schema of all, and them in that schema."""
    import pyarrow as pa

    schemas: list[pa.Schema] = []
    for batch in batches:
        kind = type(batch)
        table = batch.to_arrow()
        schemas.append(table.schema)
        with pa.ipc.new_stream(pa.PythonFile(file, mode="w"), table.schema) as writer:
            writer.write_table(table)
    schema, mixed = _common(schemas, kind._identities)
    file.seek(0)

    def again() -> Iterator[pa.Table]:
        for _ in schemas:
            with pa.ipc.open_stream(pa.PythonFile(file, mode="r")) as reader:
                yield _fitted(reader.read_all(), schema, mixed, kind)

    return schema, again()


def _common(schemas: list[pa.Schema], identities: frozenset[str]) -> tuple[pa.Schema, set[str]]:
    """Return one schema for all, and the columns of several kinds, which only JSON can hold.

    Where a whole number is the same as its text, text holds both.
    """
    import pyarrow as pa

    fields: dict[str, Any] = {}
    mixed: set[str] = set()
    for field in (field for schema in schemas for field in schema):
        known = fields.setdefault(field.name, field)
        if field.name in identities and known.type != field.type:
            is_list = pa.types.is_large_list(field.type)
            text = pa.large_list(pa.string()) if is_list else pa.string()
            fields[field.name] = pa.field(field.name, text)
            continue
        both = [pa.schema([known]), pa.schema([field])]
        try:
            # What is null everywhere agrees with anything.
            joined = pa.unify_schemas(both, promote_options="permissive").field(0)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            mixed.add(field.name)
            continue
        if known.metadata != field.metadata and joined.type in (known.type, field.type):
            if pa.types.is_null(known.type):
                joined = field
            elif not pa.types.is_null(field.type):
                mixed.add(field.name)
        was, here = _json_within(known.type), _json_within(field.type)
        if any(was[name] != here[name] for name in was.keys() & here.keys()):
            mixed.add(field.name)
        fields[field.name] = joined
    for name in mixed:
        fields[name] = json_field(name)
    return pa.schema(list(fields.values())), mixed


def _json_within(kind: pa.DataType) -> dict[str, bool]:
    """Return which fields of the structs of a list are JSON."""
    import pyarrow as pa

    if not pa.types.is_large_list(kind) or not pa.types.is_struct(kind.value_type):
        return {}
    inner = [kind.value_type.field(at) for at in range(kind.value_type.num_fields)]
    return {field.name: field.metadata == JSON for field in inner}


def _fitted(table: pa.Table, schema: pa.Schema, mixed: set[str], kind: type[Records]) -> pa.Table:
    """Bring a table into a schema that has all of its columns, and perhaps more."""
    import pyarrow as pa

    columns = []
    for field in schema:
        if field.name not in table.column_names:
            columns.append(pa.nulls(table.num_rows, field.type))
        elif field.name in mixed:
            rows = kind._rows_of_table(table.select([field.name]), 1, "a batch")
            columns.append(json_array([row.get(field.name) for _, row in rows]))
        else:
            columns.append(table[field.name].cast(field.type))
    return pa.table(columns, schema=schema)
