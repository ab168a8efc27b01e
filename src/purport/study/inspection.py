"""What a model is, what it was trained on, and what it goes by, for people and for programs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from purport.errors import InputError
from purport.features.step_windows import StepWindows
from purport.records.people import MIN_PEOPLE
from purport.sequence.crf import CRF
from purport.store.folders import describe, load

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
        The strongest, for and against.

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
        return "\n".join(lines)


_DESCRIBED = ("class", "parameters", "purport", "saved", "trained_on")


def inspect_model(
    folder: str | os.PathLike[str], labels: Sequence[str] = (), top: int = 10
) -> Inspection:
    """Look into a model folder.

    Parameters
    ----------
    folder : path
        What `save` wrote.
    labels : list of str
        The labels whose features are wanted.
    top : int
        How many features and transitions.

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
    if not isinstance(model, CRF):
        raise InputError(f"{os.fspath(folder)}: a {described['class']} cannot be inspected yet.")
    classes = [str(label) for label in model.classes_]
    for label in labels:
        if label not in classes:
            raise InputError(f"The model has no label {label!r}. It has: {', '.join(classes)}.")
    encoder = model._encoder
    shown = encoder.may_be_shown() if isinstance(encoder, StepWindows) else None
    strongest = {label: model._strongest_features(label, top, shown) for label in labels}
    return Inspection(
        described,
        repr(model),
        classes,
        model.n_features_,
        *rounds_of(model),
        model.converged_,
        {label: found for label, (found, _) in strongest.items()},
        {label: left for label, (_, left) in strongest.items()},
        _strongest(model, classes, top),
    )


def rounds_of(model: CRF) -> tuple[int, str]:
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
