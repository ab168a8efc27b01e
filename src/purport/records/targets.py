"""Where records go: files of lines or of tables, whole or not there at all."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from purport.errors import FormatError
from purport.records.sources import KNOWN_ENDINGS, Kind, TextKind, kind_of
from purport.store.files import is_stream, whole_file

if TYPE_CHECKING:
    import pyarrow as pa

ROW_GROUP = 1 << 16
"""Most rows of a row group of Parquet."""


def target_kind(path: str | os.PathLike[str]) -> Kind:
    """Return the kind that the ending of a path names; a pipe without an ending takes JSON lines.

    Examples
    --------
    >>> target_kind("talk.parquet")
    'parquet'
    """
    target = Path(path)
    kind = kind_of(str(target))[0]
    if kind is None and is_stream(target):
        kind = "jsonl"
    if kind is None:
        raise FormatError.unknown_kind(str(target), KNOWN_ENDINGS)
    if target.is_dir() or not target.parent.is_dir():
        reason = "a folder has that name" if target.is_dir() else "there is no such folder"
        raise FormatError.unwritable(str(target), reason)
    return kind


def write_tables(
    path: str | os.PathLike[str],
    schema: pa.Schema,
    tables: Iterable[pa.Table],
    overwrite: bool,
) -> None:
    """Write tables of one schema into a Parquet or an Arrow IPC file, as its ending says.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pyarrow as pa
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "talk.parquet"
    >>> table = pa.table({"text": ["stop"]})
    >>> write_tables(path, table.schema, [table], overwrite=False)
    >>> path.read_bytes()[:4]
    b'PAR1'
    """
    import pyarrow as pa
    import pyarrow.parquet

    kind = target_kind(path)
    with whole_file(path, overwrite) as file:
        if kind == "parquet":
            with pyarrow.parquet.ParquetWriter(file, schema, compression="zstd") as parquet:
                for table in tables:
                    parquet.write_table(table, row_group_size=ROW_GROUP)
        else:
            with pa.ipc.new_file(file, schema) as writer:
                for table in tables:
                    writer.write_table(table, max_chunksize=ROW_GROUP)


def write_lines(
    path: str | os.PathLike[str], lines_of: Callable[[TextKind], Iterator[str]], overwrite: bool
) -> None:
    r"""Write the lines of the kind that the ending of a path names.

    Parameters
    ----------
    path : path
        A known ending, then perhaps ``.gz``; a pipe without an ending takes JSON lines.
    lines_of : callable
        Gives the lines of a kind, each with its line end.
    overwrite : bool
        False keeps what stands there and raises `OutputExistsError`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "numbers.jsonl"
    >>> write_lines(path, lambda kind: iter(["1\n", "2\n"]), overwrite=False)
    >>> path.read_text(encoding="utf-8").split()
    ['1', '2']
    """
    kind, packed = target_kind(path), kind_of(str(path))[1]
    assert kind != "parquet" and kind != "arrow"
    encoded = (line.encode("utf-8") for line in lines_of(kind))
    with whole_file(path, overwrite) as file:
        if not packed:
            file.writelines(encoded)
            return
        # No name and no time inside: the same records give the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as pack:
            pack.writelines(encoded)
