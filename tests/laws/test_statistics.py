"""The laws of the algebra, held against every statistic of the package."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import random
import threading

import drawn_pages
import numpy as np
import pytest

import purport
from purport.clicks.batch import ClickSums, held_by, parts_of
from purport.clicks.kinds import KINDS
from purport.clicks.log import Log
from purport.clicks.state import ClickState, Priors
from purport.features.strings import FeatureStrings
from purport.fold.engine import Tree
from purport.fold.statistic import Statistic
from purport.fold.thread_engine import threads
from purport.lattice.transitions import Arcs
from purport.sequence.hidden_states import with_bias
from purport.sequence.labels import UNKNOWN, LabelCodes, Possible
from purport.sequence.latent_likelihood import LatentScores, LatentShape, LatentSums
from purport.sequence.latent_partitions import make_latent_partitions
from purport.sequence.likelihood import PathSums, Scores
from purport.sequence.partitions import make_partitions
from purport.sequence.scorer import Layout

PARTS = 7


def drawn_corpora(chosen, labels):
    """Draw corpora of a few sequences each, with labels of which some are not known."""
    corpora = []
    for _ in range(PARTS):
        lengths = chosen.integers(0, 6, 5)
        corpora.append(
            [
                [[f"w{w}" for w in chosen.integers(0, 9, 3)] for _ in range(length)]
                for length in lengths
            ]
        )
    encoder = FeatureStrings()
    encoder.fit_transform([sequence for corpus in corpora for sequence in corpus])
    for number, corpus in enumerate(corpora):
        rows = encoder.transform(corpus)
        codes = chosen.integers(0, labels, rows.positions).astype(np.int32)
        if number % 2:
            codes[chosen.random(rows.positions) < 0.4] = UNKNOWN
        weights = chosen.uniform(0.5, 2.0, len(rows))
        yield rows, LabelCodes(codes, rows.offsets, list("abc")), weights


def path_sums():
    """An empty statistic, batches (some known in part, one of empty sequences) and parameters."""
    states = 3
    chosen = np.random.default_rng(3)
    corpora = list(drawn_corpora(chosen, states))
    layout, arcs = Layout.complete(corpora[0][0].width, states), Arcs.all(states)
    batches = []
    for rows, coded, weights in corpora:
        batches += make_partitions(rows, coded, weights, layout)
    theta = chosen.normal(0.0, 1.0, len(layout) + len(arcs))
    return PathSums(len(theta)), batches, Scores.of(layout, arcs, theta)


def latent_sums():
    """The same for hidden states, of which there are more than labels."""
    chosen = np.random.default_rng(4)
    corpora = list(drawn_corpora(chosen, 3))
    shape = LatentShape(corpora[0][0].width, 5, 3, None)
    every = np.concatenate([np.eye(3, dtype=np.bool_), np.ones((1, 3), np.bool_)])
    batches = []
    for rows, coded, weights in corpora:
        told = np.where(coded.codes == UNKNOWN, 3, coded.codes).astype(np.int32)
        batches += make_latent_partitions(
            with_bias(rows), Possible(every, told), weights, 0.7 * weights, shape.layout
        )
    theta = chosen.normal(0.0, 1.0, len(shape))
    scores = shape.scores(shape.layout, Arcs.all(5), theta)
    zero = LatentSums(len(shape) - 3 * 5, len(every), 5)
    return zero, batches, LatentScores(scores, scores.layer.evidence(every))


def click_sums(name, columns):
    """The same for a click model, by shards and by days: some parts have pairs in common."""
    chosen = np.random.default_rng(5)
    state = ClickState(KINDS[name], 5, 3, Priors.held(0.4, 2.0))
    log = state.log_of(drawn_pages.log(120, seed=5), grows=True)
    shards, queries, pairs = state.find(log, grows=True)
    for table in state.tables:
        table.kept[: table.pairs, [0, 4][: state.width]] = chosen.random((table.pairs, state.width))
    batches = []
    for day in range(3):
        pages = slice(40 * day, 40 * (day + 1))
        places = slice(*log.offsets[[pages.start, pages.stop]])
        part = Log(
            log.offsets[pages.start : pages.stop + 1] - places.start,
            log.clicks[places],
            log.queries[pages],
            log.docs[places],
        )
        batches += parts_of(state, part, shards[pages], queries[pages], pairs[places])
    zero = ClickSums(len(state.sums), [table.pairs for table in state.tables], columns)
    return zero, batches, held_by(state, learns_priors=True)


EXAMPLES = {
    "PathSums": (PathSums, path_sums),
    "LatentSums": (LatentSums, latent_sums),
    "ClickSums of pages": (ClickSums, lambda: click_sums("DBN", 7)),
    "ClickSums of cells": (ClickSums, lambda: click_sums("UBM", 4)),
    "ClickSums without pairs": (ClickSums, lambda: click_sums("RCTR", 0)),
}
"""A new class of statistics gets its example here: `test_every_statistic_has_an_example` asks."""


def concrete_statistics():
    for module in pkgutil.walk_packages(purport.__path__, "purport."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found, waiting = set(), [Statistic]
    while waiting:
        for subclass in waiting.pop().__subclasses__():
            waiting.append(subclass)
            if subclass.__module__.startswith("purport.") and not inspect.isabstract(subclass):
                found.add(subclass)
    return found


def test_every_statistic_has_an_example():
    assert concrete_statistics() == {kind for kind, _ in EXAMPLES.values()}


@pytest.fixture(scope="module", params=EXAMPLES.values(), ids=EXAMPLES)
def example(request):
    kind, make = request.param
    made = make()
    assert type(made[0]) is kind
    return made


def copied(statistic):
    return {name: array.copy() for name, array in statistic.to_arrays().items()}


def assert_same_bits(left, right):
    left, right = (x if isinstance(x, dict) else x.to_arrays() for x in (left, right))
    assert left.keys() == right.keys()
    for name in left:
        assert left[name].dtype == right[name].dtype
        np.testing.assert_array_equal(left[name], right[name], err_msg=name)


def assert_equal_by_kind(left, right):
    """Exact statistics agree to the bit, floating ones to rounding; sketches keep to bounds."""
    if left.kind == "exact":
        assert_same_bits(left, right)
        return
    assert left.kind == "floating", "a sketch needs its own law here"
    left, right = left.to_arrays(), right.to_arrays()
    assert left.keys() == right.keys()
    for name in left:
        size = np.max(np.abs(left[name]), initial=1.0)
        np.testing.assert_allclose(left[name], right[name], rtol=0, atol=1e-12 * size)


def leaves_of(example):
    zero, batches, parameters = example
    return [zero.zero().add(batch, parameters) for batch in batches]


def again(statistic):
    return type(statistic).from_arrays(copied(statistic))


def test_zero_is_neutral_and_new(example):
    zero, batches, parameters = example
    leaf = leaves_of(example)[0]
    assert_same_bits(zero.zero().merge(leaf), leaf)
    assert_same_bits(again(leaf).merge(zero.zero()), leaf)
    empty = copied(zero)
    zero.zero().add(batches[0], parameters)
    assert_same_bits(zero, empty)


def test_merge_is_associative_and_commutative(example):
    a, b, c, *_ = leaves_of(example)
    left = again(a).merge(b).merge(c)
    right = again(a).merge(again(b).merge(c))
    assert_equal_by_kind(left, right)
    assert_equal_by_kind(again(a).merge(b), again(b).merge(a))


def test_merge_returns_self_and_leaves_the_other_alone(example):
    a, b, *_ = leaves_of(example)
    before = copied(b)
    assert a.merge(b) is a
    assert_same_bits(b, before)
    a.scale(0.5).merge(a.zero())
    assert_same_bits(b, before)


def test_scale_distributes(example):
    a, b, *_ = leaves_of(example)
    together = again(a).merge(b)
    assert together.scale(0.25) is together
    assert_equal_by_kind(together, again(a).scale(0.25).merge(again(b).scale(0.25)))
    assert_equal_by_kind(again(a).scale(0.3).scale(0.5), again(a).scale(0.15))
    assert_same_bits(again(a).scale(1.0), a)
    assert_equal_by_kind(again(a).scale(0.0), a.zero())


def test_arrays_give_the_statistic_back_to_the_bit(example):
    zero, batches, parameters = example
    for statistic in (zero, *leaves_of(example)):
        arrays = copied(statistic)
        restored = type(statistic).from_arrays(arrays)
        assert_same_bits(restored, statistic)
        went_on = again(statistic).add(batches[1], parameters)
        assert_same_bits(restored.add(batches[1], parameters), went_on)
        assert_same_bits(restored.zero(), zero)
        assert_same_bits(arrays, statistic)


def arrays_in(thing, seen=None):
    """Yield every array that can be reached from an object."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, dict):
        for value in thing.values():
            yield from arrays_in(value, seen)
    elif isinstance(thing, list | tuple):
        for value in thing:
            yield from arrays_in(value, seen)
    elif hasattr(thing, "__dict__") and not isinstance(thing, type):
        yield from arrays_in(vars(thing), seen)


def test_add_returns_self_and_changes_neither_batch_nor_parameters(example):
    zero, batches, parameters = example
    arrays = list(arrays_in((batches, parameters)))
    before = [array.copy() for array in arrays]
    assert len(arrays) > len(batches)
    for batch in batches:
        statistic = zero.zero()
        assert statistic.add(batch, parameters) is statistic
    for array, old in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_adding_twice_is_merging(example):
    zero, batches, parameters = example
    added = zero.zero().add(batches[0], parameters).add(batches[1], parameters)
    a, b, *_ = leaves_of(example)
    assert_equal_by_kind(added, a.merge(b))


class ShuffledEngine:
    """Finishes the leaves in an order of its own."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def fold(self, placed, zero, parameters):
        order = list(range(len(placed)))
        self._random.shuffle(order)
        tree, lock = Tree(len(placed)), threading.Lock()
        roots = [
            tree.climb(number, zero.zero().add(placed[number], parameters), lock)
            for number in order
        ]
        (root,) = (root for root in roots if root is not None)
        assert roots[-1] is root
        return root


@pytest.mark.parametrize("count", [1, 2, 3, 5, PARTS])
def test_a_fold_gives_the_same_bits_on_any_engine(example, count):
    zero, batches, parameters = example
    batches = batches[:count]
    one = threads(1)
    expected = one.fold(one.place(batches), zero, parameters)
    for n in (2, 3, 5):
        engine = threads(n)
        for _ in range(3):
            assert_same_bits(engine.fold(engine.place(batches), zero, parameters), expected)
    for seed in range(20):
        assert_same_bits(ShuffledEngine(seed).fold(batches, zero, parameters), expected)
    total = zero.zero()
    for leaf in leaves_of((zero, batches, parameters)):
        total.merge(leaf)
    assert_equal_by_kind(total, expected)


def test_a_fold_over_nothing_is_zero(example):
    zero, _, parameters = example
    assert_same_bits(threads(3).fold([], zero, parameters), zero)


@pytest.mark.parametrize("leaves", range(1, 18))
def test_the_tree_joins_neighbours_in_order(leaves):
    """Whatever the order, the root holds the leaves from left to right in the same brackets."""

    class Brackets:
        def __init__(self, text):
            self.text = text

        def merge(self, other):
            self.text = f"({self.text} {other.text})"
            return self

    found = set()
    for seed in range(10):
        order = list(range(leaves))
        random.Random(seed).shuffle(order)
        tree, lock = Tree(leaves), threading.Lock()
        roots = [tree.climb(number, Brackets(str(number)), lock) for number in order]
        found.update(root.text for root in roots if root is not None)
    (brackets,) = found
    numbers = brackets.replace("(", "").replace(")", "").split()
    assert numbers == [str(number) for number in range(leaves)]
