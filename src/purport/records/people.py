"""Who sent what: the one place that decides whether somebody's words may be shown.

A text is shown only if enough different people sent it.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Sequence
from typing import Final

from purport.records.sessions import Sessions

MIN_PEOPLE: Final = 5


def people_of_steps(
    records: Sessions, people: Sequence[Hashable] | None = None
) -> list[tuple[str, Hashable]]:
    """Return who did each step; where nobody knows, the session stands for them.

    Parameters
    ----------
    records : Sessions
        The steps.
    people : list, optional
        Who each session is of, None where not known; wins over what the steps say.

    Examples
    --------
    >>> log = Sessions.from_lists([["hi", "bye"], ["hi"]], who=[["ann", None], ["ann"]])
    >>> people_of_steps(log)
    [('person', 'ann'), ('session', 0), ('person', 'ann')]
    """
    found: list[tuple[str, Hashable]] = []
    lengths = (records.offsets[1:] - records.offsets[:-1]).tolist()
    for number, length in enumerate(lengths):
        who: Sequence[Hashable] = records.who[number] if records.who else [None] * length
        if people is not None and people[number] is not None:
            who = [people[number]] * length
        found += [("session", number) if one is None else ("person", one) for one in who]
    return found


def sent_by_enough(
    texts: Iterable[Hashable],
    people: Iterable[Hashable],
    min_people: int,
    asked: Container[Hashable] | None = None,
) -> set[Hashable]:
    """Return the texts that at least so many different people sent.

    Parameters
    ----------
    texts : list
        What was sent; None is nothing.
    people : list
        Who sent each; None is nobody that is known.
    min_people : int
        How many different people; 0 takes every text.
    asked : set, optional
        The texts that matter; None for all.

    Examples
    --------
    >>> sorted(sent_by_enough(["hi", "hi", "bye", "bye"], ["ann", "bob", "ann", "ann"], 2))
    ['hi']
    """
    senders: dict[Hashable, set[Hashable]] = {}
    for text, person in zip(texts, people, strict=True):
        if text is None or (asked is not None and text not in asked):
            continue
        known = senders.setdefault(text, set())
        if person is not None:
            known.add(person)
    return {text for text, known in senders.items() if len(known) >= min_people}
