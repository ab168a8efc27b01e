"""Valid files of every format, and what befalls them: flips, cuts, splices, deep nesting."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from purport.records.records import Records
from purport.records.sessions import Sessions
from purport.records.utterances import Utterances

TALK = [
    {"id": "u1", "tokens": ["fly", "to", "rome"], "slots": ["O", "O", "B-city"], "intent": "go"},
    {"id": "u2", "tokens": ["stop"], "slots": ["O"], "domain": "talk", "probability": 0.5},
    {"id": "u3", "tokens": ["東京", "don't"], "labels": ["B-city", "O"], "fold": 3},
]
LOG = [
    {
        "id": "s1",
        "steps": [
            {"obs": "cheap flights", "label": "buy", "t": "2026-01-31 23:59:59", "who": "u1"},
            {"obs": "rome", "features": {"tabs": 3, "new": True, "by": "mail"}, "page": "7"},
        ],
    },
    {"id": "s2", "steps": [{"obs": "東京", "clicked": ["d1", "d2"], "label": "learn"}], "day": "3"},
    {"id": "s3", "steps": [{"features": {"tabs": 0.5}}]},
]
PLAIN_TALK = [
    {"id": "u1", "tokens": ["fly", "to"], "slots": ["O", "O"], "intent": "go"},
    {"id": "u2", "tokens": ["東京"], "slots": ["B-city"], "intent": "go"},
    {"id": "u3", "tokens": ["stop"], "slots": ["O"], "intent": "halt"},
]
PLAIN_LOG = [
    {"id": "s1", "steps": [{"obs": "a b", "label": "buy", "t": 12}, {"obs": "東京", "t": 1.5}]},
    {"id": "s2", "steps": [{"obs": "c", "clicked": ["d1", "d2"], "who": "u1"}]},
    {"id": "s3", "steps": [{"obs": "d", "label": "buy", "t": 13}]},
]
"""What large files hold as a rule, and what is then taken many lines at once."""
WHOLE = re.compile(rb"\d+")
TOKENS = [
    b"\0", b"\n", b"\r\n", b"\t", b" ", b'"', b"\\", b"\\ud800", b"\xff", b"\xef\xbb\xbf",
    b"\xe2\x80\xa8", b"null", b"true", b"NaN", b"Infinity", b"-1", b"1e999", b"9" * 400,
    b"9" * 5000, b"[" * 2000,
    b'{"a":' * 2000, b"{}", b"[]", b"_", b"-DOCSTART-", b"# columns = tokens labels\n",
    b"2026-01-01",
]  # fmt: skip


@dataclass(frozen=True)
class Original:
    """A valid file, before anything has befallen it.

    Attributes
    ----------
    name : str
        Its format, and which records it holds.
    kind : class of records
        What reads it.
    ending : str
        Of its name.
    data : bytes
        What it holds; of a packed one what is packed.
    """

    name: str
    kind: type[Records]
    ending: str
    data: bytes

    @property
    def is_table(self) -> bool:
        return self.ending in (".parquet", ".arrow")

    def spoilt(self, number: int) -> bytes:
        """Return the file with what befell it; the same number gives the same bytes."""
        random = Random(f"{self.name} {number}")
        data = bytes(self.data)
        packed = self.ending.endswith(".gz")
        if packed and random.random() < 0.5:
            data = gzip.compress(data, 1, mtime=0)
            packed = False
        for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
            data = random.choice(OF_TABLES if self.is_table else MUTATIONS)(data, random)
        return gzip.compress(data, 1, mtime=0) if packed else data


def originals() -> dict[str, Original]:
    """Return a valid file of every format, by name."""
    found = []
    with TemporaryDirectory() as folder:
        for kind, rows in ((Utterances, TALK), (Sessions, LOG)):
            records = kind.from_rows(rows)
            for ending in (".jsonl", ".jsonl.gz", ".tsv", ".tsv.gz", ".iob", ".parquet", ".arrow"):
                if kind is Sessions and ending == ".iob":
                    continue
                path = Path(folder) / f"original{ending}"
                records.write(path)
                data = path.read_bytes()
                data = gzip.decompress(data) if ending.endswith(".gz") else data
                found.append(Original(f"{kind.__name__} {ending[1:]}", kind, ending, data))
        for kind, rows in ((Utterances, PLAIN_TALK), (Sessions, PLAIN_LOG)):
            for ending in (".jsonl", ".tsv"):
                path = Path(folder) / f"plain{ending}"
                kind.from_rows(rows).write(path)
                name = f"plain {kind.__name__} {ending[1:]}"
                found.append(Original(name, kind, ending, path.read_bytes()))
    found.append(Original("Utterances text", Utterances, ".txt", b"play some jazz\nstop\n"))
    return {original.name: original for original in [*found, *_tables_of_steps()]}


def _tables_of_steps() -> list[Original]:
    import io

    import pyarrow as pa
    import pyarrow.parquet

    table = pa.table(
        {
            "id": ["a", "a", "b", None],
            "obs": ["x", "y", None, "z"],
            "obs.tabs": [1, None, 2, 3],
            "clicked": [["d1"], None, [], ["d1", "d2"]],
            "t": pa.array([1, 2, None, 4], pa.timestamp("ms")),
            "label": pa.array(["p", "q", "p", None]).dictionary_encode(),
        }
    )
    stream, parquet = io.BytesIO(), io.BytesIO()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    pyarrow.parquet.write_table(table, parquet, row_group_size=2, compression="snappy")
    return [
        Original("steps arrow stream", Sessions, ".arrow", stream.getvalue()),
        Original("steps parquet", Sessions, ".parquet", parquet.getvalue()),
    ]


def _place(data: bytes, random: Random) -> int:
    return random.randrange(len(data) + 1)


def flip(data: bytes, random: Random) -> bytes:
    if not data:
        return data
    changed = bytearray(data)
    changed[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(changed)


def delete(data: bytes, random: Random) -> bytes:
    start = _place(data, random)
    return data[:start] + data[start + random.choice((1, 1, 2, 5, 20)) :]


def insert(data: bytes, random: Random) -> bytes:
    start = _place(data, random)
    return data[:start] + random.choice(TOKENS) + data[start:]


def insert_bytes(data: bytes, random: Random) -> bytes:
    start = _place(data, random)
    return data[:start] + random.randbytes(random.choice((1, 1, 2, 8))) + data[start:]


def overwrite(data: bytes, random: Random) -> bytes:
    start = _place(data, random)
    fresh = random.choice((b"\0" * 4, b"\xff" * 4, b"\x7f\xff\xff\xff", random.randbytes(8)))
    return data[:start] + fresh + data[start + len(fresh) :]


def cut(data: bytes, random: Random) -> bytes:
    return data[: _place(data, random)]


def splice(data: bytes, random: Random) -> bytes:
    start, end = sorted((_place(data, random), _place(data, random)))
    place = _place(data, random)
    return data[:place] + data[start:end] + data[place:]


def repeat_line(data: bytes, random: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    lines.insert(random.randrange(len(lines) + 1), random.choice(lines))
    return b"".join(lines)


def swap_lines(data: bytes, random: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    random.shuffle(lines)
    return b"".join(lines)


def enlarge_number(data: bytes, random: Random) -> bytes:
    numbers = list(WHOLE.finditer(data))
    if not numbers:
        return data
    found = random.choice(numbers)
    fresh = random.choice((b"1e999", b"-0", b"9" * 25, b"9" * 5000, b"1.5", b'"1"', b"[1]"))
    return data[: found.start()] + fresh + data[found.end() :]


MUTATIONS: list[Callable[[bytes, Random], bytes]] = [
    flip, flip, flip, delete, insert, insert, insert_bytes, overwrite, cut, splice, repeat_line,
    swap_lines, enlarge_number,
]  # fmt: skip
# What moves bytes is found out by the first offset; what stays in its place gets further.
OF_TABLES = [flip] * 6 + [overwrite, overwrite, cut, delete, insert_bytes, splice]
