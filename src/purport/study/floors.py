"""Floors: what is reached without learning anything about context, so that a gain can be seen."""

from __future__ import annotations

from collections import Counter

from purport.errors import InputError
from purport.measure.counts import Labels
from purport.measure.tags import OUTSIDE
from purport.records.sessions import Sessions
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


def most_frequent_label(train: Sessions, test: Sessions) -> list[list[str]]:
    """Give every step the label that is most frequent in training.

    Examples
    --------
    >>> train = Sessions.from_lists([["map", "tv"]], labels=[["go", "go"]])
    >>> most_frequent_label(train, Sessions.from_lists([["shop"], ["map", "way"]]))
    [['go'], ['go', 'go']]
    """
    told = (label for labels in train.known_labels or [] for label in labels or ())
    counts = Counter(label for label in told if label is not None)
    if not counts:
        raise InputError("The training records have no labels. Give records with labels.")
    usual = min(counts.items(), key=lambda item: (-item[1], item[0]))[0]
    return [[usual] * length for length in _lengths(test)]


def label_before(train: Sessions, test: Sessions) -> list[list[str]]:
    """Give every step the true label of the step before it, as if somebody had told it.

    The first of a session, and one after a step whose label is not known, gets the label that is
    most frequent in training.

    Examples
    --------
    >>> train = Sessions.from_lists([["map", "tv"]], labels=[["go", "go"]])
    >>> label_before(train, Sessions.from_lists([["tv", "map"]], labels=[["buy", "go"]]))
    [['go', 'buy']]
    """
    given = []
    known: Labels = test.known_labels or [None] * len(test)
    for usual, labels in zip(most_frequent_label(train, test), known, strict=True):
        before = [None, *(labels or usual)]
        # One more than there are steps: nothing follows the last.
        given.append([told or other for told, other in zip(before, usual, strict=False)])
    return given


def _lengths(records: Sessions) -> list[int]:
    lengths: list[int] = (records.offsets[1:] - records.offsets[:-1]).tolist()
    return lengths
