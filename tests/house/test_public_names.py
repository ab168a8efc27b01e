"""The public names: one list in the package, its stub and what really loads."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest

import purport

STUB = Path(purport.__file__).with_suffix(".pyi")


def stub_tree() -> ast.Module:
    return ast.parse(STUB.read_text(encoding="utf-8"))


def imported_by_stub() -> dict[str, str]:
    """Return each name that the stub imports, with its home as the package writes it."""
    homes = {}
    for statement in stub_tree().body:
        if isinstance(statement, ast.ImportFrom):
            for name in statement.names:
                homes[name.asname or name.name] = f"{statement.module}:{name.name}"
    return homes


def test_stub_and_package_list_the_same_names() -> None:
    listed = next(
        ast.literal_eval(statement.value)
        for statement in stub_tree().body
        if isinstance(statement, ast.Assign)
    )
    assert sorted(listed) == sorted(purport.__all__) == dir(purport)
    assert sorted(listed) == sorted([*imported_by_stub(), "__version__"])


@pytest.mark.parametrize("name", sorted(purport.__all__))
def test_every_name_loads_from_where_the_stub_says(name: str) -> None:
    value = getattr(purport, name)
    if name == "__version__":
        assert isinstance(value, str)
        return
    module, attribute = imported_by_stub()[name].split(":")
    if inspect.ismodule(value):
        assert value.__name__ == f"{module}.{attribute}"
    else:
        assert value.__module__ == module
        assert value.__name__ == attribute


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        purport.nonsense  # noqa: B018


def public_things() -> list[Any]:
    """Return every public class and function; errors explain themselves by their message."""
    values = [getattr(purport, name) for name in purport.__all__]
    for module in filter(inspect.ismodule, list(values)):
        values += [getattr(module, name) for name in getattr(module, "__all__", ())]
    return [
        value
        for value in values
        if inspect.isfunction(value)
        or (inspect.isclass(value) and not issubclass(value, BaseException))
    ]


def public_methods(thing: Any) -> list[Any]:
    return [
        member
        for name, member in inspect.getmembers(thing, callable)
        if not name.startswith("_") and (member.__module__ or "").startswith("purport.")
    ]


def test_everything_public_is_explained() -> None:
    things = public_things()
    for thing in list(things):
        things += public_methods(thing) if inspect.isclass(thing) else []
    assert not [f"{t.__module__}.{t.__qualname__}" for t in things if not inspect.getdoc(t)]


def test_every_public_class_and_function_shows_an_example() -> None:
    assert not [t.__qualname__ for t in public_things() if ">>>" not in (inspect.getdoc(t) or "")]
