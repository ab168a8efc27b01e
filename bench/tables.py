"""One table: what was measured beside what it is compared with, as text and as JSON.

A ratio is a result, a time only a note: it depends on the machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any, Literal

WIDTH = 150
Verdict = Literal["passed", "missed", "not judged", ""]


@dataclass(frozen=True)
class Bar:
    """What a row has to reach.

    Attributes
    ----------
    of : "ratio" or "figure"
        Which number of the row is meant.
    kind : "at least" or "at most"
        On which side of the bound it has to be; the bound itself is reached.
    bound : float
        In the unit of that number.
    """

    of: Literal["ratio", "figure"]
    kind: Literal["at least", "at most"]
    bound: float

    def is_met_by(self, row: Row) -> bool:
        value = row.ratio if self.of == "ratio" else row.figure
        if value is None:
            return False
        return value >= self.bound if self.kind == "at least" else value <= self.bound

    def __str__(self) -> str:
        sign = ">=" if self.kind == "at least" else "<="
        return f"{sign} {_number(self.bound)}{'x' if self.of == 'ratio' else ''}"


@dataclass(frozen=True)
class Row:
    """One system in a table.

    Attributes
    ----------
    who : str
        The system: ours, a peer, a paper, a floor, a limit.
    figure : float or None
        What was measured, in the unit of the table; None where it could not be.
    ratio : float or None
        How many times better than the peer that the table is about.
    spread : (low, high) or None
        Of the ratio where there is one, else of the figure.
    bar : Bar or None
        What the row has to reach.
    note : str
        What else must be known to read the row.
    """

    who: str
    figure: float | None
    ratio: float | None = None
    spread: tuple[float, float] | None = None
    bar: Bar | None = None
    note: str = ""

    @classmethod
    def not_found(cls, who: str, package: str) -> Row:
        return cls(who, None, note=f"not found: {package} is not installed")


@dataclass(frozen=True)
class Table:
    """Rows about one question.

    Attributes
    ----------
    title : str
        The question.
    unit : str
        Of the figures.
    rows : list of Row
        The answers.
    notes : list of str
        Data, settings, how the numbers were taken.
    judged : bool
        False where the data or the rounds were cut down, so that bars say nothing.
    """

    title: str
    unit: str
    rows: Sequence[Row]
    notes: Sequence[str] = field(default_factory=tuple)
    judged: bool = True

    def verdict(self, row: Row) -> Verdict:
        if row.bar is None:
            return ""
        value = row.ratio if row.bar.of == "ratio" else row.figure
        if not self.judged or value is None:
            return "not judged"
        return "passed" if row.bar.is_met_by(row) else "missed"

    def to_json(self) -> dict[str, Any]:
        """Return the content as JSON values."""
        rows = [
            {
                "who": row.who,
                "figure": row.figure,
                "ratio": row.ratio,
                "spread": None if row.spread is None else list(row.spread),
                "bar": None if row.bar is None else str(row.bar),
                "verdict": self.verdict(row),
                "note": row.note,
            }
            for row in self.rows
        ]
        return {"title": self.title, "unit": self.unit, "rows": rows, "notes": list(self.notes)}

    def __str__(self) -> str:
        head = ("who", self.unit, "ratio", "spread", "bar", "verdict", "note")
        cells = [tuple(self._cells(row)) for row in self.rows]
        widths = [max(len(line[k]) for line in [head, *cells]) for k in range(len(head) - 1)]
        lines = [self.title, "=" * min(len(self.title), WIDTH)]
        for line in [head, *cells]:
            lines += _aligned(line, widths)
        for note in self.notes:
            lines += wrap(note, WIDTH, initial_indent="  * ", subsequent_indent="    ")
        return "\n".join(lines) + "\n"

    def _cells(self, row: Row) -> Iterator[str]:
        yield row.who
        yield "-" if row.figure is None else _number(row.figure)
        yield "" if row.ratio is None else f"{_number(row.ratio)}x"
        yield "" if row.spread is None else " .. ".join(map(_number, row.spread))
        yield "" if row.bar is None else str(row.bar)
        yield self.verdict(row)
        yield row.note


def _aligned(line: tuple[str, ...], widths: Sequence[int]) -> list[str]:
    """Set a row in columns; its note, the last cell, goes on in more lines when it is long."""
    *cells, note = line
    numbers = zip(cells[1:], widths[1:], strict=True)
    text = "  ".join([cells[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in numbers)])
    room = max(WIDTH - len(text) - 2, 40)
    first, *more = wrap(note, room) or [""]
    indent = " " * (len(text) + 2)
    return [f"{text}  {first}".rstrip(), *(indent + part for part in more)]


def _number(value: float) -> str:
    """Write about four digits, never as a power of ten unless it is tiny."""
    if value == 0 or 1e-4 <= abs(value) < 1:
        return f"{value:.4f}".rstrip("0").rstrip(".")
    if abs(value) < 1e-4:
        return f"{value:.1e}"
    if abs(value) >= 10_000:
        return f"{value:,.0f}" if value == round(value) or abs(value) >= 1e5 else f"{value:,.2f}"
    return f"{value:.4g}"
