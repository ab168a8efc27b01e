"""Records with a label at every position: what is known of them, and what a model said."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from purport.errors import InputError, ShapeError
from purport.records.arrow import any_column
from purport.records.checks import Probability, checked_probability, strings
from purport.records.columns import Coded, Coder, ragged
from purport.records.records import Records
from purport.records.sources import BadRowError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Labels = list[list[str | None]]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LabelledRecords(Records):
    """Records whose positions have labels; see `Utterances` and `Sessions`."""

    _ids: list[str | None] | None = None
    _labels: Coded | None = None
    _probability: list[Probability | None] | None = None

    _position: ClassVar[str]
    """What a position is called: a token, a step."""

    @property
    @abstractmethod
    def known_labels(self) -> Labels | None:
        """The labels that the records bring, None where not known; None when not one is."""

    @property
    def ids(self) -> list[str | None] | None:
        """The id of each record; None when not one is known."""
        return self._ids

    @cached_property
    def labels(self) -> Labels | None:
        """The predicted labels that `with_labels` put in, or that were read; None without any."""
        return ragged(self._labels.strings(), self.offsets) if self._labels else None

    @property
    def probability(self) -> list[Probability | None] | None:
        """How sure the predictions are: a number, or one a position, for each record."""
        return self._probability

    def with_labels(
        self,
        labels: Sequence[Sequence[str | None]],
        probability: Sequence[Probability] | NDArray[np.float64] | None = None,
    ) -> Self:
        """Return the same records with predicted labels beside what they had.

        Parameters
        ----------
        labels : list of lists of str
            A label a position.
        probability : list, optional
            For each record a number, or one number a position.

        Examples
        --------
        >>> from purport.records.utterances import Utterances
        >>> talk = Utterances.from_lists([["play", "jazz"]])
        >>> told = talk.with_labels([["O", "B-genre"]], [0.9])
        >>> next(told.rows())
        {'tokens': ['play', 'jazz'], 'labels': ['O', 'B-genre'], 'probability': 0.9}
        """
        lengths = np.diff(self.offsets).tolist()
        if len(labels) != len(self):
            raise ShapeError.lengths("labels", len(labels), "the list of records", len(self))
        if probability is not None and len(probability) != len(self):
            raise ShapeError.lengths(
                "probability", len(probability), "the list of records", len(self)
            )
        coder = Coder()
        sure: list[Probability | None] = []
        for record, (given, length) in enumerate(zip(labels, lengths, strict=True)):
            try:
                told = strings(given, "labels", unknown=True)
                if probability is not None:
                    sure.append(checked_probability(probability[record], length))
            except BadRowError as bad:
                raise InputError(
                    f"Record {record + 1}: {bad.reason}. Give one a {self._position}."
                ) from None
            if len(told) != length:
                raise ShapeError.lengths(
                    f"labels[{record}]", len(told), f"the {self._position}s", length
                )
            coder.extend(told)
        return replace(
            self, _labels=coder.finish(), _probability=None if probability is None else sure
        )

    def _other_columns(self) -> dict[str, Any]:
        """Return as Arrow has them: the probability, and the fields that purport does not know."""
        columns: dict[str, Any] = {}
        if self._probability is not None:
            columns["probability"] = any_column("probability", self._probability)
        columns |= super()._other_columns()
        for name in ("labels", "probability"):
            if any(name in extra for extra in self._extra or [] if extra):
                # In some records it is what was predicted, in others what somebody else means.
                columns[name] = any_column(name, [row.get(name) for row in self.rows()])
        return columns
