"""How well the labels of a model agree with those that records bring."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from purport.measure.bootstrap import Interval, bootstrap_interval
from purport.measure.slots import SlotScores, slot_scores
from purport.records.utterances import Utterances
from purport.sequence.crf import CRF
from purport.study.slots import known_tags, with_known_slots


@dataclass(frozen=True)
class Evaluation:
    """Scores on some records, and how sure the F1 is.

    Attributes
    ----------
    scores : SlotScores
        Of all slots and of each.
    f1 : Interval
        F1 with its bootstrap interval.
    left_out : int
        Records without known slots, which nothing could be compared with.

    Examples
    --------
    >>> tags = [["B-day"], ["O"]]
    >>> Evaluation(slot_scores(tags, tags), Interval(1.0, 1.0, 1.0, 0.95), 0).headline()
    'F1 100.0% (100.0% to 100.0%), words right 100.0%, utterances all right 100.0% of 2'
    """

    scores: SlotScores
    f1: Interval
    left_out: int

    def headline(self) -> str:
        """Say it in one line."""
        scores = self.scores
        said = (
            f"F1 {scores.f1:.1%} ({self.f1.low:.1%} to {self.f1.high:.1%}),"
            f" words right {scores.token_accuracy:.1%},"
            f" utterances all right {scores.exact_match:.1%} of {scores.sentences:,}"
        )
        return said + (f"; {self.left_out:,} without known slots left out" if self.left_out else "")

    def numbers(self) -> dict[str, Any]:
        """Return all numbers, as JSON can hold them.

        Examples
        --------
        >>> tags = [["B-day"]]
        >>> told = Evaluation(slot_scores(tags, tags), Interval(1.0, 1.0, 1.0, 0.95), 0)
        >>> told.numbers()["slots"]
        [{'label': 'day', 'precision': 1.0, 'recall': 1.0, 'f1': 1.0, 'support': 1, 'predicted': 1}]
        """
        named = ("precision", "recall", "f1")
        counted = ("support", "predicted")
        scores = self.scores
        totals = (*named, "token_accuracy", "exact_match", *counted, "sentences", "tokens")
        return {
            **{name: getattr(scores, name) for name in totals},
            "f1_interval": asdict(self.f1),
            "left_out": self.left_out,
            "slots": [
                {name: getattr(row, name) for name in ("label", *named, *counted)}
                for row in scores.by_label
            ],
        }


def evaluate_slots(crf: CRF, records: Utterances) -> Evaluation:
    """Label records and compare with the slots that they bring.

    Examples
    --------
    >>> talk = Utterances.from_lists([["to", "rome"]], slots=[["O", "B-city"]])
    >>> evaluate_slots(CRF().fit(talk), talk).scores.f1
    1.0
    """
    known = with_known_slots(records, "given")
    gold, predicted = known_tags(known.slots), known_tags(crf.label(known).labels)
    return Evaluation(
        slot_scores(gold, predicted),
        bootstrap_interval(gold, predicted, "f1", samples=1000),
        len(records) - len(known),
    )
