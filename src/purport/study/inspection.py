"""What a model is, what it was trained on, and what it goes by, for people and for programs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from purport.errors import InputError
from purport.features.step_windows import StepWindows
from purport.records.people import MIN_PEOPLE
from purport.records.sources import OnError, Paths
from purport.report.findings import StateFindings
from purport.report.page import page, write_page
from purport.report.states import CLEAR, states_section
from purport.report.told import record_named
from purport.report.words import percent
from purport.sequence.crf import CRF
from purport.sequence.explaining import StateSummary
from purport.sequence.latent import LatentLabeller
from purport.store.folders import describe, load
from purport.study.tested_records import kind_of_records
from purport.version import VERSION

Weighted = tuple[str, float]


@dataclass(frozen=True)
class Inspection:
    """What was found in a model folder.

    Attributes
    ----------
    described : dict
        What the folder says of itself: class, parameters, version, when, what it was trained on.
    model : str
        The estimator with the parameters that are not as usual.
    labels : list of str
        The labels that the model gives.
    weights : int
        How many weights are not 0.
    iterations : int
        How long it was trained, as `rounds` counts.
    rounds : str
        What is counted; see `rounds_of`.
    converged : bool
        Whether training came to its end.
    features : dict
        For each label that was asked for, the features that speak most for and against it, but
        whole texts that fewer than five different people sent.
    left_out : dict
        How many such texts would else have been among them.
    transitions : list of (label, next label, weight)
        The strongest, for and against; none of a model with hidden states.
    states : StateFindings or None
        What hidden states mean, if the model has some.
    chosen : list of str
        The labels that were asked for.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from purport.store.folders import save
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "tagger"
    >>> save(CRF().fit([[["play"], ["jazz"]]], [["O", "B-genre"]]), folder)
    >>> found = inspect_model(folder, ["O"], top=1)
    >>> found.labels, [name for name, _ in found.features["O"]]
    (['B-genre', 'O'], ['play'])
    """

    described: dict[str, Any]
    model: str
    labels: list[str]
    weights: int
    iterations: int
    rounds: str
    converged: bool
    features: dict[str, list[Weighted]]
    left_out: dict[str, int]
    transitions: list[tuple[str, str, float]]
    states: StateFindings | None = None
    chosen: Sequence[str] = ()

    def numbers(self) -> dict[str, Any]:
        """Return everything, as JSON can hold it."""
        return {
            **{name: self.described.get(name) for name in _DESCRIBED},
            "labels": self.labels,
            "weights": self.weights,
            "iterations": self.iterations,
            "converged": self.converged,
            "features": self.features,
            "left_out": self.left_out,
            "transitions": self.transitions,
            **(self.states.numbers() if self.states is not None else {}),
        }

    def text(self) -> str:
        """Return everything as lines to read."""
        described = self.described
        ended = "converged" if self.converged else "stopped before it converged"
        ended += f" after {self.iterations} {self.rounds}"
        if not self.iterations:
            ended = "batch by batch, as they came"
        lines = [
            f"{self.model}, written by purport {described['purport']} at {described['saved']}",
            *_listed("trained on", described.get("trained_on") or {}),
            f"training: {ended}; {self.weights:,} weights",
            f"{len(self.labels)} labels: {', '.join(self.labels)}",
        ]
        if self.transitions:
            lines += ["", "strongest transitions"]
            lines += _table([(f"{a} -> {b}", weight) for a, b, weight in self.transitions])
        for label, features in self.features.items():
            lines += ["", f"what speaks for {label}, and against it", *_table(features)]
            if self.left_out[label]:
                lines.append(
                    f"  left out: {self.left_out[label]:,} whole texts that fewer than {MIN_PEOPLE}"
                    " people are known to have sent"
                )
        if self.states is not None:
            lines += ["", *_state_lines(self.states, self.chosen)]
        return "\n".join(lines)


_DESCRIBED = ("class", "parameters", "purport", "saved", "trained_on")


def inspect_model(
    folder: str | os.PathLike[str],
    labels: Sequence[str] = (),
    top: int = 10,
    *,
    on: Paths | None = None,
    on_error: OnError = "raise",
    columns: Mapping[str, str] | None = None,
    n_threads: int | None = None,
) -> Inspection:
    """Look into a model folder.

    Parameters
    ----------
    folder : path
        What `save` wrote.
    labels : list of str
        The labels whose features, or hidden states, are wanted.
    top : int
        How many features and transitions; of each hidden state, also how many examples.
    on : path or list of paths, optional
        Records on which hidden states are looked at. Without them there are no examples.
    on_error, columns
        How these are read.
    n_threads : int, optional
        For that; None takes all cores.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from purport.store.folders import save
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "tagger"
    >>> save(CRF().fit([[["play"], ["jazz"]]], [["O", "B-genre"]]), folder)
    >>> inspect_model(folder).text().splitlines()[-2]
    'strongest transitions'
    """
    described = describe(folder)
    model = load(folder)
    if not isinstance(model, CRF | LatentLabeller):
        raise InputError(f"{os.fspath(folder)}: a {described['class']} cannot be inspected yet.")
    classes = [str(label) for label in model.classes_]
    for label in labels:
        if label not in classes:
            raise InputError(f"The model has no label {label!r}. It has: {', '.join(classes)}.")
    shown = repr(model)
    states = None
    if isinstance(model, LatentLabeller):
        model.set_params(n_threads=n_threads)
        given = None
        if on is not None:
            given = kind_of_records(model).read(on, on_error=on_error, columns=columns)
        states = StateFindings.of(model, given, top=top)
    elif on is not None:
        raise _without_states(described["class"])
    telling = _telling(model, labels, top) if isinstance(model, CRF) else {}
    return Inspection(
        described,
        shown,
        classes,
        model.n_features_,
        *rounds_of(model),
        model.converged_,
        {label: features for label, (features, _) in telling.items()},
        {label: left for label, (_, left) in telling.items()},
        _strongest(model, classes, top) if isinstance(model, CRF) else [],
        states,
        labels,
    )


def write_inspection(
    found: Inspection,
    path: str | os.PathLike[str],
    subject: str,
    *,
    overwrite: bool = True,
    made: datetime | None = None,
) -> None:
    """Write what hidden states mean as one HTML file with pictures.

    Parameters
    ----------
    found : Inspection
        Of a model with hidden states.
    path, subject, overwrite, made
        As in `write_report`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from purport.sequence.ldcrf import LDCRF
    >>> from purport.store.folders import save
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> save(LDCRF(2).fit([[["a"], ["b"]]], [["X", "Y"]]), folder / "model")
    >>> write_inspection(inspect_model(folder / "model"), folder / "states.html", "two labels")
    >>> (folder / "states.html").read_text(encoding="utf-8").count("<svg")
    2
    """
    if found.states is None:
        raise _without_states(found.described["class"])
    when = datetime.now() if made is None else made
    write_page(path, page([states_section(found.states)], subject, when, VERSION), overwrite)


def _without_states(kind: str) -> InputError:
    return InputError(
        f"A {kind} has no hidden states to look at on records, or to draw. Ask for less, or inspect"
        " an LDCRF or SHDCRF."
    )


def _telling(model: CRF, labels: Sequence[str], top: int) -> dict[str, tuple[list[Weighted], int]]:
    """Return what speaks for and against labels, and how many texts were left out."""
    encoder = model._encoder
    shown = encoder.may_be_shown() if isinstance(encoder, StepWindows) else None
    return {label: model._strongest_features(label, top, shown) for label in labels}


def rounds_of(model: CRF | LatentLabeller) -> tuple[int, str]:
    """Return how long a model was trained: in iterations over all data, or passes over batches.

    Examples
    --------
    >>> crf = CRF().fit_batches([([[["play"], ["jazz"]]], [["O", "B-genre"]])], passes=2)
    >>> rounds_of(crf)
    (2, 'passes')
    """
    history = model.history_
    if history and "sequences" not in history[-1]:
        return len(history) - 1, "iterations"  # the first is the start
    return len(history), "passes"


def _strongest(model: CRF, classes: list[str], top: int) -> list[tuple[str, str, float]]:
    weights = model.transitions_
    flat = weights.ravel()
    order = np.argsort(-np.abs(flat), kind="stable")[:top]
    chosen = [int(at) for at in order if flat[at] != 0.0]
    size = len(classes)
    found = [(classes[at // size], classes[at % size], float(flat[at])) for at in chosen]
    return sorted(found, key=lambda arc: -arc[2])


def _listed(title: str, values: dict[str, Any]) -> list[str]:
    said = ", ".join(f"{name}={value}" for name, value in values.items() if value is not None)
    return [f"{title}: {said}"] if said else []


def _table(rows: Sequence[Weighted]) -> list[str]:
    return [f"  {weight:+.4f}  {name}" for name, weight in rows]


def _state_lines(found: StateFindings, chosen: Sequence[str]) -> list[str]:
    """Tell of each state under its most probable label, or of those that a chosen label has."""
    lines = [
        f"{len(found.summaries)} hidden states"
        + ("" if found.with_data else ", as they were in training")
    ]
    for number, label in enumerate(found.labels):
        if chosen:
            shares = found.given_label[number] if label in chosen else ()
            told = [found.summaries[state] for state, share in enumerate(shares) if share >= CLEAR]
        else:
            told = [one for one in found.summaries if str(next(iter(one.labels))) == label]
        told.sort(key=lambda summary: -summary.share)
        if told:
            lines += ["", label]
        for summary in told:
            lines += _lines_of(summary)
    return lines


def _lines_of(summary: StateSummary) -> list[str]:
    shown = [example.text for example in summary.examples if example.text is not None]
    told = {
        "p(y|h)": _shares(summary.labels),
        "p(h|y)": _shares(summary.given_label),
        "goes by": ", ".join(name for name, _ in summary.features),
        "next": _shares(dict(summary.next_states)),
        "examples": " | ".join(shown)
        or ", ".join(
            f"{record_named(example.sequence, example.id)} step {example.step + 1}"
            for example in summary.examples
        ),
    }
    lines = [f"  state {summary.state}: {percent(summary.share)} of the steps"]
    return lines + [f"    {name:<8}  {said}" for name, said in told.items() if said]


def _shares(shares: Mapping[Any, float]) -> str:
    return ", ".join(f"{name} {percent(share, 0)}" for name, share in shares.items())
