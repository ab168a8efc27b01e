"""What users give a sequence model, into rows: the forms of X, and what belongs to each.

Four forms: lists of sequences of positions (feature strings or dicts), utterances, sessions, and
rows of numbers with the group of each. A model fitted on one refuses the others.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from purport.errors import InputError, ShapeError
from purport.estimator.base import Estimator
from purport.estimator.samples import OTHER_LABEL, flat_labels, sample_weights
from purport.features.encoders import Encoder
from purport.features.numbers import NumberColumns, NumberRows, holds_numbers
from purport.features.sensor_windows import SensorWindows
from purport.features.session_windows import SessionWindows
from purport.features.strings import FeatureStrings
from purport.features.token_windows import TokenWindows
from purport.records.labelled import LabelledRecords
from purport.records.sessions import Sessions
from purport.records.utterances import Utterances
from purport.sequence.labels import UNKNOWN, LabelCodes, Labels, encode_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Form = Literal["lists", "utterances", "sessions", "rows"]
Windows = TokenWindows | SessionWindows | SensorWindows

FORM_WORDS: dict[Form, str] = {
    "lists": "lists of sequences (each a list of positions with feature strings or a dict)",
    "utterances": "records (Utterances)",
    "sessions": "records (Sessions)",
    "rows": "rows of numbers (an array, a sparse matrix or a data frame)",
}
ENCODERS: dict[Form, tuple[type[Estimator], ...]] = {
    "lists": (FeatureStrings,),
    "utterances": (TokenWindows,),
    "sessions": (SessionWindows, SensorWindows),
    "rows": (NumberColumns,),
}
"""Who can make rows of each form; the first does unless another is asked for."""


RECORDS: dict[Form, type[LabelledRecords]] = {"utterances": Utterances, "sessions": Sessions}
"""The forms that are records."""


def form_of(X: Any) -> Form:
    """Tell the forms apart."""
    if isinstance(X, Utterances):
        return "utterances"
    if isinstance(X, Sessions):
        return "sessions"
    return "rows" if isinstance(X, NumberRows) or holds_numbers(X) else "lists"


def check_form(owner: str, fitted: Form, X: Any) -> None:
    """Refuse a form other than the one that the model was fitted on."""
    given = form_of(X)
    if given != fitted:
        raise InputError(
            f"{owner} was fitted on {FORM_WORDS[fitted]}, but was given {FORM_WORDS[given]}."
            " Give it the same form, or fit again."
        )


def prepared(owner: str, X: Any, groups: Any) -> Any:
    """Return X as an encoder takes it: rows of numbers checked and cut, all else as it is."""
    if form_of(X) == "rows":
        return X if isinstance(X, NumberRows) else NumberRows.of(owner, X, groups)
    if groups is not None:
        raise InputError(
            f"{owner}: groups= says which rows of numbers are a sequence, but X is"
            f" {FORM_WORDS[form_of(X)]}. Leave groups out."
        )
    return X


def make_encoder(owner: str, X: Any, features: Estimator | None) -> Encoder:
    """Return a fresh encoder that fits the form of X."""
    form = form_of(X)
    choices = ENCODERS[form]
    if features is None:
        return choices[0]()  # type: ignore[return-value]
    if form in ("lists", "rows"):
        raise InputError(
            f"{owner}: features= says how rows are made from records, but X is"
            f" {FORM_WORDS[form]}. Leave features out, or give records."
        )
    if not isinstance(features, choices):
        names = " or ".join(f"{choice.__name__}(...)" for choice in choices)
        raise InputError(
            f"{owner}: features={type(features).__name__}(...) does not read"
            f" {FORM_WORDS[form]}. Give {names}."
        )
    return type(features)(**features.get_params(deep=False))  # type: ignore[return-value]


def encoder_named(name: str | None, form: Form) -> type[Estimator]:
    """Return the class of an encoder of which a model folder tells; None in old folders."""
    for choice in ENCODERS[form]:
        if name is None or choice.__name__ == name:
            return choice
    raise ValueError(f"no {name} makes rows from {form}")


def brings_labels(X: Any) -> bool:
    """Tell whether X are records of which at least one label is known."""
    return isinstance(X, LabelledRecords) and X.known_labels is not None


def given_labels(owner: str, X: Any, y: Labels | None) -> Labels:
    """Return y, or the labels that records bring."""
    if y is not None:
        return y
    if isinstance(X, Utterances | Sessions):
        if not len(X):
            raise InputError(f"{owner} needs at least one sequence; there are no records.")
        brought = X.slots if isinstance(X, Utterances) else X.known_labels
        if brought is not None:
            return brought
        kind = "slots" if isinstance(X, Utterances) else "labels"
        raise InputError(
            f"{owner} needs labels, but the records have no {kind}. Give records with {kind}."
        )
    raise InputError(f"{owner} needs labels, but y is None. Give y: one list of labels a sequence.")


def known_of(
    owner: str,
    X: Any,
    y: Any,
    offsets: NDArray[np.int64],
    classes: Sequence[Any] | None = None,
    counts: NDArray[np.bool_] | None = None,
) -> LabelCodes:
    """Return what y, or the records themselves, say of the labels."""
    if form_of(X) == "rows":
        return encode_flat(owner, y, offsets, classes, counts)
    return encode_labels(given_labels(owner, X, y), offsets, classes, counts)


def encode_flat(
    owner: str,
    y: Any,
    offsets: NDArray[np.int64],
    classes: Sequence[Any] | None = None,
    counts: NDArray[np.bool_] | None = None,
) -> LabelCodes:
    """Return the numbers of flat labels, one a row, of any kind that can be sorted."""
    told = None if counts is None else np.repeat(counts, np.diff(offsets))
    codes, known = flat_labels(owner, y, int(offsets[-1]), classes, told)
    unseen = int(np.count_nonzero(codes == OTHER_LABEL))
    return LabelCodes(np.maximum(codes, UNKNOWN), offsets, known.tolist(), unseen)


def soft_of(X: Any, soft: Any, offsets: NDArray[np.int64]) -> Any:
    """Return shares of labels one array a sequence; rows of numbers bring one for all rows."""
    if form_of(X) != "rows":
        return soft
    shares = np.asarray(soft, np.float64)
    if len(shares) != offsets[-1]:
        raise ShapeError.lengths("soft", len(shares), "X", int(offsets[-1]))
    return [shares[first:last] for first, last in pairwise(offsets.tolist())]


def sequence_weights(given: Any, count: int) -> NDArray[np.float64]:
    """Return how often each sequence counts, checked; None is once each."""
    return sample_weights(given, count, "sequence")
