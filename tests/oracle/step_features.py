"""The features of steps, written down one step after the other from plain lists; slow and obvious.

A session is a list of steps as JSON lines hold them: dicts with "obs", "features", "clicked", "t".
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

Step = dict[str, Any]
Said = list[list[list[str]]]


def doubling(number: float | None) -> str:
    """Name the bucket of a number."""
    if number is None:
        return "unknown"
    if number < 0:
        return "<0"
    if number == 0:
        return "0"
    bound = 1
    while bound < number and bound < 2**40:
        bound *= 2
    return f"<={bound}"


def rounded(number: float) -> float:
    mantissa, power = math.frexp(number)
    return math.ldexp(round(mantissa * 1024), power - 10)


def cuts_of(numbers: list[float], bins: int) -> list[float]:
    """Cut sorted numbers where shares of 1/bins, 2/bins, ... of them are reached."""
    ordered = sorted(map(rounded, numbers))
    ends = {ordered[math.ceil(part * len(ordered) / bins) - 1] for part in range(1, bins)}
    return sorted(ends - {ordered[-1]})


def bin_of(number: float, cuts: list[float]) -> str:
    low = [cut for cut in cuts if cut < rounded(number)]
    high = [cut for cut in cuts if cut >= rounded(number)]
    return f"{f'{low[-1]:.4g}' if low else ''}..{f'{high[0]:.4g}' if high else ''}"


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+(?:'\w+)*|[^\w\s]", text)


def session_strings(
    train: list[list[Step]], sessions: list[list[Step]], parameters: dict[str, Any]
) -> Said:
    """Return the features of `SessionWindows` whose numbers are cut as `train` says."""
    numbers: dict[str, list[float]] = {}
    for step in (step for session in train for step in session):
        for name, value in (step.get("features") or {}).items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                numbers.setdefault(name, []).append(float(value))
    cuts = {name: cuts_of(values, parameters["bins"]) for name, values in numbers.items()}
    return [
        [_of_step(session, place, cuts, parameters) for place in range(len(session))]
        for session in sessions
    ]


def _of_step(
    session: list[Step], place: int, cuts: dict[str, list[float]], parameters: dict[str, Any]
) -> list[str]:
    first, last = parameters["window"]
    said = ["bias"] if parameters["bias"] else []
    for offset in range(first, last + 1):
        if 0 <= place + offset < len(session):
            mark = f"[{offset}]" if offset else ""
            for name, value in _seen(session[place + offset], cuts, parameters):
                said.append(f"{name}{mark}={value}")
    ahead = last > 0
    if parameters["change"] and place:
        said += _change(session[place - 1], session[place], parameters)
    if parameters["position"]:
        said.append(f"before={doubling(place)}")
        if ahead:
            said.append(f"left={doubling(len(session) - 1 - place)}")
    if parameters["gaps"]:
        if place:
            said.append(f"gap={_gap(session[place - 1], session[place])}")
        if ahead and place + 1 < len(session):
            said.append(f"next_gap={_gap(session[place], session[place + 1])}")
    if parameters["hours"]:
        said.append(f"hour={_hour(session[place])}")
    return said


def _text(step: Step, parameters: dict[str, Any]) -> str | None:
    text = step.get("obs")
    return text.lower() if text is not None and parameters["lowercase"] else text


def _seen(
    step: Step, cuts: dict[str, list[float]], parameters: dict[str, Any]
) -> list[tuple[str, str]]:
    said = []
    text = _text(step, parameters)
    if text is not None:
        pieces: list[tuple[str, Any, Callable[[Any], str]]] = [
            ("words", words_of(text), " ".join),
            ("characters", f" {text} ", str),
        ]
        for kind, whole, written in pieces:
            if parameters[kind]:
                least, most = parameters[kind]
                found = {
                    written(whole[start : start + length])
                    for length in range(least, most + 1)
                    for start in range(len(whole) - length + 1)
                }
                said += [(kind.removesuffix("s") if kind == "words" else kind, f) for f in found]
        if parameters["text"]:
            said.append(("text", text))
    if parameters["features"]:
        for name, value in (step.get("features") or {}).items():
            if isinstance(value, bool):
                said.append(("feature", f"{name}:{str(value).lower()}"))
            elif isinstance(value, str):
                said.append(("feature", f"{name}:{value}"))
            else:
                said.append(("feature", f"{name}:{bin_of(float(value), cuts.get(name, []))}"))
    if parameters["clicks"] and step.get("clicked") is not None:
        said += [("clicked", result) for result in step["clicked"]]
        said.append(("clicks", doubling(len(step["clicked"]))))
    return said


def _change(before: Step, here: Step, parameters: dict[str, Any]) -> list[str]:
    old, new = _text(before, parameters), _text(here, parameters)
    if old is None or new is None:
        return []
    left, right = set(words_of(old)), set(words_of(new))
    if left == right:
        kind = "same"
    elif not left & right:
        kind = "new"
    elif right < left:
        kind = "wider"
    elif left < right:
        kind = "narrower"
    else:
        kind = "other"
    told = {"added": right - left, "kept": right & left, "dropped": left - right}
    return [f"change={kind}", *(f"{name}={word}" for name in told for word in told[name])]


def _gap(left: Step, right: Step) -> str:
    if left.get("t") is None or right.get("t") is None:
        return "unknown"
    return doubling(right["t"] - left["t"])


def _hour(step: Step) -> str:
    return "unknown" if step.get("t") is None else str(int(step["t"] // 3600 % 24))


def sensor_strings(sessions: list[list[Step]], parameters: dict[str, Any]) -> Said:
    """Return the features of `SensorWindows`."""
    said = []
    for session in sessions:
        raw = [_on(step, parameters["texts"]) for step in session]
        change, last = [], []
        for place, step in enumerate(session):
            if parameters["texts"] == "events":
                changed = raw[place] - raw[place - 1] if place else raw[place]
            else:
                changed = raw[place] ^ raw[place - 1] if place else set()
            if parameters["texts"] == "bits" and step.get("change") is not None:
                changed = _bits(step["change"])
            latest = changed or (change_before(change) or set())
            change.append(changed)
            if parameters["texts"] == "bits" and step.get("last") is not None:
                latest = _bits(step["last"])
            last.append(latest)
        shown = {"raw": raw, "change": change, "last": last}
        said.append(
            [_of_sensors(session, place, shown, parameters) for place in range(len(session))]
        )
    return said


def change_before(change: list[set[str]]) -> set[str] | None:
    """Return the latest change that was one."""
    return next((changed for changed in reversed(change) if changed), None)


def _on(step: Step, texts: str) -> set[str]:
    on = {name for name, value in (step.get("features") or {}).items() if value}
    text = step.get("obs")
    if text is None:
        return on
    return on | ({text} if texts == "events" else _bits(text))


def _bits(text: str) -> set[str]:
    return {str(place) for place, bit in enumerate(text) if bit == "1"}


def _of_sensors(
    session: list[Step], place: int, shown: dict[str, list[set[str]]], parameters: dict[str, Any]
) -> list[str]:
    first, last = parameters["window"]
    said = ["bias"] if parameters["bias"] else []
    for name in parameters["representations"]:
        for offset in range(first, last + 1):
            if 0 <= place + offset < len(session):
                mark = f"[{offset}]" if offset else ""
                sensors = shown[name][place + offset] or {"none"}
                said += [f"{name}{mark}={sensor}" for sensor in sensors]
    if parameters["durations"]:
        start = _start(shown["raw"], place)
        said.append(f"lasted={_lasted(session, start, place)}")
        if start:
            earlier = _start(shown["raw"], start - 1)
            said.append(f"lasted_before={_lasted(session, earlier, start)}")
    if parameters["hour"]:
        said.append(f"hour={_hour(session[place])}")
    return said


def _start(raw: list[set[str]], place: int) -> int:
    while place and raw[place - 1] == raw[place]:
        place -= 1
    return place


def _lasted(session: list[Step], start: int, stop: int) -> str:
    if session[start].get("t") is None or session[stop].get("t") is None:
        return f"{doubling(stop - start)} steps"
    return f"{doubling(session[stop]['t'] - session[start]['t'])} s"
