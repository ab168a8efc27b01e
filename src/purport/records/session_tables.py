"""Sessions out of Arrow tables and into them: one row a session, or one row a step.

A table with a column `steps` has one row a session; `steps` are lists of structs. Any other table
has one row a step, with the columns that `session_rows` names; sessions that go on from one part of
a table to the next are held back until they are whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.records.arrow import (
    UnfitError,
    coded_array,
    coded_of,
    extra_columns,
    extras_of,
    identities_of,
    json_array,
    json_field,
    known_of,
    list_array,
    lists_of,
    numbers_of,
    ragged_array,
    ragged_of,
    renamed_table,
    spaced_lists,
    string_array,
    table_of,
    table_rows,
    values_of,
)
from purport.records.checks import checked_probability
from purport.records.columns import (
    UNKNOWN,
    Coded,
    RaggedStrings,
    frozen,
    known_or_none,
    offsets_of,
    ragged,
)
from purport.records.formats import Fields, Row
from purport.records.named_values import Feature, NamedValues
from purport.records.session_checks import EARLIEST, LATEST
from purport.records.session_rows import (
    FEATURE,
    OF_SESSION,
    OF_STEP,
    TOLD,
    Ended,
    sessions_of,
)
from purport.records.sources import BadRowError

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from purport.records.sessions import Sessions
    from purport.records.sources import Faults, Source

PLAIN = frozenset({"obs", "features", "clicked", "label", "t", "who"})
WHOLE = frozenset({"id", "steps", "labels", "probability"})
VALUES = ("number", "truth", "word")
"""The kinds of value of a named feature, each with a field of its own."""
MICROS = 1_000_000
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}$"
NUMBER = r"^(0|-?[1-9][0-9]{0,14})(\.[0-9]{1,15})?$"
"""What of all that may stand for a time is read without looking at it row by row."""
ROWS = 1 << 16
"""At most so many rows of a table are looked at together."""
FEWEST_ROWS = 1 << 10


def whole_tables(
    kind: type[Sessions], opened: Source, size: int, faults: Faults
) -> Iterator[Sessions]:
    """Yield the sessions of a source of tables, of either form."""
    import pyarrow as pa

    assert opened.tables is not None
    held: pa.Table | None = None
    held_first = 1
    ended = Ended()
    is_flat: bool | None = None
    # Not fewer: a session that goes on over many parts would be looked at anew with each of them.
    for first, raw in opened.tables(min(max(size, FEWEST_ROWS), ROWS)):
        table = renamed_table(raw, dict(opened.renamed), opened.name)
        if is_flat is None:
            is_flat = "steps" not in table.column_names and "obs" in table.column_names
        if not is_flat:
            part = kind._of_table(table, first, faults)
            if len(part):
                yield part
            continue
        if held is not None:
            table, first = pa.concat_tables([held, table]), held_first
        last = start_of_last(table)
        held, held_first = table.slice(last), first + last
        if last:
            yield from _flat_part(kind, table.slice(0, last), first, faults, ended)
    if held is not None and held.num_rows:
        yield from _flat_part(kind, held, held_first, faults, ended)


def _flat_part(
    kind: type[Sessions], table: pa.Table, first: int, faults: Faults, ended: Ended
) -> Iterator[Sessions]:
    try:
        part = _of_steps(table, ended)
    except UnfitError:
        rows = sessions_of(table_rows(table, first, faults.source), faults, dict, ended)
        part = kind._from_rows(rows, faults)
    if len(part):
        yield part


def start_of_last(table: pa.Table) -> int:
    """Return the row at which the last session of a table of steps begins."""
    import pyarrow.compute as pc

    if "id" not in table.column_names or not table.num_rows:
        return int(table.num_rows)
    ids = table["id"].combine_chunks()
    last = ids[-1]
    if not last.is_valid:
        return int(table.num_rows) - 1
    others = pc.fill_null(pc.not_equal(ids, last), True).to_numpy(zero_copy_only=False)
    return int(np.flatnonzero(others)[-1]) + 1 if others.any() else 0


# One row a session.


def of_columns(table: pa.Table) -> Sessions:
    """Take whole columns of a table in which every row is good; raises `UnfitError` else."""
    from purport.records.sessions import Sessions

    names = set(table.column_names)
    if "steps" not in names:
        raise UnfitError
    steps, offsets, present = lists_of(table["steps"])
    if not present.all():
        raise UnfitError
    columns, fields = _children(steps)
    lengths = np.diff(offsets)
    labels = _predicted_labels(table, lengths) if "labels" in names else None
    others = [field for field in table.schema if field.name not in WHOLE]
    return Sessions(
        offsets=offsets,
        **_columns_of_steps(columns, fields, len(steps)),
        _ids=_names(table["id"]) if "id" in names else None,
        _labels=labels,
        _probability=_probabilities(table, lengths) if "probability" in names else None,
        _extra=extras_of([(field, table[field.name]) for field in others]),
    )


def rows_of_sessions(table: pa.Table, first: int, source: str) -> Iterator[Row]:
    """Yield the number and the fields of each row; what a step has of itself as in JSON lines."""
    if "steps" not in table.column_names:
        yield from table_rows(table, first, source)
        return
    try:
        steps, offsets, present = lists_of(table["steps"])
        columns, fields = _children(steps)
    except UnfitError:
        yield from table_rows(table, first, source)
        return
    told = {name: values_of(columns[name], fields[name], source) for name in columns}
    if "features" in told:
        told["features"] = [_as_features(value) for value in told["features"]]
    flat = [
        {name: value for name, value in zip(told, step, strict=True) if value is not None}
        for step in (zip(*told.values(), strict=True) if told else [()] * len(steps))
    ]
    others = table.drop_columns(["steps"])
    rows = table_rows(others, first, source) if others.num_columns else repeat((first, Fields()))
    told_steps = zip(ragged(flat, offsets), present.tolist(), strict=True)
    both = zip(rows, told_steps, strict=False)
    for number, ((_, row), (own, there)) in enumerate(both, start=first):
        yield number, row | ({"steps": own} if there else {})


def _as_features(value: Any) -> Any:
    """Return as a dictionary what `_named_array` writes; anything else as it is."""
    try:
        found = {}
        for entry in value or ():
            name, (told,) = entry["name"], [entry[kind] for kind in VALUES if kind in entry]
            found[name] = told
    except (KeyError, TypeError, ValueError):
        return value
    return found if value is not None and len(found) == len(value) else value


def table_of_sessions(sessions: Sessions) -> pa.Table:
    """Return a table with one row a session."""
    columns: dict[str, Any] = {}
    if sessions.ids is not None:
        columns["id"] = string_array(sessions.ids)
    columns["steps"] = list_array(_steps_array(sessions), sessions.offsets)
    if sessions._labels is not None:
        columns["labels"] = ragged_array(sessions._labels, sessions.offsets)
    return table_of(columns | sessions._other_columns(), first=("id", "steps"))


def _steps_array(sessions: Sessions) -> pa.Array:
    import pyarrow as pa

    columns: dict[str, Any] = {}
    if sessions._obs is not None:
        columns["obs"] = coded_array(sessions._obs)
    if sessions.named is not None:
        columns["features"] = _named_array(sessions.named)
    if sessions.clicked is not None and sessions._known_clicks is not None:
        columns["clicked"] = _clicked_array(sessions.clicked, sessions._known_clicks)
    if sessions._given is not None:
        columns["label"] = coded_array(sessions._given)
    if sessions.times is not None and sessions._written is not None:
        columns["t"] = _times_column(sessions, sessions.times, sessions._written)
    if sessions._who is not None:
        columns["who"] = coded_array(sessions._who)
    columns |= extra_columns(sessions._step_extra or [])
    pairs = [
        column if isinstance(column, tuple) else (pa.field(name, column.type), column)
        for name, column in columns.items()
    ]
    if not pairs:
        # A struct without a field has no length of its own.
        pairs = [(pa.field("obs", pa.string()), pa.nulls(int(sessions.offsets[-1]), pa.string()))]
    arrays = [array for _, array in pairs]
    return pa.StructArray.from_arrays(arrays, fields=[field for field, _ in pairs])


def _named_array(named: NamedValues) -> pa.Array:
    """Return named features as lists of structs: a name, and a number, a truth or a word."""
    import pyarrow as pa

    is_word = np.array([word is not None for _, word in named.features], np.bool_)[named.codes]
    names = Coded(named.codes, [name for name, _ in named.features])
    words = Coded(
        np.where(is_word, named.codes, UNKNOWN).astype(np.int32),
        [word or "" for _, word in named.features],
    )
    is_number = ~is_word & ~named.truths
    structs = pa.StructArray.from_arrays(
        [
            coded_array(names),
            pa.array(named.values, mask=~is_number),
            pa.array(named.values != 0.0, mask=~named.truths),
            coded_array(words),
        ],
        names=["name", *VALUES],
    )
    return list_array(structs, named.offsets)


def _clicked_array(clicked: RaggedStrings, known: NDArray[np.bool_]) -> pa.Array:
    import pyarrow as pa

    offsets = clicked.offsets - clicked.offsets[0]
    return pa.LargeListArray.from_arrays(
        pa.array(offsets, pa.int64()), coded_array(clicked.strings), mask=pa.array(~known)
    )


def _times_column(
    sessions: Sessions, times: NDArray[np.float64], written: NDArray[np.bool_]
) -> pa.Array | tuple[pa.Field, pa.Array]:
    """Return times as numbers, or as dates and times of day; as JSON where there are both."""
    import pyarrow as pa

    known = ~np.isnan(times)
    if not written.any():
        return pa.array(times, mask=~known)
    if not written[known].all():
        return json_field("t"), json_array(sessions._written_times() or [])
    seconds = np.where(known, times, 0.0)
    whole = np.floor(seconds)
    micros = whole.astype(np.int64) * MICROS + np.round((seconds - whole) * MICROS).astype(np.int64)
    return pa.array(micros, mask=~known).cast(pa.timestamp("us"))


def _children(steps: pa.Array) -> tuple[dict[str, pa.Array], dict[str, pa.Field]]:
    import pyarrow as pa

    if pa.types.is_null(steps.type) and not len(steps):
        return {}, {}
    if not pa.types.is_struct(steps.type) or steps.null_count:
        raise UnfitError
    fields = [steps.type.field(at) for at in range(steps.type.num_fields)]
    if len({field.name for field in fields}) < len(fields):
        raise UnfitError
    arrays = steps.flatten()
    return (
        {field.name: array for field, array in zip(fields, arrays, strict=True)},
        {field.name: field for field in fields},
    )


def _columns_of_steps(
    columns: dict[str, pa.Array], fields: dict[str, pa.Field], count: int
) -> dict[str, Any]:
    """Return the columns that all steps have together."""
    found: dict[str, Any] = {}
    for name, ours in (("obs", "_obs"), ("label", "_given"), ("who", "_who")):
        if name in columns:
            found[ours] = known_of(coded_of(columns[name]))
    if "features" in columns:
        found["named"] = _named_of(columns["features"])
    if "clicked" in columns:
        clicked, known = ragged_of(columns["clicked"])
        if np.any(clicked.codes == UNKNOWN):
            raise UnfitError
        if known.any():
            found |= {"clicked": clicked, "_known_clicks": frozen(known.copy())}
    if "t" in columns:
        found |= _times_of(columns["t"])
    others = [(fields[name], columns[name]) for name in columns if name not in PLAIN]
    found["_step_extra"] = extras_of(others)
    return found


def _times_of(column: pa.Array) -> dict[str, Any]:
    import pyarrow as pa

    column = _dates_of(column)
    written = pa.types.is_timestamp(column.type)
    if written:
        micros = column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64())
        times = frozen(seconds_of(micros))
    else:
        times = numbers_of(column)
    known = ~np.isnan(times)
    if not known.any():
        return {}
    if written and (times[known].min() < EARLIEST or times[known].max() > LATEST):
        raise UnfitError
    return {"times": times, "_written": frozen(known & written)}


def _dates_of(column: pa.Array) -> pa.Array:
    """Return strings that are all dates and times of day as such; anything else as it is."""
    import pyarrow as pa

    if not pa.types.is_string(column.type):
        return column
    if not _all_match(column, DATE):
        raise UnfitError
    try:
        return column.cast(pa.timestamp("us"))
    except pa.ArrowException:
        raise UnfitError from None


def _all_match(column: pa.Array, pattern: str) -> bool:
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(column, pattern), min_count=0).as_py())


def seconds_of(micros: pa.Array) -> NDArray[np.float64]:
    """Return the seconds nearest to whole microseconds, as `datetime.timestamp` does; NaN for null.

    Centuries away floats no longer tell microseconds apart, and seconds are added to the rest.
    """
    exact = micros.fill_null(0).to_numpy(zero_copy_only=False)
    far = np.abs(exact) >= 1 << 53
    seconds = np.where(far, exact // MICROS + (exact % MICROS) / MICROS, exact / MICROS)
    return np.where(micros.is_valid().to_numpy(zero_copy_only=False), seconds, np.nan)


def _named_of(column: pa.Array) -> NamedValues | None:
    """Return named features out of the form in which `_named_array` writes them."""
    import pyarrow as pa

    entries, offsets, _ = lists_of(column)
    if not len(entries):
        return None
    if not pa.types.is_struct(entries.type):
        raise UnfitError
    if [field.name for field in entries.type] != ["name", *VALUES]:
        raise UnfitError
    named, number, truth, worded = entries.flatten()
    names, words = coded_of(named), coded_of(worded)
    if not pa.types.is_boolean(truth.type) or np.any(names.codes == UNKNOWN):
        raise UnfitError
    is_word = words.codes != UNKNOWN
    is_truth = truth.is_valid().to_numpy(zero_copy_only=False)
    values = np.where(is_word, 1.0, numbers_of(number))
    values = np.where(is_truth, truth.fill_null(False).to_numpy(zero_copy_only=False), values)
    if np.any(np.isnan(values)) or np.any(is_word & is_truth):
        raise UnfitError
    position = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    if len(np.unique(position * (len(names.vocabulary) + 1) + names.codes)) < len(position):
        raise UnfitError  # a name twice at one step
    pairs = names.codes.astype(np.int64) * (len(words.vocabulary) + 1) + words.codes + 1
    different, first, codes = np.unique(pairs, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(different), np.int32)
    rank[order] = np.arange(len(different), dtype=np.int32)
    features: list[Feature] = []
    for pair in different[order].tolist():
        name, word = divmod(pair, len(words.vocabulary) + 1)
        features.append((names.vocabulary[name], words.vocabulary[word - 1] if word else None))
    return NamedValues(
        offsets, frozen(rank[codes]), features, frozen(values), frozen(is_truth.copy())
    )


# One row a step.


def of_cells(table: pa.Table, ended: Ended) -> Sessions:
    """Take whole columns of a table of the cells of TSV, a row a step; raises `UnfitError` else."""
    import pyarrow as pa

    columns = {name: table[name].combine_chunks() for name in table.column_names}
    if "clicked" in columns:
        columns["clicked"] = spaced_lists(columns["clicked"])
    if "t" in columns and _all_match(columns["t"], NUMBER):
        columns["t"] = columns["t"].cast(pa.float64())
    return _of_steps(pa.table(columns), ended)


def have_plain_cells(header: list[str]) -> bool:
    """Tell whether the cells of TSV are taken as they stand, without a look at what each may be."""
    odd = TOLD.difference(PLAIN, {"id"})
    return odd.isdisjoint(header) and not any(
        name.startswith((FEATURE, OF_SESSION, OF_STEP)) for name in header
    )


def starts_of(table: pa.Table) -> NDArray[np.int64]:
    """Return the rows at which the sessions of a table of steps begin."""
    if "id" not in table.column_names:
        return np.arange(table.num_rows, dtype=np.int64)
    return _begins(identities_of(table["id"]))


def _begins(ids: Coded) -> NDArray[np.int64]:
    begins = np.ones(len(ids.codes), np.bool_)
    begins[1:] = (ids.codes[1:] != ids.codes[:-1]) | (ids.codes[1:] == UNKNOWN)
    return np.flatnonzero(begins).astype(np.int64)


def _of_steps(table: pa.Table, ended: Ended) -> Sessions:
    """Take whole columns of a table of steps; raises `UnfitError` where rows must be looked at."""
    from purport.records.sessions import Sessions

    names = set(table.column_names)
    told = {name for name in names if name in TOLD and name not in PLAIN | {"id"}}
    special = {name for name in names if name.startswith((OF_SESSION, OF_STEP))}
    if told or special or "features" in names:
        raise UnfitError
    features = [name for name in table.column_names if name.startswith(FEATURE)]
    columns = {
        name: table[name].combine_chunks()
        for name in table.column_names
        if name != "id" and name not in features
    }
    fields = {name: table.schema.field(name) for name in columns}
    found = _columns_of_steps(columns, fields, table.num_rows)
    if features:
        found["named"] = _named_of_columns(
            {name.removeprefix(FEATURE): table[name] for name in features}
        )
    # Last: what is looked at anew must not have been met before.
    offsets, ids = _runs(table, ended)
    return Sessions(offsets=offsets, **found, _ids=ids)


def _runs(table: pa.Table, ended: Ended) -> tuple[NDArray[np.int64], list[str | None] | None]:
    """Return where the sessions of a table of steps begin, and their ids."""
    rows = table.num_rows
    if "id" not in table.column_names:
        return frozen(np.arange(rows + 1, dtype=np.int64)), None
    ids = identities_of(table["id"])
    starts = _begins(ids)
    names = ids.take(starts).strings()
    known = [name for name in names if name is not None]
    if len(set(known)) < len(known):
        raise UnfitError
    # All or none: the rows are looked at anew if one of them was met before.
    if not ended.all_begin(known):
        raise UnfitError
    return frozen(np.append(starts, rows).astype(np.int64)), known_or_none(names)


def _named_of_columns(columns: dict[str, pa.ChunkedArray]) -> NamedValues | None:
    """Return named features, each of which has a column of its own."""
    import pyarrow as pa

    codes, values, truths = [], [], []
    features: list[Feature] = []
    for name, chunked in columns.items():
        column = chunked.combine_chunks()
        is_truth = pa.types.is_boolean(column.type)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            words = coded_of(column)
            codes.append(np.where(words.codes == UNKNOWN, UNKNOWN, words.codes + len(features)))
            values.append(np.ones(len(column)))
            features += [(name, word) for word in words.vocabulary]
        else:
            numbers = numbers_of(column.cast(pa.int8()) if is_truth else column)
            codes.append(np.where(np.isnan(numbers), UNKNOWN, len(features)))
            values.append(numbers)
            features.append((name, None))
        truths.append(np.full(len(column), is_truth))
    code = np.stack(codes, axis=1)
    there = code != UNKNOWN
    if not there.any():
        return None
    return NamedValues(
        frozen(offsets_of(there.sum(axis=1))),
        frozen(code[there].astype(np.int32)),
        features,
        frozen(np.stack(values, axis=1)[there]),
        frozen(np.stack(truths, axis=1)[there]),
    )


# What both forms share.


def _names(column: pa.ChunkedArray) -> list[str | None] | None:
    return known_or_none(identities_of(column).strings())


def _predicted_labels(table: pa.Table, lengths: NDArray[np.int64]) -> Coded | None:
    values, present = ragged_of(table["labels"])
    if np.any(np.diff(values.offsets)[present] != lengths[present]):
        raise UnfitError
    codes = np.full(int(lengths.sum()), UNKNOWN, np.int32)
    codes[np.repeat(present, lengths)] = values.codes
    return known_of(Coded(frozen(codes), values.vocabulary))


def _probabilities(table: pa.Table, lengths: NDArray[np.int64]) -> list[Any] | None:
    values = values_of(table["probability"], table.schema.field("probability"), "the table")
    try:
        return known_or_none(list(map(checked_probability, values, lengths.tolist())))
    except BadRowError:
        raise UnfitError from None
