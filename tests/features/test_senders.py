"""Which whole texts may be shown: those that enough different people sent, whatever the batches."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purport
from purport.features.senders import MIN_PEOPLE
from purport.features.session_windows import SessionWindows
from purport.records.sessions import Sessions
from purport.sequence.crf import CRF

step = st.tuples(st.sampled_from("ABcd"), st.none() | st.sampled_from("123456"))
logs = st.lists(st.lists(step, max_size=4), min_size=1, max_size=30)


def log_of(sessions):
    return Sessions.from_lists(
        [[text for text, _ in session] for session in sessions],
        who=[[person for _, person in session] for session in sessions],
    )


def shown(windows):
    names = zip(windows.feature_names(), windows.may_be_shown().tolist(), strict=True)
    return {name for name, may in names if may}


@given(logs, st.lists(st.integers(0, 30), max_size=4), st.integers(1, 3))
def test_texts_are_shown_as_counting_says(sessions, cuts, min_count):
    windows = SessionWindows(window=(-1, 0), min_count=min_count)
    log, ends = log_of(sessions), sorted({0, len(sessions), *cuts})
    windows.learn(log[first:last] for first, last in pairwise(ends) if first < len(sessions))
    senders: dict[str, set[object]] = {}
    for number, session in enumerate(sessions):
        for text, person in session:
            senders.setdefault(text.lower(), set()).add(number if person is None else person)
    for name in windows.feature_names():
        if name.startswith("text"):
            enough = len(senders[name.partition("=")[2]]) >= MIN_PEOPLE
            assert (name in shown(windows)) == enough
        else:
            assert name in shown(windows)
    whole = SessionWindows(window=(-1, 0), min_count=min_count).fit(log)
    assert shown(whole) == shown(windows)


def test_it_is_saved_and_older_models_show_no_text(tmp_path):
    log = Sessions.from_lists([["jazz", "jazz"]] * 6 + [["my name"]], who=None)
    crf = CRF(max_iter=500).fit(log, [["a", "b"]] * 6 + [["b"]])
    purport.save(crf, tmp_path / "model")
    encoder = purport.load(tmp_path / "model")._encoder
    assert {"text=jazz", "text[-1]=jazz"} <= shown(encoder)
    assert "text=my name" not in shown(encoder)
    state = encoder._to_state()
    without = {name: array for name, array in state.arrays.items() if "senders" not in name}
    encoder._restore(type(state)(without, state.settings))
    assert not any(name.startswith("text") for name in shown(encoder))
    assert "word=my" in shown(encoder)
    spoilt = {
        name: np.append(array, True) if "senders" in name else array
        for name, array in state.arrays.items()
    }
    with pytest.raises(ValueError, match="do not fit"):
        encoder._restore(type(state)(spoilt, state.settings))


def test_hashed_columns_have_no_names_to_hide():
    windows = SessionWindows(hash_bits=4).fit(Sessions.from_lists([["my name"]]))
    assert windows.may_be_shown().all()
    assert len(windows.may_be_shown()) == windows.width
