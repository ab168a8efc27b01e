"""What a ranking is worth to somebody who behaves as a click model says.

The formulas stand in `purport.measure.ranking`; here a model says how likely each click is, and
whether it satisfies. UBM, PBM and click rates know no satisfaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from purport.clicks.kinds import CASCADE, CCM, DCM
from purport.clicks.log import Log
from purport.clicks.relevance import check_listed
from purport.clicks.state import ClickState
from purport.errors import InputError, ShapeError
from purport.estimator.constraints import OneOf, check_parameters
from purport.measure.ranking import expected_utility, reciprocal_satisfaction

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMS = ("expected", "reciprocal")


def utility_of(
    owner: str,
    state: ClickState,
    query: str | int,
    docs: Sequence[str | int],
    kind: str,
    gains: Sequence[float] | None,
) -> float:
    """Return what a ranking is worth; see `purport.clicks.model.ClickModel.utility`."""
    check_parameters(f"{owner}.utility", {"kind": kind}, {"kind": OneOf(FORMS)})
    check_listed(f"{owner}.utility", state, query, docs)
    if gains is not None and len(gains) != len(docs):
        raise ShapeError.lengths("gains", len(gains), "docs", len(docs))
    if not len(docs):
        return 0.0
    log = Log(
        np.array([0, len(docs)]),
        np.zeros(len(docs), np.bool_),
        state.query_names.numbers([str(query)], grows=False),
        state.doc_names.numbers(map(str, docs), grows=False),
    )
    clicks, parameters = state.probabilities(log, is_marginal=True), state.parameters_of(log)
    if kind == "reciprocal":
        return reciprocal_satisfaction(clicks * _satisfies(owner, state, parameters))
    return expected_utility(clicks, parameters[-1] if gains is None else gains)


def _satisfies(
    owner: str, state: ClickState, parameters: list[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return how likely a click satisfies at each rank."""
    attracts = parameters[0]
    if state.width > 1:
        return parameters[1]
    if state.kind.number == CCM:
        return attracts
    if state.kind.number == CASCADE:
        return np.ones_like(attracts)
    if state.kind.number == DCM:
        ranks = np.minimum(np.arange(len(attracts)), state.ranks - 1)
        stays: NDArray[np.float64] = 1.0 - state.parameters[ranks]
        return stays
    raise InputError(
        f'{owner}.utility: this model knows no satisfaction, so kind="reciprocal" has no meaning.'
        ' Ask for kind="expected", or take DBN, SDBN, CCM, DCM or CascadeModel.'
    )
