"""Ids out of Arrow arrays and into them; pyarrow is loaded when used."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from purport.records.arrow import UnfitError, coded_array, numbers_of, one_array, plain_array
from purport.records.columns import UNKNOWN, frozen
from purport.records.ids import EXACT, Ids, is_whole_number

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

LOOKED_AT = 100
"""So many strings are looked at before all of them are tried as whole numbers."""
_TENS = np.array([10**power for power in range(1, 19)], np.int64)
"""A whole number has one digit more than there are of these that are not larger."""


def ids_array(column: Ids) -> pa.Array:
    """Return ids as an array: whole numbers, or strings.

    Examples
    --------
    >>> ids_array(Ids.of([7, None])).to_pylist(), ids_array(Ids.of(["a", 7])).to_pylist()
    ([7, None], ['a', '7'])
    """
    import pyarrow as pa

    if column.names is not None:
        return coded_array(column.named())
    known = column.known
    return pa.array(column.codes, mask=None if known.all() else ~known)


def ids_of(column: pa.ChunkedArray | pa.Array) -> Ids:
    """Return strings, or whole numbers, as ids; raises `UnfitError` for anything else.

    Examples
    --------
    >>> import pyarrow as pa
    >>> ids_of(pa.array(["7", None])).codes.tolist(), ids_of(pa.array(["07"])).names
    ([7, -1], ['07'])
    """
    import pyarrow as pa

    array = one_array(column)
    if not _is_coded(array):
        array = plain_array(array)
        kind = array.type
        if pa.types.is_null(kind):
            return Ids.unknown(len(array))
        if pa.types.is_integer(kind):
            return _of_numbers(array)
        if pa.types.is_floating(kind):
            return _of_floats(array)
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            raise UnfitError
        numbers = _written_numbers(array)
        if numbers is not None:
            return numbers
        array = array.dictionary_encode()
    return _of_coded(array)


def _is_coded(array: pa.Array) -> bool:
    """Tell whether an array stores each string once, and not many more than it has."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(array.type) or len(array.dictionary) > len(array):
        return False
    names = array.dictionary
    if not (pa.types.is_string(names.type) or pa.types.is_large_string(names.type)):
        return False
    return not names.null_count and len(pc.unique(names)) == len(names)


def _of_coded(array: pa.DictionaryArray) -> Ids:
    import pyarrow.compute as pc

    names = array.dictionary
    if pc.any(pc.equal(names, "")).as_py():
        raise UnfitError
    codes = array.indices.fill_null(UNKNOWN) if array.indices.null_count else array.indices
    numbers = codes.to_numpy(zero_copy_only=False)
    if all(is_whole_number(name.as_py()) for name in names):
        own = np.array([*map(int, names.to_pylist()), UNKNOWN], np.int64)
        return Ids(frozen(own[numbers]))
    return Ids(frozen(numbers.astype(np.int32, copy=False)), names.to_pylist())


def _of_numbers(array: pa.Array) -> Ids:
    import pyarrow as pa

    try:
        whole = array.cast(pa.int64())
    except pa.ArrowInvalid:  # beyond what int64 holds
        return ids_of(array.cast(pa.string()))
    codes = whole.fill_null(0).to_numpy()
    if codes.min(initial=0) < 0:
        return ids_of(array.cast(pa.string()))
    return _numbers(codes, whole)


def _of_floats(array: pa.Array) -> Ids:
    """Return whole numbers that are held as floats, as frames do where one is missing."""
    import pyarrow as pa

    values = numbers_of(array)
    known = ~np.isnan(values)
    if not np.all(np.abs(values[known]) < EXACT):
        raise UnfitError
    try:
        return _of_numbers(pa.array(values, mask=~known).cast(pa.int64()))
    except pa.ArrowInvalid:  # not whole
        raise UnfitError from None


def _written_numbers(array: pa.Array) -> Ids | None:
    """Return strings as whole numbers if all of them are written as such; None else."""
    import pyarrow as pa
    import pyarrow.compute as pc

    # To try all of them would take long where each is told to be none.
    first = islice((name.as_py() for name in array), LOOKED_AT)
    if not all(name is None or is_whole_number(name) for name in first):
        return None
    try:
        whole = array.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    digits = pc.binary_length(array).fill_null(1).to_numpy()
    codes = whole.fill_null(0).to_numpy()
    # Every other way to write them ("07", "+7", "0x7", "-7") is longer.
    if np.any(codes < 0) or np.any(np.searchsorted(_TENS, codes, "right") + 1 != digits):
        return None
    return _numbers(codes, whole)


def _numbers(codes: NDArray[np.int64], array: pa.Array) -> Ids:
    if array.null_count:
        codes = np.where(array.is_valid().to_numpy(zero_copy_only=False), codes, UNKNOWN)
    return Ids(frozen(codes))
