"""An evaluation as lines of text for a terminal, and as numbers for programs."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from purport.measure.bootstrap import Comparison, Interval
from purport.measure.mistakes import Mistake
from purport.measure.slots import SlotScores
from purport.report.findings import Compared, ErrorFindings, Evaluation, Wording

MOST_CONFUSED = 8
MOST_PAIRS = 10
MOST_LABELS = 10


def headline(found: Evaluation) -> str:
    """Say in one line how good the model is.

    Examples
    --------
    >>> from purport.measure import score_intervals, slot_scores
    >>> from purport.report.findings import Wording
    >>> tags, words = [["B-day"], ["B-day"]], Wording("utterances", "words", "slots")
    >>> headline(Evaluation("spans", slot_scores(tags, tags), score_intervals(tags, tags), words))
    'F1 100.0% (100.0% to 100.0%), words right 100.0%, utterances all right 100.0% of 2'
    """
    overall, names = found.intervals.overall, found.names()
    second = "token_accuracy" if found.level == "spans" else "class_accuracy"
    said = (
        f"{names[found.main]} {_sure(overall[found.main])},"
        f" {names[second]} {overall[second].value:.1%},"  # type: ignore[index]
        f" {names['exact_match']} {overall['exact_match'].value:.1%} of {_scored(found):,}"
    )
    unknown = 0 if isinstance(found.scores, SlotScores) else found.scores.unknown
    if unknown:
        said += f"; {unknown:,} {found.wording.positions} without a known label left out"
    if found.left_out:
        said += f"; {found.left_out:,} without known {found.wording.labels} left out"
    return said


def lines(found: Evaluation, *, confusion: bool, calibration: bool, errors: bool) -> str:
    """Return what was found as text of at most 100 columns, unless labels are long.

    Parameters
    ----------
    found : Evaluation
        All that was asked for.
    confusion, calibration, errors : bool
        What of it is wanted beside the scores and the comparison.

    Examples
    --------
    >>> from purport.measure import score_intervals, slot_scores
    >>> from purport.report.findings import Wording
    >>> tags, words = [["B-day"], ["B-day"]], Wording("utterances", "words", "slots")
    >>> found = Evaluation("spans", slot_scores(tags, tags), score_intervals(tags, tags), words)
    >>> print(lines(found, confusion=False, calibration=False, errors=False))
         precision  recall      F1      95% interval  support
    day     1.0000  1.0000  1.0000           too few        2
    all     1.0000  1.0000  1.0000  1.0000 to 1.0000        2
    <BLANKLINE>
    F1 100.0% (100.0% to 100.0%), words right 100.0%, utterances all right 100.0% of 2
    """
    said = headline(found) + drawn_from(found)
    parts = [found.table(), said.replace("; ", "\n")]
    if found.calibration is not None and calibration:
        parts.append("\n".join(_calibration(found)))
    if found.confusion is not None and confusion:
        parts.append("\n".join(_confusion(found)))
    if found.errors is not None and errors:
        parts.append("\n".join(_errors(found.errors, found)))
    if found.compared is not None:
        parts.append("\n".join(_comparison(found.compared, found)))
    return "\n\n".join(parts)


def drawn_from(found: Evaluation) -> str:
    """Say what the draws of the intervals took, if not single records."""
    if found.groups is None:
        return ""
    return f"; intervals of {found.groups:,} groups of {found.wording.records} drawn whole"


def verdict(compared: Compared, found: Evaluation) -> str:
    """Say in one sentence which of two models is better.

    Examples
    --------
    >>> from purport.measure import score_comparisons, score_intervals, slot_scores
    >>> from purport.report.findings import Wording
    >>> tags, words = [["B-day"], ["O"]] * 20, Wording("utterances", "words", "slots")
    >>> found = Evaluation("spans", slot_scores(tags, tags), score_intervals(tags, tags), words)
    >>> verdict(Compared("b", score_comparisons(tags, tags, tags)), found)
    'The data do not tell which is better: F1 differs by +0.0 points (+0.0 to +0.0), p = 1.'
    """
    told = compared.scores.overall[found.main]
    name = found.names()[found.main]
    p_value = f"p = {told.p_value:.2g}."
    if told.low <= 0 <= told.high:
        return (
            f"The data do not tell which is better: {name} differs by {_points(told.difference)}"
            f" points ({_points(told.low)} to {_points(told.high)}), {p_value}"
        )
    better = "This model" if told.difference > 0 else f"The other model, {compared.name},"
    low, gain, high = sorted(abs(share) * 100 for share in (told.low, told.difference, told.high))
    return f"{better} is better: {name} by {gain:.1f} points ({low:.1f} to {high:.1f}), {p_value}"


def numbers(found: Evaluation) -> dict[str, Any]:
    """Return everything that was found, as JSON can hold it.

    Examples
    --------
    >>> from purport.measure import score_intervals, slot_scores
    >>> from purport.report.findings import Wording
    >>> tags, words = [["B-day"]], Wording("utterances", "words", "slots")
    >>> found = Evaluation("spans", slot_scores(tags, tags), score_intervals(tags, tags), words)
    >>> numbers(found)["slots"][0]["label"], numbers(found)["f1_interval"]["low"]
    ('day', 1.0)
    """
    scores = asdict(found.scores)
    rows = scores.pop("by_label")
    told: dict[str, Any] = {"level": found.level, **scores}
    if found.level == "spans":
        told["f1_interval"] = asdict(found.f1)
    told |= {"left_out": found.left_out, "groups": found.groups}
    told["intervals"] = {name: asdict(found.intervals.overall[name]) for name in found.names()}
    told["slots" if found.level == "spans" else "labels"] = [
        {
            "label": score.label,
            "precision": score.precision,
            "recall": score.recall,
            "f1": score.f1,
            "support": score.support,
            "predicted": score.predicted,
            "intervals": asdict(found.intervals.by_label[row["label"]]),
        }
        for row, score in zip(rows, found.scores.by_label, strict=True)
    ]
    if found.confusion is not None:
        told["confusion"] = asdict(found.confusion)
    if found.calibration is not None:
        told["calibration"] = asdict(found.calibration)
    if found.errors is not None:
        told["errors"] = {
            **asdict(found.errors.found),
            "mistakes": [
                {"record": mistake.sequence + 1, **asdict(mistake), "text": text}
                for mistake, text in found.errors.lines()
            ],
        }
        for mistake in told["errors"]["mistakes"]:
            del mistake["sequence"]
    if found.compared is not None:
        told["compared"] = {"with": found.compared.name, **asdict(found.compared.scores)}
    return {name: _plain(value) for name, value in told.items()}


def _plain(value: Any) -> Any:
    """Put None, which JSON has, in the place of bounds that are not known."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def place(mistake: Mistake, wording: Wording) -> str:
    """Say where a mistake is: number and id of its record, and its positions, all from 1.

    Examples
    --------
    >>> words = Wording("utterances", "words", "slots")
    >>> place(Mistake(0, 1, 3, ("O",), ("O",), 0.9, 0.1, False, "u7"), words)
    'record 1 (u7), words 2 to 3'
    """
    position = wording.positions.removesuffix("s")
    if mistake.end - mistake.start == 1:
        where = f"{position} {mistake.start + 1}"
    else:
        where = f"{position}s {mistake.start + 1} to {mistake.end}"
    return f"{record_named(mistake.sequence, mistake.id)}, {where}"


def record_named(number: int, id_: str | None) -> str:
    """Name a record by its number, from 0 here and from 1 for readers, and its id.

    Examples
    --------
    >>> record_named(0, "u7")
    'record 1 (u7)'
    """
    return f"record {number + 1}" + (f" ({id_})" if id_ is not None else "")


def labels_of(given: tuple[str | None, ...]) -> str:
    """Return the labels of a mistake, each once.

    Examples
    --------
    >>> labels_of(("B-city", "I-city", "I-city"))
    'B-city I-city'
    """
    return " ".join(dict.fromkeys(label or "nothing" for label in given))


def _calibration(found: Evaluation) -> list[str]:
    told = found.calibration
    assert told is not None
    words = found.wording.positions
    lines = [
        f"calibration of {told.positions:,} {words}: by their probability, how many are right",
        told.table(),
        f"expected calibration error {_sure(told.error, 2)};"
        f" Brier score {told.brier.value:.4f} ({told.brier.low:.4f} to {told.brier.high:.4f});",
        f"negative log-likelihood {told.log_loss.value:.4f}"
        f" ({told.log_loss.low:.4f} to {told.log_loss.high:.4f}) a {words.removesuffix('s')}",
    ]
    if told.unmet:
        lines.append(
            f"{told.unmet:,} {words} have a label that the model does not know: they count as"
            " wrong, and not in the likelihood"
        )
    return lines


def _confusion(found: Evaluation) -> list[str]:
    told = found.confusion
    assert told is not None
    wrong = told.mistakes
    if not wrong:
        return ["confusion: none, everything is right"]
    shown = wrong[:MOST_PAIRS]
    width = max(len(cell.gold or "no label") for cell in shown)
    second = max(len(cell.predicted or "no label") for cell in shown)
    count = sum(cell.count for cell in wrong)
    return [
        f"confusion: what stands in a row was given as what stands in a column; {count:,} mistakes",
        told.table(MOST_CONFUSED),
        "",
        f"{'gold':{width}}  {'given':{second}}  {'count':>6}  mistake, and first records",
        *(
            f"{cell.gold or 'no label':{width}}  {cell.predicted or 'no label':{second}}"
            f"  {cell.count:6d}  {cell.words()}:"
            f" {', '.join(str(number + 1) for number in cell.examples)}"
            for cell in shown
        ),
    ]


def _errors(told: ErrorFindings, found: Evaluation) -> list[str]:
    mistakes = told.found
    lines = [
        f"errors worth a look: {len(mistakes.mistakes)} of {mistakes.count:,} mistakes in"
        f" {mistakes.sequences:,} of {_scored(found):,} {found.wording.records},"
        " the surest first",
    ]
    if mistakes.doubtful:
        lines.append(
            f"of {mistakes.doubtful:,} (*) the gold label may be wrong: the model is as sure as it"
            " usually is there"
        )
    for mistake, text in told.lines():
        mark = "*" if mistake.doubtful else " "
        lines.append(f"{mark} {mistake.probability:6.1%}  {place(mistake, found.wording)}")
        lines.append(f"{'':10}given {labels_of(mistake.predicted)}")
        lines.append(f"{'':10}gold  {labels_of(mistake.gold)}")
        if text is not None:
            lines.append(f"{'':10}text  {text}")
    if any(text is None for text in told.texts):
        lines.append("texts are shown only if enough different people sent them")
    return lines


def _comparison(compared: Compared, found: Evaluation) -> list[str]:
    scores = compared.scores
    names = found.names()
    differing = sorted(
        (item for item in scores.by_label.items() if not item[1].low <= 0 <= item[1].high),
        key=lambda item: (-abs(item[1].difference), item[0]),
    )
    shown = differing[:MOST_LABELS]
    width = max(len(name) for name in [*names.values(), *(label for label, _ in shown)])
    confidence = f"{scores.overall[found.main].confidence:.0%} interval"
    lines = [
        f"compared with {compared.name} (paired bootstrap)",
        f"{'':{width}}    this   other  difference  {confidence:>18}       p",
        *(_compared(name, scores.overall[measure], width) for measure, name in names.items()),
    ]
    if shown:
        lines.append(f"F1 of labels that differ: {len(shown)} of {len(differing)}")
        lines += [_compared(label, told, width) for label, told in shown]
    return [*lines, verdict(compared, found)]


def _compared(name: str, told: Comparison, width: int) -> str:
    bounds = f"{told.low:+.4f} to {told.high:+.4f}"
    return (
        f"{name:{width}}  {told.a:.4f}  {told.b:.4f}  {told.difference:+10.4f}"
        f"  {bounds:>18}  {told.p_value:6.3f}"
    )


def _scored(found: Evaluation) -> int:
    """Return how many records were scored."""
    scores = found.scores
    return scores.sentences if isinstance(scores, SlotScores) else scores.sequences


def _sure(interval: Interval, digits: int = 1) -> str:
    low, high = (f"{bound:.{digits}%}" for bound in (interval.low, interval.high))
    return f"{interval.value:.{digits}%} ({low} to {high})"


def _points(share: float) -> str:
    return f"{share * 100:+.1f}"
