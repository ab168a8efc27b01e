"""What a stage of a study is: a task that can be done with some material and then told about.

A new task adds a file with a `run(material, settings)` and a line in
`purport.study.pipeline.STAGES`; the report and the command line need no change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.errors import InputError
from purport.estimator.base import Estimator
from purport.estimator.progress import Verbosity
from purport.records.pages import Pages
from purport.records.records import Records
from purport.records.sessions import Sessions
from purport.records.sources import OnError, Sources
from purport.records.telling import KINDS, told_records
from purport.records.utterances import Utterances
from purport.report.page import Section

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Attractiveness:
    """How attractive documents truly are to those who ask a query, as invented data know it.

    Attributes
    ----------
    queries, docs : list of P str
        The pairs.
    shares : (P,) float64
        Of each pair.

    Examples
    --------
    >>> truth = Attractiveness(["cats", "dogs"], ["a", "a"], np.array([0.2, 0.7]))
    >>> truth.of(["dogs", "fish"], ["a", "b"]).tolist()
    [0.7, nan]
    """

    queries: Sequence[str]
    docs: Sequence[str]
    shares: NDArray[np.float64]

    def of(self, queries: Sequence[str], docs: Sequence[str]) -> NDArray[np.float64]:
        """Return that of some pairs; NaN where it is not known."""
        pairs = zip(self.queries, self.docs, strict=True)
        known = dict(zip(pairs, self.shares.tolist(), strict=True))
        return np.array([known.get(pair, np.nan) for pair in zip(queries, docs, strict=True)])


@dataclass(frozen=True)
class Material:
    """The data of a study, by kind of record; None where there are none.

    Attributes
    ----------
    train_utterances, test_utterances : Utterances or None
        To learn from, and to test on.
    train_sessions, test_sessions : Sessions or None
        The same.
    unlabeled_sessions : Sessions or None
        To learn from, without labels.
    train_pages, test_pages : Pages or None
        To learn from, and to test on.
    attractiveness : Attractiveness or None
        What is true of the documents on pages, where they are invented.
    invented : bool
        Whether nobody has ever said these words, so that a report may show them.

    Examples
    --------
    >>> Material().train_utterances is None
    True
    """

    train_utterances: Utterances | None = None
    test_utterances: Utterances | None = None
    train_sessions: Sessions | None = None
    test_sessions: Sessions | None = None
    unlabeled_sessions: Sessions | None = None
    train_pages: Pages | None = None
    test_pages: Pages | None = None
    attractiveness: Attractiveness | None = None
    invented: bool = False


def read_material(
    train: Sources,
    test: Sources,
    unlabeled: Sources | None = None,
    held: str | None = None,
    on_error: OnError = "raise",
) -> Material:
    """Read the data of a study from files of utterances, of sessions, or of result pages.

    Parameters
    ----------
    train, test, unlabeled : path
        To learn from, to test on, and without labels.
    held : "utterances", "sessions" or "pages", optional
        What the files hold; None tells it by the columns of `train`.
    on_error : "raise" or "skip"
        What happens to a bad row.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.jsonl"
    >>> _ = path.write_text('{"steps": [{"obs": "hi", "label": "greet"}]}', encoding="utf-8")
    >>> read_material(path, path).train_sessions
    Sessions(1 records, 1 steps; with obs, label)
    """
    given = told_records(train, on_error) if held is None else KINDS[held].read(train, on_error)
    kind = type(given)
    if unlabeled is not None and not isinstance(given, Sessions):
        raise InputError(
            "Records without labels are learnt from in studies of sessions alone; leave"
            " --unlabeled out."
        )
    material = _material(given, kind.read(test, on_error))
    if unlabeled is None:
        return material
    return replace(material, unlabeled_sessions=Sessions.read(unlabeled, on_error))


def _material(train: Records, test: Records) -> Material:
    """Put records where their kind has its place."""
    match train, test:
        case Utterances(), Utterances():
            return Material(train_utterances=train, test_utterances=test)
        case Sessions(), Sessions():
            return Material(train_sessions=train, test_sessions=test)
        case Pages(), Pages():
            return Material(train_pages=train, test_pages=test)
    raise InputError(f"A study does not look at {type(train).__name__.lower()}.")


@dataclass(frozen=True)
class Settings:
    """How a study is run.

    Attributes
    ----------
    n_threads : int or None
        Threads; None takes all cores.
    verbose : bool, "bar" or "lines"
        Progress.
    samples : int
        Draws of each bootstrap.
    groups : str, optional
        The field of sessions with the user, call or day, which no cut and no draw takes apart; None
        goes by who did them.

    Examples
    --------
    >>> Settings().samples
    1000
    """

    n_threads: int | None = None
    verbose: Verbosity = False
    samples: int = 1000
    groups: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What a stage gives back.

    Attributes
    ----------
    name : str
        The stage.
    model : Estimator
        What was trained.
    section : Section
        What the report says.
    numbers : dict
        The same for programs: JSON can hold it, and it never holds what somebody said.
    headline : str
        The result in one line.
    warning : str
        What speaks against using the model, in one line; empty if nothing does.
    further : tuple of Section
        What stands after the section, where one is not enough.

    Examples
    --------
    >>> from purport.report.markup import element
    >>> Outcome("slots", Estimator(), Section("s", "S", (), element("p")), {}, "F1 1.0").name
    'slots'
    """

    name: str
    model: Estimator
    section: Section
    numbers: dict[str, Any]
    headline: str
    warning: str = ""
    further: tuple[Section, ...] = ()


@dataclass(frozen=True)
class Stage:
    """One task of a study.

    Attributes
    ----------
    name : str
        As the command line calls it.
    fits : callable
        Whether the material has what the stage needs.
    run : callable
        Does it.

    Examples
    --------
    >>> Stage("nothing", lambda material: False, lambda material, settings: None).name
    'nothing'
    """

    name: str
    fits: Callable[[Material], bool]
    run: Callable[[Material, Settings], Outcome]
