"""Model folders: what was learnt as plain arrays, all else as JSON, and every byte accounted for.

A folder holds two files:

* ``model.json``: the format, the class, its parameters, the version of purport, when it was saved,
  what it was trained on (counts and times), kind, shape and hash of each array, the settings, and a
  checksum of all this;
* ``arrays.safetensors``: the arrays.

Nothing in a folder is run when it is read: see `purport.store.classes` for what it may name.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from purport.errors import (
    FormatError,
    InputError,
    ModelCorruptError,
    ModelTooNewError,
    OutputExistsError,
)
from purport.estimator.base import Estimator, State
from purport.store.arrays import packed, unpacked
from purport.store.classes import class_named, name_of
from purport.store.damage import DamagedError
from purport.store.files import whole_folder
from purport.store.plain import (
    Plain,
    parameters_of,
    plain_estimator,
    plain_settings,
    settings_of,
)
from purport.version import VERSION

# Goes up when an older purport could not read what is written any more. What earlier ones wrote is
# read for ever: tests/golden keeps a folder of each.
FORMAT = 3
MODEL = "model.json"
ARRAYS = "arrays.safetensors"

_FIELDS = {
    "format",
    "class",
    "parameters",
    "purport",
    "saved",
    "trained_on",
    "arrays",
    "settings",
    "checksum",
}
# What a class raises when it is given parts that are not its own.
_MISFITS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)

_READS = 10
"""How often a folder that changes while it is read is read."""


def save(model: Estimator, folder: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Write a fitted model into a folder of its own.

    Parameters
    ----------
    model : estimator
        A fitted model of purport.
    folder : path
        Appears when it is complete. It holds the features and labels that the model knows, among
        them words of its training data.
    overwrite : bool
        True replaces a model that stands there, or an empty folder; never anything else.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from purport.sequence.crf import CRF
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "tagger"
    >>> save(CRF().fit([[["play"], ["jazz"]]], [["O", "B-genre"]]), folder)
    >>> load(folder).predict([[["jazz"]]])
    [['B-genre']]
    """
    write_model(model, folder, overwrite)


def write_model(
    model: Estimator,
    folder: str | os.PathLike[str],
    overwrite: bool = False,
    aside: Path | None = None,
) -> None:
    """Write a model as `save` does; what it replaces stands in `aside` afterwards.

    Examples
    --------
    >>> import tempfile
    >>> from purport.sequence.crf import CRF
    >>> folder = Path(tempfile.mkdtemp())
    >>> crf = CRF().fit([[["play"], ["jazz"]]], [["O", "B-genre"]])
    >>> for _ in range(2):
    ...     write_model(crf, folder / "tagger", overwrite=True, aside=folder / "former")
    >>> load(folder / "former")
    CRF()
    """
    # All that can be refused is refused before anything is written.
    description, data = _written(model)
    if overwrite:
        _check_replaceable(Path(folder))
    try:
        with whole_folder(folder, overwrite, aside) as fresh:
            (fresh / ARRAYS).write_bytes(data)
            (fresh / MODEL).write_bytes(_as_json(description))
    except OSError as error:
        raise FormatError.unwritable(os.fspath(folder), _reason(error)) from error


def load(folder: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote, now or with an earlier version.

    Parameters
    ----------
    folder : path
        A model folder.

    Returns
    -------
    estimator
        Fitted, of the class that was saved.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from purport.sequence.crf import CRF
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "tagger"
    >>> save(CRF(l2=0.5).fit([[["play"], ["jazz"]]], [["O", "B-genre"]]), folder)
    >>> load(folder)
    CRF(l2=0.5)
    """
    place = Path(folder)
    for _ in range(_READS):
        seen = _stamp(place)
        try:
            return _load(place)
        except ModelCorruptError:
            # While another process replaces the folder it is gone for an instant, or its two files
            # are of different models.
            if seen is None:
                time.sleep(0.02)
            if _stamp(place) == seen:
                raise
    return _load(place)


def describe(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what ``model.json`` says, without loading the model or its arrays.

    Returns
    -------
    dict
        ``format``, ``class``, ``parameters`` (nested estimators as dicts), ``purport`` (the version
        that wrote it), ``saved`` (time, UTC), ``trained_on`` (counts and times), ``arrays`` (kind,
        shape and hash by name), ``settings``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from purport.sequence.crf import CRF
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "tagger"
    >>> save(CRF(l2=0.5).fit([[["play"], ["jazz"]]], [["O", "B-genre"]]), folder)
    >>> told = describe(folder)
    >>> told["class"], told["parameters"]["l2"], told["arrays"]["theta"]["shape"]
    ('CRF', 0.5, [3])
    """
    place = Path(folder)

    def named(name: object, parameters: dict[str, Any]) -> dict[str, Any]:
        return {"class": name, "parameters": parameters}

    description = _read_description(place)
    try:
        described = {
            "parameters": parameters_of(description["parameters"], named),
            "settings": settings_of(description["settings"]),
        }
    except DamagedError as damage:
        raise ModelCorruptError.at(str(place), damage.reason) from damage
    return {name: value for name, value in description.items() if name != "checksum"} | described


def _written(model: Estimator) -> tuple[dict[str, Any], bytes]:
    """Return the description of a model and the bytes of its arrays."""
    if not isinstance(model, Estimator):
        raise InputError(f"save takes a fitted model of purport; got {type(model).__name__}.")
    name_of(model)
    state = model._to_state()
    data, listed = packed(state.arrays)
    description = {
        "format": FORMAT,
        **plain_estimator(model),
        "purport": VERSION,
        "saved": datetime.now(UTC).isoformat(timespec="seconds"),
        "trained_on": _counts_and_times(model._trained_on()),
        "arrays": listed,
        "settings": plain_settings(state.settings),
    }
    return description | {"checksum": _checksum(description)}, data


def _counts_and_times(trained_on: dict[str, Any]) -> dict[str, Plain]:
    """Let through numbers and times alone: this is shown to everybody, and never holds text."""
    plain = {name: plain_settings(value) for name, value in trained_on.items()}
    for name, value in plain.items():
        if isinstance(value, str):
            datetime.fromisoformat(value)
        elif value is not None and not isinstance(value, int | float):
            raise TypeError(f"trained_on[{name!r}] must be a number or a time")
    return plain


def _check_replaceable(place: Path) -> None:
    """Keep `overwrite` from removing a folder that is no model, named by a slip."""
    if not place.is_dir() or (place / MODEL).is_file():
        return
    if all(path.name == ARRAYS for path in place.iterdir()):  # nothing, or what is left of a model
        return
    raise OutputExistsError.at(
        str(place), "It is not a model folder, so overwrite=True does not replace it."
    )


def _load(place: Path) -> Estimator:
    description = _read_description(place)
    try:
        arrays = unpacked(place / ARRAYS, description["arrays"])
        model = _make(description["class"], parameters_of(description["parameters"], _make))
        settings = settings_of(description["settings"])
        try:
            model._restore(State(arrays, settings))
        except _MISFITS as error:
            raise DamagedError("its arrays and settings do not fit together") from error
    except DamagedError as damage:
        raise ModelCorruptError.at(str(place), damage.reason) from damage
    except OSError as error:
        raise _unreadable(place / ARRAYS, error) from error
    return model


def _make(name: object, parameters: dict[str, Any]) -> Estimator:
    kind = class_named(name)
    try:
        model = kind(**parameters)
        model._check_parameters()
    except _MISFITS as error:
        raise DamagedError(f"its parameters are not those of {kind.__name__}") from error
    return model


def _read_description(place: Path) -> dict[str, Any]:
    """Return the content of ``model.json`` once it is known to be what was written."""
    if not place.exists():
        raise ModelCorruptError.missing(str(place))
    if not place.is_dir():
        raise ModelCorruptError.at(str(place), "it is a file, not a folder")
    try:
        data = (place / MODEL).read_bytes()
    except OSError as error:
        raise _unreadable(place / MODEL, error) from error
    try:
        return _checked(place, json.loads(data.decode("utf-8")))
    except DamagedError as damage:
        raise ModelCorruptError.at(str(place), damage.reason) from damage
    except (ValueError, RecursionError) as error:
        reason = f"{MODEL} is not JSON; it was cut short or altered"
        raise ModelCorruptError.at(str(place), reason) from error


def _checked(place: Path, description: Any) -> dict[str, Any]:
    if not isinstance(description, dict):
        raise DamagedError(f"{MODEL} does not hold an object")
    written = description.get("format")
    if type(written) is not int or written < 1:
        raise DamagedError(f"{MODEL} does not say its format")
    if written > FORMAT:
        # Asked first: a later format may differ in all else.
        raise ModelTooNewError.at(str(place), written, FORMAT)
    content = {name: value for name, value in description.items() if name != "checksum"}
    if description.get("checksum") != _checksum(content):
        raise DamagedError(f"{MODEL} was altered: its checksum differs")
    if description.keys() != _FIELDS:
        raise DamagedError(f"{MODEL} lacks fields or has others")
    return description


def _as_json(description: dict[str, Any]) -> bytes:
    return (json.dumps(description, indent=1, allow_nan=False) + "\n").encode("ascii")


def _checksum(content: dict[str, Any]) -> str:
    """Return the hash of what JSON says, however it is spaced and in whatever order."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _stamp(place: Path) -> tuple[int, int] | None:
    """Return what changes when the folder is replaced; None if nothing is there."""
    try:
        found = place.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _unreadable(path: Path, error: OSError) -> ModelCorruptError | FormatError:
    if isinstance(error, FileNotFoundError):
        return ModelCorruptError.at(str(path.parent), f"{path.name} is missing")
    return FormatError.unreadable(str(path), _reason(error))


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
