"""What results are worth under a click model, and how sure that is.

Relevance is the chance that a result attracts (UBM, PBM, CCM, DCM, the cascade model, DCTR), or
that it attracts and then satisfies (DBN, SDBN).

How sure that is stands in `purport.clicks.beliefs`.

Symbols: P pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from purport.clicks.beliefs import Belief, looks_of_product, product_within
from purport.clicks.log import Log
from purport.clicks.pairs import COLUMNS, DEFINED, EXPECTED, LEAST, MOST, PRIOR, PairTable
from purport.clicks.state import ClickState
from purport.errors import InputError
from purport.estimator.constraints import Constraint, Number, check_parameters, optional

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.clicks.identifiability import Ties

CREDIBLE = 0.95
"""The interval, where documents are listed and none was asked for."""

_ALLOWED: dict[str, Constraint] = {
    "interval": optional(Number(0.0, 1.0, above=True, below=True)),
    "min_evidence": Number(low=0.0),
}


@dataclass(frozen=True, eq=False)
class Relevance:
    """What documents are worth for one query.

    Attributes
    ----------
    docs : list of str
        Their ids.
    mean : (documents,) float64
        The relevance.
    low, high : (documents,) float64
        Between which it lies with probability `interval`.
    evidence : (documents,) float64
        How many results that were surely looked at tell as much as the log does; 0 where nothing
        is told.
    met : (documents,) bool
        Whether the model has met the document for this query. What is not met has what is expected
        of a new document of the query.
    prior_only : (documents,) bool
        Whether nothing was seen that tells how attractive it is: the prior speaks alone.
    known : (documents,) bool
        Whether there is as much evidence as was asked for.
    tied : (documents,) bool, or None
        Whether the log tells only the product of attraction and examination, so that the document
        cannot be compared with most others; None if `identifiability` was not asked.
    interval : float
        The probability.

    Examples
    --------
    >>> from purport.clicks import DCTR
    >>> from purport.records.pages import Pages
    >>> pages = Pages.from_lists(["cats"] * 8, [["a", "b"]] * 8, [[1, 0]] * 6 + [[0, 1]] * 2)
    >>> told = DCTR(prior=(0.5, 2.0)).fit(pages).relevance("cats", interval=0.9)
    >>> told.docs, told.mean.tolist(), told.evidence.tolist()
    (['a', 'b'], [0.7, 0.3], [8.0, 8.0])
    >>> told.low.round(2).tolist(), told.high.round(2).tolist()
    ([0.45, 0.1], [0.9, 0.55])
    """

    docs: list[str]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    evidence: NDArray[np.float64]
    met: NDArray[np.bool_]
    prior_only: NDArray[np.bool_]
    known: NDArray[np.bool_]
    tied: NDArray[np.bool_] | None
    interval: float

    def __len__(self) -> int:
        return len(self.docs)


def relevance_of(
    owner: str,
    state: ClickState,
    ties: Ties | None,
    query: str | int,
    docs: Sequence[str | int] | None,
    interval: float | None,
    min_evidence: float,
) -> NDArray[np.float64] | Relevance:
    """Return what documents are worth; see `purport.clicks.model.ClickModel.relevance`."""
    _check(owner, state, query, docs, interval, min_evidence)
    number = int(state.query_names.numbers([str(query)], grows=False)[0])
    if docs is None:
        documents = known_documents(state, number)
    else:
        documents = state.doc_names.numbers(map(str, docs), grows=False)
    kept, met = _kept(state, number, documents)
    beliefs = _beliefs(state, kept)
    mean: NDArray[np.float64] = np.prod([belief.mean for belief in beliefs], axis=0)
    if docs is not None and interval is None:
        return mean
    before = _beliefs(state, np.where(np.arange(kept.shape[1]) % COLUMNS == PRIOR, kept, 0.0))
    evidence = np.maximum(looks_of_product(beliefs) - looks_of_product(before), 0.0)
    low, high = product_within(beliefs, interval or CREDIBLE)
    names = list(map(str, docs)) if docs is not None else state.doc_names.strings(documents)
    order = np.arange(len(names)) if docs is not None else np.argsort(-mean, kind="stable")
    return Relevance(
        docs=[names[place] for place in order.tolist()],
        mean=mean[order],
        low=np.minimum(low, mean)[order],
        high=np.maximum(high, mean)[order],
        evidence=evidence[order],
        met=met[order],
        prior_only=(kept[:, DEFINED] == 0.0)[order],
        known=(evidence >= min_evidence)[order],
        tied=None if ties is None else ties.among(number, documents[order]),
        interval=interval or CREDIBLE,
    )


def _beliefs(state: ClickState, kept: NDArray[np.float64]) -> list[Belief]:
    """Return what is believed of attraction, and of satisfaction if there is one."""
    return [
        Belief.of(
            kept[:, COLUMNS * part : COLUMNS * (part + 1)],
            state.priors.strengths[part],
            is_failure=part > 0,
        )
        for part in range(state.width)
    ]


def known_documents(state: ClickState, query: int) -> NDArray[np.int64]:
    """Return the numbers of all documents that were met for a query, in the order of meeting."""
    table, row, _ = _rows(state, query, np.empty(0, np.int64))
    keys = table.pair_keys[: table.pairs]
    found: NDArray[np.int64] = keys[keys[:, 0] == row, 1]
    return found


def _check(
    owner: str,
    state: ClickState,
    query: object,
    docs: object,
    interval: float | None,
    min_evidence: float,
) -> None:
    given = {"interval": interval, "min_evidence": min_evidence}
    check_parameters(f"{owner}.relevance", given, _ALLOWED)
    check_listed(f"{owner}.relevance", state, query, docs)


def check_listed(owner: str, state: ClickState, query: object, docs: object) -> None:
    """Refuse models that know nothing of documents, and what are no ids."""
    if not state.width:
        raise InputError(
            f"{owner}: this model has one click rate for all documents, so it cannot tell what one"
            " is worth. Take DCTR, or a model that looks at positions, such as UBM."
        )
    if not _is_id(query):
        raise InputError(f"{owner}: the query must be an id, a string or a whole number.")
    if docs is not None and (
        isinstance(docs, str | bytes) or not isinstance(docs, Sequence | np.ndarray)
        or not all(map(_is_id, docs))
    ):  # fmt: skip
        raise InputError(f"{owner}: docs must be a list of ids, strings or whole numbers.")


def _is_id(value: object) -> bool:
    return isinstance(value, str | int | np.integer) and not isinstance(value, bool)


def _rows(
    state: ClickState, query: int, documents: NDArray[np.int64]
) -> tuple[PairTable, int, NDArray[np.int32]]:
    """Return the table of a query, its row and those of its pairs; -1 where one is not there."""
    log = Log(
        np.array([0, len(documents)]), np.zeros(len(documents), np.bool_), np.array([query]),
        documents,
    )  # fmt: skip
    shards, queries, pairs = state.find(log, grows=False)
    return state.tables[int(shards[0])], int(queries[0]), pairs


def _kept(
    state: ClickState, query: int, documents: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return what is kept of pairs, and which were met; the others have only their prior."""
    table, row, pairs = _rows(state, query, documents)
    kept = np.zeros((len(documents), COLUMNS * state.width))
    kept[:, PRIOR] = state.priors.level
    if row >= 0:
        sums, firm = table.query_sums[row], state.priors.of_query
        kept[:, PRIOR] *= (sums[EXPECTED] + firm) / (sums[DEFINED] + firm)
    kept[:, PRIOR] = np.clip(kept[:, PRIOR], LEAST, MOST)
    if state.width > 1:
        kept[:, COLUMNS + PRIOR] = state.priors.satisfied
    met = pairs >= 0
    kept[met] = table.kept[pairs[met]]
    return kept, met
