"""SessionWindows and SensorWindows against the strings that their slow twins write."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.step_features import Step, sensor_strings, session_strings

from purport.errors import InputError, NotFittedError, ParameterError, PurportWarning
from purport.estimator.base import State
from purport.features.rows import Rows
from purport.features.sensor_windows import SensorWindows
from purport.features.session_windows import SessionWindows
from purport.features.step_windows import StepWindows
from purport.features.strings import FeatureStrings
from purport.records.sessions import Sessions
from purport.records.utterances import Utterances

times = st.none() | st.sampled_from([-5, 0, 0.5, 1, 60, 61, 3600, 86_400, 90_000, 1e13])
texts = st.none() | st.sampled_from(["", "a", "A b", "b a", "a b c", "don't, b!", "日本", "ß"])
values = st.sampled_from([0, 1, 1.0, 2, 2.5, 2.5001, -3, 100, 1e9, True, False, "a", "x y"])
named = st.dictionaries(st.sampled_from(["n", "m", "k"]), values, max_size=3)
clicks = st.none() | st.lists(st.sampled_from(["u", "v", "w"]), max_size=4)
steps = st.fixed_dictionaries({"obs": texts, "features": named, "clicked": clicks, "t": times})
sessions = st.lists(st.lists(steps, max_size=5), max_size=4)
windows = st.tuples(st.integers(-2, 1), st.integers(0, 2)).map(lambda w: (w[0], w[0] + w[1]))
lengths = st.none() | st.tuples(st.integers(1, 2), st.integers(0, 2)).map(
    lambda s: (s[0], s[0] + s[1])
)
session_windows = st.builds(
    SessionWindows,
    window=windows,
    words=lengths,
    characters=lengths,
    text=st.booleans(),
    change=st.booleans(),
    features=st.booleans(),
    bins=st.integers(2, 4),
    clicks=st.booleans(),
    position=st.booleans(),
    gaps=st.booleans(),
    hours=st.booleans(),
    bias=st.booleans(),
    lowercase=st.booleans(),
    min_count=st.integers(1, 3),
)
bits = st.text("01", min_size=3, max_size=3)
sensors = st.dictionaries(st.sampled_from(["door", "1", "bed"]), st.sampled_from([0, 1, 2.5]))
of_bits = st.fixed_dictionaries(
    {"obs": st.none() | bits, "features": sensors, "t": times},
    optional={"change": bits, "last": st.none() | bits},
)
activities = st.lists(st.lists(of_bits, max_size=5), max_size=4)
sensor_windows = st.builds(
    SensorWindows,
    representations=st.lists(
        st.sampled_from(["raw", "change", "last"]), min_size=1, max_size=3, unique=True
    ),
    window=windows,
    texts=st.sampled_from(["bits", "events"]),
    durations=st.booleans(),
    hour=st.booleans(),
    bias=st.booleans(),
    min_count=st.integers(1, 3),
)
either = st.tuples(session_windows, sessions, sessions) | st.tuples(
    sensor_windows, activities, activities
)


def set_hashing(encoder: StepWindows, hash_bits: int | None) -> StepWindows:
    """Hash features, which cannot be counted then, or do not."""
    counted = {} if hash_bits is None else {"min_count": 1}
    return encoder.set_params(hash_bits=hash_bits, **counted)


def log_of(sessions: list[list[Step]]) -> Sessions:
    return Sessions.from_rows([{"steps": steps} for steps in sessions])


def twin(
    encoder: StepWindows, train: list[list[Step]], sessions: list[list[Step]]
) -> list[list[Counter[str]]]:
    if isinstance(encoder, SessionWindows):
        said = session_strings(train, sessions, encoder.get_params())
    else:
        said = sensor_strings(sessions, encoder.get_params())
    return [[Counter(step) for step in session] for session in said]


def spelled(encoder: StepWindows, rows: Rows) -> list[list[Counter[str]]]:
    """Write rows back as a count of features for each step."""
    names = encoder.feature_names()
    assert rows.width == encoder.width == len(names)
    values = np.ones(len(rows.columns)) if rows.values is None else rows.values
    assert np.all(values == 1.0)
    unique = [
        Counter(names[column] for column in rows.columns[start:stop])
        for start, stop in pairwise(rows.indptr.tolist())
    ]
    return [
        [unique[number] for number in rows.index[start:stop]]
        for start, stop in pairwise(rows.offsets.tolist())
    ]


def same(left: Rows, right: Rows) -> bool:
    arrays = ("indptr", "columns", "values", "index", "offsets")
    equal = all(np.array_equal(getattr(left, a), getattr(right, a)) for a in arrays)
    return equal and (left.width, left.unseen) == (right.width, right.unseen)


def same_state(left: StepWindows, right: StepWindows) -> bool:
    one, two = left._to_state(), right._to_state()
    return one.settings == two.settings and {
        name: array.tolist() for name, array in one.arrays.items()
    } == {name: array.tolist() for name, array in two.arrays.items()}


@given(either)
def test_rows_and_strings_say_what_the_twin_says(
    drawn: tuple[StepWindows, list[list[Step]], list[list[Step]]],
) -> None:
    encoder, train, later = drawn
    rows = encoder.fit_transform(log_of(train))
    counted = sum((step for session in twin(encoder, train, train) for step in session), Counter())
    known = {feature for feature, count in counted.items() if count >= encoder.min_count}
    assert set(encoder.feature_names()) == known
    assert len(encoder.feature_names()) == len(known)
    assert same(encoder.transform(log_of(train)), rows)
    for records, found in ((train, rows), (later, encoder.transform(log_of(later)))):
        said = twin(encoder, train, records)
        written = encoder.strings(log_of(records))
        assert [[Counter(step) for step in session] for session in written] == said
        assert spelled(encoder, found) == [
            [Counter({f: n for f, n in step.items() if f in known}) for step in session]
            for session in said
        ]
        assert found.unseen == sum(
            n for session in said for step in session for f, n in step.items() if f not in known
        )


@given(either)
def test_rows_are_those_of_feature_strings_with_other_numbers(
    drawn: tuple[StepWindows, list[list[Step]], list[list[Step]]],
) -> None:
    encoder, train, _ = drawn
    encoder.set_params(min_count=1)
    rows = encoder.fit_transform(log_of(train))
    other = FeatureStrings().fit_transform(encoder.strings(log_of(train)))
    assert (rows.width, rows.unique, rows.unseen) == (other.width, other.unique, 0)
    assert rows.index.tolist() == other.index.tolist()


@given(either, st.lists(st.integers(0, 4), max_size=3), st.none() | st.integers(2, 8))
def test_batches_teach_what_all_records_teach_at_once(
    drawn: tuple[StepWindows, list[list[Step]], list[list[Step]]],
    cuts: list[int],
    hash_bits: int | None,
) -> None:
    encoder, train, later = drawn
    set_hashing(encoder, hash_bits)
    whole = log_of(train)
    rows = encoder.fit_transform(whole)
    batches = [whole[start:stop] for start, stop in pairwise([0, *sorted(cuts), len(train)])]
    other = type(encoder)(**encoder.get_params()).learn(iter(batches))
    assert same_state(other, encoder)
    assert other.feature_names() == encoder.feature_names()
    assert same(other.transform(whole), rows)
    assert same(other.transform(log_of(later)), encoder.transform(log_of(later)))


@given(either, st.none() | st.integers(2, 8))
def test_what_is_learnt_survives_saving(
    drawn: tuple[StepWindows, list[list[Step]], list[list[Step]]], hash_bits: int | None
) -> None:
    encoder, train, later = drawn
    set_hashing(encoder, hash_bits).fit(log_of(train))
    state = encoder._to_state()
    parameters, settings = json.loads(json.dumps([encoder.get_params(), state.settings]))
    other = type(encoder)(**parameters)
    other._restore(State(state.arrays, settings))
    assert same_state(other, encoder)
    assert same(other.transform(log_of(later)), encoder.transform(log_of(later)))


@given(either, st.integers(2, 20))
def test_hashed_columns_are_those_of_the_strings(
    drawn: tuple[StepWindows, list[list[Step]], list[list[Step]]], hash_bits: int
) -> None:
    encoder, train, later = drawn
    set_hashing(encoder, hash_bits).fit(log_of(train))
    rows = encoder.transform(log_of(later))
    assert (rows.width, rows.unseen, encoder.columns_) == (1 << hash_bits, 0, [])
    for session, index in zip(
        encoder.strings(log_of(later)), np.split(rows.index, rows.offsets[1:-1]), strict=False
    ):
        for said, number in zip(session, index, strict=True):
            columns = [column_of(feature, hash_bits) for feature in said]
            found = rows.columns[rows.indptr[number] : rows.indptr[number + 1]]
            assert sorted(columns) == found.tolist()


def column_of(feature: str, hash_bits: int) -> int:
    """Hash with Python's whole numbers what `hashing` does with arrays."""
    stem, mark, said = feature.partition("=")
    left, right = (
        int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
        for text in ((stem, said) if mark else ("", feature))
    )
    mixed = (left * 0x9E3779B97F4A7C15 & 2**64 - 1) ^ right
    mixed = (mixed ^ mixed >> 32) * 0xFF51AFD7ED558CCD & 2**64 - 1
    return (mixed ^ mixed >> 32) & (1 << hash_bits) - 1


def test_the_hash_of_a_feature_never_changes() -> None:
    assert [column_of(feature, 20) for feature in ("bias", "word=né", "text[-1]=a=b")] == [
        681745,
        374273,
        636624,
    ]


OTHERS = ("text", "change", "clicks", "position", "gaps")
NO_TEXTS: dict[str, Any] = {"words": None, "characters": None}


@given(sessions)
def test_numbers_that_are_not_cut_are_divided_by_their_median(train: list[list[Step]]) -> None:
    encoder = SessionWindows((0, 0), bins=None, **dict.fromkeys(OTHERS, False), **NO_TEXTS)
    rows = encoder.fit_transform(log_of(train))
    names = encoder.feature_names()
    sizes: dict[str, list[float]] = {}
    for step in (step for session in train for step in session):
        for name, value in step["features"].items():
            if not isinstance(value, bool | str) and value:
                sizes.setdefault(name, []).append(abs(value))
    found = rows.matrix().toarray()[rows.index]
    flat = [step for session in train for step in session]
    for name in {name for step in flat for name in step["features"]}:
        if f"feature={name}" not in names:
            continue
        scale = sorted(sizes[name])[(len(sizes[name]) - 1) // 2] if name in sizes else 1.0
        wanted = [
            0.0 if isinstance(value, bool | str) else value / scale
            for value in (step["features"].get(name, 0.0) for step in flat)
        ]
        np.testing.assert_allclose(found[:, names.index(f"feature={name}")], wanted, rtol=2e-3)


def test_a_window_without_later_steps_sees_none() -> None:
    session: list[Step] = [{"obs": "a", "t": 0}, {"obs": "b", "t": 5}, {"obs": "c", "t": 9}]
    for encoder in (SessionWindows(hours=True), SensorWindows(texts="events")):
        encoder.fit(log_of([session]))
        whole = encoder.strings(log_of([session]))[0]
        for length in range(1, 3):
            assert encoder.strings(log_of([session[:length]]))[0] == whole[:length]


def test_what_no_column_needs_is_not_kept() -> None:
    encoder = SessionWindows(min_count=2).fit(log_of([[{"obs": "rare often"}, {"obs": "often"}]]))
    kept = b"".join(array.tobytes() for array in encoder._to_state().arrays.values())
    assert b"often" in kept
    assert b"rare" not in kept


def test_sensors_of_the_records_themselves() -> None:
    session = [
        {"obs": "01"},
        {"obs": "11", "change": "01", "last": "10"},
        {"obs": "11", "change": None, "last": None},
    ]
    encoder = SensorWindows(("raw", "change", "last"), durations=False, hour=False, bias=False)
    encoder.fit(log_of([session]))
    assert encoder.strings(log_of([session])) == [
        [
            ["raw=1", "change=none", "last=none"],
            ["raw=0", "raw=1", "change=1", "last=0"],
            ["raw=0", "raw=1", "change=none", "last=1"],
        ]
    ]


def test_texts_are_taken_for_what_they_are() -> None:
    bits, events = log_of([[{"obs": "01"}]]), log_of([[{"obs": "door"}, {"obs": "bed"}]])
    encoder = SensorWindows(("raw",), durations=False, hour=False, bias=False)
    assert encoder.fit(bits).texts_ == "bits"
    assert encoder.feature_names() == ["raw=1"]
    assert encoder.learn([events, bits]).texts_ == "events"
    assert encoder.feature_names() == ["raw=door", "raw=bed", "raw=01"]
    # Once learnt it stays, and old states, which do not say it, go by the parameter.
    assert encoder.strings(bits) == [[["raw=01"]]]
    state = encoder._to_state()
    restored = SensorWindows(("raw",), durations=False, hour=False, bias=False)
    restored._restore(state)
    assert restored.strings(bits) == [[["raw=01"]]]
    old = State(state.arrays, {k: v for k, v in state.settings.items() if k != "texts"})
    said = SensorWindows(("raw",), texts="bits", durations=False, hour=False, bias=False)
    said._restore(old)
    assert said.strings(bits) == [[["raw=1"]]]
    with pytest.raises(ValueError, match="texts"):
        restored._restore(old)
    nothing = log_of([[{"features": {"door": 1}}]])
    assert encoder.fit(nothing).texts_ == "bits"
    with pytest.warns(PurportWarning, match="Some texts of steps are of 0 and 1 alone"):
        assert encoder.fit(log_of([[{"obs": "01"}, {"obs": "door"}]])).texts_ == "events"


@pytest.mark.parametrize("name", ["kasteren-a", "ordonez-a", "tapia-s1", "tapia-s2"])
def test_events_of_real_houses(real_data: Path, name: str) -> None:
    log = Sessions.read(real_data / f"activity-{name}" / "event_sequences.jsonl.gz")
    encoder = SensorWindows().fit(log)
    assert encoder.texts_ == "events"
    assert encoder.transform(log).unseen == 0


def test_events_that_look_like_bits_are_events_when_that_is_said() -> None:
    encoder = SensorWindows(("raw",), texts="events", durations=False, hour=False, bias=False)
    log = log_of([[{"obs": "101"}, {"obs": "67"}]])
    assert encoder.fit(log).strings(log) == [[["raw=101"], ["raw=67"]]]


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([{"obs": "01"}, {"obs": "door"}], r"X\[1\]\[1\].*texts='events'"),
        ([{"obs": "01"}, {"obs": "011"}], r"X\[1\]\[1\].*3 sensors here, 2 in another"),
        ([{"obs": "01"}, {"obs": "01", "change": 1}], r"X\[1\]\[1\].*its change is no text"),
        ([{"obs": "01"}, {"obs": "01", "last": "off"}], r"X\[1\]\[1\].*of 0 and 1"),
    ],
)
def test_texts_that_are_no_sensors_are_refused(steps: list[Step], said: str) -> None:
    with pytest.raises(InputError, match=said):
        SensorWindows(texts="bits").fit(log_of([[], steps]))


@pytest.mark.parametrize("kind", [SessionWindows, SensorWindows])
def test_other_things_than_sessions_are_refused(kind: type[StepWindows]) -> None:
    for wrong in ([["a"]], None, "a", Utterances.from_lists([["a"]])):
        with pytest.raises(InputError, match="from Sessions"):
            kind().fit(wrong)  # type: ignore[arg-type]
    with pytest.raises(NotFittedError):
        kind().transform(log_of([]))
    with pytest.raises(NotFittedError):
        kind().strings(log_of([]))


@pytest.mark.parametrize(
    "wrong",
    [
        {"window": (1, 0)},
        {"words": (0, 1)},
        {"words": 2},
        {"characters": (3,)},
        {"text": 1},
        {"bins": 1},
        {"min_count": 0},
        {"hash_bits": 31},
        {"min_count": 2, "hash_bits": 8},
    ],
    ids=repr,
)
def test_parameters_of_session_windows_are_checked_at_fit(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        SessionWindows(**wrong).fit(log_of([[{"obs": "a"}]]))


@pytest.mark.parametrize(
    "wrong",
    [
        {"representations": ()},
        {"representations": ("raw", "raw")},
        {"representations": "raw"},
        {"texts": "lists"},
        {"hour": None},
    ],
    ids=repr,
)
def test_parameters_of_sensor_windows_are_checked_at_fit(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        SensorWindows(**wrong).fit(log_of([[{"obs": "0"}]]))


def test_no_batch_at_all_teaches_nothing() -> None:
    encoder = SessionWindows().learn([])
    assert (encoder.width, encoder.feature_names()) == (0, [])
    rows = encoder.transform(log_of([[{"obs": "a"}]]))
    assert (rows.width, rows.unique, rows.unseen) == (0, 1, 4)


def test_real_sessions_of_text_and_of_numbers(real_data: Path) -> None:
    talk = Sessions.read(real_data / "sessions-sgd" / "sequences.jsonl.gz")[:500]
    rows = SessionWindows().fit_transform(talk)
    assert (rows.positions, rows.unseen) == (int(talk.offsets[-1]), 0)
    searches = Sessions.read(real_data / "sessions-intentions" / "sequences.jsonl.gz")
    encoder = SessionWindows()
    assert same(
        encoder.learn(
            searches.batches(real_data / "sessions-intentions" / "sequences.jsonl.gz", 7)
        ).transform(searches),
        SessionWindows().fit_transform(searches),
    )


def test_the_slices_of_a_house_are_few_different_rows(real_data: Path) -> None:
    source = real_data / "activity-kasteren-a" / "slices.tsv.gz"
    columns = {"id": "day", "obs": "raw", "t": "time"}
    house = Sessions.read(source, columns=columns)
    encoder = SensorWindows(("raw", "change", "last"), durations=False, hour=False)
    rows = encoder.fit_transform(house)
    assert (len(house), rows.positions, rows.width) == (29, 40_006, 1 + 15 + 15 + 14)
