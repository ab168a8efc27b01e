"""Rows a second out of Parquet, JSON lines and TSV: sessions and utterances as ragged arrays."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from bench.benchmark import Setting
from bench.records.peers import DUCKDB, FLOOR, PYARROW, Ragged, readers
from bench.tables import Row, Table
from bench.timing import Ratio, Samples, alternate
from purport.records.sessions import Sessions
from purport.records.utterances import Utterances

RECORDS = 40_000
WORDS = 20_000
LABELS = 20
SEED = 3


def run(setting: Setting) -> Iterator[Table]:
    count = RECORDS // (20 if setting.quick else 1)
    with TemporaryDirectory() as folder:
        for is_log in (True, False):
            for path in files(Path(folder), is_log, count):
                yield measured(path, is_log, setting)


def files(folder: Path, is_log: bool, count: int) -> list[Path]:
    """Write invented records in every format; in Parquet and TSV sessions are rows of steps."""
    random = np.random.default_rng(SEED)
    lengths = random.integers(1, 20, count)
    total = int(lengths.sum())
    words = (random.zipf(1.3, total) - 1) % WORDS
    labels = random.integers(LABELS, size=total)
    ids = np.repeat(np.arange(count), lengths)
    name = "log" if is_log else "talk"
    paths = [folder / f"{name}{ending}" for ending in (".parquet", ".jsonl", ".tsv")]
    texts = [f"words of query {word}" if is_log else f"w{word}" for word in words.tolist()]
    tags = [f"l{label}" for label in labels.tolist()]
    if is_log:
        table = pa.table(
            {
                "id": [f"s{number}" for number in ids.tolist()],
                "obs": texts,
                "label": tags,
                "t": random.integers(1_200_000_000, 1_300_000_000, total),
            }
        )
        pyarrow.parquet.write_table(table, paths[0], compression="zstd")
        records = Sessions.read(paths[0])
        for path in paths[1:]:
            records.write(path)
        return paths
    ends = np.cumsum(lengths).tolist()
    cuts = list(zip([0, *ends[:-1]], ends, strict=True))
    talk = Utterances.from_lists(
        [texts[start:end] for start, end in cuts],
        slots=[tags[start:end] for start, end in cuts],
        ids=[f"u{number}" for number in range(count)],
    )
    for path in paths:
        talk.write(path)
    return paths


def measured(path: Path, is_log: bool, setting: Setting) -> Table:
    """Measure every reader of one file; all but the floor must give the same."""
    systems = {name: partial(read, path, is_log) for name, read in readers(path).items()}
    found = {name: read() for name, read in systems.items() if name != FLOOR}
    expected: Ragged = found["purport"]
    for name, result in found.items():
        if result.plain() != expected.plain():
            raise AssertionError(f"{name} reads {path.name} otherwise")
    samples = alternate(systems, setting.rounds)
    what = "sessions" if is_log else "utterances"
    flat = is_log and path.suffix != ".jsonl"
    size = path.stat().st_size
    positions = int(expected.offsets[-1])
    return Table(
        f"Reading {what} from {path.suffix[1:]}: {len(expected.ids):,} records,"
        f" {positions:,} {'steps' if is_log else 'tokens'}, {size / 1e6:.1f} MB",
        f"{'steps' if is_log else 'tokens'}/s",
        [*_rows(samples, positions, len(expected.ids), size)],
        [
            f"{'One row a step, grouped by id' if flat else 'One row a record'}, into ragged"
            " arrays of coded strings; results are compared first. One thread each; systems"
            " alternate; medians by the wall clock; the ratio is to pyarrow. Ours alone checks"
            " every row and says which one is bad. DuckDB is connected before, and pyarrow reads"
            " the strings of Parquet as codes.",
        ],
        judged=not setting.quick,
    )


def _rows(samples: dict[str, Samples], positions: int, records: int, size: int) -> Iterator[Row]:
    for name, taken in samples.items():
        ratio = Ratio.of(samples[PYARROW].wall, taken.wall)
        by_cpu = Ratio.of(samples[PYARROW].cpu, taken.cpu)
        seconds = median(taken.wall)
        yield Row(
            name,
            positions / seconds,
            ratio.middle,
            None if name == PYARROW else ratio.spread,
            None,
            f"{size / 1e6 / seconds:.3g} MB/s, {records / seconds:,.0f} records/s;"
            f" by CPU time {by_cpu}; {taken}",
        )
    if DUCKDB not in samples:
        yield Row.not_found(DUCKDB, DUCKDB)
