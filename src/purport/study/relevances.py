"""What a click model says results are worth, as rows of a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.clicks.model import ClickModel
from purport.clicks.relevance import check_listed
from purport.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

INTERVAL = 0.95
COLUMNS = ("query", "doc", "relevance", "low", "high", "evidence", "flags")
DIGITS = 6


@dataclass(frozen=True)
class Wanted:
    """Which relevances are wanted.

    Attributes
    ----------
    queries : list of str, optional
        Of these queries; of all that the model has met if not said.
    docs : list of str, optional
        Of these documents; of all that were met for each query if not said.
    interval : float
        How probable it is that the relevance lies between the bounds.
    min_evidence : float
        Documents with less are left out, but for those that were named.
    top : int, optional
        No more than so many of each query.

    Examples
    --------
    >>> Wanted(top=3).interval
    0.95
    """

    queries: Sequence[str] | None = None
    docs: Sequence[str] | None = None
    interval: float = INTERVAL
    min_evidence: float = 0.0
    top: int | None = None


def relevances(model: ClickModel, wanted: Wanted | None = None) -> Iterator[dict[str, Any]]:
    """Return a row for each query and document, the best of each query first.

    Flags: `new`, the model has not met the document for this query; `prior`, nothing was seen that
    tells how attractive it is; `few`, there is less evidence than was asked for; `tied`, the log
    tells only the product of attraction and examination, as far as `identifiability` was asked.

    Examples
    --------
    >>> from purport.clicks import DCTR
    >>> from purport.records.pages import Pages
    >>> pages = Pages.from_lists(["cats"] * 8, [["a", "b"]] * 8, [[1, 0]] * 6 + [[0, 1]] * 2)
    >>> rows = list(relevances(DCTR(prior=(0.5, 2.0)).fit(pages)))
    >>> [(row["query"], row["doc"], row["relevance"]) for row in rows]
    [('cats', 'a', 0.7), ('cats', 'b', 0.3)]
    """
    asked = Wanted() if wanted is None else wanted
    if asked.queries is None and asked.docs is not None:
        raise InputError("Documents are worth something for a query. Say which, too.")
    check_listed(f"{type(model).__name__}.relevance", model._state, "", None)
    rows = _all_rows(model, asked)
    # The first one is asked for at once: what is refused is refused before anything is written.
    first = next(rows, None)
    return iter(()) if first is None else chain([first], rows)


def _all_rows(model: ClickModel, asked: Wanted) -> Iterator[dict[str, Any]]:
    found: Iterable[tuple[str, Sequence[str] | None]] = _met(model)
    if asked.queries is not None:
        found = ((query, asked.docs) for query in asked.queries)
    for query, docs in found:
        yield from _rows(model, query, docs, asked)


def _rows(
    model: ClickModel, query: str, docs: Sequence[str] | None, asked: Wanted
) -> Iterator[dict[str, Any]]:
    told = model.relevance(query, docs, asked.interval, asked.min_evidence)
    marks = {
        "new": ~told.met,
        "prior": told.prior_only & told.met,
        "few": ~told.known,
        "tied": np.zeros(len(told), np.bool_) if told.tied is None else told.tied,
    }
    kept = np.ones(len(told), np.bool_) if asked.docs is not None else told.known
    order = np.argsort(-told.mean, kind="stable")
    for place in order[kept[order]][: asked.top].tolist():
        yield {
            "query": query,
            "doc": told.docs[place],
            "relevance": _rounded(told.mean[place]),
            "low": _rounded(told.low[place]),
            "high": _rounded(told.high[place]),
            "evidence": _rounded(told.evidence[place]),
            "flags": [name for name, marked in marks.items() if marked[place]],
        }


def _met(model: ClickModel) -> Iterator[tuple[str, list[str]]]:
    """Yield each query that was met with its documents, in the order of their numbers."""
    state = model._state
    for table in state.tables:
        keys = table.pair_keys[: table.pairs]
        order = np.argsort(keys[:, 0], kind="stable")
        ends = np.cumsum(np.bincount(keys[:, 0], minlength=table.queries))
        names = state.query_names.strings(table.query_keys[: table.queries, 0].tolist())
        start = 0
        for name, end in zip(names, ends.tolist(), strict=True):
            docs: NDArray[np.int64] = keys[order[start:end], 1]
            yield name, state.doc_names.strings(docs.tolist())
            start = end


def tsv_lines(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    r"""Write rows as TSV with a header; flags are parted by spaces.

    Examples
    --------
    >>> row = dict.fromkeys(COLUMNS, 0.5) | {"query": "cats", "doc": "a", "flags": ["new", "few"]}
    >>> list(tsv_lines([row]))[1]
    'cats\ta\t0.5\t0.5\t0.5\t0.5\tnew few\n'
    """
    yield "\t".join(COLUMNS) + "\n"
    for row in rows:
        cells = [row["query"], row["doc"], *(f"{row[name]:g}" for name in COLUMNS[2:-1])]
        for name, cell in zip(COLUMNS, cells, strict=False):
            if any(mark in cell for mark in "\t\n\r"):
                raise InputError(
                    f"An id of a {name} holds a tab or the end of a line, which TSV cannot carry."
                    " Write JSON lines (--to jsonl)."
                )
        yield "\t".join([*cells, " ".join(row["flags"])]) + "\n"


def json_lines(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    r"""Write rows as JSON lines.

    Examples
    --------
    >>> list(json_lines([{"query": "cats"}]))
    ['{"query": "cats"}\n']
    """
    for row in rows:
        yield json.dumps(row, ensure_ascii=False) + "\n"


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
