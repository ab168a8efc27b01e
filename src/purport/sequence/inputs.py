"""What users give a sequence model, into rows and label codes.

Two forms: lists of sequences of positions (feature strings or dicts), and records. A model fitted
on one refuses the other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from purport.errors import InputError, ShapeError
from purport.features.encoders import Encoder
from purport.features.rows import Rows
from purport.features.strings import FeatureStrings
from purport.features.token_windows import TokenWindows
from purport.records.utterances import Utterances
from purport.sequence.partitions import UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

Form = Literal["lists", "records"]
Labels = Sequence[Sequence[str | None] | None]

FORM_WORDS = {
    "lists": "lists of sequences (each a list of positions with feature strings or a dict)",
    "records": "records (Utterances)",
}


@dataclass(frozen=True)
class LabelCodes:
    """Labels of all positions, one after the other, as numbers.

    Attributes
    ----------
    codes : (P,) int32
        Number of each label in `classes`, `UNKNOWN` where it is not known.
    classes : list of str
        The labels, sorted unless they were given.
    unseen : int
        Positions whose label is not among given classes; they count as not known.
    """

    codes: NDArray[np.int32]
    classes: list[str]
    unseen: int = 0


def form_of(X: Any) -> Form:
    """Tell records from lists."""
    return "records" if isinstance(X, Utterances) else "lists"


def check_form(owner: str, fitted: Form, X: Any) -> None:
    """Refuse a form other than the one that the model was fitted on."""
    given = form_of(X)
    if given != fitted:
        raise InputError(
            f"{owner} was fitted on {FORM_WORDS[fitted]}, but was given {FORM_WORDS[given]}."
            " Give it the same form, or fit again."
        )


def make_encoder(owner: str, X: Any, features: TokenWindows | None) -> Encoder:
    """Return a fresh encoder that fits the form of X."""
    if form_of(X) == "lists":
        if features is not None:
            raise InputError(
                f"{owner}: features= says how rows are made from records, but X is"
                f" {FORM_WORDS['lists']}. Leave features out, or give records."
            )
        return FeatureStrings()
    return TokenWindows() if features is None else TokenWindows(**features.get_params())


def given_labels(owner: str, X: Any, y: Labels | None) -> Labels:
    """Return y, or the labels that records bring."""
    if y is not None:
        return y
    if isinstance(X, Utterances) and not len(X):
        raise InputError(f"{owner} needs at least one sequence; there are no records.")
    if isinstance(X, Utterances) and X.slots is not None:
        return X.slots
    what = "the records have no slots" if isinstance(X, Utterances) else "y is None"
    raise InputError(f"{owner} needs labels, but {what}. Give y: one list of labels a sequence.")


def encode_labels(
    y: Labels,
    offsets: NDArray[np.int64],
    classes: Sequence[str] | None = None,
    counts: NDArray[np.bool_] | None = None,
) -> LabelCodes:
    """Return the numbers of labels, checked to fit the sequences.

    Parameters
    ----------
    y : list of lists of str
        One label a position, None where it is not known; None for a whole sequence of which nothing
        is.
    offsets : (N + 1,) int64
        The sequences that the labels belong to.
    classes : list of str, optional
        The labels there are; None takes those that occur.
    counts : (N,) booleans, optional
        Which sequences count; the labels of the others are not known.
    """
    lengths = np.diff(offsets).tolist()
    if isinstance(y, str | bytes | Mapping) or not isinstance(y, Iterable):
        raise InputError(f"y must be a list of lists of labels; got {type(y).__name__}.")
    y = list(y)
    if len(y) != len(lengths):
        raise ShapeError.lengths("y", len(y), "X", len(lengths))
    filled: list[Sequence[str | None]] = []
    for number, (labels, length) in enumerate(zip(y, lengths, strict=True)):
        if labels is None:
            filled.append([None] * length)
            continue
        if isinstance(labels, str | bytes | Mapping) or not isinstance(labels, Collection):
            kind = type(labels).__name__
            raise InputError(f"y[{number}] must be a list of labels, one a position; got {kind}.")
        if len(labels) != length:
            raise ShapeError.lengths(f"y[{number}]", len(labels), f"X[{number}]", length)
        filled.append(labels if counts is None or counts[number] else [None] * length)
    flat = list(chain.from_iterable(filled))
    kinds = set(map(type, flat)) - {str, np.str_, type(None)}
    if kinds:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise InputError(
            f"Labels must be strings, or None where not known; y holds {names}. Convert them with"
            " str()."
        )
    present = {str(label) for label in set(flat) if label is not None}
    known = sorted(present) if classes is None else list(classes)
    numbers: dict[str | None, int] = {label: number for number, label in enumerate(known)}
    codes = np.fromiter((numbers.get(label, UNKNOWN) for label in flat), np.int32, count=len(flat))
    missing = flat.count(None)
    unseen = int(np.count_nonzero(codes == UNKNOWN)) - missing
    return LabelCodes(codes, known, unseen)


class LabelLists(list[list[str]]):
    """A list of lists of labels that NumPy takes as one object a sequence.

    scikit-learn's ``cross_val_predict`` joins what `predict` gives by `np.concatenate`, which
    refuses ragged lists.
    """

    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> NDArray[np.object_]:
        return np.fromiter(self, object, count=len(self))


def sequence_weights(given: Any, count: int) -> NDArray[np.float64]:
    """Return how often each sequence counts, checked; None is once each."""
    if given is None:
        return np.ones(count)
    try:
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight must hold numbers, one a sequence.") from None
    if weights.ndim != 1:
        raise InputError(
            "sample_weight must be a flat list, one number a sequence;"
            f" got {weights.ndim} dimensions."
        )
    if len(weights) != count:
        raise ShapeError.lengths("sample_weight", len(weights), "X", count)
    if not np.all(np.isfinite(weights)) or np.any(weights < 0.0):
        raise InputError("sample_weight must be finite numbers at least 0, one a sequence.")
    return weights


def cut_labels(codes: NDArray[np.int32], classes: Sequence[str], rows: Rows) -> LabelLists:
    """Return the labels of each sequence as lists of strings."""
    flat = list(map(list(classes).__getitem__, codes.tolist()))
    bounds = rows.offsets.tolist()
    return LabelLists(flat[first:last] for first, last in pairwise(bounds))
