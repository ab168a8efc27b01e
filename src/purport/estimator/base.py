"""The small base of every estimator: parameters as scikit-learn handles them, without it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from purport.errors import NotFittedError, ParameterError, shown
from purport.estimator.constraints import Constraint, check_parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class State:
    """What a fitted object is made of: named arrays, and settings that JSON can hold."""

    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    def nested(self, prefix: str) -> State:
        """Return the part that `join` put under a prefix."""
        start = f"{prefix}/"
        arrays = {
            name.removeprefix(start): array
            for name, array in self.arrays.items()
            if name.startswith(start)
        }
        return State(arrays, dict(self.settings.get(prefix, {})))

    def join(self, prefix: str, other: State) -> State:
        """Return this state with another one under a prefix."""
        arrays = {f"{prefix}/{name}": array for name, array in other.arrays.items()}
        return State(self.arrays | arrays, self.settings | {prefix: other.settings})


class Estimator:
    """Parameters stored by `__init__`, checked by `fit`, cloned and printed as scikit-learn does.

    A subclass lists its constraints in `_constraints` (name of the parameter: what is allowed),
    names its learnt attributes with a trailing underscore, and turns them into a `State` and back.
    """

    _constraints: ClassVar[Mapping[str, Constraint]] = {}

    @classmethod
    def _parameter_names(cls) -> list[str]:
        signature = inspect.signature(cls.__init__)
        return [name for name in signature.parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with `deep`, those of nested estimators too."""
        parameters: dict[str, Any] = {}
        for name in self._parameter_names():
            value = getattr(self, name)
            parameters[name] = value
            if deep and isinstance(value, Estimator):
                for inner, inner_value in value.get_params().items():
                    parameters[f"{name}__{inner}"] = inner_value
        return parameters

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name (``outer__inner`` for nested estimators) and return self."""
        known = self._parameter_names()
        for name, value in parameters.items():
            outer, _, inner = name.partition("__")
            if outer not in known:
                raise ParameterError.unknown(type(self).__name__, outer, known)
            if inner:
                getattr(self, outer).set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def _check_parameters(self) -> None:
        check_parameters(type(self).__name__, self.get_params(deep=False), self._constraints)

    def _is_fitted(self) -> bool:
        return any(name.endswith("_") and not name.startswith("_") for name in vars(self))

    def _check_fitted(self) -> None:
        if not self._is_fitted():
            raise NotFittedError.of(self)

    def _to_state(self) -> State:
        """Return what was learnt; overridden by every class that can be saved."""
        raise TypeError(f"{type(self).__name__} cannot be saved")

    def _restore(self, state: State) -> None:
        """Take back what `_to_state` gave, into an object made from its parameters."""
        raise TypeError(f"{type(self).__name__} cannot be loaded")

    def _trained_on(self) -> dict[str, Any]:
        """Return counts and ISO times of the training data, never text; goes into model folders."""
        return {}

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that this is no classifier of rows, so that it cuts lists."""
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}" if isinstance(value, Estimator) else f"{name}={shown(value)}"
            for name, value in self.get_params(deep=False).items()
            if not _same(value, defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


def _same(value: object, default: object) -> bool:
    if isinstance(value, np.ndarray) or isinstance(default, np.ndarray):
        return value is default
    return type(value) is type(default) and bool(value == default)
