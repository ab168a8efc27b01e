"""What a study or a test found, as plain numbers: what the report draws and `--json` writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from purport.measure.bootstrap import (
    Comparison,
    Interval,
    LabelIntervals,
    ScoreComparisons,
    ScoreIntervals,
)
from purport.measure.confusions import Confusion
from purport.measure.counts import Level, Measure
from purport.measure.mistakes import Mistake, Mistakes
from purport.measure.reliability import Calibration
from purport.measure.slots import SlotScores
from purport.measure.tokens import TokenScores

if TYPE_CHECKING:
    from purport.sequence.explaining import StateSummary
    from purport.sequence.latent import LatentLabeller


@dataclass(frozen=True)
class Size:
    """How much data there were.

    Examples
    --------
    >>> Size(utterances=2, tokens=7).tokens
    7
    """

    utterances: int
    tokens: int


@dataclass(frozen=True)
class LabelFinding:
    """How well one slot, or one label, is found.

    Attributes
    ----------
    label : str
        The slot or label.
    support : int
        How often it occurs in the test data.
    precision, recall : Interval
        Shares of what is predicted and of what is gold that are right.
    f1 : Interval
        Their harmonic mean.
    floor : float or None
        F1 of the floor, if there is one.

    Examples
    --------
    >>> sure = Interval(0.67, 0.2, 0.9, 0.95)
    >>> LabelFinding("city", 4, sure, sure, sure, floor=0.1).floor
    0.1
    """

    label: str
    support: int
    precision: Interval
    recall: Interval
    f1: Interval
    floor: float | None = None

    @classmethod
    def of(
        cls, label: str, support: int, intervals: LabelIntervals, floor: float | None = None
    ) -> LabelFinding:
        """Take the intervals of a label as they are measured."""
        return cls(label, support, intervals.precision, intervals.recall, intervals.f1, floor)


@dataclass(frozen=True)
class ErrorFindings:
    """The errors worth a look, and what may be shown of them.

    Attributes
    ----------
    found : Mistakes
        Those where the model was surest; they name records by their number in what was read.
    texts : tuple of str or None
        Of each of them; None where it may not be shown.

    Examples
    --------
    >>> ErrorFindings(Mistakes((), 0, 0, 0), ()).found.count
    0
    """

    found: Mistakes
    texts: tuple[str | None, ...]

    def lines(self) -> list[tuple[Mistake, str | None]]:
        """Return each mistake with its text."""
        return list(zip(self.found.mistakes, self.texts, strict=True))


@dataclass(frozen=True)
class Example:
    """One utterance that may be shown, with the tags it has and those it was given.

    Examples
    --------
    >>> Example(("play", "jazz"), ("O", "B-genre"), ("O", "O")).right
    False
    """

    tokens: tuple[str, ...]
    gold: tuple[str, ...]
    predicted: tuple[str, ...]

    @property
    def right(self) -> bool:
        """Whether every tag is right."""
        return self.gold == self.predicted


@dataclass(frozen=True)
class SlotFindings:
    """What the study of a slot tagger found.

    Attributes
    ----------
    model : str
        The estimator with its parameters.
    train, test : Size
        The data.
    f1, token_accuracy, exact_match : Interval
        Of spans, tokens and whole utterances, on the test data.
    gain : Comparison
        F1 of the tagger (a) and of the floor (b), each word's most frequent tag.
    by_label : tuple of LabelFinding
        The most frequent slot first.
    confusion : Confusion
        What was taken for what.
    calibration : Calibration
        How far the probabilities of tags can be believed.
    errors : ErrorFindings
        Where the tagger was sure and wrong.
    history : tuple of (seconds, objective)
        One an iteration, the start first.
    converged : bool
        Whether training came to its end.
    train_seconds, label_seconds : float
        What it took.
    examples : tuple of Example or None
        None when the data are somebody's words, which a report does not show.
    """

    model: str
    train: Size
    test: Size
    f1: Interval
    token_accuracy: Interval
    exact_match: Interval
    gain: Comparison
    by_label: tuple[LabelFinding, ...]
    confusion: Confusion
    calibration: Calibration
    errors: ErrorFindings
    history: tuple[tuple[float, float], ...]
    converged: bool
    train_seconds: float
    label_seconds: float
    examples: tuple[Example, ...] | None

    @property
    def above_floor(self) -> bool:
        """Whether the tagger is better than its floor."""
        return self.gain.a > self.gain.b


@dataclass(frozen=True)
class Wording:
    """How a kind of records, its positions and their labels are called.

    Examples
    --------
    >>> Wording("utterances", "words", "slots").records
    'utterances'
    """

    records: str
    positions: str
    labels: str


@dataclass(frozen=True)
class Compared:
    """Another model on the same records.

    Attributes
    ----------
    name : str
        How the other model is called.
    scores : ScoreComparisons
        a is the model that is tested, b the other one.

    Examples
    --------
    >>> Compared("older", ScoreComparisons({}, {})).name
    'older'
    """

    name: str
    scores: ScoreComparisons


@dataclass(frozen=True)
class Evaluation:
    """How well a model does on labelled records.

    Attributes
    ----------
    level : "spans" or "tokens"
        Whether the labels are BIO tags of spans, or labels of positions.
    scores : SlotScores or TokenScores
        In total and by label.
    intervals : ScoreIntervals
        How sure they are.
    wording : Wording
        How the records are called.
    left_out : int
        Records without known labels, which nothing could be compared with.
    groups : int or None
        How many groups of records the bootstrap drew from, if not from single records.
    confusion, calibration, errors, compared
        What was asked for beside the scores; None where it was not.

    Examples
    --------
    >>> from purport.measure import score_intervals, slot_scores
    >>> tags = [["B-day"], ["O"]]
    >>> words = Wording("utterances", "words", "slots")
    >>> Evaluation("spans", slot_scores(tags, tags), score_intervals(tags, tags), words).f1.value
    1.0
    """

    level: Level
    scores: SlotScores | TokenScores
    intervals: ScoreIntervals
    wording: Wording
    left_out: int = 0
    groups: int | None = None
    confusion: Confusion | None = None
    calibration: Calibration | None = None
    errors: ErrorFindings | None = None
    compared: Compared | None = None

    def table(self) -> str:
        """Return the scores as lines of text, with the intervals of F1."""
        return self.scores.table(self.intervals)

    @property
    def f1(self) -> Interval:
        """F1 of all spans together, or the mean F1 of labels."""
        return self.intervals.overall["f1" if self.level == "spans" else "macro_f1"]

    @property
    def accuracy(self) -> Interval:
        """The share of positions with the right label."""
        return self.intervals.overall["token_accuracy"]

    @property
    def main(self) -> Measure:
        """The measure that stands first."""
        return "f1" if self.level == "spans" else "token_accuracy"

    @property
    def by_label(self) -> tuple[LabelFinding, ...]:
        """Each label, the most frequent first."""
        found = [
            LabelFinding.of(row.label, row.support, self.intervals.by_label[row.label])
            for row in self.scores.by_label
        ]
        return tuple(sorted(found, key=lambda label: (-label.support, label.label)))

    def names(self) -> dict[Measure, str]:
        """Return the measures that are told, the main one first, with their names."""
        words = self.wording
        last: dict[Measure, str] = {"exact_match": f"{words.records} all right"}
        if self.level == "spans":
            return {
                "f1": "F1",
                "precision": "precision",
                "recall": "recall",
                "token_accuracy": f"{words.positions} right",
                **last,
            }
        return {
            "token_accuracy": f"{words.positions} right",
            "class_accuracy": "class average",
            "macro_f1": "mean F1",
            "weighted_f1": "weighted F1",
            **last,
        }


@dataclass(frozen=True)
class StateFindings:
    """What the hidden states of a model mean.

    Attributes
    ----------
    summaries : tuple of StateSummary
        One a state, by number.
    labels : tuple of str
        The labels.
    given_label : tuple of L tuples of S float
        p(h | y): how the steps of each label are shared out over the states.
    with_data : bool
        Whether they were looked at on data; else they are what training left in the model.

    Examples
    --------
    >>> from purport.sequence.ldcrf import LDCRF
    >>> model = LDCRF(1).fit([[["a"], ["b"]]], [["X", "Y"]])
    >>> found = StateFindings.of(model)
    >>> found.labels, found.at_least(0.9)
    (('X', 'Y'), 2)
    """

    summaries: tuple[StateSummary, ...]
    labels: tuple[str, ...]
    given_label: tuple[tuple[float, ...], ...]
    with_data: bool

    @classmethod
    def of(
        cls,
        model: LatentLabeller,
        X: Any = None,
        queries: Sequence[Sequence[str | None]] | None = None,
        **asked: int,
    ) -> Self:
        """Ask a model; what `explain` takes may be said."""
        return cls(
            tuple(model.explain(X, queries, **asked)),
            tuple(map(str, model.classes_)),
            tuple(map(tuple, model.state_given_label(X).tolist())),
            X is not None,
        )

    def at_least(self, share: float) -> int:
        """Return how many p(h | y) are at least so high."""
        return sum(value >= share for row in self.given_label for value in row)

    def numbers(self) -> dict[str, Any]:
        """Return everything, as JSON can hold it."""
        return {
            "states": [asdict(summary) for summary in self.summaries],
            "state_given_label": {
                label: list(row) for label, row in zip(self.labels, self.given_label, strict=True)
            },
        }
