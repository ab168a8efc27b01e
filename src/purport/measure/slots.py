"""How well predicted slots agree with gold ones: span F1 in total and by slot, tokens, sentences.

A span counts as right when its slot, start and end are. A ratio of nothing to nothing is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from purport.measure.bootstrap import Interval, ScoreIntervals
from purport.measure.counts import CORRECT, PREDICTED, SUPPORT, Labels, span_counts

_ALL = "all"


@dataclass(frozen=True)
class LabelScore:
    """The scores of one slot, or of one label of positions.

    Attributes
    ----------
    label : str
        The slot, without prefix, or the label.
    support : int
        Gold spans, or positions with that label.
    predicted : int
        Predicted ones.
    correct : int
        Those in both.

    Examples
    --------
    >>> LabelScore("city", support=4, predicted=2, correct=1).precision
    0.5
    """

    label: str
    support: int
    predicted: int
    correct: int

    @property
    def precision(self) -> float:
        """The share of the predicted spans that is right."""
        return _share(self.correct, self.predicted)

    @property
    def recall(self) -> float:
        """The share of the gold spans that is found."""
        return _share(self.correct, self.support)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return _share(2 * self.correct, self.predicted + self.support)


@dataclass(frozen=True)
class SlotScores:
    """The scores of slots over some sequences; see `slot_scores`.

    Attributes
    ----------
    precision, recall, f1 : float
        Over all spans together (micro).
    support : int
        Gold spans.
    predicted : int
        Predicted spans.
    token_accuracy : float
        The share of positions with the right tag.
    exact_match : float
        The share of sequences with no wrong tag.
    sentences, tokens : int
        What was scored.
    by_label : tuple of LabelScore
        One a slot that is gold or predicted somewhere, by name.

    Examples
    --------
    >>> slot_scores([["B-day"]], [["B-day"]]).by_label[0].label
    'day'
    """

    precision: float
    recall: float
    f1: float
    support: int
    predicted: int
    token_accuracy: float
    exact_match: float
    sentences: int
    tokens: int
    by_label: tuple[LabelScore, ...]

    def table(self, intervals: ScoreIntervals | None = None) -> str:
        """Return the scores as lines of text, one a slot and one for all.

        Parameters
        ----------
        intervals : ScoreIntervals, optional
            Adds the intervals of F1.

        Examples
        --------
        >>> print(slot_scores([["B-day", "O"]], [["B-day", "B-city"]]).table())
              precision  recall      F1  support
        city     0.0000  0.0000  0.0000        0
        day      1.0000  1.0000  1.0000        1
        all      0.5000  1.0000  0.6667        1
        """
        ratios = (self.precision, self.recall, self.f1)
        of_all = intervals.overall["f1"] if intervals else None
        return score_table(self.by_label, _ALL, ratios, self.support, intervals, of_all)


def slot_scores(gold: Labels, predicted: Labels) -> SlotScores:
    """Score predicted BIO tags against gold ones.

    Parameters
    ----------
    gold, predicted : list of lists of str
        One list of tags a sequence. Gold tags must all be known; an unknown prediction (None)
        counts as ``O``.

    Returns
    -------
    SlotScores
        Precision, recall and F1 of spans, token accuracy and exact match.

    Examples
    --------
    >>> gold = [["O", "B-city", "I-city"], ["B-day"]]
    >>> scores = slot_scores(gold, [["O", "B-city", "O"], ["B-day"]])
    >>> scores.f1, scores.token_accuracy, scores.exact_match
    (0.5, 0.75, 0.5)
    """
    counts = span_counts(gold, predicted)
    totals = counts.totals()
    kinds = (totals.of_labels(kind).tolist() for kind in (SUPPORT, PREDICTED, CORRECT))
    by_label = tuple(map(LabelScore, counts.labels, *kinds))
    total = LabelScore(
        _ALL,
        sum(row.support for row in by_label),
        sum(row.predicted for row in by_label),
        sum(row.correct for row in by_label),
    )
    right, tokens, exact, sentences = map(int, counts.whole.sum(axis=0))
    return SlotScores(
        precision=total.precision,
        recall=total.recall,
        f1=total.f1,
        support=total.support,
        predicted=total.predicted,
        token_accuracy=_share(right, tokens),
        exact_match=_share(exact, sentences),
        sentences=sentences,
        tokens=tokens,
        by_label=by_label,
    )


def score_table(
    rows: Sequence[LabelScore],
    last: str,
    ratios: tuple[float, float, float],
    support: int,
    intervals: ScoreIntervals | None = None,
    of_last: Interval | None = None,
) -> str:
    """Return scores as lines of text, one a label and a last one for all together.

    Examples
    --------
    >>> print(score_table([LabelScore("city", 2, 2, 1)], "all", (0.5, 0.5, 0.5), 2))
          precision  recall      F1  support
    city     0.5000  0.5000  0.5000        2
    all      0.5000  0.5000  0.5000        2
    """
    width = max(map(len, [last, *(row.label for row in rows)]))
    between = f"  {f'{of_last.confidence:.0%} interval':>16}" if of_last else ""

    def line(
        label: str, numbers: tuple[float, float, float], sure: Interval | None, count: int
    ) -> str:
        precision, recall, f1 = numbers
        said = f"{sure.low:.4f} to {sure.high:.4f}" if sure and not sure.too_few else "too few"
        column = f"  {said:>16}" if sure else ""
        return f"{label:{width}}  {precision:9.4f}  {recall:6.4f}  {f1:6.4f}{column}  {count:7d}"

    told = [
        line(
            row.label,
            (row.precision, row.recall, row.f1),
            intervals.by_label[row.label].f1 if intervals else None,
            row.support,
        )
        for row in rows
    ]
    head = f"{'':{width}}  precision  recall      F1{between}  support"
    return "\n".join([head, *told, line(last, ratios, of_last, support)])


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
