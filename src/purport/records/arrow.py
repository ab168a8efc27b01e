"""Columns of records as Arrow arrays; pyarrow is loaded when the first one is made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


def string_array(values: Sequence[str | None]) -> pa.Array:
    """Return an array of strings, null where there is none."""
    import pyarrow as pa

    return pa.array(values, pa.string())


def ragged_array(values: Sequence[str | None], offsets: NDArray[np.int64]) -> pa.Array:
    """Return an array of lists of strings."""
    import pyarrow as pa

    return pa.LargeListArray.from_arrays(offsets, string_array(values))


def any_array(values: Sequence[object]) -> pa.Array:
    """Return an array of values if they are of one kind, else of their JSON."""
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return string_array(
            [None if value is None else json.dumps(value, ensure_ascii=False) for value in values]
        )


def table_of(columns: dict[str, pa.Array], first: Sequence[str]) -> pa.Table:
    """Return a table of columns, some of them first."""
    import pyarrow as pa

    order = [*(name for name in first if name in columns), *columns]
    return pa.table({name: columns[name] for name in order})
