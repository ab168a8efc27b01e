"""What kinds of records differ in when a model is tested on them: their names, and who sent what.

A text is shown only if enough different people sent it, as `purport.records.people` decides.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final

import numpy as np

from purport.errors import InputError
from purport.measure.counts import Level
from purport.measure.mistakes import Mistake
from purport.records.formats import plain
from purport.records.labelled import LabelledRecords
from purport.records.people import MIN_PEOPLE, people_of_steps, sent_by_enough
from purport.records.sessions import Sessions
from purport.records.utterances import Utterances
from purport.report.findings import Wording
from purport.report.slots import WORDING

WORDINGS: Final[dict[type[LabelledRecords], Wording]] = {
    Utterances: WORDING,
    Sessions: Wording("sessions", "steps", "labels"),
}


def wording_of(records: LabelledRecords) -> Wording:
    """Return how messages call the parts of records.

    Examples
    --------
    >>> wording_of(Utterances.from_lists([["stop"]])).positions
    'words'
    """
    return WORDINGS[type(records)]


def kind_of_records(model: Any) -> type[LabelledRecords]:
    """Return the class of records that a model labels.

    Examples
    --------
    >>> from purport.sequence.crf import CRF
    >>> talk = Utterances.from_lists([["to", "rome"]], slots=[["O", "B-city"]])
    >>> kind_of_records(CRF().fit(talk)).__name__
    'Utterances'
    """
    kind: type[LabelledRecords] | None = model.kind_of_records
    if kind is None:
        raise InputError(
            f"This {type(model).__name__} was not fitted on records. Give a model that was."
        )
    return kind


def with_known_labels(
    records: LabelledRecords, name: str, level: Level = "spans"
) -> tuple[LabelledRecords, list[int]]:
    """Return the records that can be compared with, and their numbers; at least one must be.

    Of spans all tags of a record must be known, of positions one label.

    Examples
    --------
    >>> talk = Utterances.from_lists([["to", "rome"], ["stop"]], slots=[["O", None], ["O"]])
    >>> with_known_labels(talk, "test")
    (Utterances(1 records, 1 tokens; with slots), [1])
    """
    enough = all if level == "spans" else any
    known = [
        bool(labels) and enough(label is not None for label in labels)
        for labels in records.known_labels or []
    ]
    if not any(known):
        labels = wording_of(records).labels
        raise InputError(
            f"The {name} records have no {labels} to compare with. Give records whose {labels} are"
            " known."
        )
    numbers = np.flatnonzero(known).tolist()
    return (records if all(known) else records[np.array(known)]), numbers


def values_of_field(records: LabelledRecords, name: str) -> list[Hashable]:
    """Return one field of every record, None where there is none, to tell groups by.

    Examples
    --------
    >>> values_of_field(Utterances.from_lists([["stop"]], intents=["halt"]), "intent")
    ['halt']
    """
    return [None if value is None else plain(value) for value in records.field(name)]


def people_of_sessions(records: Sessions) -> list[Hashable] | None:
    """Return who each session is of, None where not known: who did its first step with a name.

    None for all if nobody is known.

    Examples
    --------
    >>> log = Sessions.from_lists([["hi", "bye"], ["hi"]], who=[[None, "ann"], [None]])
    >>> people_of_sessions(log)
    ['ann', None]
    """
    if records.who is None:
        return None
    return [next((one for one in steps if one is not None), None) for steps in records.who]


def texts_to_show(
    records: LabelledRecords,
    mistakes: Sequence[Mistake],
    people: Sequence[Hashable] | None = None,
    min_people: int = MIN_PEOPLE,
) -> list[str | None]:
    """Return the text of each mistake with its wrong part in brackets; None if it must not be seen.

    A text is the whole of an utterance, or one step of a session. It may be seen if at least so
    many different people sent it; a step of which nobody knows who did it counts for its session.

    Parameters
    ----------
    records : Utterances or Sessions
        Mistakes name them by their number, from 0.
    mistakes : list of Mistake
        What shall be shown.
    people : list, optional
        Who sent each record, None where not known. Without it nobody is known of utterances.
    min_people : int
        How many different people; 0 shows everything, as is right for invented data alone.

    Examples
    --------
    >>> talk = Utterances.from_lists([["to", "rome"]] * 2)
    >>> mistake = Mistake(0, 1, 2, ("O",), ("B-city",), 0.9, 0.1, False)
    >>> texts_to_show(talk, [mistake], ["ann", "bob"], min_people=2)
    ['to [rome]']
    >>> texts_to_show(talk, [mistake], ["ann", "ann"], min_people=2)
    [None]
    """
    asked = [_texts_of(records, mistake) for mistake in mistakes]
    seen = {text for texts in asked for text in texts}
    may_be_seen = sent_by_enough(*_sent(records, people), min_people, seen)
    return [
        _marked(texts, mistake) if texts and may_be_seen.issuperset(texts) else None
        for mistake, texts in zip(mistakes, asked, strict=True)
    ]


def _texts_of(records: LabelledRecords, mistake: Mistake) -> list[Hashable]:
    """Return the texts that a mistake would show."""
    if isinstance(records, Utterances):
        return [tuple(records.tokens[mistake.sequence])]
    if isinstance(records, Sessions) and records.texts is not None:
        return list(records.texts[mistake.sequence][mistake.start : mistake.end])
    return []


def _sent(
    records: LabelledRecords, people: Sequence[Hashable] | None
) -> tuple[list[Hashable], Sequence[Hashable]]:
    """Return all texts and who sent each."""
    if isinstance(records, Utterances):
        who = [None] * len(records) if people is None else people
        return list(map(tuple, records.tokens)), who
    if isinstance(records, Sessions) and records.texts is not None:
        return [text for texts in records.texts for text in texts], people_of_steps(records, people)
    return [], []


def _marked(texts: Sequence[Any], mistake: Mistake) -> str:
    if isinstance(texts[0], str):
        return " / ".join(texts)
    words = list(texts[0])
    words[mistake.start] = "[" + words[mistake.start]
    words[mistake.end - 1] += "]"
    return " ".join(words)
