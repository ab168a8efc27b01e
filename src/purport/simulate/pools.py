"""The words and titles of a world of searches, by pool: those of one part of a goal, or of a group.

Symbols: R parts of goals, G groups of parts that share words, K = R + G pools (parts first).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from purport.simulate.queries import (
    BEGINNINGS,
    ENDINGS,
    FILLERS,
    GOALS,
    GROUPS_OF_PARTS,
    PAGES,
    SHARED_NOUNS,
    SITES,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

PARTS = tuple((goal, label) for goal, parts in GOALS.items() for label in parts)
"""The goal and the label of each part."""

GOAL_OF_PART, PLACE_OF_PART = np.divmod(np.arange(len(PARTS)), len(GROUPS_OF_PARTS))
GROUP_OF_PART = (GOAL_OF_PART - np.array(GROUPS_OF_PARTS)[PLACE_OF_PART]) % len(SHARED_NOUNS)

POOLS = len(PARTS) + len(SHARED_NOUNS)
NO_POOL = POOLS
"""Where words are from that every part uses equally."""

MOST_NAMES = len(BEGINNINGS) * len(ENDINGS) // POOLS


class Pools:
    """What the people of one world can say and click.

    Parameters
    ----------
    chance : Generator
        Decides which names there are and which words are common.
    names : int
        How many names, pages and sites a pool has.

    Attributes
    ----------
    names, nouns, pages, sites : (K, words) str
        The most common first.
    pool_of_word, pool_of_title : dict
        The pool of each, `NO_POOL` for a filler.

    Examples
    --------
    >>> pools = Pools(np.random.default_rng(0), names=5)
    >>> pools.pool_of_word[pools.names[3, 1]], pools.pool_of_word["surnames"]
    (3, 21)
    """

    def __init__(self, chance: np.random.Generator, names: int) -> None:
        invented = np.array([first + last for first in BEGINNINGS for last in ENDINGS])
        self.names = chance.permutation(invented)[: POOLS * names].reshape(POOLS, names)
        own = [nouns for parts in GOALS.values() for nouns in parts.values()]
        nouns = np.array([words.split() for words in (*own, *SHARED_NOUNS)])
        self.nouns = chance.permuted(nouns, axis=1)
        self.pages = self._titles(chance, PAGES)
        self.sites = self._titles(chance, SITES)
        self.pool_of_word = (
            dict.fromkeys(FILLERS, NO_POOL) | _pools(self.names) | _pools(self.nouns)
        )
        self.pool_of_title = _pools(self.pages) | _pools(self.sites)

    def mixed(self, parts: NDArray[np.float64], ambiguity: float) -> NDArray[np.float64]:
        """Return how often a word of each state is of each pool (K, S); columns sum to 1.

        Parameters
        ----------
        parts : (R, S) float64
            How much of each state each part makes.
        ambiguity : float
            How often a word is of the part's group, not of the part itself.
        """
        groups = np.arange(len(SHARED_NOUNS))[:, None] == GROUP_OF_PART
        return np.concatenate([(1.0 - ambiguity) * parts, ambiguity * (groups @ parts)])

    def _titles(self, chance: np.random.Generator, endings: tuple[str, ...]) -> NDArray[np.str_]:
        """Return a title for each name, with a noun of its pool."""
        pools = np.arange(POOLS)[:, None]
        nouns = self.nouns[pools, chance.integers(self.nouns.shape[1], size=self.names.shape)]
        ends = chance.choice(endings, self.names.shape)
        titles = [
            f"{name.capitalize()} {noun} {end}"
            for name, noun, end in zip(self.names.flat, nouns.flat, ends.flat, strict=True)
        ]
        return np.array(titles).reshape(self.names.shape)


def _pools(words: NDArray[np.str_]) -> dict[str, int]:
    return {str(word): pool for pool, row in enumerate(words) for word in row}
