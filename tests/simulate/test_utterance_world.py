"""The world of utterances: the same seed gives the same one, and each knob does what it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purport.errors import ParameterError
from purport.measure.tags import spans
from purport.simulate.grammar import FILLERS, SHARED_NAMES, SHARED_SLOTS, TEMPLATES
from purport.simulate.utterances import utterance_world

SLOT_NAMES = {
    word.strip("{}")
    for templates in TEMPLATES.values()
    for template in templates
    for word in template.split()
    if word.startswith("{")
}


def fillers_of(world):
    """Return each (slot, words) that occurs."""
    return [
        (span.label, " ".join(tokens[span.start : span.end]))
        for tokens, tags in zip(world.tokens, world.slots, strict=True)
        for span in spans(tags)
    ]


@given(st.integers(0, 30), st.integers(0, 2**32 - 1))
def test_the_same_seed_gives_the_same_world(n, seed):
    world = utterance_world(n, seed)
    assert len(world) == n
    assert world == utterance_world(n, seed)


def test_another_seed_gives_another_world():
    assert utterance_world(50, 1) != utterance_world(50, 2)


def test_a_longer_world_begins_with_the_shorter_one():
    assert utterance_world(40, 3)[:20] == utterance_world(20, 3)


def test_every_template_names_slots_that_have_fillers():
    assert set(FILLERS) == SLOT_NAMES
    assert SHARED_SLOTS <= SLOT_NAMES


def test_every_slot_and_intent_occurs_and_is_marked_in_full():
    world = utterance_world(2000, 0, typos=0.0)
    assert set(world.intents) == set(TEMPLATES)
    assert set(world.domains) == {intent.partition(".")[0] for intent in TEMPLATES}
    found = fillers_of(world)
    assert {slot for slot, _ in found} == SLOT_NAMES
    for slot, words in found:
        shared = slot in SHARED_SLOTS and words in SHARED_NAMES
        assert shared or words in FILLERS[slot]


def test_the_tags_are_sound():
    for tags in utterance_world(500, 0).slots:
        for before, tag in zip(["O", *tags], tags, strict=False):
            assert not tag.startswith("I-") or before[2:] == tag[2:]


def test_ids_are_all_different():
    assert len(set(utterance_world(100, 0).ids)) == 100


@pytest.mark.parametrize("ambiguity", [0.0, 1.0])
def test_ambiguity_decides_whether_a_name_tells_its_slot(ambiguity):
    world = utterance_world(1000, 0, ambiguity=ambiguity, typos=0.0)
    names = [words for slot, words in fillers_of(world) if slot in SHARED_SLOTS]
    assert {name in SHARED_NAMES for name in names} == {ambiguity == 1.0}


def test_typos_change_words_and_leave_tags():
    plain, mistyped = utterance_world(1, 5, typos=0.0), utterance_world(1, 5, typos=1.0)
    assert plain.tokens != mistyped.tokens
    assert plain.slots == mistyped.slots


def test_politeness_makes_utterances_longer():
    rude, polite = (utterance_world(300, 1, politeness=share) for share in (0.0, 1.0))
    assert polite.offsets[-1] > rude.offsets[-1] + 600


@pytest.mark.parametrize(
    "wrong", [{"n": -1}, {"ambiguity": 1.5}, {"typos": -0.1}, {"politeness": "much"}]
)
def test_impossible_worlds_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        utterance_world(**wrong)
