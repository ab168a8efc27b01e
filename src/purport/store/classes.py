"""Which classes a model folder may name: a table, so that nothing else is ever imported for it."""

from __future__ import annotations

from importlib import import_module

from purport.errors import InputError
from purport.estimator.base import Estimator
from purport.store.damage import DamagedError

# The store is below all models and may not import them. These are names, looked up when a model is
# loaded: import-linter sees no import, and there is none until a model asks for its own class. A
# folder from elsewhere can name one of these, and nothing else on the machine.
CLASSES = {
    "CCM": "purport.clicks.models",
    "CRF": "purport.sequence.crf",
    "CascadeModel": "purport.clicks.models",
    "DBN": "purport.clicks.models",
    "DCM": "purport.clicks.models",
    "DCTR": "purport.clicks.models",
    "GCTR": "purport.clicks.models",
    "LDCRF": "purport.sequence.ldcrf",
    "LinearSVM": "purport.margin.svm",
    "PBM": "purport.clicks.models",
    "RCTR": "purport.clicks.models",
    "SDBN": "purport.clicks.models",
    "SHDCRF": "purport.sequence.shdcrf",
    "SensorWindows": "purport.features.sensor_windows",
    "SessionWindows": "purport.features.session_windows",
    "TokenWindows": "purport.features.token_windows",
    "UBM": "purport.clicks.models",
}
"""The module of each class that can be saved, by the name that stands in model folders for ever."""


def name_of(model: object) -> str:
    """Return the name under which a model's class is saved.

    Examples
    --------
    >>> from purport.features.token_windows import TokenWindows
    >>> name_of(TokenWindows())
    'TokenWindows'
    """
    kind = type(model)
    if CLASSES.get(kind.__name__) != kind.__module__:
        raise InputError(
            f"save takes the models of purport; got {kind.__module__}.{kind.__qualname__}."
            f" It knows: {', '.join(CLASSES)}."
        )
    return kind.__name__


def class_named(name: object) -> type[Estimator]:
    """Return the class that a model folder names.

    Examples
    --------
    >>> class_named("TokenWindows").__name__
    'TokenWindows'
    """
    if not isinstance(name, str) or name not in CLASSES:
        raise DamagedError("it names a class that is not a model of purport")
    found = getattr(import_module(CLASSES[name]), name)
    if not (isinstance(found, type) and issubclass(found, Estimator)):
        raise TypeError(f"{name} in the table of the store is not an estimator")
    return found
