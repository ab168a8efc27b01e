"""Starting is quick: what `import purport` and `purport --help` cost, and what they do not load."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time

import pytest

SECONDS = 0.3
ROUNDS = 7
HEAVY = [
    "llvmlite",
    "numba",
    "pandas",
    "polars",
    "pyarrow",
    "ray",
    "scipy",
    "sklearn",
    "torch",
]
IMPORT = "import purport"
HELP = """
import sys
from purport.cli.program import main
sys.argv = ["purport", "--help"]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""


def seconds(code: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


@pytest.mark.parametrize("code", [IMPORT, HELP], ids=["import", "help"])
def test_starting_takes_little_more_than_python_itself(code: str) -> None:
    seconds(code)
    # Pairs are taken one after the other, so that a machine that slows down slows both of them.
    differences = [seconds(code) - seconds("pass") for _ in range(ROUNDS)]
    assert statistics.median(differences) < SECONDS


@pytest.mark.parametrize("code", [IMPORT, HELP], ids=["import", "help"])
def test_starting_loads_nothing_heavy(code: str) -> None:
    report = "\nimport json, sys\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    run = subprocess.run(
        [sys.executable, "-c", code + report],
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    loaded = json.loads(run.stderr.splitlines()[-1])
    assert not sorted(set(HEAVY) & set(loaded))


def test_importing_loads_no_part_of_the_package() -> None:
    code = 'import purport, sys; print([m for m in sys.modules if m.startswith("purport.")])'
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, encoding="utf-8"
    )
    assert run.stdout.strip() == "[]"
