"""What a study found, as plain numbers: what the report draws and `--json` writes."""

from __future__ import annotations

from dataclasses import dataclass

from purport.measure.bootstrap import Comparison, Interval


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
    """How well one slot is found.

    Attributes
    ----------
    label : str
        The slot.
    support : int
        How often it occurs in the test data.
    precision, recall : float
        Shares of predicted and of gold spans that are right.
    f1 : Interval
        Their harmonic mean, with its interval.
    floor : float
        F1 of the floor.

    Examples
    --------
    >>> LabelFinding("city", 4, 1.0, 0.5, Interval(0.67, 0.2, 0.9, 0.95), floor=0.1).floor
    0.1
    """

    label: str
    support: int
    precision: float
    recall: float
    f1: Interval
    floor: float


@dataclass(frozen=True)
class Mistake:
    """One kind of mistake and how often it was made; None stands for no slot.

    Examples
    --------
    >>> Mistake("city", "artist", 3).words()
    'taken for another slot'
    """

    gold: str | None
    predicted: str | None
    count: int

    def words(self) -> str:
        """Say what kind of mistake it is."""
        if self.predicted is None:
            return "not found"
        if self.gold is None:
            return "found where there is none"
        return "wrong borders" if self.gold == self.predicted else "taken for another slot"


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
    mistakes : tuple of Mistake
        The most frequent first.
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
    mistakes: tuple[Mistake, ...]
    history: tuple[tuple[float, float], ...]
    converged: bool
    train_seconds: float
    label_seconds: float
    examples: tuple[Example, ...] | None

    @property
    def above_floor(self) -> bool:
        """Whether the tagger is better than its floor."""
        return self.gain.a > self.gain.b
