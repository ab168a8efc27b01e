"""How well the labels of a model agree with those that records bring."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from purport.errors import InputError
from purport.estimator.progress import Verbosity, progress
from purport.measure.bootstrap import score_comparisons, score_intervals
from purport.measure.confusions import Confusion, confusion
from purport.measure.counts import Labels, Level
from purport.measure.mistakes import errors_worth_a_look
from purport.measure.reliability import calibration
from purport.measure.slots import slot_scores
from purport.measure.sureness import Sureness
from purport.measure.tags import marks_spans
from purport.measure.tokens import token_scores
from purport.records.labelled import LabelledRecords
from purport.records.parting import numbers_of_groups
from purport.records.people import MIN_PEOPLE
from purport.report.evaluation import evaluation_section
from purport.report.findings import Compared, ErrorFindings, Evaluation
from purport.report.page import page, write_page
from purport.study.tested_records import WORDINGS, texts_to_show, with_known_labels, wording_of
from purport.version import VERSION

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH = 2000  # records whose marginals are held at once


class Labeller(Protocol):
    """What is asked of a model."""

    @property
    def classes_(self) -> NDArray[np.str_]: ...

    def predict(self, X: LabelledRecords) -> list[list[str]]:
        """Return the labels of records."""

    def predict_proba(self, X: LabelledRecords) -> list[NDArray[np.float64]]:
        """Return the probability of each label at each position."""


@dataclass(frozen=True)
class Questions:
    """What shall be found out beside the scores.

    Attributes
    ----------
    confusion, calibration : bool
        What is taken for what; how far probabilities can be believed.
    errors : int
        How many errors are worth a look.
    groups : list, optional
        The user, session or day of each record, None where not known: the bootstrap draws whole
        groups.
    people : list, optional
        Who sent each record, None where not known: what enough different people sent may be shown.
    min_people : int
        How many are enough; 0 shows everything, as is right for invented data alone.
    samples : int
        Draws of each bootstrap.

    Examples
    --------
    >>> Questions(errors=5).samples
    1000
    """

    confusion: bool = False
    calibration: bool = False
    errors: int = 0
    groups: Sequence[Hashable] | None = None
    people: Sequence[Hashable] | None = None
    min_people: int = MIN_PEOPLE
    samples: int = 1000


@dataclass(frozen=True)
class Answers:
    """What a model says to records: labels, and if asked how sure it is.

    Examples
    --------
    >>> Answers([["O"]], None).labels
    [['O']]
    """

    labels: list[list[str]]
    sureness: Sureness | None


def evaluate(
    model: Labeller,
    records: LabelledRecords,
    questions: Questions | None = None,
    *,
    other: Labeller | None = None,
    other_name: str = "the other model",
    verbose: Verbosity = False,
) -> Evaluation:
    """Label records and compare with the labels that they bring.

    Spans are scored if the labels of the model are BIO tags, else the labels of positions. Records
    without known labels are left out; of spans also those with an unknown tag.

    Parameters
    ----------
    model : CRF
        Fitted on such records.
    records : Utterances or Sessions
        With labels.
    questions : Questions, optional
        What is wanted beside the scores.
    other : CRF, optional
        Another model, to compare with on the same records.
    other_name : str
        How it is called.
    verbose : bool, "bar" or "lines"
        Show how far it is.

    Examples
    --------
    >>> from purport.records.utterances import Utterances
    >>> from purport.sequence.crf import CRF
    >>> talk = Utterances.from_lists([["to", "rome"]], slots=[["O", "B-city"]])
    >>> evaluate(CRF().fit(talk), talk).f1.value
    1.0
    """
    asked = Questions() if questions is None else questions
    theirs = getattr(other, "kind_of_records", None) or type(records)
    if theirs is not type(records):
        raise InputError(
            f"{other_name} labels {WORDINGS[theirs].records}, not {wording_of(records).records}."
            " Compare with a model of the same records."
        )
    level: Level = "spans" if marks_spans(map(str, model.classes_)) else "tokens"
    known, places = with_known_labels(records, "given", level)
    gold: Labels = known.known_labels or []
    answers = ask(model, known, asked.calibration or asked.errors > 0, verbose)
    groups = None if asked.groups is None else _taken(asked.groups, places, records, "groups")
    numbers = None if groups is None else numbers_of_groups(len(known), groups).tolist()
    told = answers.labels
    drawing = {"level": level, "samples": asked.samples, "groups": numbers}
    found = Evaluation(
        level,
        slot_scores(gold, told) if level == "spans" else token_scores(gold, told),
        score_intervals(gold, told, **drawing),  # type: ignore[arg-type]
        wording_of(records),
        len(records) - len(known),
        None if numbers is None else max(numbers) + 1,
    )
    sure = answers.sureness
    if asked.confusion:
        found = replace(found, confusion=placed(confusion(gold, told, level), places))
    if asked.calibration and sure is not None:
        judged = calibration(gold, sure, samples=asked.samples, groups=numbers)
        found = replace(found, calibration=judged)
    if asked.errors and sure is not None:
        found = replace(found, errors=find_errors(known, answers, asked, records, places))
    if other is not None:
        said = ask(other, known, False, verbose).labels
        scores = score_comparisons(gold, told, said, **drawing)  # type: ignore[arg-type]
        found = replace(found, compared=Compared(other_name, scores))
    return found


def write_evaluation(
    found: Evaluation,
    path: str | os.PathLike[str],
    subject: str,
    *,
    overwrite: bool = True,
    made: datetime | None = None,
) -> None:
    """Write what was found as one HTML file.

    Parameters
    ----------
    found : Evaluation
        What `evaluate` gave.
    path, subject, overwrite, made
        As in `write_report`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from purport.records.utterances import Utterances
    >>> from purport.sequence.crf import CRF
    >>> talk = Utterances.from_lists([["to", "rome"]], slots=[["O", "B-city"]])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "test.html"
    >>> write_evaluation(evaluate(CRF().fit(talk), talk), path, "one utterance")
    >>> "one utterance" in path.read_text(encoding="utf-8")
    True
    """
    when = datetime.now() if made is None else made
    write_page(path, page([evaluation_section(found)], subject, when, VERSION), overwrite)


def ask(
    model: Labeller, records: LabelledRecords, surely: bool, verbose: Verbosity = False
) -> Answers:
    """Label records in batches, and keep of the marginals what later questions need.

    Examples
    --------
    >>> from purport.records.utterances import Utterances
    >>> from purport.sequence.crf import CRF
    >>> talk = Utterances.from_lists([["to", "rome"]], slots=[["O", "B-city"]])
    >>> ask(CRF().fit(talk), talk, surely=True).labels
    [['O', 'B-city']]
    """
    labels: list[list[str]] = []
    kept: list[Sureness] = []
    gold = records.known_labels or []
    classes = [str(label) for label in model.classes_]
    with progress("labelling", len(records), verbose) as shown:
        for start in range(0, len(records), BATCH):
            batch = records[start : start + BATCH]
            told = [list(map(str, given)) for given in model.predict(batch)]
            labels += told
            if surely:
                part = gold[start : start + BATCH]
                kept.append(Sureness.of(part, model.predict_proba(batch), classes, told))
            shown.advance(start + len(batch))
    return Answers(labels, Sureness.joined(kept) if surely else None)


def find_errors(
    known: LabelledRecords,
    answers: Answers,
    asked: Questions,
    records: LabelledRecords,
    places: Sequence[int],
) -> ErrorFindings:
    """Return the errors worth a look, and those texts that may be seen.

    Examples
    --------
    >>> from purport.records.utterances import Utterances
    >>> from purport.sequence.crf import CRF
    >>> talk = Utterances.from_lists([["to", "rome"]], slots=[["O", "B-city"]])
    >>> answers = ask(CRF().fit(talk), talk, surely=True)
    >>> find_errors(talk, answers, Questions(errors=3), talk, [0]).texts
    ()
    """
    assert answers.sureness is not None
    found = errors_worth_a_look(
        known.known_labels or [],
        answers.sureness,
        predicted=answers.labels,
        n=asked.errors,
        ids=known.ids,
    )
    mistakes = tuple(
        replace(mistake, sequence=places[mistake.sequence]) for mistake in found.mistakes
    )
    people = asked.people
    if people is not None:
        people = _taken(people, range(len(records)), records, "people")
    texts = texts_to_show(records, mistakes, people, asked.min_people)
    return ErrorFindings(replace(found, mistakes=mistakes), tuple(texts))


def placed(told: Confusion, places: Sequence[int]) -> Confusion:
    """Let examples name records by their number in what was read.

    Examples
    --------
    >>> placed(confusion([["x"]], [["y"]], "tokens"), [7]).cells[0].examples
    (7,)
    """
    cells = [
        replace(cell, examples=tuple(places[number] for number in cell.examples))
        for cell in told.cells
    ]
    return replace(told, cells=tuple(cells))


def _taken(
    values: Sequence[Hashable], places: Sequence[int], records: LabelledRecords, name: str
) -> list[Hashable]:
    if len(values) != len(records):
        raise InputError(f"{name} must be one a record: {len(records)}, not {len(values)}.")
    return [values[number] for number in places]
