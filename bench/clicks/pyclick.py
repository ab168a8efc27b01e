"""Drives PyClick, the reference library of click models, from a checkout of its repository.

PyClick is not on a package index. A folder that holds a folder ``PyClick`` (a checkout of
markovi/PyClick) is named by the environment variable ``PURPORT_PEERS``.

What its source does, so that its numbers can be met:

* Every parameter starts at 1/2. Before each iteration of EM, and before counting, each is 1 over 2;
  a page adds to both. Its value is the quotient, in EM at most 1 - 1e-6, in counting unbounded.
* All pages of an iteration see the parameters of the iteration before; nothing tests for
  convergence. So the order of pages matters to rounding alone.
* UBM keeps examination at ``[rank][rank of the last click]``; no click before is the column of the
  page's last rank, but column 9 in marginal probabilities. They agree on pages of ten results.
* It knows ten ranks. Perplexity is the mean over all ten; at each, the sum is divided by the
  number of all pages, so a rank that a page does not have counts as foreseen for certain.
* CM's conditional probabilities are the marginal ones up to the first click; whatever follows it,
  click or skip, has 1e-6. So its log-likelihood is nobody else's; its parameters and marginal
  perplexity can be met.
* A page without a click has its last click at rank n, one past its end. In SDBN and DCM such a page
  is examined whole.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from bench.benchmark import BenchError

VARIABLE = "PURPORT_PEERS"
RANKS = 10
EM = ("UBM", "PBM", "DBN", "CCM")
COUNTING = ("SDBN", "DCM", "CM", "GCTR", "RCTR", "DCTR")
COMMITS = {"c70c66b77a7e572a": "98e7e46 of 2021-01-06"}
"""Which commit the sources are, by their hash: a checkout may come without its history."""

NAMES: dict[str, dict[str, str]] = {
    "UBM": {"attr": "attractiveness", "exam": "examination"},
    "PBM": {"attr": "attractiveness", "exam": "examination"},
    "DBN": {"attr": "attractiveness", "sat": "satisfaction", "cont": "continuation"},
    "CCM": {
        "attr": "attractiveness",
        "cont_noclick": "after_skip",
        "cont_click_nonrel": "after_click",
        "cont_click_rel": "after_satisfaction",
    },
    "SDBN": {"attr": "attractiveness", "sat": "satisfaction"},
    "DCM": {"attr": "attractiveness", "cont": "continuation"},
    "CM": {"attr": "attractiveness"},
    "GCTR": {"ctr": "rate"},
    "RCTR": {"ctr": "rate"},
    "DCTR": {"ctr": "attractiveness"},
}
"""Of each model PyClick's names of its parameters, and ours."""

PageOf: TypeAlias = tuple[Any, Sequence[Any], Sequence[int]]
Counts: TypeAlias = dict[str, list[list[float]]]


def folder() -> Path | None:
    """Return where the checkout lies, or None."""
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    found = Path(named) / "PyClick"
    return found if (found / "pyclick" / "click_models" / "UBM.py").is_file() else None


def is_installed() -> bool:
    """Tell whether the peer can be measured."""
    return folder() is not None


def version() -> str | None:
    """Return which commit the sources are, or their hash where it is not a known one."""
    found = folder()
    if found is None:
        return None
    told = hashlib.sha256()
    for path in sorted((found / "pyclick").rglob("*.py")):
        told.update(path.relative_to(found).as_posix().encode())
        told.update(path.read_bytes().replace(b"\r\n", b"\n"))
    digest = told.hexdigest()[:16]
    return COMMITS.get(digest, f"sources {digest}")


def module(name: str) -> Any:
    """Import one of PyClick's modules."""
    found = folder()
    if found is None:
        raise BenchError(
            f"PyClick is not here: set {VARIABLE} to a folder that holds its checkout, PyClick."
        )
    if str(found) not in sys.path:
        sys.path.append(str(found))
    with warnings.catch_warnings():
        # Its docstrings hold escapes that newer Pythons warn of.
        warnings.simplefilter("ignore")
        return importlib.import_module(f"pyclick.{name}")


def sessions(pages: Iterable[PageOf]) -> list[Any]:
    """Return PyClick's objects of pages: query, documents, clicks."""
    session, result = module("search_session").SearchSession, module("search_session").SearchResult
    made = []
    for query, docs, clicks in pages:
        if len(docs) > RANKS:
            raise BenchError(f"PyClick knows {RANKS} ranks, a page has {len(docs)}.")
        one = session(query)
        one.web_results = [result(doc, int(c)) for doc, c in zip(docs, clicks, strict=True)]
        made.append(one)
    return made


@dataclass(frozen=True)
class Trained:
    """A model of PyClick after training.

    Attributes
    ----------
    name : str
        One of `EM` or `COUNTING`.
    model : object
    cpu : float
        CPU seconds of training.
    pages, iterations : int
        What it was trained on, and how often it saw it.
    """

    name: str
    model: Any
    cpu: float
    pages: int
    iterations: int

    @property
    def microseconds(self) -> float:
        """Return the CPU time of a page in one iteration."""
        return 1e6 * self.cpu / (self.pages * self.iterations)

    def parameters(self) -> dict[str, Any]:
        """Return every parameter under our names.

        Pairs as ``{(query, document): value}``, ranks as lists, shared ones as floats. UBM's
        examination has a list a rank: first the value of no click before, then that of a last
        click at rank 0, 1 and so on.
        """
        told: dict[str, Any] = {}
        for theirs, ours in NAMES[self.name].items():
            held = self.model.params[self.model.param_names[theirs]]._container
            if isinstance(held, dict):
                told[ours] = {
                    (query, doc): parameter.value()
                    for query, docs in held.items()
                    for doc, parameter in docs.items()
                }
            elif not isinstance(held, list):
                told[ours] = held.value()
            elif isinstance(held[0], list):
                told[ours] = [
                    [row[last].value() for last in range(-1, rank)] for rank, row in enumerate(held)
                ]
            else:
                told[ours] = [parameter.value() for parameter in held]
        return told

    def log_likelihood(self, pages: list[Any]) -> float:
        """Return the mean over pages of the mean over ranks of the natural log."""
        evaluation = module("click_models.Evaluation").LogLikelihood()
        return float(evaluation.evaluate(self.model, pages))

    def perplexity(
        self, pages: list[Any], kind: Literal["conditional", "marginal"]
    ) -> tuple[float, list[float]]:
        """Return the mean over ten ranks, and that of each."""
        made = module("click_models.Evaluation")
        evaluation = made.PerplexityCond() if kind == "conditional" else made.Perplexity()
        mean, ranks = evaluation.evaluate(self.model, pages)
        return float(mean), [float(rank) for rank in ranks]

    def click_probabilities(self, page: Any) -> list[float]:
        """Return the marginal probability of a click on each result."""
        return [float(p) for p in self.model.get_full_click_probs(page)]

    def relevance(self, query: Any, doc: Any) -> float:
        """Return PyClick's relevance of a document; CM has none."""
        return float(self.model.predict_relevance(query, doc))


def new_model(name: str, iterations: int = 1) -> Any:
    """Return an untrained model that will make so many iterations."""
    if name in {"GCTR", "RCTR", "DCTR"}:
        return getattr(module("click_models.CTR"), name)()
    model = getattr(module("click_models"), name)()
    if name in EM:
        model._inference = module("click_models.Inference").EMInference(iterations)
    return model


def train(name: str, pages: list[Any], iterations: int = 1) -> Trained:
    """Train on what `sessions` made: EM with so many iterations, or counting, once."""
    repeats = iterations if name in EM else 1
    model = new_model(name, repeats)
    began = time.process_time()
    model.train(pages)
    return Trained(name, model, time.process_time() - began, len(pages), repeats)


def page_counts(name: str, clicks: Sequence[int], parameters: dict[str, Any]) -> Counts:
    """Return what one page of different documents adds to each parameter of a model of EM.

    Parameters
    ----------
    name : str
        One of `EM`.
    clicks : sequence of int
    parameters : dict
        By our names: a list over ranks, or a float. UBM's examination as `Trained.parameters`
        gives it.

    Returns
    -------
    dict
        Of each parameter two lists over ranks: what the rank adds to numerator and denominator.
    """
    model = new_model(name)
    (page,) = sessions([(0, range(len(clicks)), clicks)])
    for theirs, ours in NAMES[name].items():
        held = model.params[model.param_names[theirs]]
        values = parameters[ours]
        for rank in range(len(clicks)):
            value = values[rank] if isinstance(values, Sequence) else values
            parameter = held.get_for_session_at_rank(page, rank)
            if isinstance(value, Sequence):
                last = max((r for r in range(rank) if clicks[r]), default=-1)
                value = value[last + 1]
            parameter._numerator, parameter._denominator = value, 1
    current = model.get_session_params(page)
    told: Counts = {}
    for theirs, ours in NAMES[name].items():
        key = model.param_names[theirs]
        told[ours] = [[], []]
        for rank in range(len(clicks)):
            fresh = type(current[rank][key])()
            fresh.update(page, rank, current)
            told[ours][0].append(float(fresh._numerator - 1))
            told[ours][1].append(float(fresh._denominator - 2))
    return told
