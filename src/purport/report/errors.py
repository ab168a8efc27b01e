"""Errors worth a look: where the model was sure and wrong, with a text where one may be seen."""

from __future__ import annotations

from purport.report.findings import ErrorFindings, Wording
from purport.report.markup import Markup, element, joined, table
from purport.report.told import labels_of, place
from purport.report.words import percent

HIDDEN = (
    " A text is shown only if enough different people sent it; the others are named by the number"
    " and the id of their record."
)


def errors_part(told: ErrorFindings, wording: Wording) -> Markup:
    """Return the mistakes where the model was surest.

    Examples
    --------
    >>> from purport.measure import errors_worth_a_look
    >>> found = errors_worth_a_look([["x"]], [[{"x": 0.1, "y": 0.9}]])
    >>> words = Wording("sessions", "steps", "labels")
    >>> "record 1, step 1" in str(errors_part(ErrorFindings(found, (None,)), words))
    True
    """
    found = told.found
    if not found.count:
        return element("p", "None: every label is right.")
    doubted = (
        f" Of {found.doubtful:,} of all, marked with a star, the true label may be wrong: the model"
        " is at least as sure of its own as it is on average where that label is true."
        if found.doubtful
        else ""
    )
    said = element(
        "p",
        f"The {len(found.mistakes)} mistakes of {found.count:,} where the model was surest."
        f"{doubted}",
    )
    rows = [
        (
            place(mistake, wording),
            labels_of(mistake.gold) + (" *" if mistake.doubtful else ""),
            labels_of(mistake.predicted),
            percent(mistake.probability),
            text or "",
        )
        for mistake, text in told.lines()
    ]
    caption = (
        "Labels side by side are one mistake; its probability is the lowest of its labels."
        f"{'' if all(told.texts) else HIDDEN}"
    )
    shown = any(text is not None for text in told.texts)
    heads = ("Where", "True", "Given", "Probability", "Text")
    width = 5 if shown else 4
    body = table(heads[:width], [row[:width] for row in rows], caption, frozenset({3}))
    return joined([said, body])
