"""Records and features: how fast they are read and made, and what spoilt files do."""

from bench.benchmark import Part
from bench.records import features, fuzzer, reading

ABOUT = "reading records beside pyarrow and DuckDB, features beside plain Python, spoilt files"

PARTS = {
    "reading": Part("rows a second out of Parquet, JSON lines and TSV", reading.run),
    "features": Part("tokens a second from words to rows", features.run),
    "fuzzer": Part("a million spoilt files of every format", fuzzer.run, slow=True),
}
