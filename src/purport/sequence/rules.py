"""Which labels may follow each other, may come first and may come last.

Symbols: L labels, A pairs of labels with a weight.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from purport.errors import InputError
from purport.estimator.base import State
from purport.estimator.constraints import Constraint
from purport.features.rows import Rows
from purport.lattice.chain import Chain
from purport.lattice.transitions import Arcs, Transitions
from purport.records.columns import positions_of
from purport.sequence.labels import LabelCodes

if TYPE_CHECKING:
    from numpy.typing import NDArray

Forbidden = Literal["bio"] | Collection[tuple[str | None, str | None]]
"""What BIO tags forbid, or pairs (label, next label); None is what is before and after all."""


class ForbidConstraint(Constraint):
    """The values of the parameter `forbid`."""

    def allows(self, value: object) -> bool:
        if value is None or isinstance(value, str):
            return value in (None, "bio")
        return isinstance(value, Collection) and all(map(_is_pair, value))

    def words(self) -> str:
        return "'bio' or a list of pairs (label, next label) or None"


def _is_pair(pair: object) -> bool:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        return False
    return all(end is None or isinstance(end, str) for end in pair)


@dataclass(frozen=True)
class Rules:
    """What is allowed, as arrays.

    Attributes
    ----------
    pairs : (L, L) bool
        Whether the label of the column may follow that of the row.
    first, last : (L,) bool
        Whether a sequence may begin, and end, with a label.
    """

    pairs: NDArray[np.bool_]
    first: NDArray[np.bool_]
    last: NDArray[np.bool_]

    @classmethod
    def of(cls, forbidden: Forbidden | None, classes: Sequence[str]) -> Rules | None:
        """Return the rules for the labels of a model; None if all is allowed."""
        if forbidden is None:
            return None
        labels = len(classes)
        first, last = np.ones((2, labels), np.bool_)
        rules = cls(np.ones((labels, labels), np.bool_), first, last)
        if forbidden == "bio":
            rules._forbid_loose_insides(list(classes))
        else:
            rules._forbid_pairs(forbidden, list(classes))
        return rules

    def _forbid_loose_insides(self, classes: list[str]) -> None:
        """Let I-x come after B-x or I-x alone."""
        for number, label in enumerate(classes):
            if label.startswith("I-"):
                before = {f"B-{label[2:]}", label}
                self.pairs[:, number] = [other in before for other in classes]
                self.first[number] = False

    def _forbid_pairs(self, forbidden: Collection[Any], classes: list[str]) -> None:
        numbers = {label: number for number, label in enumerate(classes)}
        for source, target in forbidden:
            for label in (source, target):
                if label is not None and label not in numbers:
                    raise InputError(
                        f"forbid names the label {label!r}, which the training data do not have."
                        f" They have: {', '.join(classes)}."
                    )
            if source is None and target is not None:
                self.first[numbers[target]] = False
            elif target is None and source is not None:
                self.last[numbers[source]] = False
            elif source is not None and target is not None:
                self.pairs[numbers[source], numbers[target]] = False

    @cached_property
    def lattice(self) -> Arcs:
        """The pairs that are allowed, each with a score of its own."""
        sources, targets = np.nonzero(self.pairs)
        return Arcs(len(self.first), sources, targets, -np.inf)

    @cached_property
    def start(self) -> NDArray[np.float64]:
        """What beginning with each label scores (L,): nothing, or -inf."""
        return np.where(self.first, 0.0, -np.inf)

    @cached_property
    def stop(self) -> NDArray[np.float64]:
        """What ending with each label scores (L,): nothing, or -inf."""
        return np.where(self.last, 0.0, -np.inf)

    def slots(self, weighted: Arcs) -> NDArray[np.int64]:
        """Return where the pairs with a weight stand among those that are allowed (A,)."""
        numbers = np.cumsum(self.pairs).reshape(self.pairs.shape) - 1
        found: NDArray[np.int64] = numbers[weighted.sources, weighted.targets].astype(np.int64)
        return found

    def allow(self, arcs: Arcs) -> bool:
        """Tell whether all of the arcs are allowed."""
        return bool(np.all(self.pairs[arcs.sources, arcs.targets]))

    def keep(self, arcs: Arcs) -> Arcs:
        """Return those of the arcs that are allowed."""
        allowed = self.pairs[arcs.sources, arcs.targets]
        return Arcs(arcs.states, arcs.sources[allowed], arcs.targets[allowed], 0.0)

    def check(self, rows: Rows, coded: LabelCodes, counts: NDArray[np.bool_]) -> None:
        """Refuse training data of which a sequence has no labelling that is allowed."""
        sequences = np.flatnonzero(counts & coded.informative)
        positions, offsets = positions_of(sequences, rows.offsets)
        labels = len(self.first)
        index = np.zeros(int(offsets[-1]), np.int32)
        chain = Chain(index, offsets, labels)
        transitions = Transitions.of(self.lattice, np.zeros(len(self.lattice)))
        _, score = chain.best_paths(
            np.zeros((1, labels)), transitions, coded.clamp(positions), self.start, self.stop
        )
        if np.any(bad := np.isneginf(score)):
            raise InputError(
                f"X[{sequences[np.argmax(bad)]}] has labels that forbid= forbids, and so have"
                f" {np.count_nonzero(bad)} sequences in all. Mend the labels, or forbid less."
            )

    def to_state(self) -> State:
        """Return what goes into a model folder."""
        return State({"pairs": self.pairs, "first": self.first, "last": self.last})

    @classmethod
    def from_state(cls, state: State, labels: int) -> Rules | None:
        """Take back what `to_state` gave; None where nothing was forbidden."""
        if not state.arrays:
            return None
        rules = cls(*(state.arrays[name] for name in ("pairs", "first", "last")))
        shapes = (rules.pairs.shape, rules.first.shape, rules.last.shape)
        kinds = {array.dtype for array in state.arrays.values()}
        if shapes != ((labels, labels), (labels,), (labels,)) or kinds != {np.dtype(np.bool_)}:
            raise ValueError("the rules are not those of the labels")
        return rules
