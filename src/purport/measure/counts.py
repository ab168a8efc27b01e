"""What is counted in each sequence, and the measures that follow from sums of such counts.

Symbols: N sequences, L labels, E events (a label that was right, predicted or gold somewhere), and
C = 3 L + 4 counts of each sequence: the labels that were right, those predicted, those gold, then
the positions that are right, all positions, whether all are right, and whether there is a sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from purport.errors import InputError, ShapeError
from purport.measure.tags import OUTSIDE, Span, spans

if TYPE_CHECKING:
    from numpy.typing import NDArray

Labels = Sequence[Sequence[str | None] | None]
Level = Literal["spans", "tokens"]
LEVELS: tuple[Level, ...] = ("spans", "tokens")
Measure = Literal[
    "f1",
    "precision",
    "recall",
    "token_accuracy",
    "exact_match",
    "macro_f1",
    "macro_precision",
    "macro_recall",
    "weighted_f1",
    "class_accuracy",
]

CORRECT, PREDICTED, SUPPORT = range(3)
RIGHT, TOKENS, EXACT, SEQUENCES = range(4)
_WHOLE = 4


class Sentence(NamedTuple):
    """Gold and predicted spans of one sentence, its tokens, and those with the right tag."""

    gold: set[Span]
    predicted: set[Span]
    right: int
    tokens: int


def paired(
    gold: Labels, predicted: Labels, name: str = "predicted"
) -> Iterator[tuple[int, Sequence[str | None], Sequence[str | None]]]:
    """Yield number, gold and predicted labels of each sequence, checked to fit each other.

    None for a whole sequence stands for one in which nothing is known.
    """
    if len(gold) != len(predicted):
        raise ShapeError.lengths(name, len(predicted), "gold", len(gold))
    if not len(gold):
        raise InputError("There are no sequences to score. Give at least one.")
    for number, (labels, guesses) in enumerate(zip(gold, predicted, strict=True)):
        if guesses is None:
            guesses = () if labels is None else (None,) * len(labels)
        if labels is None:
            labels = (None,) * len(guesses)
        if len(labels) != len(guesses):
            raise ShapeError.lengths(
                f"{name}[{number}]", len(guesses), f"gold[{number}]", len(labels)
            )
        yield number, labels, guesses


def compared(gold: Labels, predicted: Labels, name: str = "predicted") -> Iterator[Sentence]:
    """Compare predictions with gold tags sentence by sentence; both are checked first."""
    for number, tags, guesses in paired(gold, predicted, name):
        if any(tag is None for tag in tags):
            raise InputError(
                f"gold[{number}] holds an unknown tag (None), which no span can be scored against."
                " Leave such sequences out."
            )
        # An unknown prediction marks nothing.
        told = [OUTSIDE if guess is None else guess for guess in guesses]
        right = sum(tag == guess for tag, guess in zip(tags, told, strict=True))
        yield Sentence(set(spans(tags)), set(spans(told)), right, len(told))


@dataclass(frozen=True, eq=False)
class Counts:
    """What was counted in some sequences, as events.

    Attributes
    ----------
    labels : list of str
        Those that are gold or predicted somewhere, sorted.
    sequence, kind, label : (E,) integers
        In which sequence an event was, whether it was right, predicted or gold, and its label.
    whole : (N, 4) int64
        Positions that are right, positions, whether all are right, and 1, of each sequence.
    unknown : int
        Positions without a gold label, which nothing was compared with.
    """

    labels: list[str]
    sequence: NDArray[np.int64]
    kind: NDArray[np.int64]
    label: NDArray[np.int64]
    whole: NDArray[np.int64]
    unknown: int = 0

    def totals(self) -> Totals:
        """Return the sums over all sequences."""
        size = len(self.labels)
        events = np.bincount(self.kind * size + self.label, minlength=3 * size)
        return Totals(np.concatenate([events, self.whole.sum(axis=0)]))

    def matrix(self, labels: Sequence[str], groups: NDArray[np.int64] | None = None) -> Any:
        """Return the counts of each sequence or group, as a sparse matrix (N, C).

        Parameters
        ----------
        labels : list of str
            The labels whose columns there shall be; they hold all of `self.labels`.
        groups : (N,) int64, optional
            The number of each sequence's group.
        """
        from scipy.sparse import csr_matrix

        size, rows = len(labels), np.arange(len(self.whole)) if groups is None else groups
        place = {label: number for number, label in enumerate(labels)}
        column = np.array([place[label] for label in self.labels], np.int64)
        across = np.concatenate(
            [
                self.kind * size + (column[self.label] if len(column) else self.label),
                np.tile(np.arange(3 * size, 3 * size + _WHOLE), len(self.whole)),
            ]
        )
        down = np.concatenate([rows[self.sequence], np.repeat(rows, _WHOLE)])
        values = np.concatenate([np.ones(len(self.label)), self.whole.ravel()])
        shape = (int(rows.max()) + 1, 3 * size + _WHOLE)
        # What meets in one cell is added up.
        return csr_matrix((values, (down, across)), shape=shape)


def counted(gold: Labels, predicted: Labels, level: Level, name: str = "predicted") -> Counts:
    """Count spans, or the labels of positions; of the latter those whose gold label is known."""
    return (span_counts if level == "spans" else token_counts)(gold, predicted, name)


def span_counts(gold: Labels, predicted: Labels, name: str = "predicted") -> Counts:
    """Count the spans that the tags of each sequence mark."""
    met: dict[str, int] = {}
    sequence: list[int] = []
    kind: list[int] = []
    label: list[int] = []
    whole: list[tuple[int, int, int, int]] = []
    for number, sentence in enumerate(compared(gold, predicted, name)):
        events = (sentence.gold & sentence.predicted, sentence.predicted, sentence.gold)
        for which, found in enumerate(events):
            for span in found:
                sequence.append(number)
                kind.append(which)
                label.append(met.setdefault(span.label, len(met)))
        exact = int(sentence.right == sentence.tokens)
        whole.append((sentence.right, sentence.tokens, exact, 1))
    return Counts(
        sorted(met),
        np.array(sequence, np.int64),
        np.array(kind, np.int64),
        _in_order(met)[np.array(label, np.int64)],
        np.array(whole, np.int64),
    )


def token_counts(gold: Labels, predicted: Labels, name: str = "predicted") -> Counts:
    """Count the labels of positions; positions without a gold label are left out and counted.

    A sequence is all right when all its known positions are; one without any does not count.
    """
    pairs = list(paired(gold, predicted, name))
    lengths = np.array([len(labels) for _, labels, _ in pairs], np.int64)
    sequence = np.repeat(np.arange(len(pairs)), lengths)
    met: dict[str | None, int] = {None: -1}
    true = _codes((labels for _, labels, _ in pairs), met, len(sequence))
    known = true >= 0
    if not known.any():
        raise InputError("Not one gold label is known. Give sequences with labels to compare with.")
    told = _codes((guesses for _, _, guesses in pairs), met, len(sequence))
    # A prediction where no gold label is known is nobody's label.
    sequence, true, told, unknown = sequence[known], true[known], told[known], int((~known).sum())
    del met[None]
    names = {str(label): code for label, code in met.items()}
    order, present = _in_order(names), np.zeros(len(names), np.bool_)
    present[true] = True
    present[told[told >= 0]] = True
    hit, guessed = true == told, told >= 0
    label = order[np.concatenate([true[hit], told[guessed], true])]
    kind = np.repeat((CORRECT, PREDICTED, SUPPORT), (hit.sum(), guessed.sum(), len(true)))
    right = np.bincount(sequence[hit], minlength=len(pairs))
    tokens = np.bincount(sequence, minlength=len(pairs))
    scored = (tokens > 0).astype(np.int64)
    sorted_present = np.empty(len(names), np.bool_)
    sorted_present[order] = present
    return Counts(
        [name for name, kept in zip(sorted(names), sorted_present, strict=True) if kept],
        np.concatenate([sequence[hit], sequence[guessed], sequence]),
        kind,
        (np.cumsum(sorted_present) - 1)[label],
        np.stack([right, tokens, scored * (right == tokens), scored], axis=1),
        unknown,
    )


def _codes(
    labels: Iterator[Sequence[str | None]], met: dict[str | None, int], size: int
) -> NDArray[np.int64]:
    """Give labels numbers as they are met; None is -1."""
    flat = chain.from_iterable(labels)
    return np.fromiter((met.setdefault(label, len(met) - 1) for label in flat), np.int64, size)


def _in_order(met: dict[str, int]) -> NDArray[np.int64]:
    """Return for each number in which labels were met its place when they are sorted."""
    order = np.empty(len(met), np.int64)
    order[[met[label] for label in sorted(met)]] = np.arange(len(met))
    return order


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums of counts (..., C), one row a draw if there are several."""

    sums: NDArray[Any]

    def of_labels(self, kind: int) -> NDArray[Any]:
        """Return the sums of one kind by label: (..., L)."""
        size = (self.sums.shape[-1] - _WHOLE) // 3
        return self.sums[..., kind * size : (kind + 1) * size]

    def of_all(self, count: int) -> NDArray[Any]:
        """Return the sums of one count of whole sequences: (...)."""
        return self.sums[..., self.sums.shape[-1] - _WHOLE + count]


def shares(over: NDArray[Any], under: NDArray[Any], nothing: float = 0.0) -> NDArray[np.float64]:
    """Return over / under, and `nothing` where there is nothing to divide by."""
    result: NDArray[np.float64] = np.true_divide(
        over, under, out=np.full(np.shape(over), nothing), where=under != 0
    )
    return result


def _precision(
    correct: NDArray[Any], predicted: NDArray[Any], _: Any, nothing: float = 0.0
) -> NDArray[np.float64]:
    return shares(correct, predicted, nothing)


def _recall(
    correct: NDArray[Any], _: Any, support: NDArray[Any], nothing: float = 0.0
) -> NDArray[np.float64]:
    return shares(correct, support, nothing)


def _f1(
    correct: NDArray[Any], predicted: NDArray[Any], support: NDArray[Any], nothing: float = 0.0
) -> NDArray[np.float64]:
    return shares(2 * correct, predicted + support, nothing)


LABEL_MEASURES: dict[str, Callable[..., NDArray[np.float64]]] = {
    "precision": _precision,
    "recall": _recall,
    "f1": _f1,
}


def of_labels(name: str, totals: Totals, nothing: float = 0.0) -> NDArray[np.float64]:
    """Return precision, recall or F1 of each label: (..., L); `nothing` if it does not occur."""
    counts = map(totals.of_labels, (CORRECT, PREDICTED, SUPPORT))
    return LABEL_MEASURES[name](*counts, nothing=nothing)


def _micro(name: str) -> Callable[[Totals], NDArray[np.float64]]:
    def measure(totals: Totals) -> NDArray[np.float64]:
        kinds = (CORRECT, PREDICTED, SUPPORT)
        return LABEL_MEASURES[name](*(totals.of_labels(kind).sum(axis=-1) for kind in kinds))

    return measure


def _macro(name: str) -> Callable[[Totals], NDArray[np.float64]]:
    def measure(totals: Totals) -> NDArray[np.float64]:
        # Of the labels that occur in a draw, else rare ones would make every draw look worse.
        met = totals.of_labels(PREDICTED) + totals.of_labels(SUPPORT) > 0
        return shares(of_labels(name, totals).sum(axis=-1), met.sum(axis=-1))

    return measure


def _weighted_f1(totals: Totals) -> NDArray[np.float64]:
    support = totals.of_labels(SUPPORT)
    return shares((of_labels("f1", totals) * support).sum(axis=-1), support.sum(axis=-1))


def _class_accuracy(totals: Totals) -> NDArray[np.float64]:
    support = totals.of_labels(SUPPORT)
    return shares(of_labels("recall", totals).sum(axis=-1), (support > 0).sum(axis=-1))


def _whole_share(over: int, under: int) -> Callable[[Totals], NDArray[np.float64]]:
    return lambda totals: shares(totals.of_all(over), totals.of_all(under))


# Each takes sums of counts (..., C) and gives (...) float64.
MEASURES: dict[Measure, Callable[[Totals], NDArray[np.float64]]] = {
    "f1": _micro("f1"),
    "precision": _micro("precision"),
    "recall": _micro("recall"),
    "token_accuracy": _whole_share(RIGHT, TOKENS),
    "exact_match": _whole_share(EXACT, SEQUENCES),
    "macro_f1": _macro("f1"),
    "macro_precision": _macro("precision"),
    "macro_recall": _macro("recall"),
    "weighted_f1": _weighted_f1,
    "class_accuracy": _class_accuracy,
}
