"""Sessions as tables with a step a row: rows that share an id are joined, and parted again.

The columns are `id`, then those of a step (`obs`, `clicked`, `label`, `t`, `who`); ``obs.NAME``
holds one named feature, ``session.NAME`` a field of the whole session, which its first step tells.
`labels` and `probability` are what was predicted for the step, ``session.probability`` for all
steps together. Every other column is a field of the step; one whose name means something else here
is called ``step.NAME``. The steps of a session stand together; a row without id is a session of
its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any

from purport.records.formats import NUMBERS, Fields, Row
from purport.records.sources import BadRowError, Faults

FEATURE, OF_SESSION, OF_STEP = "obs.", "session.", "step."
LENGTH = len(FEATURE)
SHORT = 16
"""Shorter whole numbers are read without a look at all that JSON may be."""
PREDICTED = ("labels", "probability")
TOLD = frozenset({"id", "obs", "clicked", "label", "t", "who", "features", "steps", *PREDICTED})
"""What a column of a step may not be called."""

ALWAYS = ("id", "obs")
"""By `obs` a table is known to be one of steps; in one column alone an empty row would be a blank
line."""

SPLIT = "its session has ended further up: sort the rows, so that its steps stand together"


class Ended:
    """The ids of sessions that have ended; one that comes again was torn apart."""

    def __init__(self) -> None:
        # Hashes: a set of millions of ids would hold the text of all of them.
        self._met: set[int] = set()

    def begins(self, name: Hashable) -> bool:
        """Tell whether an id has not been met before, and take note of it."""
        key = hash(name)
        fresh = key not in self._met
        self._met.add(key)
        return fresh

    def all_begin(self, names: Iterable[Hashable]) -> bool:
        """Tell whether not one of different ids has been met before; only then take note."""
        keys = {hash(name) for name in names}
        if not self._met.isdisjoint(keys):
            return False
        self._met |= keys
        return True


def sessions_of(
    rows: Iterator[Row], faults: Faults, typed: Callable[[Fields], Fields], ended: Ended
) -> Iterator[Row]:
    """Join the rows of steps into rows of sessions, each with the number of its first step.

    Parameters
    ----------
    rows : iterator of (number, fields)
        One a step.
    faults : Faults
        Told of sessions that were torn apart.
    typed : callable
        Gives fields the types of JSON.
    ended : Ended
        What has been met in earlier rows of the same source.

    Examples
    --------
    >>> rows = [(1, {"id": "a", "obs": "x"}), (2, {"id": "a", "obs.n": 1}), (3, {"obs": "z"})]
    >>> for row in sessions_of(iter(rows), Faults("raise", "example"), dict, Ended()):
    ...     print(row)
    (1, {'id': 'a', 'steps': [{'obs': 'x'}, {'features': {'n': 1}}]})
    (3, {'steps': [{'obs': 'z'}]})
    """
    open_id: object = None
    first, session = 0, Fields()
    torn = predicted = False
    plain: set[str] = {"id"}
    for number, fields in rows:
        name = fields.get("id")
        if name is None or name != open_id:
            if session:
                yield first, session
            open_id, first = name, number
            session = _begun(fields)
            predicted = False
            torn = isinstance(name, Hashable) and name is not None and not ended.begins(name)
            if torn:
                session = {}
                faults.add(number, BadRowError(SPLIT))
        if torn:
            continue
        if not predicted and (fields.keys() <= plain or _are_plain(fields, plain)):
            if "t" in fields:
                fields |= typed({"t": fields["t"]})
            fields.pop("id", None)
            session["steps"].append(fields)
        else:
            _take_step(session, typed(fields))
            predicted = not _PREDICTED.isdisjoint(session)
    if session:
        yield first, session


def steps_of(session: Mapping[str, Any]) -> Iterator[Fields]:
    """Part a session into the fields of its steps; raises `BadRowError` where that cannot be.

    Examples
    --------
    >>> session = {"id": "a", "day": 3, "steps": [{"obs": "x"}, {"obs": {"n": 1}, "t": 5}]}
    >>> for step in steps_of(session):
    ...     print(step)
    {'id': 'a', 'obs': 'x', 'session.day': 3}
    {'id': 'a', 'obs': None, 'obs.n': '1', 't': 5}
    """
    steps = session["steps"]
    if not steps:
        raise BadRowError("it has no steps")
    if session.get("id") is None and len(steps) > 1:
        raise BadRowError("it has several steps and no id that would hold them together")
    labels = session.get("labels")
    probability = session.get("probability")
    if labels is None:
        labels = [None] * len(steps)
    elif not isinstance(labels, list) or len(labels) != len(steps):
        raise BadRowError("its labels are not one a step")
    if isinstance(probability, list) and len(probability) != len(steps):
        raise BadRowError("its probability is not one a step")
    sure = probability if isinstance(probability, list) else [None] * len(steps)
    for place, step in enumerate(steps):
        fields: Fields = {"id": session.get("id"), "obs": None}
        fields |= _flat_step(step)
        fields |= {"labels": labels[place], "probability": sure[place]}
        if place == 0:
            whole = {name: value for name, value in session.items() if name not in _HANDLED}
            fields |= {OF_SESSION + name: value for name, value in whole.items()}
            if not isinstance(probability, list):
                fields[OF_SESSION + "probability"] = probability
        yield {name: value for name, value in fields.items() if value is not None or name in ALWAYS}


_HANDLED = frozenset({"id", "steps", "labels", "probability"})


def typed_cells(fields: Fields) -> Fields:
    """Return the cells of a line of TSV in the types of JSON.

    Examples
    --------
    >>> typed_cells({"obs.n": "1.5", "obs.from": "mail", "t": "12", "clicked": "a b"})
    {'obs.n': 1.5, 'obs.from': 'mail', 't': 12, 'clicked': ['a', 'b']}
    """
    typed = dict(fields)
    for name, cell in fields.items():
        if not isinstance(cell, str):
            continue
        if name[:LENGTH] == FEATURE:
            typed[name] = _value(cell)
        elif name in NUMBERS:
            number = _value(cell)
            typed[name] = cell if isinstance(number, str | bool) else number
        elif name == "clicked":
            typed[name] = [part for part in cell.split(" ") if part]
    return typed


def _value(cell: str) -> Any:
    """Return the number, the truth or the quoted word that a cell holds; else the cell itself."""
    if len(cell) < SHORT and cell.isdecimal() and cell.isascii() and cell[0] != "0":
        return int(cell)  # as below, sooner
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return cell
    return value if isinstance(value, str | int | float) else cell


def _cell(value: object) -> str:
    """Write a feature so that `_value` reads the same again; a word stays as it is if it can."""
    if (
        isinstance(value, str)
        and value
        and _value(value) == value
        and isinstance(_value(value), str)
    ):
        return value
    return json.dumps(value, ensure_ascii=False)


def _begun(fields: Fields) -> Fields:
    session: Fields = {} if fields.get("id") is None else {"id": fields["id"]}
    for name, value in fields.items():
        if name.startswith(OF_SESSION):
            session[name.removeprefix(OF_SESSION)] = value
    return session | {"steps": []}


_OF_STEPS = frozenset({"obs", "clicked", "label", "t", "who"})
_OF_ROWS = frozenset({"id", *PREDICTED})
_PREDICTED = frozenset(PREDICTED)
_NOT_PLAIN = _PREDICTED | {"clicked"}


def _are_plain(fields: Fields, plain: set[str]) -> bool:
    """Tell whether all fields are of the step as they stand, or are its time; learn their names."""
    plain |= {
        name
        for name in fields
        if name not in _NOT_PLAIN and not name.startswith((FEATURE, OF_SESSION, OF_STEP))
    }
    return fields.keys() <= plain


def _take_step(session: Fields, fields: Fields) -> None:
    step: Fields = {}
    features: Fields = {}
    for name, value in fields.items():
        if name in _OF_STEPS:
            step[name] = value
        elif value is None or name in _OF_ROWS or name.startswith(OF_SESSION):
            continue
        elif name.startswith(FEATURE):
            features[name.removeprefix(FEATURE)] = value
        else:
            step[name.removeprefix(OF_STEP)] = value
    if features:
        step["features"] = features
    steps = session["steps"]
    steps.append(step)
    if OF_SESSION + "probability" in fields:
        session["probability"] = fields[OF_SESSION + "probability"]
    for name in PREDICTED:
        if fields.get(name) is not None:
            # None for the steps before, of which nothing was told.
            session.setdefault(name, [None] * (len(steps) - 1))
        if isinstance(told := session.get(name), list):
            told.append(fields.get(name))


def _flat_step(step: Mapping[str, Any]) -> Fields:
    fields: Fields = {}
    for name, value in step.items():
        if isinstance(value, dict) and name in ("obs", "features"):
            fields |= {FEATURE + feature: _cell(inner) for feature, inner in value.items()}
        elif name == "clicked" and not value:
            raise BadRowError("clicked is an empty array, which reads as not known")
        elif name in _OF_STEPS or not _means_something(name):
            fields[name] = value
        else:
            fields[OF_STEP + name] = value
    return fields


def _means_something(name: str) -> bool:
    return name in TOLD or name.startswith((FEATURE, OF_SESSION, OF_STEP))
