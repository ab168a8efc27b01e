"""The hidden sub-intents of a world of searches, and how they follow each other.

The chain of sub-intents is

    T[s, s'] = persistence C[s, s'] + (1 - persistence) B[y, y'] q(s' | y'),

y and y' the labels of s and s'. C are the companions: stay with the sub-intent, or turn to another
of the same goal. B is the chain of labels that C makes, and q(s' | y') how often a label has each
of its sub-intents. So labels follow each other equally often whatever the persistence and whatever
the number of sub-intents: these knobs change only what a sub-intent tells beyond its label.

Symbols: S sub-intents, L labels, R parts of goals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from purport.simulate.pools import GOAL_OF_PART, PARTS

if TYPE_CHECKING:
    from numpy.typing import NDArray


class SubIntents:
    """The parts of goals, dealt to sub-intents.

    Parameters
    ----------
    most : int
        At most how many sub-intents a label has.
    alternation : float
        How likely a sub-intent turns to another of its companions, rather than stays.

    Attributes
    ----------
    labels : tuple of L str
        In alphabetical order.
    names : tuple of S str
        Label and goals of each.
    parts : (R, S) float64
        How much of each sub-intent each part makes. Columns sum to 1.
    own, second : (L, S) float64
        1 where the label is the sub-intent's own, or its second: that of a companion.
    shares : (S,) float64
        How often a step has each.

    Examples
    --------
    >>> whole = SubIntents(most=4, alternation=0.5)
    >>> whole.names[:2], len(whole.names)
    (('communicate.home', 'communicate.phone'), 24)
    >>> stay, turn = whole.chain(persistence=1.0)[0, [0, 16]]
    >>> whole.names[16], stay.round(2).item(), turn.round(2).item()
    ('service.home', 0.5, 0.25)
    """

    def __init__(self, most: int, alternation: float) -> None:
        self.labels = tuple(sorted({label for _, label in PARTS}))
        dealt: list[list[int]] = []
        for label in self.labels:
            parts = [number for number, part in enumerate(PARTS) if part[1] == label]
            dealt += [parts[first::most] for first in range(min(most, len(parts)))]
        self.names = tuple(
            f"{PARTS[parts[0]][1]}.{'+'.join(PARTS[part][0] for part in parts)}" for parts in dealt
        )
        member = np.zeros((len(PARTS), len(dealt)))
        for state, parts in enumerate(dealt):
            member[parts, state] = 1.0
        sizes = member.sum(axis=0)
        self.parts = member / sizes
        self.shares = sizes / len(PARTS)
        companions = GOAL_OF_PART[:, None] == GOAL_OF_PART
        others = companions & ~np.eye(len(PARTS), dtype=np.bool_)
        self._companions = (
            self.parts.T
            @ (
                (1.0 - alternation) * np.eye(len(PARTS))
                + alternation * others / others.sum(axis=1, keepdims=True)
            )
            @ member
        )
        firsts = [parts[0] for parts in dealt]
        self.own = self._labels_of(firsts)
        self.second = self._labels_of([int(np.flatnonzero(others[first])[0]) for first in firsts])

    def chain(self, persistence: float) -> NDArray[np.float64]:
        """Return how likely each sub-intent is after each other (S, S); rows sum to 1."""
        given_label = self.own * self.shares
        given_label /= given_label.sum(axis=1, keepdims=True)
        labels = given_label @ self._companions @ self.own.T
        forgetful = self.own.T @ labels @ given_label
        chain: NDArray[np.float64] = (
            persistence * self._companions + (1.0 - persistence) * forgetful
        )
        return chain

    def _labels_of(self, parts: list[int]) -> NDArray[np.float64]:
        numbers = [self.labels.index(PARTS[part][1]) for part in parts]
        return np.eye(len(self.labels))[:, numbers]
