"""`purport warm`: compiles all kernels, so that no later run has to wait for one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from purport.cli.console import say
from purport.cli.options import Quiet, Traceback

_TAKES_DECORATOR = re.compile(rb"^from purport\.fold\.kernel import", re.MULTILINE)


def warm(quiet: Quiet = False, traceback: Traceback = False) -> None:
    """Compile what else is compiled at its first use."""
    from purport.estimator.progress import progress
    from purport.fold.kernel import KERNELS, cache_folder, compile_all

    for module in kernel_modules():
        import_module(module)
    with progress("compiling", len(KERNELS), verbose=not quiet) as shown:
        compile_all(lambda done, total, name: shown.advance(done, name.removeprefix("purport.")))
    folder = cache_folder()
    kept = "for this process only" if folder is None else f"in {folder}"
    say(f"{len(KERNELS)} kernels are compiled, {kept}.", quiet)


def kernel_modules() -> Iterator[str]:
    """Name the modules that hold kernels: those that import the decorator."""
    package = Path(__file__).parent.parent
    for path in sorted(package.rglob("*.py")):
        if _TAKES_DECORATOR.search(path.read_bytes()):
            yield ".".join(("purport", *path.relative_to(package).with_suffix("").parts))
