"""How well predicted labels agree with gold ones, position by position, in total and by label."""

from __future__ import annotations

from dataclasses import dataclass

from purport.measure.bootstrap import ScoreIntervals
from purport.measure.counts import (
    CORRECT,
    MEASURES,
    PREDICTED,
    SUPPORT,
    Labels,
    token_counts,
)
from purport.measure.slots import LabelScore, score_table


@dataclass(frozen=True)
class TokenScores:
    """The scores of labels over some positions; see `token_scores`.

    Attributes
    ----------
    accuracy : float
        The share of positions with the right label: time-slice accuracy where positions are slices
        of time.
    class_accuracy : float
        The mean of the recalls of the gold labels: class-average accuracy.
    macro_precision, macro_recall, macro_f1 : float
        Means over all labels that are gold or predicted somewhere.
    weighted_f1 : float
        The mean of the F1 of labels, weighted by how often each is gold.
    exact_match : float
        The share of sequences with no wrong label.
    sequences, tokens : int
        What was scored.
    unknown : int
        Positions without a gold label, which were left out.
    by_label : tuple of LabelScore
        One a label that is gold or predicted somewhere, by name.

    Examples
    --------
    >>> token_scores([["buy", None]], [["buy", "buy"]]).unknown
    1
    """

    accuracy: float
    class_accuracy: float
    macro_precision: float
    macro_recall: float
    macro_f1: float
    weighted_f1: float
    exact_match: float
    sequences: int
    tokens: int
    unknown: int
    by_label: tuple[LabelScore, ...]

    def table(self, intervals: ScoreIntervals | None = None) -> str:
        """Return the scores as lines of text, one a label, then their mean.

        Parameters
        ----------
        intervals : ScoreIntervals, optional
            Adds the intervals of F1.

        Examples
        --------
        >>> print(token_scores([["buy", "learn"]], [["buy", "buy"]]).table())
               precision  recall      F1  support
        buy       0.5000  1.0000  0.6667        1
        learn     0.0000  0.0000  0.0000        1
        mean      0.2500  0.5000  0.3333        2
        """
        mean = (self.macro_precision, self.macro_recall, self.macro_f1)
        of_mean = intervals.overall["macro_f1"] if intervals else None
        return score_table(self.by_label, "mean", mean, self.tokens, intervals, of_mean)


def token_scores(gold: Labels, predicted: Labels) -> TokenScores:
    """Score predicted labels against gold ones at each position.

    Labels may be any strings; that of BIO tags is compared whole, with its prefix.

    Parameters
    ----------
    gold, predicted : list of lists of str
        One list of labels a sequence. Positions whose gold label is None are left out and counted
        in `unknown`; a prediction that is None is wrong. At least one gold label must be known.

    Returns
    -------
    TokenScores
        Accuracies, and precision, recall and F1 of each label.

    Examples
    --------
    >>> scores = token_scores([["buy", "buy"], ["learn"]], [["buy", "buy"], ["buy"]])
    >>> scores.accuracy, scores.class_accuracy, scores.exact_match
    (0.6666666666666666, 0.5, 0.5)
    """
    counts = token_counts(gold, predicted)
    totals = counts.totals()
    kinds = (totals.of_labels(kind).tolist() for kind in (SUPPORT, PREDICTED, CORRECT))
    right, tokens, exact, sequences = map(int, counts.whole.sum(axis=0))

    def mean(name: str) -> float:
        return float(MEASURES[name](totals))  # type: ignore[index]

    return TokenScores(
        accuracy=right / tokens,
        class_accuracy=mean("class_accuracy"),
        macro_precision=mean("macro_precision"),
        macro_recall=mean("macro_recall"),
        macro_f1=mean("macro_f1"),
        weighted_f1=mean("weighted_f1"),
        exact_match=exact / sequences,
        sequences=sequences,
        tokens=tokens,
        unknown=counts.unknown,
        by_label=tuple(map(LabelScore, counts.labels, *kinds)),
    )
