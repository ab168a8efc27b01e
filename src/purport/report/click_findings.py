"""What a study of click models found, as plain numbers; none of them holds an id."""

from __future__ import annotations

from dataclasses import dataclass

from purport.measure.bootstrap import Comparison, Interval


@dataclass(frozen=True)
class PageSize:
    """How many result pages there were.

    Attributes
    ----------
    pages, results, clicks, queries : int
        Queries are counted once each.

    Examples
    --------
    >>> PageSize(pages=2, results=20, clicks=3, queries=1).click_rate
    0.15
    """

    pages: int
    results: int
    clicks: int
    queries: int

    @property
    def click_rate(self) -> float:
        """The share of results that were clicked."""
        return self.clicks / self.results


@dataclass(frozen=True)
class ClickModelFinding:
    """How one of several click models foretells the clicks of the same test pages.

    Attributes
    ----------
    name : str
        How it is called.
    log_likelihood : Interval
        The mean over pages of the mean over ranks of log P(C_r | the clicks above).
    conditional, marginal : Interval
        Perplexity, knowing the clicks above on a page, and knowing none.
    gain : Comparison
        Its log-likelihood (a) and that of the floor (b).
    dev : float
        Log-likelihood of the pages that were kept apart to choose by.
    seconds : float
        What learning took.
    rounds : int
        Of EM.
    is_floor : bool
        Whether it knows nothing of position, or nothing of documents.

    Examples
    --------
    >>> sure = Interval(-0.3, -0.4, -0.2, 0.95)
    >>> gain = Comparison(-0.3, -0.4, 0.1, 0.05, 0.15, 0.001, 0.95)
    >>> ClickModelFinding("UBM", sure, sure, sure, gain, -0.31, 1.5, 20).is_floor
    False
    """

    name: str
    log_likelihood: Interval
    conditional: Interval
    marginal: Interval
    gain: Comparison
    dev: float
    seconds: float
    rounds: int
    is_floor: bool = False


@dataclass(frozen=True)
class Examined:
    """How likely each rank is looked at, as one model has it.

    Examples
    --------
    >>> Examined("PBM", (0.9, 0.6, 0.3)).beside_first()[2]
    0.3333333333333333
    """

    model: str
    by_rank: tuple[float, ...]

    def beside_first(self) -> tuple[float, ...]:
        """Return the same beside the first rank."""
        return tuple(share / self.by_rank[0] for share in self.by_rank)


@dataclass(frozen=True)
class Reading:
    """One thing that a model says of how people read a page, in words.

    Examples
    --------
    >>> Reading("DBN", "go on when not satisfied", 0.9).value
    0.9
    """

    model: str
    what: str
    value: float


@dataclass(frozen=True)
class Reversed:
    """How often position hides which of two documents of a query attracts more.

    Attributes
    ----------
    model : str
        What tells how attractive documents are.
    least : int
        Documents that were shown less often are not looked at.
    documents, pairs : int
        How many documents, and how many pairs of two of one query, were.
    reversed : int
        Pairs of which the one with the higher click rate attracts less.
    right : int or None
        Of those, how many are truly so; None where nobody knows.

    Examples
    --------
    >>> Reversed("UBM", 20, 3, 3, 1, None).share
    0.3333333333333333
    """

    model: str
    least: int
    documents: int
    pairs: int
    reversed: int
    right: int | None

    @property
    def share(self) -> float:
        """The share of pairs that are reversed."""
        return self.reversed / self.pairs if self.pairs else 0.0


@dataclass(frozen=True)
class DocumentShown:
    """An invented document: where it stood, how often it was clicked, how attractive it is.

    Examples
    --------
    >>> DocumentShown("q1", "d7", 120, 6.5, 0.2, 0.6, 0.7).rank
    6.5
    """

    query: str
    doc: str
    shown: int
    rank: float
    click_rate: float
    learnt: float
    true: float | None


@dataclass(frozen=True)
class DayFinding:
    """How well one day was foretold by a model that stayed as it was, and by one kept up to date.

    Examples
    --------
    >>> DayFinding("2026-01-05", 1000, -0.31, -0.3).pages
    1000
    """

    day: str
    pages: int
    static: float
    online: float


@dataclass(frozen=True)
class DayByDay:
    """What keeping a model up to date brings.

    Attributes
    ----------
    model : str
        Which.
    history : int
        So many days it learnt from before.
    days : tuple of DayFinding
        Log-likelihood of each day before it was taken in.
    gain : Comparison
        Of all these days: online (a) and static (b).
    """

    model: str
    history: int
    days: tuple[DayFinding, ...]
    gain: Comparison


@dataclass(frozen=True)
class ClickFindings:
    """What the study of click models found.

    Attributes
    ----------
    train, dev, test : PageSize
        What models learnt from at once, what decided which is kept and was taken in afterwards, and
        what all were tested on.
    models : tuple of ClickModelFinding
        Floors first, then from the plainest to the richest.
    floor : str
        The name of the one that others are compared with.
    kept : str
        The name of the one under which the dev part is most likely.
    click_rates : tuple of float
        Of each rank of the test pages.
    examined : tuple of Examined
        How likely each rank is looked at, model by model.
    after_click : tuple of rows of float or None
        The UBM's examination of a rank, a row, when the last click was at none, the first, the
        second; None where too few results tell.
    readings : tuple of Reading
        What other models say of how people go on.
    reversed : Reversed
        What position hides.
    agreement : Comparison or None
        Rank correlation with the truth of what was learnt (a) and of plain click rates (b); None
        where nobody knows the truth.
    misled : tuple of pairs of DocumentShown, or None
        Two documents of a query each, of which the first is clicked more and attracts less; None
        when the data are somebody's.
    by_day : DayByDay or None
        None where there are no times, or too few days.
    """

    train: PageSize
    dev: PageSize
    test: PageSize
    models: tuple[ClickModelFinding, ...]
    floor: str
    kept: str
    click_rates: tuple[float, ...]
    examined: tuple[Examined, ...]
    after_click: tuple[tuple[float | None, ...], ...]
    readings: tuple[Reading, ...]
    reversed: Reversed
    agreement: Comparison | None
    misled: tuple[tuple[DocumentShown, DocumentShown], ...] | None
    by_day: DayByDay | None

    @property
    def best(self) -> ClickModelFinding:
        """The model that is kept."""
        return next(model for model in self.models if model.name == self.kept)

    @property
    def plainest(self) -> ClickModelFinding:
        """The floor."""
        return next(model for model in self.models if model.name == self.floor)

    @property
    def above_floor(self) -> bool:
        """Whether the model that is kept is better than the floor."""
        return self.best.gain.difference > 0.0
