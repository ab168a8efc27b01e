"""Result pages out of Arrow tables and into them, whole columns at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.records.arrow import (
    UnfitError,
    extras_of,
    list_array,
    lists_of,
    numbers_of,
    plain_array,
    spaced_lists,
    table_of,
    table_rows,
)
from purport.records.columns import frozen
from purport.records.formats import Row
from purport.records.id_arrays import ids_array, ids_of
from purport.records.ids import Ids
from purport.records.page_checks import KNOWN, LATEST, PAGE, whole_and_exact
from purport.records.session_tables import NUMBER, seconds_of

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from purport.records.pages import Pages


def of_columns(table: pa.Table) -> Pages:
    """Take whole columns of a table in which every row is good; raises `UnfitError` else."""
    from purport.records.pages import Pages

    names = set(table.column_names)
    if not {"qid", "docs", "clicks"} <= names:
        raise UnfitError
    values, offsets, there = _lists(table["docs"])
    clicks, offsets_of_clicks, _ = _lists(table["clicks"])
    if not there.all() or not np.array_equal(offsets, offsets_of_clicks):
        raise UnfitError
    if not (offsets[1:] > offsets[:-1]).all():
        raise UnfitError
    times, exact_times = times_of(table["t"]) if "t" in names else (None, None)
    others = [(field, table[field.name]) for field in table.schema if field.name not in KNOWN]
    return Pages(
        offsets=offsets,
        queries=_all_known(ids_of(table["qid"])),
        docs=_all_known(ids_of(values)),
        clicks=clicks_of(clicks),
        times=times,
        sessions=_known_or_none(ids_of(table["sid"])) if "sid" in names else None,
        _exact_times=exact_times,
        _given_ids=_known_or_none(ids_of(table["id"])) if "id" in names else None,
        _extra=extras_of(others),
    )


def rows_of_pages(table: pa.Table, first: int, source: str) -> Iterator[Row]:
    """Yield the number and the fields of each row; dates and times of day as seconds."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        if field.name == "t" and pa.types.is_timestamp(field.type):
            _, exact = times = times_of(table["t"])
            known, seconds = ~table["t"].is_null().to_numpy(), times[0] if exact is None else exact
            column = pa.nulls(table.num_rows) if seconds is None else pa.array(seconds, mask=~known)
            table = table.set_column(place, "t", column)
    return table_rows(table, first, source)


def table_of_pages(pages: Pages) -> pa.Table:
    """Return a table with a row a page."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    if pages._given_ids is not None:
        columns["id"] = ids_array(pages._given_ids)
    if pages.sessions is not None:
        columns["sid"] = ids_array(pages.sessions)
    if pages.times is not None:
        exact = pages.times if pages._exact_times is None else pages._exact_times
        columns["t"] = pa.array(exact, mask=~pages.timed)
    columns["qid"] = ids_array(pages.queries)
    columns["docs"] = list_array(ids_array(pages.docs), pages.offsets)
    columns["clicks"] = list_array(pa.array(pages.clicks.view(np.int8)), pages.offsets)
    return table_of(columns | pages._other_columns(), first=PAGE)


def clicks_of(array: pa.Array) -> NDArray[np.bool_]:
    """Return what was clicked; raises `UnfitError` where a click is neither 0 nor 1.

    Examples
    --------
    >>> import pyarrow as pa
    >>> clicks_of(pa.array([0, 1])).tolist(), clicks_of(pa.array(["0", "1"])).tolist()
    ([False, True], [False, True])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    array = plain_array(array)
    kind = array.type
    if array.null_count:
        raise UnfitError
    if pa.types.is_boolean(kind):
        return frozen(np.array(array.to_numpy(zero_copy_only=False)))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        clicked = pc.equal(array, "1")
        if not pc.all(pc.or_(clicked, pc.equal(array, "0"))).as_py():
            raise UnfitError
        return frozen(np.array(clicked.to_numpy(zero_copy_only=False)))
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise UnfitError
    values = array.to_numpy()
    clicks: NDArray[np.bool_] = values == 1
    if np.any((values != 0) & ~clicks):
        raise UnfitError
    return frozen(clicks)


def times_of(
    column: pa.ChunkedArray,
) -> tuple[NDArray[np.int64] | None, NDArray[np.float64] | None]:
    """Return whole seconds, and exact ones if some are not whole; raises `UnfitError`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = plain_array(column)
    kind = array.type
    if array.null_count == len(array):
        return None, None
    if pa.types.is_timestamp(kind):
        micros = array.cast(pa.timestamp("us", kind.tz), safe=False).cast(pa.int64())
        return whole_and_exact(seconds_of(micros))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        if not pc.all(pc.match_substring_regex(array, NUMBER)).as_py():
            raise UnfitError
        array = array.cast(pa.float64())
    elif pa.types.is_signed_integer(kind) and not array.null_count:
        times = array.cast(pa.int64()).to_numpy()
        if times.min() <= -LATEST or times.max() >= LATEST:
            raise UnfitError
        return frozen(times), None
    seconds = numbers_of(array)
    if np.nanmax(np.abs(seconds), initial=0.0) >= LATEST:
        raise UnfitError
    return whole_and_exact(seconds)


def _lists(column: pa.ChunkedArray) -> tuple[pa.Array, NDArray[np.int64], NDArray[np.bool_]]:
    """Return what all lists hold, where each starts and which are there; cells of text are cut."""
    import pyarrow as pa

    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return lists_of(spaced_lists(column))
    return lists_of(column)


def _all_known(column: Ids) -> Ids:
    if len(column) and column.codes.min() < 0:
        raise UnfitError
    return column


def _known_or_none(column: Ids) -> Ids | None:
    return column if column.known.any() else None
