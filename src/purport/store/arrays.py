"""The arrays of a model: one safetensors file, and for each array its kind, shape and hash.

The one place that meets safetensors, which is loaded when a model is saved or loaded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.store.damage import DamagedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KINDS = frozenset(
    ["bool", "float16", "float32", "float64"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)


def packed(arrays: Mapping[str, NDArray[Any]]) -> tuple[bytes, dict[str, dict[str, Any]]]:
    """Return the bytes of a file of arrays, and what `unpacked` needs in order to check it.

    Examples
    --------
    >>> data, listed = packed({"weights": np.zeros(2)})
    >>> listed["weights"]["dtype"], listed["weights"]["shape"]
    ('float64', [2])
    """
    from safetensors.numpy import save

    written = {name: _as_written(name, array) for name, array in arrays.items()}
    listed = {
        name: {"dtype": array.dtype.name, "shape": list(array.shape), "sha256": _digest(array)}
        for name, array in written.items()
    }
    return save(written), listed


def unpacked(path: Path, listed: object) -> dict[str, NDArray[Any]]:
    """Read a file of arrays and compare it with what is listed.

    Returns
    -------
    dict of arrays
        Writable, contiguous in C order, in the byte order of this machine.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    if not isinstance(listed, dict):
        raise DamagedError("the list of arrays is not an object")
    # The reader gives FileNotFoundError for many things; this one asks only for what it says.
    with path.open("rb"):
        pass
    try:
        found: dict[str, NDArray[Any]] = load_file(path)
    except (SafetensorError, LookupError, TypeError, ValueError, MemoryError) as error:
        raise DamagedError(f"{path.name} cannot be read; it was cut short or altered") from error
    if found.keys() != listed.keys():
        raise DamagedError(f"{path.name} holds other arrays than were saved")
    for name, array in found.items():
        told = {"dtype": array.dtype.name, "shape": list(array.shape), "sha256": _digest(array)}
        if told != listed[name]:
            raise DamagedError(f"the array {name!r} in {path.name} was altered")
    return {name: np.require(array, requirements=["C", "W", "A"]) for name, array in found.items()}


def _as_written(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return an array as files hold it: little-endian, contiguous."""
    if array.dtype.name not in _KINDS:
        raise TypeError(f"a model folder cannot hold the array {name!r} of {array.dtype}")
    return np.require(array, array.dtype.newbyteorder("<"), requirements=["C"])


def _digest(array: NDArray[Any]) -> str:
    little = np.require(array, array.dtype.newbyteorder("<"), requirements=["C"])
    return hashlib.sha256(little.data if little.size else b"").hexdigest()
