"""What a study of models of sessions found, as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass

from purport.measure.bootstrap import Comparison, Interval
from purport.report.findings import Evaluation


@dataclass(frozen=True)
class SessionSize:
    """How many sessions there were.

    Examples
    --------
    >>> SessionSize(sessions=2, steps=7).steps
    7
    """

    sessions: int
    steps: int


@dataclass(frozen=True)
class ModelFinding:
    """How one of several models of sessions does on the same test data.

    Attributes
    ----------
    name : str
        How it is called.
    accuracy, macro_f1 : Interval
        The share of steps that are right, and the mean F1 of labels.
    model : str
        The estimator with its parameters; empty for a floor, which learns nothing.
    states : int or None
        How many hidden states it has.
    dev : float or None
        The share of steps that are right of those that were kept apart to choose by.
    seconds : float or None
        What training took.
    iterations : int
        How long that was.

    Examples
    --------
    >>> sure = Interval(0.5, 0.4, 0.6, 0.95)
    >>> ModelFinding("most frequent label", sure, sure).is_floor
    True
    """

    name: str
    accuracy: Interval
    macro_f1: Interval
    model: str = ""
    states: int | None = None
    dev: float | None = None
    seconds: float | None = None
    iterations: int = 0

    @property
    def is_floor(self) -> bool:
        """Whether it learns nothing of what sessions say."""
        return not self.model


@dataclass(frozen=True)
class Gain:
    """How many more steps one model gets right than another one.

    Examples
    --------
    >>> Gain("SHDCRF", "CRF", Comparison(0.6, 0.5, 0.1, 0.08, 0.12, 0.001, 0.95)).of
    'SHDCRF'
    """

    of: str
    over: str
    accuracy: Comparison


@dataclass(frozen=True)
class StepShown:
    """A step of a session that may be shown, its label and what models say of it.

    Examples
    --------
    >>> StepShown("maps", "travel", ("travel", "work")).said[0]
    'travel'
    """

    text: str
    gold: str
    said: tuple[str, ...]


@dataclass(frozen=True)
class SessionFindings:
    """What the study of models of sessions found.

    Attributes
    ----------
    train, dev, test : SessionSize
        What models learnt from, what decided which is kept, and what all were tested on.
    unlabeled : int
        Sessions without labels that one of the models also learnt from.
    models : tuple of ModelFinding
        Floors first, then from the plainest to the richest.
    kept : str
        The name of the model with most steps of the dev part right.
    gains : tuple of Gain
        What each step from a plainer to a richer model brings on the test data.
    tested : Evaluation
        Of the model that is kept.
    shown : tuple of str
        The models whose labels the examples show.
    examples : tuple of sessions or None
        Each its steps; None when the data are somebody's words.
    """

    train: SessionSize
    dev: SessionSize
    test: SessionSize
    unlabeled: int
    models: tuple[ModelFinding, ...]
    kept: str
    gains: tuple[Gain, ...]
    tested: Evaluation
    shown: tuple[str, ...]
    examples: tuple[tuple[StepShown, ...], ...] | None

    @property
    def floor(self) -> ModelFinding:
        """The floor that needs no more than the training data."""
        return self.models[0]

    @property
    def trained(self) -> tuple[ModelFinding, ...]:
        """The models that are no floors."""
        return tuple(model for model in self.models if not model.is_floor)

    @property
    def best(self) -> ModelFinding:
        """The model that is kept."""
        return next(model for model in self.models if model.name == self.kept)

    @property
    def above_floor(self) -> bool:
        """Whether the model that is kept is better than its floor."""
        return self.best.accuracy.value > self.floor.accuracy.value
