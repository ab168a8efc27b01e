"""The section on a test of a model: scores, probabilities, confusion, errors, another model."""

from __future__ import annotations

from purport.measure.bootstrap import Comparison
from purport.report.confusion import confusion_part
from purport.report.errors import errors_part
from purport.report.findings import Compared, Evaluation
from purport.report.labels import labels_part
from purport.report.markup import Markup, element, joined, table
from purport.report.page import Fact, Section
from purport.report.reliability import reliability_part
from purport.report.told import headline, verdict
from purport.report.words import bounds, percent


def evaluation_section(found: Evaluation) -> Section:
    """Return the section of the report on a test.

    Examples
    --------
    >>> from purport.measure import score_intervals, slot_scores
    >>> from purport.report.findings import Wording
    >>> tags, words = [["B-day"]], Wording("utterances", "words", "slots")
    >>> found = Evaluation("spans", slot_scores(tags, tags), score_intervals(tags, tags), words)
    >>> evaluation_section(found).facts[0].value
    '100.0%'
    """
    overall, names = found.intervals.overall, found.names()
    facts = tuple(
        Fact(said[:1].upper() + said[1:], percent(overall[measure].value), bounds(overall[measure]))
        for measure, said in names.items()
    )
    parts = joined([element("p", headline(found) + "."), *evaluation_parts(found)])
    return Section("evaluation", "Test of the model", facts, parts)


def evaluation_parts(found: Evaluation) -> list[Markup]:
    """Return what was found beside the scores in total, each part under its heading.

    Examples
    --------
    >>> from purport.measure import score_intervals, token_scores
    >>> from purport.report.findings import Wording
    >>> labels, words = [["buy"]], Wording("sessions", "steps", "labels")
    >>> scores = (token_scores(labels, labels), score_intervals(labels, labels, level="tokens"))
    >>> str(evaluation_parts(Evaluation("tokens", *scores, words))[0])
    '<h3>Each label</h3>'
    """
    name = found.wording.labels.removesuffix("s")
    parts: list[Markup] = [element("h3", f"Each {name}")]
    if found.by_label:
        parts.append(labels_part(found.by_label, name))
    else:
        parts.append(element("p", f"The test data have no {name}s."))
    if found.compared is not None:
        parts += [element("h3", "Another model"), _comparison(found.compared, found)]
    if found.calibration is not None:
        parts += [
            element("h3", "How far probabilities can be believed"),
            reliability_part(found.calibration, found.wording.positions),
        ]
    if found.confusion is not None and found.confusion.mistakes:
        parts += [element("h3", "What is taken for what"), confusion_part(found.confusion, name)]
    if found.errors is not None:
        parts += [
            element("h3", "Errors worth a look"),
            errors_part(found.errors, found.wording),
        ]
    return parts


def _comparison(compared: Compared, found: Evaluation) -> Markup:
    scores = compared.scores
    rows = [(name, *_compared(scores.overall[measure])) for measure, name in found.names().items()]
    heads = ("This", "Other", "Difference", "Interval", "p")
    overall = table(
        ("", *heads), rows, f"Beside {compared.name}, in percent", frozenset(range(1, 6))
    )
    by_label = table(
        (found.wording.labels.removesuffix("s").capitalize(), *heads),
        [(label, *_compared(told)) for label, told in scores.by_label.items()],
        "F1 by label; each p-value is that of one label, not corrected for their number",
        frozenset(range(1, 6)),
    )
    folded = element("details", element("summary", f"Each {found.wording.labels[:-1]}"), by_label)
    return joined([element("p", verdict(compared, found)), overall, folded])


def _compared(told: Comparison) -> tuple[str, ...]:
    return (
        percent(told.a),
        percent(told.b),
        f"{told.difference * 100:+.1f}",
        f"{told.low * 100:+.1f} to {told.high * 100:+.1f}",
        f"{told.p_value:.2g}",
    )
