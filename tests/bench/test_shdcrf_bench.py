"""The bench of hidden states: its scores, its folds, its sets, and tables of tiny logs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.benchmark import Setting
from bench.shdcrf import (
    PARTS,
    choosing,
    figures,
    folded,
    knobs,
    latency,
    margins,
    meaning,
    real,
    scores,
    settings,
    speed,
    systems,
)
from bench.shdcrf.data import (
    GROUPS_OF_ACTS,
    Labelled,
    calls,
    coarse_acts,
    dialogues,
    intentions,
    invented,
    services,
)
from bench.shdcrf.scores import Gain, Scores, gain, interval, paired_gain
from bench.tables import Table
from purport.records.sessions import Sessions

QUICK = Setting(quick=True)


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let models learn for a moment only: here tables are tested, not models."""
    monkeypatch.setattr(systems, "MAX_ITERATIONS", {"crf": 3, "latent": 3})
    monkeypatch.setattr(scores, "DRAWS", 50)
    monkeypatch.setattr(meaning, "DRAWS", 3)
    for module in (margins, real):
        monkeypatch.setattr(module, "FOLDS", 2)


def written(folder: Path, name: str, rows: list[dict[str, Any]]) -> Setting:
    path = folder / name
    path.mkdir()
    lines = "\n".join(map(json.dumps, rows))
    (path / "sequences.jsonl.gz").write_bytes(__import__("gzip").compress(lines.encode()))
    return Setting(folder, quick=True)


def test_it_has_its_parts() -> None:
    assert list(PARTS) == [
        "speed", "latency", "zero", "knobs", "margins", "states", "sparsity", "real", "meaning",
    ]  # fmt: skip
    assert [name for name, part in PARTS.items() if not part.slow] == ["speed", "latency"]


def test_the_scores_are_the_papers() -> None:
    gold, found = [["a", "a", "b"], ["c"]], [["a", "b", "b"], ["b"]]
    told = Scores.of(gold, found)
    precision = 1.0 * 2 / 4 + 1 / 3 * 1 / 4 + 0.0
    assert told.accuracy == pytest.approx(0.5)
    assert told.precision == pytest.approx(precision)
    assert told.f == pytest.approx(2 * 0.5 * precision / (0.5 + precision))
    assert told.macro_f == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)


def test_a_gain_is_sure_when_all_groups_agree_and_not_when_there_is_none() -> None:
    gold = [["a", "b"], ["b", "a"]] * 15
    worse = [["a", "a"], ["b", "b"]] * 15
    groups = [str(number // 2) for number in range(30)]
    folds = [(gold[k::3], gold[k::3], worse[k::3]) for k in range(3)]
    told = gain(folds, groups)
    assert told.low > 0.0
    assert told.p == max(told.corrected, told.bootstrap) < 0.01
    none = gain([(g, w, w) for g, _, w in folds], groups)
    assert (none.relative, none.low, none.high, none.p) == (0.0, 0.0, 0.0, 1.0)
    low, high = interval(gold, worse, groups)
    assert low <= Scores.of(gold, worse).f <= high
    assert paired_gain(gold, worse, gold, groups)[1] < 0.0


def test_folds_split_nobody_and_test_everyone_once() -> None:
    data = invented(1, 60).labelled
    people = np.array(data.groups)
    tested = []
    for train, test in data.folds(5, 0):
        assert not set(people[train]) & set(people[test])
        tested += test.tolist()
    assert sorted(tested) == list(range(60))


def test_draws_of_a_world_share_words_and_nobody() -> None:
    first, second = (invented(1, 50, draw).labelled for draw in (0, 1))
    assert not set(first.groups) & set(second.groups)
    assert first.labels != second.labels
    assert invented(1, 50).labelled.labels == first.labels
    assert "persistence 0" in str(invented(1, 2, persistence=0).labelled)


def test_every_act_has_one_group() -> None:
    acts = [act for members in GROUPS_OF_ACTS.values() for act in members]
    assert len(acts) == len(set(acts)) == 41
    assert len(GROUPS_OF_ACTS) == 6
    assert coarse_acts([["qy", "ny"], ["sd"]]) == [["question", "answer"], ["statement"]]


def dialogue(number: int, steps: list[tuple[str, list[str]]]) -> dict[str, Any]:
    told = [
        {"obs": f"words {number}", "label": intent, "services": names} for intent, names in steps
    ]
    return {"id": f"d{number}", "split": "train", "steps": told}


def test_the_service_of_a_step_is_the_usual_one_of_its_intent(tmp_path: Path) -> None:
    rows = [
        dialogue(0, [("Find", ["Music_1"]), ("Ride", ["Cars_2"])]),
        dialogue(1, [("Find", ["Cars_2", "Music_3"]), ("NONE", ["Cars_1"])]),
    ]
    setting = written(tmp_path, "sessions-sgd", rows * 2)
    found = [services(dialogues(setting, 2, half)) for half in ("tables", "development")]
    for labels in found:
        assert all(set(each) <= {"Music", "Cars"} for each in labels)
    both = services(Labelled.of("all", Sessions.from_rows(rows), ["a", "b"]))
    assert both == [["Music", "Cars"], ["Music", "Cars"]]


def test_halves_of_real_sets_share_nothing(tmp_path: Path) -> None:
    rows = [
        {"id": f"c{n}", "split": "train", "steps": [{"obs": "yes", "label": "ny"}]}
        for n in range(20)
    ]
    setting = written(tmp_path, "sessions-swda", rows)
    tables, development = (
        set(calls(setting, 99, half).groups) for half in ("tables", "development")
    )
    assert len(tables) == len(development) == 10
    assert not tables & development


def test_what_nobody_knows_in_use_is_no_feature(tmp_path: Path) -> None:
    obs = {"clicks": 2, "reformulationType_prev_New": 1}
    steps = [{"obs": obs, "label": "New"}, {"obs": obs, "label": "Repeat"}]
    setting = written(tmp_path, "sessions-intentions", [{"id": "a", "user": 3, "steps": steps}])
    data = intentions(setting)
    assert data.groups == [3]
    names = settings.windows(settings.BEHAVIOUR).fit(data.sessions).feature_names()
    assert any("clicks" in name for name in names)
    assert not any("prev" in name for name in names)


def test_the_features_of_a_query_are_its_own() -> None:
    log = Sessions.from_lists([["jazz", "cheap flights"]], clicked=[[[], ["a title"]]])
    strings = settings.windows(settings.PER_QUERY).fit(log).strings(log)[0][1]
    assert not any("jazz" in name for name in strings)
    assert {"word=cheap", "clicked=a title"} <= set(strings)


def tables_of(run: Iterator[Table]) -> list[Table]:
    tables = list(run)
    for table in tables:
        assert str(table)
        assert not table.judged
    return tables


@pytest.mark.usefixtures("brief")
def test_tables_of_tiny_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(margins, "OTHER_SEEDS", (5,))
    monkeypatch.setattr(knobs, "KNOB_SEEDS", (5,))
    monkeypatch.setattr(knobs, "CURVES", {"persistence": (0.0,)})
    monkeypatch.setattr(knobs, "SIZES", (30,))
    first, share, sure, elsewhere = tables_of(margins.run(QUICK))
    names = [row.who for row in first.rows]
    assert names[:7] == [
        systems.SVM, systems.CHAIN, systems.WIDE, systems.LATENT, systems.SPARSE, systems.FREE,
        systems.SELF,
    ]  # fmt: skip
    assert [row.who for row in share.rows] == [row.who for row in sure.rows]
    assert len(elsewhere.rows) == 2
    (zero,) = tables_of(knobs.zero(QUICK))
    assert zero.rows[1].bar is not None
    assert len(tables_of(knobs.run(QUICK))) == 2


@pytest.mark.usefixtures("brief")
def test_figures_of_tiny_logs() -> None:
    (states,) = tables_of(figures.states(QUICK))
    assert len(states.rows) == 3
    assert len(tables_of(figures.sparsity(QUICK))) == 2
    (told,) = tables_of(latency.run(Setting(quick=True)))
    assert all(row.figure is not None and row.figure > 0.0 for row in told.rows)


@pytest.mark.usefixtures("brief")
def test_states_of_a_tiny_log_are_compared_with_its_sub_intents() -> None:
    steps = meaning.searches(QUICK)
    table = meaning.compare(steps, QUICK)
    assert str(table)
    figures_of = {row.who: row.figure for row in table.rows}
    assert figures_of[meaning.CHANCE] == pytest.approx(0.0, abs=0.1)
    fine = meaning.numbers(steps.fine)
    assert meaning.inside(steps.coarse, fine, fine).mutual == pytest.approx(1.0)
    assert meaning.inside(steps.coarse, fine, steps.coarse).mutual == pytest.approx(0.0)


@pytest.mark.usefixtures("brief")
def test_real_sets_say_whether_they_have_such_structure(tmp_path: Path) -> None:
    turns = [("Find", ["Music_1"]), ("Ride", ["Cars_2"]), ("NONE", ["Cars_2"])]
    setting = written(tmp_path, "sessions-sgd", [dialogue(n, turns) for n in range(20)])
    data = dialogues(setting, 10)
    tables = tables_of(real._tables(data, settings.DIALOGUES, setting))
    assert any("such structure" in note for note in tables[0].notes)
    better, worse, same = (
        real.has_structure((systems.SPARSE, systems.CHAIN, Gain(0, low, high, 0, 0, 0)))
        for low, high in ((0.1, 0.2), (-0.2, -0.1), (-0.1, 0.1))
    )
    assert "better" in better
    assert "worse" in worse
    assert "No difference" in same
    assert not real.has_structure((systems.SELF, systems.SPARSE, Gain(0, 0, 0, 0, 0, 0)))


@pytest.mark.usefixtures("brief")
def test_what_is_best_on_other_sessions_is_chosen() -> None:
    pair = (invented(1, 30).labelled, invented(1, 20, draw=1).labelled)
    grid = choosing.Grid((0.1,), (0.1, 1.0), (0.05,))
    told = list(choosing.choose([pair], 1, grid=grid))
    best = told[-1]
    assert isinstance(best, settings.Penalties)
    tried = {value: f for name, value, f in told[:-1] if name == "crf"}
    assert best.crf == max(tried, key=tried.__getitem__)
    assert choosing.chosen_by(iter(told)) == best
    table = choosing.table("Choosing", iter(told))
    assert len(table.rows) == len(told) - 1


def test_the_gradient_that_is_measured_is_that_of_training() -> None:
    from bench.crf.data import Sentences
    from purport.features.token_windows import TokenWindows
    from purport.records.utterances import Utterances

    talk = Utterances.from_lists([["a", "b"], ["b"]], slots=[["O", "B-x"], ["B-x"]])
    sentences = Sentences("two", talk, [["O", "B-x"], ["B-x"]], TokenWindows())
    objective, theta = speed.gradient_of(sentences, 3, 1)
    value, gradient = objective(theta)
    assert np.isfinite(value)
    assert gradient.shape == theta.shape


def test_the_paper_s_order_is_judged() -> None:
    bounds = {(ours, theirs): bound for ours, theirs, bound in folded.ORDER}
    assert bounds[systems.SPARSE, systems.CHAIN] == 12.4
    assert bounds[systems.SPARSE, systems.LATENT] == 3.5
    assert bounds[systems.SELF, systems.SPARSE] == 1.3
