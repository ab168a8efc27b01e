"""Features into a fixed number of columns: a stable hash of what they say, and nothing to keep.

The 64 bits of a string are those of BLAKE2b over its UTF-8 bytes, the same on every machine and in
every process. A feature mixes the bits of its name and of its values, in their order; its column is
the lowest of those bits. Columns carry no sign: two features that share one add up, and rows stay 0
or 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_BITS = 30
"""Columns are counted with 31 bits and a sign."""


def check_hashing(owner: str, hash_bits: int | None, min_count: int) -> None:
    """Refuse to count features where no vocabulary is kept."""
    if hash_bits is not None and min_count > 1:
        allowed = "1 with hash_bits, which keeps no vocabulary to count"
        raise ParameterError.for_value(owner, "min_count", min_count, allowed)


def hashed(strings: Iterable[str]) -> NDArray[np.uint64]:
    """Return 64 bits of each string.

    Examples
    --------
    >>> [hex(bits) for bits in hashed(["jazz", "jazz", "blues"]).tolist()]
    ['0xc0ee0ffed6853583', '0xc0ee0ffed6853583', '0xf794cb9a5d48c177']
    """
    digests = (
        blake2b(string.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for string in strings
    )
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)


def mixed(left: NDArray[np.uint64], right: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return 64 bits for each pair of bits; their order counts.

    Examples
    --------
    >>> one, two = hashed(["a"]), hashed(["b"])
    >>> bool(mixed(one, two) == mixed(two, one))
    False
    """
    bits = (left * np.uint64(0x9E3779B97F4A7C15)) ^ right
    bits ^= bits >> np.uint64(32)
    bits *= np.uint64(0xFF51AFD7ED558CCD)
    bits ^= bits >> np.uint64(32)
    return bits


def hashed_column(bits: NDArray[np.uint64], hash_bits: int) -> NDArray[np.int32]:
    """Return the column, of 2 to the power of `hash_bits`, that features have.

    Examples
    --------
    >>> hashed_column(np.array([5, 18], np.uint64), hash_bits=4).tolist()
    [5, 2]
    """
    columns: NDArray[Any] = bits & np.uint64((1 << hash_bits) - 1)
    return columns.astype(np.int32)


def hashed_names(hash_bits: int) -> list[str]:
    """Return what can be said of hashed columns: their numbers.

    Examples
    --------
    >>> hashed_names(1)
    ['#0', '#1']
    """
    return [f"#{column}" for column in range(1 << hash_bits)]
