"""The statistic: what is summed up over data, as an algebra of five verbs.

`zero`, `add`, `merge`, `scale` and `to_arrays`/`from_arrays`. A model says what one batch adds; an
engine folds batches into statistics and merges these along one binary tree over the numbers of the
partitions, so that the result is the same to the bit for any number of threads or workers.

There are three kinds, each with its own laws, which the tests hold every statistic to:

exact
    Integer counts. `merge` is associative and commutative to the bit.
floating
    Gradients, expected counts. Associative to rounding; repeatable by the fixed tree.
sketch
    Matrix sketches. Any order of merges stays within the sketch's error bound.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, TypeVar

if TYPE_CHECKING:
    from numpy.typing import NDArray

Batch = TypeVar("Batch")
Parameters = TypeVar("Parameters")


class Statistic(ABC, Generic[Batch, Parameters]):
    """A sum over data. All verbs but `zero` and `to_arrays` change self and return it."""

    kind: ClassVar[Literal["exact", "floating", "sketch"]]

    @abstractmethod
    def zero(self) -> Self:
        """Return a new empty statistic of the same shape."""

    @abstractmethod
    def add(self, batch: Batch, parameters: Parameters) -> Self:
        """Add what a batch contributes under these parameters; the batch is only read."""

    @abstractmethod
    def merge(self, other: Self) -> Self:
        """Add another statistic, which is left alone."""

    @abstractmethod
    def scale(self, factor: float) -> Self:
        """Multiply by a number; forgetting is scaling."""

    @abstractmethod
    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return all that the statistic holds, as named arrays."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Make a statistic from what `to_arrays` gave."""
