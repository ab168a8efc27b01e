"""Parameters and settings as what JSON can hold, and back.

JSON knows no tuples, no infinite numbers and no estimators. They are written as objects with one
key, ``{"tuple": [...]}`` and ``{"number": "inf"}``, and with two, ``{"class": ..., "parameters":
...}``. A dict that is a parameter is ``{"object": {...}}``; if not all its keys are strings, it is
``{"pairs": [[key, value], ...]}``. In settings tuples become lists, and dicts stay as they are, but
for those that would be taken for one of these.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from purport.errors import ParameterError
from purport.estimator.base import Estimator
from purport.store.classes import name_of
from purport.store.damage import DamagedError

Plain = dict[str, Any] | list[Any] | str | int | float | bool | None
Maker = Callable[[Any, dict[str, Any]], Any]
"""Makes an estimator of the name of its class and its parameters."""

_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def plain_estimator(estimator: Estimator) -> dict[str, Plain]:
    """Return the class and the parameters of an estimator.

    Examples
    --------
    >>> from purport.features.token_windows import TokenWindows
    >>> plain_estimator(TokenWindows(words=(0, 1)))["parameters"]["words"]
    {'tuple': [0, 1]}
    """
    name = name_of(estimator)
    parameters: dict[str, Plain] = {
        key: _plain_parameter(name, key, value)
        for key, value in estimator.get_params(deep=False).items()
    }
    return {"class": name, "parameters": parameters}


def _plain_parameter(owner: str, name: str, value: object) -> Plain:
    if isinstance(value, Estimator):
        return dict(plain_estimator(value))
    if isinstance(value, tuple):
        return {"tuple": [_plain_parameter(owner, name, item) for item in value]}
    if isinstance(value, list):
        return [_plain_parameter(owner, name, item) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        items = {str(key): _plain_parameter(owner, name, item) for key, item in value.items()}
        return {"object": items}
    if isinstance(value, dict) and all(_is_key(key) for key in value):
        items_of = value.items()
        return {
            "pairs": [[_plain_scalar(k)[1], _plain_parameter(owner, name, v)] for k, v in items_of]
        }
    found, scalar = _plain_scalar(value)
    if not found:
        allowed = (
            "None, a number, a string, a list, tuple or dict of those, or a model, to be saved"
        )
        raise ParameterError.for_value(owner, name, value, allowed)
    return scalar


def parameters_of(written: object, make: Maker) -> dict[str, Any]:
    """Return the parameters that `plain_estimator` wrote.

    Examples
    --------
    >>> parameters_of({"words": {"tuple": [0, 1]}}, make=lambda name, parameters: name)
    {'words': (0, 1)}
    """
    if not isinstance(written, dict):
        raise DamagedError("the parameters are not an object")
    return {name: _parameter(value, make) for name, value in written.items()}


def _parameter(value: Any, make: Maker) -> Any:
    if isinstance(value, list):
        return [_parameter(item, make) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"tuple": list(items)} if len(value) == 1:
            return tuple(_parameter(item, make) for item in items)
        case {"object": dict(items)} if len(value) == 1:
            return {key: _parameter(item, make) for key, item in items.items()}
        case {"pairs": list(pairs)} if len(value) == 1:
            return dict(_pair(pair, make) for pair in pairs)
        case {"number": str(text)} if len(value) == 1 and text in _NOT_FINITE:
            return _NOT_FINITE[text]
        case {"class": name, "parameters": parameters} if len(value) == 2:
            return make(name, parameters_of(parameters, make))
    raise DamagedError("a parameter is of an unknown kind")


def _is_key(key: object) -> bool:
    """Tell whether JSON can hold the key of a dict as it is."""
    found, scalar = _plain_scalar(key)
    return found and not isinstance(scalar, dict)


def _pair(pair: Any, make: Maker) -> tuple[Any, Any]:
    if not isinstance(pair, list) or len(pair) != 2 or isinstance(pair[0], dict | list):
        raise DamagedError("a parameter is not what it should be")
    return pair[0], _parameter(pair[1], make)


def plain_settings(value: object) -> Plain:
    """Return settings of a `State` as what JSON can hold.

    Examples
    --------
    >>> plain_settings({"steps": (np.int64(3), float("nan"))})
    {'steps': [3, {'number': 'nan'}]}
    """
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError(f"keys of settings must be strings: {value.keys()}")
        items = {key: plain_settings(item) for key, item in value.items()}
        return {"object": items} if value.keys() in ({"number"}, {"object"}) else items
    if isinstance(value, list | tuple):
        return [plain_settings(item) for item in value]
    found, scalar = _plain_scalar(value)
    if not found:
        raise TypeError(f"settings cannot hold {type(value).__name__}; put it into the arrays")
    return scalar


def settings_of(written: Any) -> Any:
    """Return what `plain_settings` was given; tuples come back as lists.

    Examples
    --------
    >>> settings_of({"steps": [3, {"number": "-inf"}]})
    {'steps': [3, -inf]}
    """
    if isinstance(written, list):
        return [settings_of(item) for item in written]
    if not isinstance(written, dict):
        return written
    if written.keys() == {"number"}:
        text = written["number"]
        if not isinstance(text, str) or text not in _NOT_FINITE:
            raise DamagedError("a number in the settings is not one")
        return _NOT_FINITE[text]
    if written.keys() == {"object"}:
        written = written["object"]
        if not isinstance(written, dict):
            raise DamagedError("an object in the settings is not one")
    return {key: settings_of(item) for key, item in written.items()}


def _plain_scalar(value: object) -> tuple[bool, Plain]:
    """Return whether it is a scalar, and how JSON writes it; NumPy's become Python's."""
    if value is None or isinstance(value, bool):
        return True, value
    if isinstance(value, np.bool_):
        return True, bool(value)
    if isinstance(value, int | np.integer):
        return True, int(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        return True, number if math.isfinite(number) else {"number": str(number)}
    if isinstance(value, str):
        return True, str(value)
    return False, None
