"""Every failure a user can meet, and every warning.

::

    PurportError
    ├── InputError            (also a ValueError) what was given cannot be used
    │   ├── ParameterError    a parameter of an estimator or function
    │   ├── RecordError       one row of one source: file, row number, reason
    │   ├── FormatError       a whole source: unknown kind, cut short, not UTF-8
    │   └── ShapeError        lengths or kinds that do not fit each other
    ├── NotFittedError        (also a ValueError and an AttributeError) asked before `fit`
    ├── ModelError            a model folder
    │   ├── ModelCorruptError a file is missing, cut short or altered
    │   └── ModelTooNewError  written by a later format of purport
    ├── OutputExistsError     an output is there already and nobody said to replace it
    ├── DependencyError       (also an ImportError) an optional package is not installed
    └── CheckFailedError      a check that was asked for said no

    PurportWarning            (a UserWarning)
    ├── ConvergenceWarning    the optimiser stopped before it was done
    ├── DataConversionWarning what was given was taken for what was meant
    ├── SkippedRowsWarning    bad rows were left out, as asked
    ├── UnseenWarning         labels or features that the model has never met
    └── KernelCacheWarning    compiled kernels cannot be kept between runs

A message says what was wrong, what was given and what to do. Messages are made by the constructors
here, so that each is written once. None ever holds the text of a record: rows are named by file,
number and id.
"""

from __future__ import annotations

import functools
import sys

__all__ = [
    "CheckFailedError",
    "ConvergenceWarning",
    "DataConversionWarning",
    "DependencyError",
    "FormatError",
    "InputError",
    "KernelCacheWarning",
    "ModelCorruptError",
    "ModelError",
    "ModelTooNewError",
    "NotFittedError",
    "OutputExistsError",
    "ParameterError",
    "PurportError",
    "PurportWarning",
    "RecordError",
    "ShapeError",
    "SkippedRowsWarning",
    "UnseenWarning",
]


MOST_SHOWN = 300
"""How many characters of a value are shown."""

MOST_ITEMS = 12
"""Of longer lists it is said how long they are."""


def shown(value: object) -> str:
    """Write a value of a parameter, which may be a list of thousands, so that it can be read.

    Examples
    --------
    >>> shown((1, 2)), shown({"city": ["new york"] * 5000})
    ('(1, 2)', "{'city': [5,000 items]}")
    """
    if isinstance(value, dict):
        written = f"{{{', '.join(f'{name!r}: {shown(inner)}' for name, inner in value.items())}}}"
    elif isinstance(value, list | tuple | set | frozenset) and len(value) > MOST_ITEMS:
        written = f"[{len(value):,} items]"
    else:
        written = repr(value)
    return written if len(written) <= MOST_SHOWN else f"{written[:MOST_SHOWN]}..."


class PurportError(Exception):
    """The base of every error that purport raises on purpose."""


class InputError(PurportError, ValueError):
    """What was given cannot be used."""

    @classmethod
    def at_position(cls, sequence: int, position: int, reason: str) -> InputError:
        """Say which position of which sequence is bad, both counted from 0, never what it holds."""
        place = f"X[{sequence}][{position}] (sequence {sequence}, position {position})"
        return cls(f"{place}: {reason}.")


class ParameterError(InputError):
    """A parameter has a value that it may not have."""

    @classmethod
    def for_value(cls, owner: str, name: str, given: object, allowed: str) -> ParameterError:
        """Say which parameter of whom, what it was and what it may be."""
        return cls(f"{owner}: parameter {name!r} must be {allowed}; got {shown(given)}.")

    @classmethod
    def unknown(cls, owner: str, name: str, known: list[str]) -> ParameterError:
        """Say that a parameter does not exist, and which do."""
        return cls(f"{owner} has no parameter {name!r}. It has: {', '.join(known)}.")


class RecordError(InputError):
    """One row of one source is bad.

    Attributes
    ----------
    source : str
        The file, or ``"<stdin>"``, or the kind of frame.
    row : int
        Number of the row in the source, from 1.
    reason : str
        What is wrong with it. Never holds the row's text.
    """

    def __init__(self, source: str, row: int, reason: str) -> None:
        super().__init__(
            f"{source}, row {row}: {reason}. Mend the row, or leave bad rows out:"
            ' on_error="skip" (--on-error skip).'
        )
        self.source = source
        self.row = row
        self.reason = reason

    def __reduce__(self) -> tuple[type[RecordError], tuple[str, int, str]]:
        return type(self), (self.source, self.row, self.reason)


class FormatError(InputError):
    """A whole source cannot be read, or a kind of file cannot hold what shall be written."""

    @classmethod
    def unknown_kind(cls, source: str, kinds: list[str]) -> FormatError:
        """Say that the kind of file is not known, and which are."""
        return cls(
            f"{source}: unknown kind of file. Known endings: {', '.join(kinds)}. CSV goes by way"
            " of a frame, of pandas or polars."
        )

    @classmethod
    def unknown_content(cls, source: str, columns: list[str]) -> FormatError:
        """Say that a stream, which has no ending, holds no known kind, and what it may hold."""
        return cls(
            f"{source}: its first line shows no known kind of records. Give JSON lines, TSV with a"
            f" column {' or '.join(map(repr, columns))}, or IOB/CoNLL; packed with gz or not."
        )

    @classmethod
    def truncated(cls, source: str, after_row: int) -> FormatError:
        """Say that the source ends in the middle."""
        return cls(
            f"{source}: the compressed data end or break after row {after_row}; the file was cut"
            " short or altered. Fetch it again."
        )

    @classmethod
    def not_utf8(cls, source: str, row: int) -> FormatError:
        """Say that the source is not UTF-8."""
        return cls(f"{source}, row {row}: the bytes are not UTF-8. Convert the file to UTF-8.")

    @classmethod
    def missing(cls, source: str) -> FormatError:
        """Say that there is nothing at that path."""
        return cls(f"{source}: there is no such file. Check the path.")

    @classmethod
    def unreadable(cls, source: str, reason: str) -> FormatError:
        """Say why something that is there cannot be opened or read."""
        return cls(f"{source}: cannot be read: {reason}. Give a file that can be read.")

    @classmethod
    def header(cls, source: str, reason: str) -> FormatError:
        """Say what is wrong with the line that names the columns."""
        return cls(f"{source}: the header {reason}. Mend the names of the columns.")

    @classmethod
    def no_column(cls, source: str, needed: tuple[str, ...]) -> FormatError:
        """Say that a table has none of the columns that make it one of records."""
        names = " or ".join(map(repr, needed))
        return cls(
            f"{source}: the header names no column {names}. Say what it is called there:"
            f" columns={{{needed[-1]!r}: ...}} (--columns {needed[-1]}=...)."
        )

    @classmethod
    def untold(cls, source: str) -> FormatError:
        """Say that the columns of a source do not tell which records it holds."""
        return cls(
            f"{source}: its columns do not tell whether it holds utterances (tokens, text),"
            " sessions (steps, obs) or result pages (qid, docs and clicks). Say which: --as"
            " utterances, --as sessions or --as pages."
        )

    @classmethod
    def no_such_form(cls, records: str, kind: str) -> FormatError:
        """Say that records of one class have no form in one kind of file."""
        return cls(f"{records} cannot be written as {kind}. Write JSON lines (.jsonl) or Parquet.")

    @classmethod
    def unwritable(cls, target: str, reason: str) -> FormatError:
        """Say why nothing can be written there."""
        return cls(f"{target}: cannot be written: {reason}. Choose another path.")

    @classmethod
    def cannot_carry(cls, kind: str, record: int, what: str) -> FormatError:
        """Say which record holds what a kind of file has no way to write."""
        return cls(f"{kind} cannot carry record {record}: {what}. Write JSON lines (.jsonl).")


class ShapeError(InputError):
    """Two things that belong together do not fit."""

    @classmethod
    def lengths(cls, what: str, given: int, other: str, expected: int) -> ShapeError:
        """Say that two lengths differ."""
        return cls(
            f"{what} has length {given}, but {other} has length {expected}. They must agree."
        )


class NotFittedError(PurportError, ValueError, AttributeError):
    """A model was asked for something before it had learnt anything."""

    @classmethod
    def of(cls, owner: object) -> NotFittedError:
        """Say which estimator is not fitted; where scikit-learn is in use, as it does too."""
        kind = _not_fitted_as_in_scikit_learn() if "sklearn.exceptions" in sys.modules else cls
        return kind(f"This {type(owner).__name__} is not fitted yet. Call fit first.")


@functools.cache
def _not_fitted_as_in_scikit_learn() -> type[NotFittedError]:
    theirs = sys.modules["sklearn.exceptions"].NotFittedError
    bases = (NotFittedError, theirs)
    return type("NotFittedError", bases, {"__module__": __name__, "__reduce__": _reduce})


def _reduce(error: NotFittedError) -> tuple[type[NotFittedError], tuple[str]]:
    return NotFittedError, (str(error),)


class ModelError(PurportError):
    """A model folder cannot be used."""


class ModelCorruptError(ModelError):
    """A model folder is missing something, or something in it was altered."""

    @classmethod
    def at(cls, folder: str, reason: str) -> ModelCorruptError:
        """Say which folder and what is wrong with it."""
        return cls(f"{folder}: not a usable model: {reason}. Save the model again or restore it.")

    @classmethod
    def missing(cls, folder: str) -> ModelCorruptError:
        """Say that there is no such folder."""
        return cls(f"{folder}: there is no such model folder. Check the path.")


class ModelTooNewError(ModelError):
    """A model folder was written by a later format."""

    @classmethod
    def at(cls, folder: str, found: int, known: int) -> ModelTooNewError:
        """Say which format was found and which is known."""
        return cls(
            f"{folder}: the model has format {found}, this purport reads up to {known}."
            " Install a newer purport."
        )


class OutputExistsError(PurportError):
    """Something stands already where output should go."""

    @classmethod
    def at(cls, path: str, how: str) -> OutputExistsError:
        """Say what stands there and how to replace it."""
        return cls(f"{path}: exists already and is kept. {how}")


class DependencyError(PurportError, ImportError):
    """An optional package is needed and not installed."""

    @classmethod
    def needed(cls, package: str, purpose: str) -> DependencyError:
        """Say which package and what for."""
        return cls(f"{purpose} needs the package {package!r}. Install it: pip install {package}")


class CheckFailedError(PurportError):
    """A check that the user asked for did not hold."""


class PurportWarning(UserWarning):
    """The base of every warning that purport gives."""


class ConvergenceWarning(PurportWarning):
    """The optimiser stopped before it was done."""


class DataConversionWarning(PurportWarning):
    """What was given was taken for what was meant."""

    @classmethod
    def kind(cls) -> type[DataConversionWarning]:
        """Return the class to warn with: where scikit-learn is in use, its own one too."""
        loaded = "sklearn.exceptions" in sys.modules
        return _conversion_as_in_scikit_learn() if loaded else cls


@functools.cache
def _conversion_as_in_scikit_learn() -> type[DataConversionWarning]:
    theirs = sys.modules["sklearn.exceptions"].DataConversionWarning
    bases = (DataConversionWarning, theirs)
    return type("DataConversionWarning", bases, {"__module__": __name__})


class SkippedRowsWarning(PurportWarning):
    """Bad rows were left out, as asked."""


class UnseenWarning(PurportWarning):
    """Labels or features that the model has never met."""


class KernelCacheWarning(PurportWarning):
    """Compiled kernels cannot be kept between runs."""
