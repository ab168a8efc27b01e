"""What every encoder of sequences has in common, so that models can take any of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, Self

from purport.estimator.base import State
from purport.features.rows import Rows


class Encoder(Protocol):
    """Turns sequences into rows whose columns keep their meaning after `fit_transform`.

    Examples
    --------
    >>> from purport.features.strings import FeatureStrings
    >>> encoder: Encoder = FeatureStrings()
    >>> encoder.fit_transform([[["word=to"], ["word=san"]]]).width
    2
    """

    def fit_transform(self, X: Any) -> Rows:
        """Learn the columns from sequences and return their rows."""

    def learn(self, batches: Iterable[Any]) -> Self:
        """Learn the columns that `fit_transform` learns from all the batches put together.

        Memory is bounded by the features and one batch.
        """

    def transform(self, X: Any) -> Rows:
        """Return rows of the columns learnt; features without a column are left out and counted."""

    @property
    def width(self) -> int:
        """How many columns there are."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""

    def feature_names(self) -> list[str]:
        """Return what each column stands for."""

    def _to_state(self) -> State:
        """Return what was learnt."""

    def _restore(self, state: State) -> None:
        """Take back what `_to_state` gave."""
