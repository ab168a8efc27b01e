"""What users give a model of single rows, into `Rows`: numbers, lists of features, or rows as such.

A model that was fitted on numbers or rows refuses lists of features, and the other way round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from purport.errors import InputError
from purport.estimator.base import State
from purport.features.numbers import NumberRows, holds_numbers
from purport.features.rows import Rows
from purport.features.strings import FeatureStrings
from purport.features.unique import unique_rows

Form = Literal["numbers", "lists"]

FORM_WORDS: dict[Form, str] = {
    "numbers": "rows of numbers (an array, a sparse matrix, a data frame, or Rows)",
    "lists": "lists of features (a list of feature strings or a dict for each row)",
}


def _form_of(X: Any) -> Form:
    return "numbers" if isinstance(X, Rows) or holds_numbers(X) else "lists"


@dataclass(frozen=True)
class RowReader:
    """Makes rows with the same columns from all that a model is given.

    Attributes
    ----------
    owner : str
        Whom messages speak of.
    form : "numbers" or "lists"
        What it reads.
    width : int
        How many columns there are.
    names : list of str or None
        What a data frame called its columns.
    encoder : FeatureStrings or None
        Knows the features of lists.
    """

    owner: str
    form: Form
    width: int
    names: list[str] | None
    encoder: FeatureStrings | None

    @classmethod
    def learn(cls, owner: str, X: Any) -> tuple[Self, Rows]:
        """Learn the columns, and return the rows of X too.

        Examples
        --------
        >>> reader, rows = RowReader.learn("LinearSVM", [["a", "b"], {"a": 2.0}])
        >>> reader.form, reader.width, rows.positions
        ('lists', 2, 2)
        """
        if _form_of(X) == "lists":
            encoder = FeatureStrings()
            rows = encoder.fit_transform(_apart(X))
            return cls(owner, "lists", rows.width, None, encoder), rows
        rows, names = _of_numbers(owner, X)
        return cls(owner, "numbers", rows.width, names, None), rows

    def read(self, X: Any) -> Rows:
        """Return rows of the columns that were learnt."""
        form = _form_of(X)
        if form != self.form:
            raise InputError(
                f"{self.owner} was fitted on {FORM_WORDS[self.form]}, but was given"
                f" {FORM_WORDS[form]}. Give it the same form, or fit again."
            )
        if self.encoder is not None:
            return self.encoder.transform(_apart(X))
        rows, names = _of_numbers(self.owner, X)
        if None not in (names, self.names) and names != self.names:
            raise InputError(
                "The feature names should match those that were passed during fit, in the same"
                " order. Choose and order the columns of the data frame as they were."
            )
        if rows.width != self.width:
            raise InputError(
                f"X has {rows.width} features, but {self.owner} is expecting {self.width} features"
                " as input."
            )
        return rows

    def feature_names(self) -> list[str]:
        """Return what each column stands for; x0, x1 and so on where nothing is known."""
        if self.encoder is not None:
            return self.encoder.feature_names()
        return self.names or [f"x{number}" for number in range(self.width)]

    def to_state(self) -> State:
        """Return what goes into a model folder."""
        state = State(settings={"form": self.form, "width": self.width, "names": self.names})
        return state if self.encoder is None else state.join("encoder", self.encoder._to_state())

    @classmethod
    def from_state(cls, owner: str, state: State) -> Self:
        """Take back what `to_state` gave."""
        settings = state.settings
        encoder = None
        if settings["form"] == "lists":
            encoder = FeatureStrings()
            encoder._restore(state.nested("encoder"))
            if encoder.width != settings["width"]:
                raise ValueError("there are not as many features as columns")
        return cls(owner, settings["form"], settings["width"], settings["names"], encoder)


def _apart(X: Any) -> Any:
    """Return each row as a sequence of its own, as encoders take them; what is no list as it is."""
    return [[row] for row in X] if isinstance(X, list | tuple | np.ndarray) else X


def _of_numbers(owner: str, X: Any) -> tuple[Rows, list[str] | None]:
    if isinstance(X, Rows):
        return X, None
    given = NumberRows.apart(owner, X)
    rows = unique_rows(given.columns, given.starts, given.values, given.width, given.offsets)
    return rows, given.names
