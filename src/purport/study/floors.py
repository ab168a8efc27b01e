"""Floors: what is reached without learning anything about context, so that a gain can be seen."""

from __future__ import annotations

from collections import Counter

from purport.errors import InputError
from purport.measure.tags import OUTSIDE
from purport.records.utterances import Utterances


def most_frequent_tags(train: Utterances, test: Utterances) -> list[list[str]]:
    """Give each word the tag that it had most often in training; a new word gets ``O``.

    Examples
    --------
    >>> train = Utterances.from_lists([["to", "rome"]], slots=[["O", "B-city"]])
    >>> most_frequent_tags(train, Utterances.from_lists([["from", "rome"]]))
    [['O', 'B-city']]
    """
    if train.slots is None:
        raise InputError("The training records have no slots. Give records with slots.")
    counts: dict[str, Counter[str]] = {}
    for tokens, tags in zip(train.tokens, train.slots, strict=True):
        for token, tag in zip(tokens, tags, strict=True):
            if tag is not None:
                counts.setdefault(token, Counter())[tag] += 1
    # Of two equally frequent tags the first by name, so that the order of the data does not matter.
    usual = {
        token: min(tags.items(), key=lambda item: (-item[1], item[0]))[0]
        for token, tags in counts.items()
    }
    return [[usual.get(token, OUTSIDE) for token in tokens] for tokens in test.tokens]
