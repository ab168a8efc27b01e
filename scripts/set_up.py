"""Makes a virtual environment from the pinned constraints, once; needs nothing but Python itself.

    python scripts/set_up.py FOLDER GROUP...

installs the project (editable) with its dependencies and those of the named groups. The last thing
written is a stamp with a hash of what was asked for: an environment without it, or with another
one, is made anew. So an interrupted set-up is never used, and nothing happens when nothing changed.
A lock lets one process work at a time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
import venv
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints" / "dev.txt"
FREE_GIGABYTES = 2.0


def main(arguments: list[str]) -> int:
    """Make the environment if it is not there yet, and return an exit code."""
    folder, groups = ROOT / arguments[0], arguments[1:]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = fingerprint(project, groups)
    with only_one(folder.with_name(f"{folder.name}.lock")):
        if is_ready(folder, wanted):
            return 0
        free = shutil.disk_usage(ROOT).free / 1e9
        if free < FREE_GIGABYTES:
            say(
                f"The disk of {ROOT} has {free:.1f} GB free;"
                f" the environment needs {FREE_GIGABYTES:g} GB. Make room, then run make again."
            )
            return 1
        return make(folder, requirements(project, groups), wanted)


def fingerprint(project: dict, groups: list[str]) -> str:
    """Hash everything that decides what the environment holds."""
    parts = {
        "place": str(ROOT),
        "constraints": CONSTRAINTS.read_text(encoding="utf-8"),
        "requirements": requirements(project, groups),
        "scripts": project["project"]["scripts"],
        "recipe": Path(__file__).read_text(encoding="utf-8"),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def requirements(project: dict, groups: list[str]) -> list[str]:
    """Return the build's, the project's and the groups' requirements, without repetition."""
    needed = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    for group in groups:
        needed += project["dependency-groups"][group]
    return list(dict.fromkeys(needed))


def is_ready(folder: Path, wanted: str) -> bool:
    """Tell whether the environment is whole and the one that is wanted."""
    stamp = folder / "stamp"
    return (
        stamp.is_file()
        and stamp.read_text(encoding="utf-8") == wanted
        and python_of(folder).exists()
        # Any Python will do, unless the user named one.
        and (not os.environ.get("PYTHON") or is_of_this_python(folder))
    )


def is_of_this_python(folder: Path) -> bool:
    """Tell whether the environment was made with the Python that runs this."""
    config = (folder / "pyvenv.cfg").read_text(encoding="utf-8")
    return f"version = {sys.version.split()[0]}\n" in config


def make(folder: Path, needed: list[str], wanted: str) -> int:
    """Make the environment anew; the stamp comes last."""
    started = time.monotonic()
    say(f"Making {folder.name} with Python {sys.version.split()[0]} (once; a minute or two) ...")
    if folder.exists():
        (folder / "stamp").unlink(missing_ok=True)
        shutil.rmtree(folder)
    venv.create(folder, with_pip=True)
    pip = [
        str(python_of(folder)),
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "--no-input",
        "-qq",
    ]
    pinned = ["--constraint", str(CONSTRAINTS)]
    for step in (
        [*pip, *pinned, *needed],
        # What builds the project is pinned too: it comes from here, not from a fresh environment.
        [*pip, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)],
    ):
        code = subprocess.run(step, check=False).returncode
        if code:
            say("The installation did not finish: see above. Mend the cause, then run make again.")
            return code
    (folder / "stamp").write_text(wanted, encoding="utf-8")
    say(f"Made {folder.name} in {time.monotonic() - started:.0f} s.")
    return 0


def python_of(folder: Path) -> Path:
    """Return the environment's interpreter."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


@contextlib.contextmanager
def only_one(path: Path) -> Iterator[None]:
    """Hold a lock that the system lets go of when the process ends, however it ends."""
    with path.open("a+b") as file:
        if not try_lock(file.fileno()):
            say("Waiting for another set-up to end ...")
            while not try_lock(file.fileno()):
                time.sleep(1)
        yield


def try_lock(handle: int) -> bool:
    """Try to lock an open file for this process alone."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def say(text: str) -> None:
    """Write a message to stderr at once."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        say("Interrupted. The next make starts the set-up again.")
        sys.exit(130)
