"""What is counted in each sentence, and the statistics that follow from sums of such counts.

Symbols: N sentences; the columns of counts are named below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from purport.errors import InputError, ShapeError
from purport.measure.tags import OUTSIDE, Span, spans

if TYPE_CHECKING:
    from numpy.typing import NDArray

Labels = Sequence[Sequence[str | None]]
Statistic = Literal["f1", "precision", "recall", "token_accuracy", "exact_match"]

CORRECT, PREDICTED, SUPPORT, RIGHT, TOKENS, EXACT, SENTENCES = range(7)


class Sentence(NamedTuple):
    """Gold and predicted spans of one sentence, its tokens, and those with the right tag."""

    gold: set[Span]
    predicted: set[Span]
    right: int
    tokens: int


def compared(gold: Labels, predicted: Labels, name: str = "predicted") -> Iterator[Sentence]:
    """Compare predictions with gold tags sentence by sentence; both are checked first."""
    if len(gold) != len(predicted):
        raise ShapeError.lengths(name, len(predicted), "gold", len(gold))
    if not len(gold):
        raise InputError("There are no sentences to score. Give at least one.")
    for number, (tags, guesses) in enumerate(zip(gold, predicted, strict=True)):
        if len(tags) != len(guesses):
            raise ShapeError.lengths(
                f"{name}[{number}]", len(guesses), f"gold[{number}]", len(tags)
            )
        if any(tag is None for tag in tags):
            raise InputError(
                f"gold[{number}] holds an unknown tag (None), which nothing can be scored against."
                " Leave such sentences out."
            )
        # An unknown prediction marks nothing.
        told = [OUTSIDE if guess is None else guess for guess in guesses]
        right = sum(tag == guess for tag, guess in zip(tags, told, strict=True))
        yield Sentence(set(spans(tags)), set(spans(told)), right, len(told))


def sentence_counts(gold: Labels, predicted: Labels, name: str = "predicted") -> NDArray[np.int64]:
    """Return the counts of each sentence: (N, 7) int64, columns as named in this file."""
    return np.array(
        [
            (
                len(sentence.gold & sentence.predicted),
                len(sentence.predicted),
                len(sentence.gold),
                sentence.right,
                sentence.tokens,
                int(sentence.right == sentence.tokens),
                1,
            )
            for sentence in compared(gold, predicted, name)
        ],
        dtype=np.int64,
    )


def _ratio(over: int, under: int) -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
    return lambda counts: shares(counts[..., over], counts[..., under])


def _f1(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    return shares(2 * counts[..., CORRECT], counts[..., PREDICTED] + counts[..., SUPPORT])


def shares(over: NDArray[Any], under: NDArray[Any]) -> NDArray[np.float64]:
    """Return over / under, and 0 where there is nothing to divide by."""
    result: NDArray[np.float64] = np.true_divide(
        over, under, out=np.zeros(np.shape(over)), where=under != 0
    )
    return result


# Each takes sums of counts (..., 7) and gives (...) float64.
STATISTICS: dict[Statistic, Callable[[NDArray[np.int64]], NDArray[np.float64]]] = {
    "f1": _f1,
    "precision": _ratio(CORRECT, PREDICTED),
    "recall": _ratio(CORRECT, SUPPORT),
    "token_accuracy": _ratio(RIGHT, TOKENS),
    "exact_match": _ratio(EXACT, SENTENCES),
}
