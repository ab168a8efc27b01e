"""The world of utterances: what people ask an assistant for, with the slots and intents meant."""

from __future__ import annotations

import numpy as np

from purport.estimator.chance import RandomState, generator_of
from purport.estimator.constraints import Number, Whole, check_parameters
from purport.records.utterances import Utterances
from purport.simulate.grammar import AFTER, BEFORE, FILLERS, SHARED_NAMES, SHARED_SLOTS, TEMPLATES

_SHARE = Number(low=0.0, high=1.0)


def utterance_world(
    n: int = 1000,
    random_state: RandomState = 0,
    *,
    ambiguity: float = 0.3,
    politeness: float = 0.25,
    typos: float = 0.01,
) -> Utterances:
    """Invent utterances with ids, BIO slots, intents and domains.

    Parameters
    ----------
    n : int
        How many.
    random_state : int, Generator or None
        Where chance comes from; the same number gives the same world.
    ambiguity : float
        How often a name is one that may be a singer, a town or a restaurant alike. At 0 no name
        belongs to two of these; the roles of towns (origin, destination) depend on the words
        around at any value.
    politeness : float
        How often words such as "please" stand before the rest, and how often after it.
    typos : float
        How often a word has two letters swapped, one left out or one twice.

    Returns
    -------
    Utterances
        The intents are drawn equally often, as are the templates of an intent and the fillers
        of a slot.

    Examples
    --------
    >>> world = utterance_world(200, random_state=7)
    >>> world
    Utterances(200 records, 1568 tokens; with slots, intents, domains)
    >>> world == utterance_world(200, random_state=7)
    True
    """
    check_parameters(
        "utterance_world",
        {"n": n, "ambiguity": ambiguity, "politeness": politeness, "typos": typos},
        {"n": Whole(low=0), "ambiguity": _SHARE, "politeness": _SHARE, "typos": _SHARE},
    )
    speaker = _Speaker(generator_of("utterance_world", random_state), ambiguity, politeness, typos)
    said = [speaker.utterance() for _ in range(n)]
    return Utterances.from_lists(
        [tokens for _, tokens, _ in said],
        slots=[tags for _, _, tags in said],
        intents=[intent for intent, _, _ in said],
        domains=[intent.partition(".")[0] for intent, _, _ in said],
        ids=[f"u{number}" for number in range(1, n + 1)],
    )


class _Speaker:
    """Somebody who speaks the grammar, with habits."""

    def __init__(
        self, chance: np.random.Generator, ambiguity: float, politeness: float, typos: float
    ) -> None:
        self._chance = chance
        self._ambiguity = ambiguity
        self._politeness = politeness
        self._typos = typos
        self._intents = tuple(TEMPLATES)

    def utterance(self) -> tuple[str, list[str], list[str]]:
        """Return an intent, the words that somebody has found for it, and their tags."""
        intent = self._one_of(self._intents)
        tokens: list[str] = []
        tags: list[str] = []
        for part in [*self._polite(BEFORE), *self._one_of(TEMPLATES[intent]).split()]:
            words, slot = self._said(part)
            tokens += words
            tags += ["O"] * len(words) if slot is None else _marked(slot, len(words))
        after = " ".join(self._polite(AFTER)).split()
        tokens += after
        tags += ["O"] * len(after)
        return intent, [self._mistyped(token) for token in tokens], tags

    def _said(self, part: str) -> tuple[list[str], str | None]:
        if not part.startswith("{"):
            return part.split(), None
        slot = part.strip("{}")
        shared = slot in SHARED_SLOTS and self._happens(self._ambiguity)
        return self._one_of(SHARED_NAMES if shared else FILLERS[slot]).split(), slot

    def _polite(self, words: tuple[str, ...]) -> list[str]:
        return [self._one_of(words)] if self._happens(self._politeness) else []

    def _mistyped(self, token: str) -> str:
        if len(token) < 4 or not self._happens(self._typos):
            return token
        at = int(self._chance.integers(1, len(token) - 1))
        before, letter, after = token[:at], token[at], token[at + 1 :]
        swapped = before + after[0] + letter + after[1:]
        return self._one_of((swapped, before + after, before + letter + letter + after))

    def _happens(self, share: float) -> bool:
        return bool(self._chance.random() < share)

    def _one_of(self, choices: tuple[str, ...]) -> str:
        return choices[int(self._chance.integers(len(choices)))]


def _marked(slot: str, length: int) -> list[str]:
    return [f"B-{slot}", *[f"I-{slot}"] * (length - 1)]
