"""The decorator `@kernel` and the one place that knows where compiled kernels are kept.

A kernel is a free function over arrays, compiled by Numba without the interpreter lock. Numba's own
cache looks only at the file of the function itself, so an edited callee would go unseen; ours lies
in a folder whose name is a hash of the sources of all kernels, of the versions of Numba and Python,
and of the CPU.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, TypeAlias, TypeVar

import llvmlite.binding
import numba
import numba.core.caching
import numba.core.compiler
import numba.core.sigutils
import numpy as np
from numpy.typing import NDArray

from purport.errors import KernelCacheWarning

# Typed in part only, so met as untyped.
_caching: Any = numba.core.caching
_compiler: Any = numba.core.compiler
_sigutils: Any = numba.core.sigutils

# What kernels take; a comment beside each parameter says its shape.
Floats: TypeAlias = NDArray[np.float64]
Float32s: TypeAlias = NDArray[np.float32]
Int32s: TypeAlias = NDArray[np.int32]
Int64s: TypeAlias = NDArray[np.int64]
UInt32s: TypeAlias = NDArray[np.uint32]
Booleans: TypeAlias = NDArray[np.bool_]

Function = TypeVar("Function", bound=Callable[..., Any])

CACHE_VARIABLE = "PURPORT_KERNEL_CACHE"

KERNELS: dict[str, tuple[Any, str]] = {}
"""Every kernel that has been imported: its name, its dispatcher and its signature."""


def kernel(
    signature: str = "", *, reassociate: bool = False, distinct: bool = False
) -> Callable[[Function], Function]:
    """Compile a function over arrays when it is first called, and keep the result on disk.

    Parameters
    ----------
    signature : str
        The Numba types, as in ``"float64(float64[:, ::1], int64)"``. Empty for a small function
        that only other kernels call; it is compiled into them.
    reassociate : bool
        Let the compiler add up in an order of its own, the same on every run, so that sums use
        vector instructions. Off where a sum holds infinities that must not meet.
    distinct : bool
        Promise that no array shares memory with another one that is written, and compile the
        function into its callers, so that they need not check.
    """
    options: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": {"contract", "reassoc", "nsz"} if reassociate else {"contract"},
    }
    if distinct:
        options |= {"pipeline_class": _DistinctCompiler, "forceinline": True}

    def compile_lazily(function: Function) -> Function:
        dispatcher: Any = numba.njit(**options)(function)
        if signature:
            KERNELS[f"{function.__module__}.{function.__qualname__}"] = (dispatcher, signature)
            if cache_folder() is not None:
                dispatcher._cache = _KernelCache(function)
        compiled: Function = dispatcher
        return compiled

    return compile_lazily


class _DistinctCompiler(_compiler.Compiler):  # type: ignore[misc]
    """Numba's compiler with every array marked as sharing memory with no other."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.flags.noalias = True


def compile_all(report: Callable[[int, int, str], None]) -> None:
    """Compile or load every imported kernel; `report` takes done, total and the name."""
    for done, (name, (dispatcher, signature)) in enumerate(KERNELS.items()):
        report(done, len(KERNELS), name)
        # The types alone, as a call gives them: with the result beside them Numba keeps another
        # entry, which no call ever finds.
        arguments, _ = _sigutils.normalize_signature(signature)
        dispatcher.compile(arguments)
    report(len(KERNELS), len(KERNELS), "")


@functools.cache
def cache_folder() -> Path | None:
    """Return the folder of this machine's compiled kernels.

    None, with one warning, if there is no place for it. The environment variable
    ``PURPORT_KERNEL_CACHE`` wins; then the package's own folder, if it can be written to; then the
    user's cache folder.
    """
    key = _cache_key()
    for parent in _parents():
        folder = parent / key
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except (OSError, RuntimeError):
            # One that was filled by who installed it serves even if it cannot be written to.
            if not any(folder.glob("*.nbi")):
                continue
        return folder
    warnings.warn(
        "Compiled kernels cannot be kept: neither the package nor the cache folder of the user can"
        f" be written to. Every run compiles anew. Set {CACHE_VARIABLE} to a folder that can.",
        KernelCacheWarning,
        stacklevel=2,
    )
    return None


def _parents() -> list[Path]:
    asked = os.environ.get(CACHE_VARIABLE)
    if asked:
        return [Path(asked)]
    parents = [Path(__file__).parent / "__kernels__"]
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        parents.append(Path(os.environ["LOCALAPPDATA"]) / "purport" / "kernels")
    elif os.environ.get("XDG_CACHE_HOME"):
        parents.append(Path(os.environ["XDG_CACHE_HOME"]) / "purport" / "kernels")
    else:
        # No home: Path.home raises RuntimeError.
        with contextlib.suppress(RuntimeError):
            parents.append(Path.home() / ".cache" / "purport" / "kernels")
    return parents


def _cache_key() -> str:
    """Hash all that decides what a compiled kernel is: sources, Numba, Python, CPU."""
    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        if b"@kernel" in source:
            digest.update(path.relative_to(package).as_posix().encode())
            digest.update(source)
    host = (
        numba.__version__,
        sys.version,
        llvmlite.binding.get_host_cpu_name(),
        llvmlite.binding.get_host_cpu_features().flatten(),
    )
    digest.update(repr(host).encode())
    return digest.hexdigest()[:20]


class _KernelLocator(_caching.UserProvidedCacheLocator):  # type: ignore[misc]
    """Tells Numba where to keep a kernel; the folder's name says already what is in it."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        self._module = py_func.__module__
        self._py_file = py_file
        self._lineno = py_func.__code__.co_firstlineno
        self._cache_path = str(cache_folder())

    def get_source_stamp(self) -> str:
        return "in the folder's name"

    def get_disambiguator(self) -> str:
        return f"{self._module}-{self._lineno}"

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _KernelLocator:
        return cls(py_func, py_file)


class _KernelCacheImpl(_caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_KernelLocator,)


class _DamagedError(Exception):
    """A file does not hold what was written to it."""


class _CheckedFiles(_caching.IndexDataCacheFile):  # type: ignore[misc]
    """Numba's files of one kernel, each ending in a checksum: damaged machine code must never run.

    Numba stops reading where its own data end, so the checksum behind them does not show.
    """

    @contextlib.contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[IO[bytes]]:
        with super()._open_for_write(filepath) as file:
            yield file
            file.flush()
            file.write(hashlib.sha256(Path(file.name).read_bytes()).digest())

    def _load_index(self) -> Any:
        _check(Path(self._index_path))
        return super()._load_index()

    def _load_data(self, name: str) -> Any:
        _check(Path(self._data_path(name)))
        return super()._load_data(name)


def _check(path: Path) -> None:
    """Compare a file, if there is one, with the checksum at its end."""
    with contextlib.suppress(FileNotFoundError):
        content = path.read_bytes()
        size = hashlib.sha256().digest_size
        if hashlib.sha256(content[:-size]).digest() != content[-size:]:
            raise _DamagedError(path.name)


class _KernelCache(_caching.FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function, for which a broken or full disk is no reason to fail."""

    _impl_class = _KernelCacheImpl

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _CheckedFiles(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except (OSError, _DamagedError) as error:
            warnings.warn(
                f"A compiled kernel could not be read and is made anew ({_reason(error)}).",
                KernelCacheWarning,
                stacklevel=2,
            )
        with contextlib.suppress(OSError):
            self.flush()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except (OSError, _DamagedError) as error:
            warnings.warn(
                "A compiled kernel could not be kept and will be made anew in the next run"
                f" ({_reason(error)}).",
                KernelCacheWarning,
                stacklevel=2,
            )


def _reason(error: OSError | _DamagedError) -> str:
    return error.strerror or type(error).__name__ if isinstance(error, OSError) else "it is damaged"
