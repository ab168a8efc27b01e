"""What a click model is, what it was learnt from, and what all pages share: no ids, no words."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from purport.clicks.kinds import CCM, DBN, DCM, GCTR, PBM, RCTR, UBM, Kind
from purport.clicks.model import ClickModel
from purport.clicks.pairs import DEFINED
from purport.store.folders import describe
from purport.study.click_models import load_click_model

QUANTILES = (0.1, 0.5, 0.9)
"""Of the evidence of pairs."""

_MEANINGS = {
    UBM: "examination, by rank and by the rank of the click before",
    PBM: "examination, by rank",
    DBN: "going on unless satisfied",
    CCM: "going on",
    DCM: "going on after a click, by rank",
    GCTR: "click rate",
    RCTR: "click rate, by rank",
}
_AFTER = ("after a skip", "after a click that did not satisfy", "after a click that satisfied")


@dataclass(frozen=True)
class Cell:
    """A parameter that all pages share.

    Attributes
    ----------
    rank : int or None
        From 1, where there is one for each.
    last : int or None
        The rank of the click before, 0 where there was none; only of UBM.
    name : str or None
        What it is, where it has no rank.
    value : float
        The parameter.
    evidence : float
        How many results speak for it; at 0 it rests on the prior alone.

    Examples
    --------
    >>> Cell(1, 0, None, 0.9, 100.0).value
    0.9
    """

    rank: int | None
    last: int | None
    name: str | None
    value: float
    evidence: float


@dataclass(frozen=True)
class ClickInspection:
    """What was found in the folder of a click model.

    Attributes
    ----------
    described : dict
        What the folder says of itself.
    model : str
        The estimator with the parameters that are not as usual.
    rounds : int
        Of EM, or passes; 0 where it has learnt online alone.
    converged : bool
        Whether EM came to its end.
    pages, results, queries, pairs, dropped : int
        What it was learnt from, what it holds, and how many pages came twice.
    logs : int
        Of how many logs it knows how far they were taken in.
    evidence : dict of float
        Of pairs: how much a tenth, a half and nine tenths of them have at most.
    priors : dict
        What is believed of a pair before it is met.
    by_rank : list of float
        What is expected of a new pair at each rank.
    meaning : str or None
        What cells are, if there are some.
    cells : list of Cell
        What all pages share.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from purport.clicks import PBM
    >>> from purport.records.pages import Pages
    >>> from purport.store.folders import save
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "clicks"
    >>> save(PBM().fit(Pages.from_lists([7], [[1, 2]], [[0, 1]]), max_iter=9), folder)
    >>> found = inspect_click_model(folder)
    >>> found.pairs, found.meaning, [cell.evidence for cell in found.cells][:3]
    (2, 'examination, by rank', [1.0, 1.0, 0.0])
    """

    described: dict[str, Any]
    model: str
    rounds: int
    converged: bool
    pages: int
    results: int
    queries: int
    pairs: int
    dropped: int
    logs: int
    evidence: dict[str, float]
    priors: dict[str, Any]
    by_rank: list[float]
    meaning: str | None
    cells: list[Cell]

    def numbers(self) -> dict[str, Any]:
        """Return everything, as JSON can hold it."""
        told = asdict(self)
        described = told.pop("described")
        names = ("class", "parameters", "purport", "saved", "trained_on")
        return {name: described.get(name) for name in names} | told

    def text(self, top: int = 10) -> str:
        """Return everything as lines to read, with so many ranks."""
        ended = "converged" if self.converged else "stopped before it converged"
        lines = [
            f"{self.model}, written by purport {self.described['purport']} at"
            f" {self.described['saved']}",
            f"learnt from: {self.pages:,} pages with {self.results:,} results"
            + (f"; {self.dropped:,} more left out that came twice" if self.dropped else ""),
            f"learning: {ended} after {self.rounds} rounds" if self.rounds else "learning: online",
        ]
        if self.pairs:
            low, middle, high = self.evidence.values()
            lines += [
                f"holds: {self.pairs:,} pairs of {self.queries:,} queries and their documents",
                f"evidence of a pair, in results: {middle:.4g}; a tenth have at most {low:.4g}, a"
                f" tenth at least {high:.4g}",
                *_prior_lines(self.priors, len(self.by_rank)),
                *_rank_lines("what is expected of a new pair, by rank", self.by_rank[:top]),
            ]
        if self.meaning is not None:
            lines += ["", self.meaning, *_cell_lines(self.cells, top)]
        return "\n".join(lines)


def inspect_click_model(folder: str | os.PathLike[str]) -> ClickInspection:
    """Look into the folder of a click model.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from purport.clicks import GCTR
    >>> from purport.records.pages import Pages
    >>> from purport.store.folders import save
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "clicks"
    >>> save(GCTR(prior=(0.5, 2.0)).fit(Pages.from_lists([7], [[1, 2]], [[0, 1]])), folder)
    >>> print(inspect_click_model(folder).text().splitlines()[-1])
      0.5000 (2 results)
    """
    model = load_click_model(folder)
    state = model._state
    evidence = np.concatenate([table.kept[: table.pairs, DEFINED] for table in state.tables])
    priors = asdict(state.priors)
    found = np.quantile(evidence, QUANTILES).tolist() if len(evidence) else [0.0] * len(QUANTILES)
    return ClickInspection(
        describe(folder),
        repr(model),
        len(model.history_),
        model.converged_,
        model.pages_seen_,
        model._counts["results"],
        sum(table.queries for table in state.tables),
        len(evidence),
        model.dropped_,
        len(model._taken),
        dict(zip(("tenth", "half", "nine tenths"), found, strict=True)),
        priors,
        state.rates.tolist() if state.width else [],
        _MEANINGS.get(state.kind.number),
        _cells(model, state.kind),
    )


def _cells(model: ClickModel, kind: Kind) -> list[Cell]:
    state = model._state
    values = state.parameters[: state.cells].tolist()
    evidence = state.sums[: state.cells, DEFINED].tolist()
    found = []
    for number, (value, shown) in enumerate(zip(values, evidence, strict=True)):
        rank: int | None = None
        last = name = None
        if kind.number == UBM:
            row, last = divmod(number, state.ranks + 1)
            rank = row + 1
            # A click before is above, but where all deeper ranks share one cell.
            if last > row and not (row == last - 1 == state.ranks - 1):
                continue
        elif state.cells == state.ranks and kind.number in (PBM, DCM, RCTR):
            rank = number + 1
        elif kind.number == CCM:
            name = _AFTER[number]
        found.append(Cell(rank, last, name, value, shown))
    return found


def _prior_lines(priors: dict[str, Any], ranks: int) -> list[str]:
    attraction, satisfaction = priors["strengths"]
    return [
        f"prior: attraction {priors['level']:.4g}, which counts as {attraction:.4g} results;"
        f" satisfaction {priors['satisfied']:.4g}, as {satisfaction:.4g}",
        f"cells of their own: the first {ranks} ranks",
    ]


def _rank_lines(title: str, values: list[float]) -> list[str]:
    return ["", title, "  " + " ".join(f"{value:.4f}" for value in values)]


def _cell_lines(cells: list[Cell], top: int) -> list[str]:
    """Write cells as a table; a dot stands where nobody has seen anything."""
    if any(cell.last is not None for cell in cells):
        return _matrix_lines([cell for cell in cells if (cell.rank or 0) <= top])
    lines = []
    for cell in cells:
        if cell.rank is not None and cell.rank > top:
            break
        name = "" if cell.rank is None else f"rank {cell.rank:<3} "
        after = "" if cell.name is None else f"  {cell.name}"
        lines.append(f"  {name}{cell.value:.4f} ({cell.evidence:,.4g} results){after}")
    return lines


def _matrix_lines(cells: list[Cell]) -> list[str]:
    rows: dict[int, dict[int, Cell]] = {}
    for cell in cells:
        assert cell.rank is not None
        assert cell.last is not None
        rows.setdefault(cell.rank, {})[cell.last] = cell
    columns = sorted({last for row in rows.values() for last in row})
    lines = ["  rank    none" + "".join(f"{last:>8}" for last in columns[1:])]
    for rank, row in rows.items():
        shown = [
            f"{row[last].value:>8.4f}" if last in row and row[last].evidence else f"{'.':>8}"
            for last in columns
            if last <= max(row)
        ]
        lines.append(f"  {rank:>4}" + "".join(shown))
    return lines
