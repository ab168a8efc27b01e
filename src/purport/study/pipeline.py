"""The study: every stage that the material allows, one after the other, and their report."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime

from purport.errors import InputError
from purport.estimator.progress import Verbosity
from purport.report.page import page, write_page
from purport.study import clicks, sessions, slots
from purport.study.stages import Material, Outcome, Settings, Stage
from purport.version import VERSION

STAGES: tuple[Stage, ...] = (slots.STAGE, sessions.STAGE, clicks.STAGE)


def run_study(
    material: Material,
    *,
    n_threads: int | None = None,
    verbose: Verbosity = False,
    samples: int = 1000,
    groups: str | None = None,
    stages: Sequence[Stage] = STAGES,
) -> list[Outcome]:
    """Run the stages that the material has data for.

    Parameters
    ----------
    material : Material
        The data.
    n_threads, verbose, samples, groups
        As in `Settings`.
    stages : list of Stage
        All that there are, unless fewer are wanted.

    Examples
    --------
    >>> from purport.simulate.utterances import utterance_world
    >>> material = Material(utterance_world(60, 1), utterance_world(20, 2), invented=True)
    >>> [outcome.name for outcome in run_study(material, samples=20)]
    ['slots']
    """
    settings = Settings(n_threads, verbose, samples, groups)
    fitting = [stage for stage in stages if stage.fits(material)]
    if not fitting:
        raise InputError(
            "There is nothing to study: no stage has the data it needs. Give data to learn from and"
            " to test on."
        )
    return [stage.run(material, settings) for stage in fitting]


def write_report(
    outcomes: Sequence[Outcome],
    path: str | os.PathLike[str],
    subject: str,
    *,
    overwrite: bool = True,
    made: datetime | None = None,
) -> None:
    """Write the report of a study as one HTML file.

    Parameters
    ----------
    outcomes : list of Outcome
        What `run_study` gave.
    path : path
        Where.
    subject : str
        What the data are, in a few words.
    overwrite : bool
        False keeps what stands there and raises `OutputExistsError`.
    made : datetime, optional
        When; None is now.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report([], path, "nothing at all")
    >>> "nothing at all" in path.read_text(encoding="utf-8")
    True
    """
    when = datetime.now() if made is None else made
    sections = [section for outcome in outcomes for section in (outcome.section, *outcome.further)]
    write_page(path, page(sections, subject, when, VERSION), overwrite)
