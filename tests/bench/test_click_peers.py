"""The peers of click models: polite when absent, and themselves when there."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bench.benchmark import BenchError
from bench.clicks import clax, pyclick

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "clicks" / "pyclick.json"
needs_pyclick = pytest.mark.skipif(not pyclick.is_installed(), reason="needs PURPORT_PEERS")
needs_clax = pytest.mark.skipif(not clax.is_installed(), reason="needs clax-models")


def test_pyclick_may_be_absent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for place in ("", str(tmp_path)):
        monkeypatch.setenv(pyclick.VARIABLE, place)
        assert not pyclick.is_installed()
        assert pyclick.version() is None
        with pytest.raises(BenchError, match="PURPORT_PEERS"):
            pyclick.sessions([(0, [1], [0])])


@needs_pyclick
@pytest.mark.parametrize("model", ["PBM", "SDBN"])
def test_pyclick_still_gives_what_was_written_down(model: str) -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert golden["source"].endswith(str(pyclick.version()))
    pages = pyclick.sessions((p["query"], p["docs"], p["clicks"]) for p in golden["pages"])
    trained = pyclick.train(model, pages)
    assert trained.cpu > 0.0
    assert trained.microseconds == pytest.approx(1e6 * trained.cpu / 300)
    told = golden["models"][model]["1"]
    found = trained.parameters()["attractiveness"]
    for (query, doc), value in found.items():
        expected = told["parameters"]["attractiveness"][str(query)][str(doc)]
        assert_allclose(value, expected, rtol=1e-12)
    assert_allclose(trained.log_likelihood(pages), told["train"]["log_likelihood"], rtol=1e-12)


@needs_pyclick
def test_pyclick_refuses_an_eleventh_rank() -> None:
    with pytest.raises(BenchError, match="10 ranks"):
        pyclick.sessions([(0, range(11), [0] * 11)])


def some_pages(count: int = 25, ranks: int = 4) -> clax.Log:
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 9, (count, ranks)).astype(np.int32)
    ends = rng.integers(1, ranks + 1, (count, 1))
    return clax.Log(pairs, rng.integers(0, 2, (count, ranks)), np.arange(ranks) < ends)


def test_clax_may_be_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clax, "find_spec", lambda name: None)
    assert not clax.is_installed()
    assert clax.version() is None
    with pytest.raises(BenchError, match="pip install clax-models"):
        clax.train("UBM", some_pages())


def test_batches_are_whole_and_count_positions_from_one() -> None:
    log = some_pages()
    batches = list(log.batches(10))
    assert [len(batch["clicks"]) for batch in batches] == [10, 10]
    np.testing.assert_array_equal(batches[1]["query_doc_ids"], log.pairs[10:20])
    expected = np.where(log.mask[:10], [1, 2, 3, 4], 0)
    np.testing.assert_array_equal(batches[0]["positions"], expected)
    (shuffled,) = log.batches(25, np.random.default_rng(1))
    assert sorted(map(tuple, shuffled["query_doc_ids"])) == sorted(map(tuple, log.pairs))
    assert (shuffled["query_doc_ids"] != log.pairs).any()


@needs_clax
def test_compiling_clax_leaves_no_trace() -> None:
    log = some_pages(10)
    passes = clax.train("PBM", log, batch_size=10, passes=2)
    untrained = clax.conditional_click_probabilities(clax.new_model("PBM", 9, 4), log)
    seen = np.where(log.clicks == 1, untrained, 1.0 - untrained)
    loss = -np.mean(np.nanmean(np.log(seen), axis=1))
    assert passes.loss[0] == pytest.approx(loss, abs=1e-6)
    assert passes.loss[1] < passes.loss[0]
    assert np.array_equal(np.isnan(untrained), ~log.mask)
    assert len(passes.microseconds) == 2
    assert passes.compiled.wall[0] > passes.taken.wall[0]
