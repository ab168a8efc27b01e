"""Columns of records as Arrow arrays, and Arrow arrays as columns; pyarrow is loaded when used.

Values that Arrow has no one type for (objects, arrays of several kinds) are written as their JSON,
and the field says so in its metadata, so that they come back as what they were.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.errors import FormatError
from purport.records.columns import (
    UNKNOWN,
    Coded,
    RaggedStrings,
    frozen,
    known_or_none,
    offsets_of,
)
from purport.records.formats import Row

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

JSON = {b"purport": b"json"}
"""The metadata of a field whose strings are JSON."""


class UnfitError(Exception):
    """A column is not what whole columns are taken from; its rows are looked at one by one."""


# Ours into Arrow.


def string_array(values: Sequence[str | None]) -> pa.Array:
    """Return an array of strings, null where there is none."""
    import pyarrow as pa

    return pa.array(values, pa.string())


def coded_array(column: Coded) -> pa.Array:
    """Return the strings of a column; each different one is turned over once."""
    import pyarrow as pa

    codes = pa.array(column.codes, mask=column.codes == UNKNOWN)
    return pa.DictionaryArray.from_arrays(codes, string_array(column.vocabulary)).cast(pa.string())


def ragged_array(column: Coded, offsets: NDArray[np.int64]) -> pa.Array:
    """Return an array of lists of strings."""
    return list_array(coded_array(column), offsets)


def list_array(values: pa.Array, offsets: NDArray[np.int64]) -> pa.Array:
    """Cut an array into lists."""
    import pyarrow as pa

    return pa.LargeListArray.from_arrays(offsets - offsets[0], values)


def any_column(name: str, values: Sequence[object]) -> tuple[pa.Field, pa.Array]:
    """Return an array of values if they are of one plain kind, else of their JSON."""
    import pyarrow as pa

    if not any(_has_dict(value) for value in values):
        try:
            array = pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
            pass
        else:
            if not _holds_nulls_only(array.type):
                return pa.field(name, array.type), array
    return json_field(name), json_array(values)


def extra_columns(
    extras: Sequence[Mapping[str, Any] | None],
) -> dict[str, tuple[pa.Field, pa.Array]]:
    """Return a column of each field that purport does not know.

    Examples
    --------
    >>> {name: array.to_pylist() for name, (_, array) in extra_columns([{"n": 1}, None]).items()}
    {'n': [1, None]}
    """
    names = dict.fromkeys(name for extra in extras for name in extra or ())
    return {
        name: any_column(name, [extra.get(name) if extra else None for extra in extras])
        for name in names
    }


def json_field(name: str) -> pa.Field:
    """Return a field whose strings are JSON."""
    import pyarrow as pa

    return pa.field(name, pa.string(), metadata=JSON)


def json_array(values: Sequence[object]) -> pa.Array:
    """Return an array of the JSON of values, null where there is none."""
    return string_array(
        [None if value is None else json.dumps(value, ensure_ascii=False) for value in values]
    )


def table_of(
    columns: dict[str, pa.Array | tuple[pa.Field, pa.Array]], first: Sequence[str]
) -> pa.Table:
    """Return a table of columns, some of them first."""
    import pyarrow as pa

    order = dict.fromkeys([*(name for name in first if name in columns), *columns])
    pairs = [
        column if isinstance(column, tuple) else (pa.field(name, column.type), column)
        for name, column in ((name, columns[name]) for name in order)
    ]
    schema = pa.schema([field for field, _ in pairs])
    return pa.table([array for _, array in pairs], schema=schema)


def joined_at_once(parts: Sequence[Coded]) -> Coded:
    """Put columns of strings one after the other, as `Coded.joined` does but faster if large.

    Examples
    --------
    >>> both = joined_at_once([Coded.of(["to", "from"]), Coded.of([None, "from", "at"])])
    >>> both.codes.tolist(), both.vocabulary
    ([0, 1, -1, 1, 2], ['to', 'from', 'at'])
    """
    import pyarrow as pa

    arrays = [
        pa.DictionaryArray.from_arrays(
            pa.array(part.codes, mask=part.codes == UNKNOWN),
            pa.array(part.vocabulary, pa.large_string()),
        )
        for part in parts
    ]
    chunks = pa.chunked_array(arrays).unify_dictionaries().chunks
    codes = [chunk.indices.fill_null(UNKNOWN).to_numpy() for chunk in chunks]
    return Coded(frozen(np.concatenate(codes)), chunks[-1].dictionary.to_pylist())


# Arrow into ours.


def coded_of(column: pa.ChunkedArray | pa.Array) -> Coded:
    """Return a column of strings; raises `UnfitError` for anything else."""
    import pyarrow as pa

    array = plain_array(column)
    if pa.types.is_null(array.type):
        return Coded.unknown(len(array))
    if not _is_string(array.type):
        raise UnfitError
    encoded = array.dictionary_encode()
    codes = encoded.indices.fill_null(UNKNOWN).to_numpy(zero_copy_only=False)
    return Coded(frozen(codes.astype(np.int32)), encoded.dictionary.to_pylist())


def ragged_of(column: pa.ChunkedArray | pa.Array) -> tuple[RaggedStrings, NDArray[np.bool_]]:
    """Return lists of strings, and which of them are there at all; `UnfitError` for all else."""
    values, offsets, present = lists_of(column)
    return RaggedStrings(offsets, coded_of(values)), present


def lists_of(
    column: pa.ChunkedArray | pa.Array,
) -> tuple[pa.Array, NDArray[np.int64], NDArray[np.bool_]]:
    """Return the values of all lists, where each list starts, and which lists are there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = plain_array(column)
    if pa.types.is_null(array.type):
        empty = pa.array([], pa.null())
        return empty, offsets_of([0] * len(array)), np.zeros(len(array), np.bool_)
    if not (pa.types.is_list(array.type) or pa.types.is_large_list(array.type)):
        try:
            array = array.cast(pa.large_list(array.type.value_type))
        except (AttributeError, pa.ArrowException):
            raise UnfitError from None
    present = array.is_valid().to_numpy(zero_copy_only=False)
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    # `flatten` leaves out what stands behind lists that are null.
    return array.flatten(), frozen(offsets_of(lengths.astype(np.int64))), present


def numbers_of(column: pa.ChunkedArray | pa.Array) -> NDArray[np.float64]:
    """Return finite numbers, NaN where there is none; `UnfitError` for all else."""
    import pyarrow as pa

    array = plain_array(column)
    kind = array.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)):
        raise UnfitError
    values: NDArray[np.float64] = array.cast(pa.float64(), safe=False).to_numpy(
        zero_copy_only=False
    )
    if np.isinf(values).any():
        raise UnfitError
    return frozen(np.array(values))


def identities_of(column: pa.ChunkedArray) -> Coded:
    """Return a column of names, or of whole numbers, as strings; raises `UnfitError` else."""
    import pyarrow as pa

    if pa.types.is_integer(column.type):
        column = column.cast(pa.string())
    return coded_of(column)


def spaced_lists(column: pa.ChunkedArray, no_value: str | None = None) -> pa.Array:
    """Return cells that are parted by single spaces as lists of strings; `UnfitError` else.

    Null stands for a part that is `no_value`, and for a cell that is null.

    Examples
    --------
    >>> import pyarrow as pa
    >>> spaced_lists(pa.chunked_array([["O _", None]]), "_").to_pylist()
    [['O', None], None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    values, offsets, present = lists_of(pc.split_pattern(plain_array(column), " "))
    if pc.any(pc.equal(values, "")).as_py():
        raise UnfitError
    if no_value is not None:
        none = pc.equal(values, no_value)
        if pc.any(none).as_py():
            values = pc.if_else(none, pa.scalar(None, values.type), values)
    return pa.LargeListArray.from_arrays(pa.array(offsets), values, mask=pa.array(~present))


def known_of(column: Coded) -> Coded | None:
    """Return a column, None when it has not a single string."""
    return column if np.any(column.codes != UNKNOWN) else None


def values_of(column: pa.ChunkedArray, field: pa.Field, source: str) -> list[Any]:
    """Return the values of a column as JSON has them; what is missing, or NaN, is None."""
    import pyarrow as pa

    if (field.metadata or {}).get(b"purport") == b"json":
        try:
            return [None if text is None else json.loads(text) for text in column.to_pylist()]
        except (TypeError, ValueError, RecursionError):
            raise FormatError.header(source, f"says that {field.name!r} is JSON") from None
    kind = field.type
    if pa.types.is_temporal(kind) or pa.types.is_decimal(kind):
        try:
            column = column.cast(pa.string())
        except pa.ArrowException:
            reason = f"the column {field.name!r} holds values that cannot be written as text"
            raise FormatError.unreadable(source, reason) from None
    elif pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise FormatError.header(source, f"has bytes, not text, in the column {field.name!r}")
    values = column.to_pylist()
    if pa.types.is_floating(kind):
        return [None if value is None or math.isnan(value) else value for value in values]
    return list(map(_as_json, values)) if pa.types.is_nested(kind) else values


def extras_of(columns: Sequence[tuple[pa.Field, Any]]) -> list[dict[str, Any] | None] | None:
    """Return the fields that purport does not know as one dict a row; None without any."""
    if not columns:
        return None
    told = [(field.name, values_of(array, field, "the table")) for field, array in columns]
    rows = zip(*(values for _, values in told), strict=True)
    found = [
        {name: value for (name, _), value in zip(told, row, strict=True) if value is not None}
        or None
        for row in rows
    ]
    return known_or_none(found)


def table_rows(table: pa.Table, first: int, source: str) -> Iterator[Row]:
    """Yield the number and the fields of each row; missing values are left out."""
    columns = [values_of(table.column(at), field, source) for at, field in enumerate(table.schema)]
    for number, values in enumerate(zip(*columns, strict=True), start=first):
        named = zip(table.column_names, values, strict=True)
        yield number, {name: value for name, value in named if value is not None}


def renamed_table(table: pa.Table, names: dict[str, str], source: str) -> pa.Table:
    """Return a table with our names of columns; each of theirs must be there."""
    renamed = [names.get(name, name) for name in table.column_names]
    if len(set(renamed)) < len(renamed):
        raise FormatError.header(source, "names a column twice")
    missing = [name for name in names if name not in table.column_names]
    if missing:
        raise FormatError.header(source, f"names no column {missing[0]!r}")
    return table.rename_columns(renamed)


def one_array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column as one array, as it is; `UnfitError` where it is too large for one."""
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)  # to combine it would copy it
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        raise UnfitError
    return whole


def plain_array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column as one array of plain values; `UnfitError` where it is too large for one."""
    import pyarrow as pa

    column = one_array(column)
    if pa.types.is_string_view(column.type):
        return column.cast(pa.large_string())
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _is_string(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _holds_nulls_only(kind: pa.DataType) -> bool:
    """Tell whether lists hold nothing but nulls; Arrow loses count of these in files."""
    import pyarrow as pa

    while pa.types.is_list(kind):
        kind = kind.value_type
        if pa.types.is_null(kind):
            return True
    return False


def _has_dict(value: object) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list | tuple) and any(map(_has_dict, value))
    )


def _as_json(value: object) -> object:
    """Return a nested value without what JSON has no word for."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, dict):
        return {str(name): _as_json(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return list(map(_as_json, value))
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)
