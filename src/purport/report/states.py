"""What hidden states mean: p(h | y) as a grid, in shades and in full, and a table of the states.

Draws Figures 6 to 9 of "Sparse Hidden-Dynamics Conditional Random Fields for User Intent
Understanding" and lays out its Table 6.

Symbols: S states, L labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from purport.report.drawing import WIDTH, margin, picture, shortened, text
from purport.report.findings import StateFindings
from purport.report.markup import Content, Markup, element, joined, table
from purport.report.page import Fact, Section
from purport.report.told import record_named
from purport.report.words import percent

if TYPE_CHECKING:
    from purport.sequence.explaining import StateSummary

CLEAR = 0.1
"""From this p(h | y) on a state counts as one of a label's, as the paper draws it."""

SURE = 0.9
"""From this p(y | h) on a state has one label."""

MOST_LABELS = 3
MOST_NEXT = 3
MOST_PLACES = 3

_LARGEST, _LEAST_HEIGHT = 28.0, 16.0
_MANY = 16  # rows of more labels than this are low
_NUMBERED = 18.0  # cells less wide than this have no room for a number each
_NARROW = 544.0  # as wide as the style sheet lets a narrow picture be


def states_section(
    found: StateFindings, *, anchor: str = "states", title: str = "Hidden states"
) -> Section:
    """Return the section of the report on the hidden states of a model.

    Parameters
    ----------
    found : StateFindings
        What `StateFindings.of(model, X)` gave.
    anchor, title : str
        Of the section.

    Examples
    --------
    >>> from purport.sequence.ldcrf import LDCRF
    >>> model = LDCRF(1).fit([[["a"], ["b"]]], [["X", "Y"]])
    >>> states_section(StateFindings.of(model)).facts[0].value
    '2'
    """
    states, cells = len(found.summaries), len(found.labels) * len(found.summaries)
    sure = sum(max(summary.labels.values()) >= SURE for summary in found.summaries)
    unused = [summary for summary in found.summaries if summary.share == 0.0]
    facts = (
        Fact("Hidden states", f"{states:,}", f"for {len(found.labels):,} labels"),
        Fact("With one label", f"{sure:,}", f"p(y | h) at least {SURE:g}"),
        Fact(
            "Clear cells", f"{found.at_least(CLEAR):,}", f"of {cells:,} p(h | y) at least {CLEAR:g}"
        ),
    )
    said = element(
        "p",
        "A hidden state is a finer kind of step than the labels name; which ones there are was"
        " learnt. Its labels are p(y | h), how likely each label is at a step in that state.",
    )
    shaded = _figure(
        state_grid(found),
        "p(h | y): how the steps of a label, a row, are shared out over the states, the columns."
        f" The stronger, the more; full is the highest, {_highest(found):.2f}.",
    )
    clear = _figure(
        state_grid(found, least=CLEAR), f"The same, full where it is at least {CLEAR:g}."
    )
    parts = [said, shaded, clear, element("h3", "Each state"), _table(found)]
    if unused:
        numbers = ", ".join(str(summary.state) for summary in unused)
        parts.append(element("p", f"At no step the most probable: {numbers}."))
    return Section(anchor, title, facts, joined(parts))


def _figure(drawn: Markup, said: str) -> Markup:
    return element("figure", drawn, element("figcaption", element("p", said, class_="legend")))


def state_grid(found: StateFindings, least: float | None = None) -> Markup:
    """Draw p(h | y) as a grid of labels and states.

    Parameters
    ----------
    found : StateFindings
        What is drawn.
    least : float, optional
        Cells are full from so much on, else empty; None shades them, the highest being full.

    Examples
    --------
    >>> from purport.sequence.ldcrf import LDCRF
    >>> model = LDCRF(2).fit([[["a"], ["b"]]], [["X", "Y"]])
    >>> str(state_grid(StateFindings.of(model))).count("<rect")
    8
    """
    states = len(found.summaries)
    left, top = margin([shortened(label) for label in found.labels]), 26.0
    wide = min(_LARGEST, (WIDTH - left - 8) / states)
    high = _LEAST_HEIGHT if len(found.labels) > _MANY else max(wide, _LEAST_HEIGHT)
    every = 1 if wide >= _NUMBERED else 5
    gap = 1.0 if wide >= _NUMBERED else 0.5
    highest = _highest(found)
    drawn: list[Markup] = [
        text(left + wide * (state + 0.5), top - 8, str(state), "middle", "tick")
        for state in range(0, states, every)
    ]
    for row, (label, shares) in enumerate(zip(found.labels, found.given_label, strict=True)):
        y = top + high * row
        drawn.append(text(left - 8, y + high / 2 + 4.5, shortened(label), "end", "label"))
        for state, share in enumerate(shares):
            dark = share / highest if least is None else float(share >= least)
            drawn.append(
                element(
                    "rect",
                    element("title", f"{label}, state {state}: {share:.2f}"),
                    x=left + wide * state + gap,
                    y=y + gap,
                    width=wide - 2 * gap,
                    height=high - 2 * gap,
                    class_="share",
                    style=f"--of:{dark:.0%}",
                )
            )
    width = left + wide * states + 8
    narrow = width <= _NARROW
    return picture(
        _NARROW if narrow else WIDTH,
        top + high * len(found.labels) + 8,
        "How labels are shared out over hidden states"
        if least is None
        else f"Hidden states that take at least {least:g} of a label",
        _described(found, least),
        drawn,
        narrow=narrow,
    )


def _highest(found: StateFindings) -> float:
    return max(map(max, found.given_label)) or 1.0


def _described(found: StateFindings, least: float | None) -> str:
    """Say what a grid shows to those who do not see it."""
    size = f"{len(found.labels)} rows of labels, {len(found.summaries)} columns of states."
    if least is None:
        share, label, state = max(
            (share, label, state)
            for label, row in zip(found.labels, found.given_label, strict=True)
            for state, share in enumerate(row)
        )
        told = f"The highest p(h | y), {share:.2f}, is that of {label} and state {state}."
    else:
        told = f"{found.at_least(least)} cells are full: p(h | y) is at least {least:g}."
    return f"{size} {told} The table below says more of each state."


def _table(found: StateFindings) -> Markup:
    """Return a row a state that is used, states of one label together."""
    used = [summary for summary in found.summaries if summary.share > 0.0]
    order = {label: number for number, label in enumerate(found.labels)}
    used.sort(key=lambda summary: (order[str(next(iter(summary.labels)))], -summary.share))
    with_examples = any(summary.examples for summary in used)
    heads = ["State", "Steps", "Labels", "What speaks for it", "Next"]
    rows = [_row(summary, with_examples) for summary in used]
    steps = (
        "the share of steps whose most probable state it is"
        if found.with_data
        else "the mean p(h | x) in training"
    )
    caption = f"Steps: {steps}. Next: the states expected right after, and how probable they are."
    if with_examples:
        heads.append("Examples")
        caption += " A text is shown only if enough different people sent it."
    return element("div", table(heads, rows, caption, frozenset({1})), class_="states")


def _row(summary: StateSummary, with_examples: bool) -> list[Content]:
    labels = [
        joined(
            [
                str(label),
                element("small", f"p(y | h) {percent(share, 0)}"),
                element("small", f"p(h | y) {percent(summary.given_label.get(label, 0.0), 0)}"),
            ]
        )
        for label, share in list(summary.labels.items())[:MOST_LABELS]
    ]
    following = [
        f"{state} ({percent(share, 0)})" for state, share in summary.next_states[:MOST_NEXT]
    ]
    row: list[Content] = [
        str(summary.state),
        percent(summary.share),
        _list(labels),
        ", ".join(name for name, _ in summary.features),
        _list(following),
    ]
    return [*row, _examples(summary)] if with_examples else row


def _examples(summary: StateSummary) -> Markup:
    """Return the texts that may be shown; where there is none, the first places to look at."""
    texts = [example.text for example in summary.examples if example.text is not None]
    places = [
        f"{record_named(example.sequence, example.id)}, step {example.step + 1}"
        for example in summary.examples[:MOST_PLACES]
    ]
    return _list(texts or places)


def _list(items: Sequence[Content]) -> Markup:
    return element("ul", *(element("li", item) for item in items))
