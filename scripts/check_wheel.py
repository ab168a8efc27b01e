"""Builds the wheel, installs it in an empty environment outside the checkout, and uses it there.

Tests run from the checkout and cannot see that a file is missing from what users install; this can.
The six lines that are run are the first Python block of the README.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXPECTED = ("purport/__init__.pyi", "purport/py.typed")
UNWANTED = ("__pycache__", "__kernels__", "tests/", "bench/")


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="purport-wheel-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        wheel = build(folder / "dist")
        faults = faults_of(wheel)
        if faults:
            print(f"{wheel.name}: {'; '.join(faults)}", file=sys.stderr)
            return 1
        use(wheel, folder)
    print(f"{wheel.name}: built, installed outside the checkout and used.")
    return 0


def build(target: Path) -> Path:
    """Build the wheel with the pinned build packages of the environment that runs this."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(target)]
    run(command, ROOT)
    return next(target.glob("*.whl"))


def faults_of(wheel: Path) -> list[str]:
    """Return what the wheel lacks and what it should not hold."""
    with zipfile.ZipFile(wheel) as archive:
        held = archive.namelist()
    licence = any(name.endswith(".dist-info/licenses/LICENSE") for name in held)
    lacking = [name for name in EXPECTED if name not in held] + ([] if licence else ["LICENSE"])
    surplus = [name for name in held if any(part in name for part in UNWANTED)]
    return [f"lacks {name}" for name in lacking] + [f"holds {name}" for name in surplus]


def use(wheel: Path, folder: Path) -> None:
    """Install the wheel with the constraints of users, ask for help and fit a model."""
    environment = folder / "environment"
    venv.create(environment, with_pip=True)
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    python = programs / ("python.exe" if os.name == "nt" else "python")
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
    empty = folder / "empty"
    empty.mkdir()
    run([*pip, "--constraint", str(ROOT / "constraints" / "run.txt"), str(wheel)], empty)
    run([str(programs / "purport"), "--help"], empty, quiet=True)
    run([str(python), "-W", "error", "-c", first_example()], empty)


def first_example() -> str:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return readme.split("```python\n", 1)[1].split("```", 1)[0]


def run(command: list[str], folder: Path, quiet: bool = False) -> None:
    """Run a command without anything of the checkout in its environment; its failure is ours."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    out = subprocess.DEVNULL if quiet else sys.stderr
    code = subprocess.run(command, cwd=folder, env=kept, stdout=out, check=False).returncode
    if code:
        print(f"Failed with exit code {code}: {' '.join(command[:4])} ...", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    sys.exit(main())
