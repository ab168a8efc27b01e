"""Labels for more records than memory holds: batch by batch, from any source."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from purport.clicks.model import ClickModel
from purport.errors import InputError
from purport.records.labelled import LabelledRecords
from purport.records.sources import OnError, Paths
from purport.sequence.labeller import SequenceLabeller
from purport.store.folders import load
from purport.study.tested_records import kind_of_records


def load_labeller(folder: str | os.PathLike[str], n_threads: int | None = None) -> SequenceLabeller:
    """Load a model that can label records, to work with so many threads.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from purport.records.utterances import Utterances
    >>> from purport.sequence.crf import CRF
    >>> from purport.store.folders import save
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "tagger"
    >>> talk = Utterances.from_lists([["to", "rome"]], slots=[["O", "B-city"]])
    >>> save(CRF().fit(talk), folder)
    >>> load_labeller(folder, n_threads=1)
    CRF(n_threads=1)
    """
    model: Any = load(folder)
    if not isinstance(model, SequenceLabeller):
        told = "Give a model of utterances or sessions that `fit` wrote."
        if isinstance(model, ClickModel):
            told = (
                "It is learnt from result pages, which get no labels: `purport relevance` says what"
                " their results are worth, `purport evaluate` how well clicks are foretold."
            )
        raise InputError(
            f"{os.fspath(folder)}: a {type(model).__name__} does not label records. {told}"
        )
    if model.kind_of_records is None:
        raise InputError(
            f"{os.fspath(folder)}: this {type(model).__name__} was not fitted on records, so it"
            " cannot label them. Use its predict."
        )
    return model.set_params(n_threads=n_threads, verbose=False)


def label_batches(
    model: SequenceLabeller,
    source: Paths,
    size: int = 2000,
    on_error: OnError = "raise",
    columns: Mapping[str, str] | None = None,
) -> Iterator[LabelledRecords]:
    """Label the records of a source batch by batch.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from purport.records.utterances import Utterances
    >>> from purport.sequence.crf import CRF
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "talk.jsonl"
    >>> Utterances.from_lists([["stop"], ["go"]], slots=[["O"], ["B-way"]]).write(path)
    >>> model = CRF().fit(Utterances.read(path))
    >>> [batch.labels for batch in label_batches(model, path, size=1)]
    [[['O']], [['B-way']]]
    """
    kind = kind_of_records(model)
    for batch in kind.batches(source, size, on_error, columns=columns):
        yield model.label(batch)
