"""The command ``python -m bench NAME``: runs one comparison and prints its tables.

A bar that is missed is a finding, not a failure: the exit code is 0. It is 2 when the command
cannot be run as given.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from importlib import import_module
from pathlib import Path

from bench.benchmark import BENCHMARKS, BenchError, Part, Setting, as_json, heading


def main(arguments: list[str] | None = None) -> int:
    """Run the parts that were asked for and return an exit code."""
    given = parser().parse_args(arguments)
    if given.name not in BENCHMARKS:
        return refuse(f"There is no benchmark {given.name!r}. There are: {', '.join(BENCHMARKS)}.")
    module = import_module(BENCHMARKS[given.name])
    parts: dict[str, Part] = module.PARTS
    unknown = [name for name in given.part if name not in parts]
    if unknown:
        return refuse(f"{given.name} has no part {unknown[0]!r}. It has: {', '.join(parts)}.")
    chosen = given.part or [n for n, part in parts.items() if not (given.skip_slow and part.slow)]
    data = given.data or os.environ.get("PURPORT_DATA")
    setting = Setting(Path(data) if data else None, given.quick, given.choose)
    tables = []
    if not given.json:
        print(heading(given.name, module.ABOUT, setting), flush=True)
    try:
        for name in chosen:
            began = time.perf_counter()
            print(f"[{name}] {parts[name].about} ...", file=sys.stderr, flush=True)
            for table in parts[name].tables(setting):
                tables.append(table)
                if not given.json:
                    print(table, flush=True)
            print(f"[{name}] {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    except BenchError as error:
        return refuse(str(error))
    if given.json:
        print(json.dumps(as_json(given.name, module.ABOUT, tables, setting), indent=2))
    return 0


def parser() -> argparse.ArgumentParser:
    """Return what the command line may hold."""
    made = argparse.ArgumentParser(prog="python -m bench", description=__doc__.split("\n")[0])
    made.add_argument("name", metavar="NAME", help=f"one of: {', '.join(BENCHMARKS)}")
    made.add_argument("--part", action="append", default=[], help="only this part; may be repeated")
    made.add_argument("--skip-slow", action="store_true", help="leave out parts that take minutes")
    made.add_argument("--quick", action="store_true", help="fewer rounds, less data; a first look")
    made.add_argument("--json", action="store_true", help="the same content as JSON")
    made.add_argument("--data", metavar="DIR", help="the real data; else PURPORT_DATA")
    made.add_argument("--choose", action="store_true", help="choose settings on dev again (slow)")
    return made


def refuse(message: str) -> int:
    """Say what is wrong and return the exit code for it."""
    print(message, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
