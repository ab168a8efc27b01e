"""What is taken for what: gold labels against predicted ones, position by position or by span."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from purport.estimator.constraints import OneOf, check_parameters
from purport.measure.counts import LEVELS, Labels, Level, compared, paired
from purport.measure.tags import Span

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHOWN_EXAMPLES = 3
NOTHING = "no label"


@dataclass(frozen=True)
class Confused:
    """How often one label was given where another is gold.

    Attributes
    ----------
    gold, predicted : str or None
        None stands for no label: a span that was missed, or found where there is none.
    count : int
        How often.
    right : bool
        Whether that is right. Two spans with the same label are wrong if their borders differ.
    examples : tuple of int
        Numbers of the first sequences in which it happened, from 0.

    Examples
    --------
    >>> Confused("city", "city", 2, right=False).words()
    'wrong borders'
    """

    gold: str | None
    predicted: str | None
    count: int
    right: bool
    examples: tuple[int, ...] = ()

    def words(self) -> str:
        """Say what kind of mistake it is, if it is one."""
        if self.right:
            return "right"
        if self.predicted is None:
            return "not found"
        if self.gold is None:
            return "found where there is none"
        return "wrong borders" if self.gold == self.predicted else "taken for another"


@dataclass(frozen=True)
class Confusion:
    """What was taken for what; see `confusion`.

    Attributes
    ----------
    level : "spans" or "tokens"
        What was counted.
    cells : tuple of Confused
        Every pair that occurs, the most frequent first.
    unknown : int
        Positions without a gold label, which were left out.

    Examples
    --------
    >>> confusion([["buy", "buy"]], [["buy", "learn"]], level="tokens").labels
    ['buy', 'learn']
    """

    level: Level
    cells: tuple[Confused, ...]
    unknown: int = 0

    @property
    def labels(self) -> list[str]:
        """All labels that occur, sorted."""
        found = {label for cell in self.cells for label in (cell.gold, cell.predicted)}
        return sorted(label for label in found if label is not None)

    @property
    def mistakes(self) -> tuple[Confused, ...]:
        """The pairs that are wrong, the most frequent first."""
        return tuple(cell for cell in self.cells if not cell.right)

    def most_confused(self, most: int | None = None) -> list[str]:
        """Return the labels that take part in the most mistakes, at most so many, in that order."""
        taking: Counter[str] = Counter()
        for cell in self.mistakes:
            taking.update(
                {label: cell.count for label in {cell.gold, cell.predicted} if label is not None}
            )
        ordered = sorted(taking.items(), key=lambda item: (-item[1], item[0]))
        return [label for label, _ in ordered[:most]]

    def matrix(self, labels: Sequence[str | None] | None = None) -> NDArray[np.int64]:
        """Return the counts, a row a gold label, a column a predicted one.

        Parameters
        ----------
        labels : list of str or None, optional
            Which, and in which order; without it `labels`, and None last where spans are counted.

        Examples
        --------
        >>> confusion([["B-x", "O"]], [["B-y", "O"]]).matrix().tolist()
        [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
        """
        if labels is None:
            labels = [*self.labels, None] if self.level == "spans" else self.labels
        place = {label: number for number, label in enumerate(labels)}
        counts = np.zeros((len(labels), len(labels)), np.int64)
        for cell in self.cells:
            if cell.gold in place and cell.predicted in place:
                counts[place[cell.gold], place[cell.predicted]] += cell.count
        return counts

    def table(self, most: int = 10) -> str:
        """Return the labels that are confused most as lines of text, their columns by number.

        Parameters
        ----------
        most : int
            How many labels.

        Examples
        --------
        >>> print(confusion([["B-x", "B-y"]], [["B-y", "B-y"]]).table())
                           1      2      -
          1 x              .      1      .
          2 y              .      1      .
          - no label       .      .      .
        """
        shown: list[str | None] = [*self.most_confused(most)]
        names = [f"{number:>3} {label}" for number, label in enumerate(shown, start=1)]
        if self.level == "spans":
            shown.append(None)
            names.append(f"  - {NOTHING}")
        width = max([len("  - ") + len(NOTHING), *map(len, names)])
        heads = [name.split()[0] for name in names]
        lines = [
            f"{name:{width}}{''.join(f'{count or chr(46):>7}' for count in row)}"
            for name, row in zip(names, self.matrix(shown).tolist(), strict=True)
        ]
        return "\n".join([f"{'':{width}}{''.join(f'{head:>7}' for head in heads)}", *lines])


def confusion(gold: Labels, predicted: Labels, level: Level = "spans") -> Confusion:
    """Count what was taken for what.

    A gold span that was not found is paired with the wrong predicted one that covers most of it;
    without such a one it is missed. A predicted span that meets no gold one is spurious.

    Parameters
    ----------
    gold, predicted : list of lists of str
        As `slot_scores` takes them; as `token_scores` takes them if `level` is "tokens".
    level : "spans" or "tokens"
        Whether spans of BIO tags are counted, or the labels of positions.

    Examples
    --------
    >>> told = confusion([["O", "B-x"], ["B-x"]], [["O", "B-y"], ["O"]])
    >>> [(cell.gold, cell.predicted, cell.count, cell.examples) for cell in told.mistakes]
    [('x', None, 1, (1,)), ('x', 'y', 1, (0,))]
    """
    check_parameters("confusion", {"level": level}, {"level": OneOf(LEVELS)})
    counts: Counter[tuple[str | None, str | None, bool]] = Counter()
    examples: dict[tuple[str | None, str | None, bool], list[int]] = {}
    unknown = 0

    def note(number: int, true: str | None, told: str | None, right: bool) -> None:
        pair = (true, told, right)
        counts[pair] += 1
        if not right:
            shown = examples.setdefault(pair, [])
            if len(shown) < SHOWN_EXAMPLES and number not in shown[-1:]:
                shown.append(number)

    if level == "spans":
        for number, sentence in enumerate(compared(gold, predicted)):
            for span in sentence.gold & sentence.predicted:
                note(number, span.label, span.label, right=True)
            if sentence.gold != sentence.predicted:
                for true, told in _wrong_pairs(sorted(sentence.gold), sorted(sentence.predicted)):
                    note(number, true, told, right=False)
    else:
        for number, labels, guesses in paired(gold, predicted):
            for label, guess in zip(labels, guesses, strict=True):
                if label is None:
                    unknown += 1
                else:
                    note(number, label, guess, right=label == guess)
    ordered = sorted(
        counts.items(), key=lambda item: (-item[1], item[0][0] or "", item[0][1] or "", item[0][2])
    )
    cells = [
        Confused(true, told, count, right, tuple(examples.get((true, told, right), ())))
        for (true, told, right), count in ordered
    ]
    return Confusion(level, tuple(cells), unknown)


def _wrong_pairs(
    gold: list[Span], predicted: list[Span]
) -> Iterator[tuple[str | None, str | None]]:
    """Pair each gold span that was missed with the wrong one that covers most of it, if any."""
    wrong = [span for span in predicted if span not in gold]
    for span in gold:
        if span in predicted:
            continue
        best = max(wrong, key=lambda guess: _shared(span, guess), default=None)
        met = best is not None and _shared(span, best) > 0
        yield span.label, best.label if best is not None and met else None
    for guess in wrong:
        if not any(_shared(span, guess) for span in gold):
            yield None, guess.label


def _shared(a: Span, b: Span) -> int:
    return max(0, min(a.end, b.end) - max(a.start, b.start))
