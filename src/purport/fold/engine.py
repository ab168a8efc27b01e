"""What an engine is: it places partitions once, folds them as often as asked, and is closed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from purport.fold.statistic import Statistic

Partition = TypeVar("Partition")
Parameters = TypeVar("Parameters")
Result = TypeVar("Result")
AnyStatistic = TypeVar("AnyStatistic", bound=Statistic[Any, Any])


class Placement(Protocol):
    """Partitions that an engine holds where the work will be done."""

    def __len__(self) -> int: ...


class Engine(Protocol):
    """Runs folds. A model never knows which engine it has."""

    def place(self, partitions: Sequence[Any]) -> Placement:
        """Bring partitions to the workers, where they stay until `close`."""

    def fold(self, placed: Any, zero: AnyStatistic, parameters: Any) -> AnyStatistic:
        """Add every partition to a zero of its own and merge these along the fixed tree."""

    def map(
        self, placed: Any, function: Callable[[Any, Any], Result], parameters: Any
    ) -> list[Result]:
        """Apply a function of (partition, parameters) to every partition, results in order."""

    def close(self) -> None:
        """Let go of all that was placed."""


class Tree:
    """The fixed binary tree over the numbers of partitions.

    Node (level, k) joins the nodes 2k and 2k + 1 of the level below. Whoever finishes a leaf
    climbs: it merges with its sibling if that is done, else leaves its statistic and goes. Only the
    shape of the tree decides what is added to what, so the order in which leaves finish does not
    show.
    """

    def __init__(self, leaves: int) -> None:
        self._leaves = leaves
        self._waiting: dict[tuple[int, int], Any] = {}

    def climb(self, leaf: int, statistic: Any, lock: Any) -> Any:
        """Bring a finished leaf up as far as it goes; return the root's statistic if reached."""
        level, node, width = 0, leaf, self._leaves
        while width > 1:
            sibling = node ^ 1
            if sibling < width:
                with lock:
                    other = self._waiting.pop((level, sibling), None)
                    if other is None:
                        self._waiting[level, node] = statistic
                        return None
                left, right = (statistic, other) if node < sibling else (other, statistic)
                statistic = left.merge(right)
            level, node, width = level + 1, node // 2, (width + 1) // 2
        return statistic
