"""How well predicted slots agree with gold ones: span F1 in total and by slot, tokens, sentences.

A span counts as right when its slot, start and end are. A ratio of nothing to nothing is 0.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from purport.measure.counts import Labels, compared

_ALL = "all"


@dataclass(frozen=True)
class LabelScore:
    """The scores of one slot.

    Attributes
    ----------
    label : str
        The slot, without prefix.
    support : int
        Gold spans.
    predicted : int
        Predicted spans.
    correct : int
        Spans in both.

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

    def table(self) -> str:
        """Return the scores as lines of text, one a slot and one for all.

        Examples
        --------
        >>> print(slot_scores([["B-day", "O"]], [["B-day", "B-city"]]).table())
              precision  recall      F1  support
        city     0.0000  0.0000  0.0000        0
        day      1.0000  1.0000  1.0000        1
        all      0.5000  1.0000  0.6667        1
        """
        width = max(map(len, [_ALL, *(row.label for row in self.by_label)]))
        return "\n".join(
            [
                f"{'':{width}}  precision  recall      F1  support",
                *(
                    _line(row.label, width, (row.precision, row.recall, row.f1), row.support)
                    for row in self.by_label
                ),
                _line(_ALL, width, (self.precision, self.recall, self.f1), self.support),
            ]
        )


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
    support: Counter[str] = Counter()
    guessed: Counter[str] = Counter()
    correct: Counter[str] = Counter()
    right = tokens = exact = 0
    for sentence in compared(gold, predicted):
        support.update(span.label for span in sentence.gold)
        guessed.update(span.label for span in sentence.predicted)
        correct.update(span.label for span in sentence.gold & sentence.predicted)
        right += sentence.right
        tokens += sentence.tokens
        exact += sentence.right == sentence.tokens
    names = sorted(support.keys() | guessed.keys())
    total = LabelScore(_ALL, support.total(), guessed.total(), correct.total())
    return SlotScores(
        precision=total.precision,
        recall=total.recall,
        f1=total.f1,
        support=total.support,
        predicted=total.predicted,
        token_accuracy=_share(right, tokens),
        exact_match=_share(exact, len(gold)),
        sentences=len(gold),
        tokens=tokens,
        by_label=tuple(
            LabelScore(name, support[name], guessed[name], correct[name]) for name in names
        ),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _line(label: str, width: int, ratios: tuple[float, float, float], support: int) -> str:
    precision, recall, f1 = ratios
    return f"{label:{width}}  {precision:9.4f}  {recall:6.4f}  {f1:6.4f}  {support:7d}"
