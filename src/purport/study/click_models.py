"""Click models by name, read from logs and from folders."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from purport.clicks import (
    CCM,
    DBN,
    DCM,
    DCTR,
    GCTR,
    PBM,
    RCTR,
    SDBN,
    UBM,
    CascadeModel,
)
from purport.clicks.kinds import KINDS
from purport.clicks.model import ClickModel
from purport.errors import InputError
from purport.records.pages import Pages
from purport.records.sources import OnError
from purport.store.folders import describe, load
from purport.study.click_logs import Marks

CLICK_MODELS: dict[str, type[ClickModel]] = {
    "ubm": UBM,
    "pbm": PBM,
    "dbn": DBN,
    "ccm": CCM,
    "dcm": DCM,
    "sdbn": SDBN,
    "cascade": CascadeModel,
    "gctr": GCTR,
    "rctr": RCTR,
    "dctr": DCTR,
}
"""Each model by the name that the command line has for it."""


def is_click_model(folder: str | os.PathLike[str]) -> bool:
    """Tell whether a folder holds a click model, without loading it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from purport.store.folders import save
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "clicks"
    >>> save(GCTR().fit(Pages.from_lists([7], [[1, 2]], [[0, 1]])), folder)
    >>> is_click_model(folder)
    True
    """
    return describe(folder)["class"] in KINDS


def load_click_model(folder: str | os.PathLike[str]) -> ClickModel:
    """Load a click model, and refuse any other.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from purport.store.folders import save
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "clicks"
    >>> save(GCTR().fit(Pages.from_lists([7], [[1, 2]], [[0, 1]])), folder)
    >>> load_click_model(folder)
    GCTR()
    """
    return checked_click_model(load(folder), folder)


def checked_click_model(model: Any, folder: str | os.PathLike[str]) -> ClickModel:
    """Return a model that was loaded, if it is a click model.

    Examples
    --------
    >>> checked_click_model(UBM(), "clicks")
    UBM()
    """
    if not isinstance(model, ClickModel):
        raise InputError(
            f"{os.fspath(folder)}: a {type(model).__name__} is not a click model. Give one that"
            " `fit clicks` wrote."
        )
    return model


@dataclass(frozen=True)
class FittedClicks:
    """A click model that was learnt from logs.

    Attributes
    ----------
    model : ClickModel
        Fitted.
    pages, results, queries : int
        What it has learnt from.

    Examples
    --------
    >>> pages = Pages.from_lists([7], [[1, 2]], [[0, 1]])
    >>> FittedClicks(GCTR().fit(pages), 1, 2, 1).lines()
    ['learnt from 1 pages with 2 results of 1 queries, in one pass']
    """

    model: ClickModel
    pages: int
    results: int
    queries: int

    def lines(self) -> list[str]:
        """Return what there is to say, for people."""
        rounds = len(self.model.history_)
        ended = "in one pass" if self.model._kind.counts else f"in {rounds} rounds"
        return [
            f"learnt from {self.pages:,} pages with {self.results:,} results of"
            f" {self.queries:,} queries, {ended}"
        ]

    def numbers(self) -> dict[str, Any]:
        """Return the same for programs."""
        return {
            "pages": self.pages,
            "results": self.results,
            "queries": self.queries,
            "rounds": len(self.model.history_),
            "converged": self.model.converged_,
        }


def fit_clicks(
    model: ClickModel,
    logs: Sequence[str],
    max_iter: int = 50,
    on_error: OnError = "raise",
    columns: Mapping[str, str] | None = None,
) -> FittedClicks:
    """Learn from logs, held whole; a later `update_model` with the same ones takes in what is new.

    Parameters
    ----------
    model : ClickModel
        Which, with its parameters.
    logs : list of str
        Files; "-" is standard input.
    max_iter : int
        Most rounds of EM.
    on_error, columns
        How they are read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "clicks.tsv"
    >>> Pages.from_lists([7], [[1, 2]], [[0, 1]]).write(path)
    >>> fit_clicks(GCTR(), [str(path)]).pages
    1
    """
    marks, parts = Marks(), []
    for path in logs:
        mark = marks.of(path)
        parts.append(Pages.read(path, on_error, columns=columns))
        mark.pages = len(parts[-1])
    pages = Pages.concatenate(parts)
    model.fit(pages, max_iter)
    model._taken = marks.to_list()
    return FittedClicks(model, len(pages), len(pages.docs), len(set(pages.queries.codes.tolist())))
