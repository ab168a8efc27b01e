"""What a stage of a study is: a task that can be done with some material and then told about.

A new task adds a file with a `run(material, settings)` and a line in
`purport.study.pipeline.STAGES`; the report and the command line need no change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from purport.estimator.base import Estimator
from purport.estimator.progress import Verbosity
from purport.records.utterances import Utterances
from purport.report.page import Section


@dataclass(frozen=True)
class Material:
    """The data of a study, by kind of record; None where there are none.

    Attributes
    ----------
    train_utterances, test_utterances : Utterances or None
        To learn from, and to test on.
    invented : bool
        Whether nobody has ever said these words, so that a report may show them.

    Examples
    --------
    >>> Material().train_utterances is None
    True
    """

    train_utterances: Utterances | None = None
    test_utterances: Utterances | None = None
    invented: bool = False


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

    Examples
    --------
    >>> Settings().samples
    1000
    """

    n_threads: int | None = None
    verbose: Verbosity = False
    samples: int = 1000


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
