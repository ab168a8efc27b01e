"""What is said of hidden states, against enumeration, and that few people's words are never."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from sequence.test_latent_decoding import cases

from purport.errors import InputError, NotFittedError, ParameterError, ShapeError
from purport.features.session_windows import SessionWindows
from purport.records.sessions import Sessions
from purport.records.utterances import Utterances
from purport.sequence.explaining import LEAST, StateSummary
from purport.sequence.ldcrf import LDCRF
from purport.sequence.shdcrf import SHDCRF
from purport.store.folders import load, save

SECRET = "xyzzysecretword"


def written_visits(model, written, X):
    """Return the mean posterior of states and the expected pairs, by enumeration."""
    usage, pairs = np.zeros(written.states), np.zeros((written.states,) * 2)
    for sequence in X:
        paths, totals = written.path_scores(model._theta, sequence)
        shares = np.exp(totals - totals.max())
        for path, share in zip(paths, shares / shares.sum(), strict=True):
            for state in path:
                usage[state] += share
            for before, after in pairwise(path):
                pairs[before, after] += share
    return usage / usage.sum(), pairs


def written_given_label(written, theta, usage):
    joint = written.parts(theta)[-1] * usage
    return joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)


def assert_listed(found, expected, what=LEAST):
    """Compare names and probabilities with an array of all; ties and borders are left open."""
    values = list(found.values())
    assert values == sorted(values, reverse=True)
    for name, probability in found.items():
        assert probability == pytest.approx(expected[name], abs=1e-9)
    for name, probability in expected.items():
        assert name in found or probability < what + 1e-9


@given(cases())
@settings(max_examples=60, deadline=None)
def test_all_numbers_are_those_of_enumeration(case):
    model, written, X = case
    usage, pairs = written_visits(model, written, X)
    given_label = written_given_label(written, model._theta, usage)
    np.testing.assert_allclose(model.state_given_label(X), given_label, atol=1e-9)
    labels, numbers = written.labels, range(written.states)
    shares = written.parts(model._theta)[-1]
    posteriors = [written.state_posteriors(model._theta, sequence) for sequence in X]
    weights, *_ = written.parts(model._theta)
    summaries = model.explain(X, top=100)
    assert [summary.state for summary in summaries] == list(numbers)
    assert sum(summary.share for summary in summaries) == pytest.approx(1.0)
    for state, summary in enumerate(summaries):
        assert isinstance(summary, StateSummary)
        assert_listed(summary.labels, dict(zip(labels, shares[:, state], strict=True)))
        assert_listed(summary.given_label, dict(zip(labels, given_label[:, state], strict=True)))
        following = pairs[state] / max(pairs[state].sum(), 1e-300)
        assert_listed(dict(summary.next_states), dict(zip(numbers, following, strict=True)))
        for name, weight in summary.features:
            assert weight == weights[written.columns[name], state] > 0.0
        assert len(summary.features) == np.count_nonzero(weights[:, state] > 0.0)
        assert len(summary.examples) == round(summary.share * sum(map(len, X)))
        probabilities = [example.probability for example in summary.examples]
        assert probabilities == sorted(probabilities, reverse=True)
        for example in summary.examples:
            here = posteriors[example.sequence][example.step]
            assert example.probability == pytest.approx(here[state], abs=1e-9)
            assert here[state] >= here.max() - 1e-9
            assert example.text is None


@pytest.fixture(scope="module")
def lists():
    X = [[["w=map"], ["w=hotel"], ["w=song"]], [["w=hotel"], ["w=film"]], [["w=song"]]]
    y = [["travel", "travel", "fun"], ["travel", "fun"], ["fun"]]
    return X, y


@pytest.mark.parametrize("by", ["uniform", "usage"])
def test_the_usage_of_training_is_kept_and_saved(lists, tmp_path, by):
    X, y = lists
    weights = [1.0, 3.0, 0.5]
    model = SHDCRF(4, random_state=1, entropy_weight=by).fit(X, y, sample_weight=weights)
    posteriors = model._state_posteriors(model._rows(X))
    usage = np.repeat(weights, [3, 2, 1]) @ posteriors
    np.testing.assert_allclose(model.state_usage_, usage / usage.sum(), rtol=1e-9)
    joint = model.label_given_state_ * model.state_usage_
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.state_given_label(), expected, rtol=1e-12)
    save(model, tmp_path / "m")
    read = load(tmp_path / "m")
    assert read.explain() == model.explain()
    np.testing.assert_array_equal(read.state_given_label(), model.state_given_label())


def test_what_is_kept_of_training_equals_what_the_training_data_say(lists):
    X, y = lists
    model = LDCRF(2, random_state=1).fit(X, y)
    for kept, said in zip(model.explain(), model.explain(X), strict=True):
        assert kept.examples == ()
        assert kept.features == said.features
        assert kept.labels == said.labels
        assert dict(kept.given_label) == pytest.approx(dict(said.given_label), abs=1e-9)
        assert dict(kept.next_states) == pytest.approx(dict(said.next_states), abs=1e-9)


def test_an_interrupted_fit_knows_the_usage_of_what_it_has(lists, monkeypatch):
    X, y = lists
    model = SHDCRF(3, random_state=1)
    keep = SHDCRF._keep

    def stop(self, theta, history, *rest, **named):
        keep(self, theta, history, *rest, **named)
        if len(history) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(SHDCRF, "_keep", stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    posteriors = model._state_posteriors(model._rows(X))
    np.testing.assert_allclose(model.state_usage_, posteriors.mean(axis=0), rtol=1e-9)


def test_a_state_with_one_label_has_one(lists):
    X, y = lists
    for summary in LDCRF(2).fit(X, y).explain(X, top=1):
        assert list(summary.labels.values()) == [1.0]
        assert len(summary.features) <= 1
        assert len(summary.examples) <= 1
    many = SHDCRF(1, sparsity=0.0).fit([[["a"]]] * 200, [[f"l{n}"] for n in range(200)])
    # No label reaches the least that is listed: the first is, all the same.
    (only,) = many.explain()
    assert len(only.labels) == 1
    assert list(only.given_label.values()) == [1.0] * 10


def test_rows_of_numbers_are_explained(lists):
    rows = np.array([[1.0, 0.0], [0.9, 0.0], [0.0, 1.0], [0.0, 0.8]])
    model = SHDCRF(2, random_state=1).fit(rows, [0, 0, 1, 1], groups=[1, 1, 2, 2])
    summaries = model.explain(rows, groups=[1, 1, 2, 2])
    assert {label for summary in summaries for label in summary.labels} == {0, 1}
    assert all(example.text is None for summary in summaries for example in summary.examples)


def test_texts_are_shown_from_so_many_people_on_and_once():
    X = [[["w=map"], ["w=map"]]] * 5 + [[["w=map"]]] * 4
    said = [["map of rome", "map of rome"]] * 5 + [[SECRET]] * 4
    y = [["travel"] * len(sequence) for sequence in X]
    model = LDCRF(1).fit([*X, [["w=song"]]], [*y, ["fun"]])
    _, travel = model.explain(X, said)
    assert [example.text for example in travel.examples] == ["map of rome", None]
    assert SECRET not in repr(model.explain(X, said))
    assert SECRET in repr(model.explain(X, said, min_people=4))
    # The same text five times in one sequence is of one person.
    _, travel = model.explain([[["w=map"]] * 6], [[SECRET] * 6])
    assert [example.text for example in travel.examples] == [None]


def test_whole_texts_among_features_of_lists_obey_the_same_rule():
    X = [[[f"text={SECRET}", "w=map"]]] * 4 + [[["text=map of rome", "text[-1]=hotel"]]] * 5
    y = [["travel"]] * 9
    model = LDCRF(1).fit([*X, [["w=song"]]], [*y, ["fun"]])
    _, travel = model.explain(X)
    assert {name for name, _ in travel.features} == {"w=map", "text=map of rome", "text[-1]=hotel"}
    assert "text" not in repr([summary.features for summary in model.explain()])


def drawn_log(who=None):
    """Return sessions in which a secret is sent by four people, as a query of its own and not."""
    steps, labels = [], []
    for number in range(12):
        steps.append(["map of rome", "rome hotel", "love song"][: 2 + number % 2])
        labels.append(["travel", "travel", "fun"][: 2 + number % 2])
    for _ in range(4):
        steps.append([f"hotel {SECRET}", SECRET, "zzprivate zzquery", "love song"])
        labels.append(["travel", "travel", "fun", "fun"])
    people = None if who is None else [[who] * len(each) for each in steps]
    return Sessions.from_lists(
        steps, labels=labels, who=people, ids=[f"s{number}" for number in range(len(steps))]
    )


def test_words_of_a_neighbour_count_for_who_sent_them():
    steps = [[f"{SECRET} x", f"answer {number}", "y"] for number in range(8)]
    people = [["agent", f"u{number}", f"u{number}"] for number in range(8)]
    log = Sessions.from_lists(steps, labels=[["a", "b", "a"]] * 8, who=people)
    model = LDCRF(1).fit(log)
    assert SECRET not in repr(model.explain(log, top=10_000))
    shown = repr(model.explain(log, top=10_000, min_people=1))
    assert f"'word[-1]={SECRET}'" in shown
    assert f"'dropped={SECRET}'" in shown
    own = model.set_params(features=SessionWindows(words=(2, 2), text=False)).fit(log)
    # Of a word that is no feature of its own nobody knows who sent it.
    assert f"dropped={SECRET}" not in repr(own.explain(log, top=10_000, min_people=1))


@pytest.mark.parametrize("windows", [None, SessionWindows(characters=(2, 9), lowercase=False)])
def test_what_few_people_typed_in_sessions_is_nowhere(windows):
    log = drawn_log()
    model = SHDCRF(4, features=windows, random_state=1).fit(log)
    said = repr(model.explain(log, top=10_000))
    assert SECRET not in said
    assert "zz" not in said
    assert "text=map of rome" in said
    assert "'map of rome'" in said
    assert "id='s1" in said
    shown = repr(model.explain(log, top=10_000, min_people=4))
    assert f"text={SECRET}" in shown
    assert "'zzprivate zzquery'" in shown
    everything = repr(model.explain(drawn_log("ann"), top=10_000, min_people=0))
    assert f"'{SECRET}'" in everything


def test_one_person_in_many_sessions_is_one():
    log = drawn_log("ann")
    model = SHDCRF(4, random_state=1).fit(log)
    said = model.explain(log, top=10_000)
    assert not any(example.text for summary in said for example in summary.examples)
    names = [name for summary in said for name, _ in summary.features]
    assert not [name for name in names if "rome" in name or "song" in name]
    assert any(name.startswith("before=") for name in names)


def test_without_data_only_whole_texts_of_enough_people_are_said():
    model = SHDCRF(4, random_state=1).fit(drawn_log())
    names = {name for summary in model.explain(top=10_000) for name, _ in summary.features}
    texts = {name.partition("=")[2] for name in names if name.startswith("text")}
    assert texts == {"map of rome", "rome hotel", "love song"}
    assert "word=map" in names


def test_texts_that_may_be_shown_come_first():
    log = drawn_log()
    model = LDCRF(1, random_state=1).fit(log)
    for summary in model.explain(log):
        shown = [example.text is not None for example in summary.examples]
        assert shown == sorted(shown, reverse=True)
        texts = [example.text for example in summary.examples if example.text is not None]
        assert len(texts) == len(set(texts))
    fun = model.explain(log, top=1)[0]
    assert fun.examples[0].text == "love song"


def test_words_of_utterances_are_explained_without_examples_of_text():
    talk = Utterances.from_lists([["to", "rome"]] * 6, slots=[["O", "B-city"]] * 6)
    model = LDCRF(1).fit(talk)
    for summary in model.explain(talk):
        assert summary.features
        assert [example.text for example in summary.examples] == [None] * 6


def test_what_cannot_be_explained(lists):
    X, y = lists
    model = SHDCRF(2, random_state=1)
    with pytest.raises(NotFittedError):
        model.explain(X)
    with pytest.raises(NotFittedError):
        model.state_given_label()
    model.fit(X, y)
    with pytest.raises(ParameterError, match="'top'"):
        model.explain(X, top=0)
    with pytest.raises(ParameterError, match="'min_people'"):
        model.explain(X, min_people=-1)
    with pytest.raises(InputError, match="at least one step"):
        model.explain([[]])
    with pytest.raises(InputError, match="Give X"):
        model.explain(queries=[["a"]])
    with pytest.raises(ShapeError, match="queries"):
        model.explain(X, [["a"]])
    with pytest.raises(ShapeError, match=r"queries\[1\]"):
        model.explain(X, [["a", "b", "c"], ["a"], ["b"]])
    with pytest.raises(InputError, match=r"queries\[0\] must be a list of texts"):
        model.explain(X, ["abc", ["a", "b"], ["c"]])
    log = drawn_log()
    with pytest.raises(InputError, match="Leave queries out"):
        SHDCRF(2, random_state=1).fit(log).explain(log, log.texts)
