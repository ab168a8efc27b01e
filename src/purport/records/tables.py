"""Tables as sources of records: Parquet, Arrow IPC and data frames, a few rows at a time.

What a file says of itself is not trusted: every table is checked in full before a value is looked
at, and whatever the readers of Arrow raise on damaged bytes becomes one `FormatError`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any

from purport.errors import FormatError, InputError

if TYPE_CHECKING:
    import pyarrow as pa

Tables = Callable[[int], Iterator[tuple[int, "pa.Table"]]]
"""Given a number of rows, yields (number of the first row, table) of at most so many rows."""

PARQUET_MAGIC = b"PAR1"
ARROW_MAGIC = (b"ARROW1", b"\xff\xff\xff\xff")
"""An IPC file, and an IPC stream."""

BUFFER = 1 << 20
_INDEX = re.compile(r"__index_level_\d+__")


def file_tables(file: IO[bytes], name: str) -> Tables:
    """Return the tables of a Parquet or an IPC file, told by its first bytes.

    Examples
    --------
    >>> import io, pyarrow as pa, pyarrow.parquet
    >>> file = io.BytesIO()
    >>> pyarrow.parquet.write_table(pa.table({"text": ["one", "two", "three"]}), file)
    >>> [(first, table.num_rows) for first, table in file_tables(file, "talk.parquet")(2)]
    [(1, 2), (3, 1)]
    """

    def tables(size: int) -> Iterator[tuple[int, pa.Table]]:
        file.seek(0)
        head = file.read(len(ARROW_MAGIC[0]))
        file.seek(0)
        if head.startswith(PARQUET_MAGIC):
            batches = _parquet_batches(file, size)
        elif head.startswith(ARROW_MAGIC):
            batches = _ipc_batches(file, head.startswith(ARROW_MAGIC[0]))
        else:
            raise FormatError.unreadable(name, "it is neither Parquet nor Arrow IPC")
        yield from _checked(batches, size, name)

    return tables


def frame_tables(frame: Any) -> tuple[Tables, str]:
    """Return the tables of a data frame of any library, and what messages call it.

    Examples
    --------
    >>> import pyarrow as pa
    >>> tables, name = frame_tables(pa.table({"text": ["one"]}))
    >>> name, [table.num_rows for _, table in tables(10)]
    ('<pyarrow frame>', [1])
    """
    import narwhals as nw
    import pyarrow as pa

    if isinstance(frame, pa.RecordBatchReader):  # gives its data once, and we may ask twice
        frame = frame.read_all()
    try:
        known = nw.from_native(frame)
    except TypeError:
        raise InputError(
            "Records are read from a path, a list of paths, '-' (standard input) or a frame"
            f" (pandas, polars, pyarrow, DuckDB); got {type(frame).__name__}."
        ) from None
    name = f"<{known.implementation.value} frame>"

    def tables(size: int) -> Iterator[tuple[int, pa.Table]]:
        yield from _checked(_frame_batches(frame, known, size, name), size, name)

    return tables, name


def _parquet_batches(file: IO[bytes], size: int) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet

    # Buffered reading: a column of a row group is decoded bit by bit, however large it is.
    opened = pyarrow.parquet.ParquetFile(file, buffer_size=BUFFER, pre_buffer=False)
    yield from opened.iter_batches(batch_size=size, use_threads=False)


def _ipc_batches(file: IO[bytes], is_file: bool) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    if not is_file:
        yield from pa.ipc.open_stream(file)
        return
    reader = pa.ipc.open_file(file)
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number)


def _frame_batches(frame: Any, known: Any, size: int, name: str) -> Iterator[pa.RecordBatch]:
    """Stream what can be streamed; only frames that lie in memory are turned over whole."""
    import narwhals as nw
    import pyarrow as pa

    if isinstance(known, nw.LazyFrame):
        if hasattr(frame, "to_arrow_reader"):  # DuckDB, in batches of the size that is asked for
            yield from frame.to_arrow_reader(size)
            return
        known = known.collect()
    try:
        table = known.to_arrow()
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        reason = f"the column {_mixed(known)!r} holds values of several kinds"
        raise FormatError.unreadable(name, reason) from None
    indexes = [column for column in table.column_names if _INDEX.fullmatch(column)]
    yield from table.drop_columns(indexes).to_batches(max_chunksize=size)


def _mixed(known: Any) -> str:
    """Return the name of the first column that Arrow cannot take."""
    import pyarrow as pa

    for column in known.columns:
        try:
            known.select(column).to_arrow()
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return str(column)
    return "?"


def _check_names(fields: Iterable[pa.Field]) -> None:
    """Raise `UnicodeDecodeError` if the name of a field is no text; `validate` looks at values."""
    for field in fields:
        _ = field.name
        kind = field.type
        _check_names(kind.field(number) for number in range(kind.num_fields))


def _checked(
    batches: Iterator[pa.RecordBatch], size: int, name: str
) -> Iterator[tuple[int, pa.Table]]:
    """Cut batches to size and check all that they hold."""
    import pyarrow as pa

    row = 1
    while True:
        try:
            batch = next(batches, None)
            if batch is None:
                return
            batch.validate(full=True)
            _check_names(batch.schema)
            whole = pa.Table.from_batches([batch])
        except FormatError:
            raise
        except (
            pa.ArrowException,
            ArithmeticError,
            EOFError,
            LookupError,
            MemoryError,
            OSError,
            TypeError,
            ValueError,
        ):
            reason = f"the data break after row {row - 1}: the file was cut short or altered"
            raise FormatError.unreadable(name, reason) from None
        for start in range(0, whole.num_rows, size):
            part = whole.slice(start, size)
            yield row, part
            row += part.num_rows
