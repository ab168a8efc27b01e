"""What a ranking is worth: NDCG against grades, and what people get out of it who click by a model.

The metrics that click models give are those of Chuklin, Serdyukov and de Rijke, "Click Model-Based
Information Retrieval Metrics", SIGIR 2013; EBU is from Yilmaz et al., "Expected Browsing Utility
for Web Search Evaluation", CIKM 2010. They come in two forms,

    expected      sum over ranks k of P(C_k = 1) u_k
    reciprocal    sum over ranks k of P(S_k = 1) / k

the utility of what is clicked, and how soon people are satisfied. Nothing here knows a model: what
people do is given by numbers.

Symbols: n results of a ranking, ranks k from 1, C click, S satisfaction, u utility.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.errors import InputError, ShapeError
from purport.estimator.constraints import Constraint, OneOf, Whole, check_parameters, optional

if TYPE_CHECKING:
    from numpy.typing import NDArray

GAINS = ("exponential", "linear")


def ndcg(
    grades: Sequence[Sequence[float]],
    scores: Sequence[Sequence[float]] | None = None,
    k: int | None = None,
    gain: str = "exponential",
) -> NDArray[np.float64]:
    """Return the normalised discounted cumulative gain of each ranking.

    Parameters
    ----------
    grades : list of lists of float
        For each query the grades of its documents, 0 the worst: in their ranking, or in any order
        where there are scores.
    scores : list of lists of float, optional
        By which documents are ranked, the highest first. Documents with the same score share their
        ranks, so that the order in which they are given does not help.
    k : int, optional
        Look at so many ranks only.
    gain : "exponential" or "linear"
        2 to the grade, less 1; or the grade itself.

    Returns
    -------
    (rankings,) float64
        Between 0 and 1; NaN where no document of a query has a grade above 0.

    Examples
    --------
    >>> ndcg([[2, 0, 1], [0, 1], [0]]).round(3).tolist()
    [0.964, 0.631, nan]
    >>> ndcg([[0, 1]], [[0.2, 0.9]]).tolist(), ndcg([[0, 1]], [[0.5, 0.5]]).round(3).tolist()
    ([1.0], [0.815])
    """
    allowed: dict[str, Constraint] = {"k": optional(Whole(low=1)), "gain": OneOf(GAINS)}
    check_parameters("ndcg", {"k": k, "gain": gain}, allowed)
    if scores is not None and len(scores) != len(grades):
        raise ShapeError.lengths("scores", len(scores), "grades", len(grades))
    found = np.full(len(grades), np.nan)
    for number, graded in enumerate(grades):
        values = np.asarray(graded, np.float64)
        if not (np.isfinite(values) & (values >= 0.0)).all():
            raise InputError(f"ndcg: a grade of ranking {number} is below 0, or is no number.")
        gains = np.exp2(values) - 1.0 if gain == "exponential" else values
        best = _discounted(np.sort(gains)[::-1], k)
        if scores is not None:
            gains = _ranked(gains, scores[number], number)
        if best > 0.0:
            found[number] = _discounted(gains, k) / best
    return found


def _discounted(gains: NDArray[np.float64], k: int | None) -> float:
    """Return the sum of gains, each over the logarithm to base 2 of its rank and 1."""
    seen = gains[:k]
    return float(seen @ (1.0 / np.log2(np.arange(len(seen)) + 2.0)))


def _ranked(
    gains: NDArray[np.float64], scores: Sequence[float], number: int
) -> NDArray[np.float64]:
    """Return gains by falling score; where scores are the same, their mean."""
    by = np.asarray(scores, np.float64)
    if len(by) != len(gains):
        raise ShapeError.lengths(f"scores[{number}]", len(by), f"grades[{number}]", len(gains))
    if np.isnan(by).any():
        raise InputError(f"ndcg: a score of ranking {number} is no number.")
    _, group = np.unique(-by, return_inverse=True)
    means = np.bincount(group, gains) / np.maximum(np.bincount(group), 1)
    ranked: NDArray[np.float64] = means[np.sort(group)]
    return ranked


def expected_utility(clicks: Any, gains: Any) -> float:
    """Return the sum over ranks of how likely a click is times what it brings.

    Parameters
    ----------
    clicks, gains : (n,) float
        P(C_k = 1), and u_k.

    Examples
    --------
    >>> expected_utility([0.5, 0.25], [1.0, 2.0])
    1.0
    """
    likely, brought = _numbers("clicks", clicks), _numbers("gains", gains)
    _same_length(likely, gains=brought)
    return float(likely @ brought)


def reciprocal_satisfaction(satisfied: Any) -> float:
    """Return the sum over ranks of how likely somebody is satisfied there, over the rank.

    Parameters
    ----------
    satisfied : (n,) float
        P(S_k = 1).

    Examples
    --------
    >>> reciprocal_satisfaction([0.5, 0.25])
    0.625
    """
    chances = _numbers("satisfied", satisfied)
    return float(chances @ (1.0 / np.arange(1.0, len(chances) + 1.0)))


def ebu(attract: Any, satisfy: Any, continuation: float = 1.0, gains: Any = None) -> float:
    """Return the expected browsing utility: the expected form under the DBN model.

    Parameters
    ----------
    attract, satisfy : (n,) float
        How likely each result is clicked once examined, and satisfies once clicked.
    continuation : float
        How likely somebody who is not satisfied goes on to the next rank.
    gains : (n,) float, optional
        What a click brings; how likely it satisfies if not given.

    Examples
    --------
    >>> ebu([0.5, 0.5], [1.0, 0.5], continuation=0.8)
    0.6
    """
    satisfies = _numbers("satisfy", satisfy)
    clicks = _dbn_clicks(_numbers("attract", attract), satisfies, continuation)
    return expected_utility(clicks, satisfies if gains is None else gains)


def rr_dbn(attract: Any, satisfy: Any, continuation: float = 1.0) -> float:
    """Return the reciprocal form under the DBN model.

    With `attract` 1 everywhere and a continuation of 1 it is the expected reciprocal rank (ERR).

    Parameters
    ----------
    attract, satisfy : (n,) float
        How likely each result is clicked once examined, and satisfies once clicked.
    continuation : float
        How likely somebody who is not satisfied goes on to the next rank.

    Examples
    --------
    >>> rr_dbn([0.5, 0.5], [1.0, 0.5], continuation=0.8)
    0.55
    """
    satisfies = _numbers("satisfy", satisfy)
    return reciprocal_satisfaction(
        _dbn_clicks(_numbers("attract", attract), satisfies, continuation) * satisfies
    )


def _dbn_clicks(
    attract: NDArray[np.float64], satisfy: NDArray[np.float64], continuation: float
) -> NDArray[np.float64]:
    """Return how likely a click is at each rank: examined, and attracted."""
    _same_length(attract, satisfy=satisfy)
    goes_on = continuation * (1.0 - attract * satisfy)
    examined = np.cumprod(np.concatenate([np.ones(1), goes_on]))[: len(attract)]
    clicks: NDArray[np.float64] = examined * attract
    return clicks


def u_ubm(attract: Any, examined: Any, gains: Any = None) -> float:
    """Return the expected form under the user browsing model.

    Parameters
    ----------
    attract : (n,) float
        How likely each result is clicked once examined.
    examined : (n, n) float
        How likely rank k is examined; column 0 if nothing was clicked above, column j if the last
        click was at rank j.
    gains : (n,) float, optional
        What a click brings; how attractive the result is if not given.

    Examples
    --------
    >>> u_ubm([0.5, 0.5], [[1.0, 0.0], [0.4, 0.8]])
    0.4
    """
    attracts, table = _numbers("attract", attract), np.asarray(examined, np.float64)
    size = len(attracts)
    if table.ndim != 2 or table.shape[0] < size or table.shape[1] < size:
        raise ShapeError(
            f"u_ubm: examined must have a row a rank and a column for each click above it, ({size},"
            f" {size}); it has shape {table.shape}."
        )
    clicks = np.zeros(size)
    # How likely the last click was at each rank so far, none being rank 0.
    last = np.zeros(size + 1)
    last[0] = 1.0
    for rank in range(size):
        clicked = last[: rank + 1] * table[rank, : rank + 1] * attracts[rank]
        clicks[rank] = last[rank + 1] = clicked.sum()
        last[: rank + 1] -= clicked
    return expected_utility(clicks, attracts if gains is None else gains)


def _numbers(name: str, values: Any) -> NDArray[np.float64]:
    array: NDArray[np.float64] = np.asarray(values, np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise InputError(f"{name} must be a list of numbers, one a rank.")
    return array


def _same_length(first: NDArray[np.float64], **other: NDArray[np.float64]) -> None:
    for name, array in other.items():
        if len(array) != len(first):
            raise ShapeError.lengths(name, len(array), "the ranking", len(first))
