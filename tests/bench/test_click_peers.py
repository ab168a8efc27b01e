"""The peers of click models: polite when absent, and themselves when there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from numpy.testing import assert_allclose

from bench.benchmark import BenchError
from bench.clicks import pyclick

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "clicks" / "pyclick.json"
needs_pyclick = pytest.mark.skipif(not pyclick.is_installed(), reason="needs PURPORT_PEERS")


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
