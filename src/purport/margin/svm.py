"""The multi-class linear support vector machine: `LinearSVM`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from purport.errors import (
    ConvergenceWarning,
    DataConversionWarning,
    InputError,
    ParameterError,
    PurportWarning,
    UnseenWarning,
)
from purport.estimator.base import Estimator, State
from purport.estimator.constraints import (
    BOOLEAN,
    ByKey,
    Constraint,
    Either,
    Number,
    OneOf,
    Whole,
    optional,
)
from purport.estimator.progress import Verbosity, progress
from purport.estimator.samples import NO_LABEL, OTHER_LABEL, flat_labels, sample_weights
from purport.features.rows import Rows
from purport.margin.dual import Dual
from purport.margin.inputs import RowReader
from purport.margin.samples import Samples, make_samples
from purport.margin.shares import Shares
from purport.margin.steps import score_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

ClassWeight = Literal["balanced"] | Mapping[Any, float]


class LinearSVM(Estimator):
    """Linear support vector machine for any number of labels, trained by steps in its dual.

    Minimises half the sum of squares of all weights plus `C` times the sum of the losses. With
    ``"crammer_singer"`` the loss of a row is how far its label falls short of being 1 ahead of the
    best other one: the objective of LIBLINEAR's ``-s 4``. With ``"ovr"`` each label is told from
    the rest by itself, and the loss is the sum of their hinge losses: ``-s 3``. The hinge is not
    squared, so that `C` means the same in both and they differ in nothing else.

    Parameters
    ----------
    C : float, default 1.0
        What a loss of 1 costs. Small values keep the weights small.
    multi_class : "crammer_singer" or "ovr", default "crammer_singer"
        How the labels stand to each other; see above.
    tol : float, default 1e-3
        Stop when the objective is known to be at most this share of itself above the lowest there
        is: the duality gap, which is measured, not guessed.
    max_iter : int, default 1000
        Most rounds. A round looks at all labels of all rows once, and up to 20 times at those that
        matter.
    class_weight : "balanced" or dict, optional
        How much a row of each label counts, in all of the losses; labels that the dict does not
        name count once. ``"balanced"`` makes all labels count the same together.
    fit_intercept : bool, default True
        Add a column that is always 1, whose weights are kept small like all others (``-B 1``).
    random_state : int, optional
        Decides the order in which the steps are taken; None is 0.
    verbose : bool, "bar" or "lines", default False
        Show progress.

    Attributes
    ----------
    classes_ : (L,) array
        The labels, sorted.
    coef_ : (L, F) float64
        The weights, one row a label, also where there are two labels.
    intercept_ : (L,) float64
        The weights of the column that is always 1; zeros without it.
    history_ : list of dict
        One a round: objective, dual (the objective of no weights is lower), gap, passes, seconds.
    converged_ : bool
        Whether the gap came down to `tol`; False after an interruption.
    n_iter_ : int
        How many rounds it took.

    Examples
    --------
    >>> rows = [["play", "jazz"], ["play", "blues"], ["wake", "me"], ["stop"]]
    >>> svm = LinearSVM().fit(rows, ["music", "music", "alarm", "halt"])
    >>> svm.predict([["some", "blues"], ["stop", "it"]]).tolist()
    ['music', 'halt']
    """

    _constraints: ClassVar[Mapping[str, Constraint]] = {
        "C": Number(low=0.0, above=True),
        "multi_class": OneOf(("crammer_singer", "ovr")),
        "tol": Number(low=0.0),
        "max_iter": Whole(low=1),
        "class_weight": Either((ByKey(Number(low=0.0)), OneOf(("balanced", None)))),
        "fit_intercept": BOOLEAN,
        "random_state": optional(Whole(low=0)),
        "verbose": Either((BOOLEAN, OneOf(("bar", "lines")))),
    }

    classes_: NDArray[Any]
    history_: list[dict[str, float]]
    converged_: bool
    _reader: RowReader
    _used: NDArray[np.int32]
    _weights: NDArray[np.float64]
    _shares: Shares
    _shares_of: str
    _counts: dict[str, int]

    def __init__(
        self,
        C: float = 1.0,
        multi_class: str = "crammer_singer",
        tol: float = 1e-3,
        max_iter: int = 1000,
        *,
        class_weight: ClassWeight | None = None,
        fit_intercept: bool = True,
        random_state: int | None = None,
        verbose: Verbosity = False,
    ) -> None:
        self.C = C
        self.multi_class = multi_class
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that this is a classifier of rows, sparse ones too."""
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags()
        tags.target_tags.required = True
        tags.input_tags.sparse = tags.input_tags.string = True
        return tags

    # Learning.

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Sequence[float] | NDArray[np.float64] | None = None,
        warm_start: bool = False,
    ) -> Self:
        """Learn from labelled rows.

        Parameters
        ----------
        X : array, sparse matrix, data frame, list of rows, or Rows
            One row a sample. In a list a row is a list of feature strings or a dict ``{name: True |
            number | string}``. What windows make of records (``SessionWindows().fit_transform``)
            goes in as it is: one sample a position, the same rows that a sequence model sees.
        y : (rows,) labels
            Of any kind that can be sorted; rows whose label is None are left out.
        sample_weight : (rows,) numbers, optional
            How often each row counts; those that count 0 times are as if they were not there.
        warm_start : bool
            Start from the present weights, with the same labels and features: rows that were there
            before keep what they have put into the weights, new ones start without.

        Returns
        -------
        LinearSVM
            Itself.

        Examples
        --------
        >>> X, y = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["up", "right", "up"]
        >>> svm = LinearSVM(C=10.0).fit(X, y, sample_weight=[1.0, 2.0, 0.5])
        >>> svm.predict([[0.0, 2.0]]).tolist()
        ['up']
        >>> svm.set_params(C=20.0).fit(X, y, warm_start=True).converged_
        True
        """
        self._check_parameters()
        if not isinstance(warm_start, bool):
            raise InputError("LinearSVM.fit: warm_start must be True or False.")
        reader, rows = self._continued(X) if warm_start else RowReader.learn("LinearSVM", X)
        weights = sample_weights(sample_weight, rows.positions)
        known = self.classes_.tolist() if warm_start else None
        _tell_column(y)
        codes, classes = flat_labels("LinearSVM", y, rows.positions, known, weights > 0.0)
        _check_enough(rows, codes, classes, weights)
        weights *= self._class_weights(classes.tolist(), codes, weights)[codes]
        samples = make_samples(rows, codes, self.C * weights, len(classes), self.fit_intercept)
        dual = Dual(
            samples,
            self.multi_class == "crammer_singer",
            np.random.default_rng(self.random_state or 0),
            self._shares.spread(samples) if warm_start else None,
        )
        counts = {"rows": rows.positions, "known_labels": int(np.count_nonzero(codes >= 0))}
        history: list[dict[str, float]] = []
        try:
            self._take_rounds(dual, history)
        except KeyboardInterrupt:
            # What the last finished pass left is a model, once there was one look at it.
            if history:
                self._keep(reader, classes, samples, dual, history, counts, converged=False)
            raise
        converged = history[-1]["gap"] <= self.tol
        self._keep(reader, classes, samples, dual, history, counts, converged)
        if not converged:
            warnings.warn(
                f"LinearSVM stopped at max_iter={self.max_iter} before its duality gap came down to"
                f" tol={self.tol:g}. Raise max_iter, or tol if the fit is good enough; or scale the"
                " features.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _continued(self, X: Any) -> tuple[RowReader, Rows]:
        self._check_fitted()
        if self._shares_of != self.multi_class:
            raise InputError(
                f"LinearSVM: the model was fitted with multi_class={self._shares_of!r}, and"
                " warm_start=True goes on from there. Set it back, or fit anew."
            )
        return self._reader, self._reader.read(X)

    def _class_weights(
        self, classes: list[Any], codes: NDArray[np.int32], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return how much each label counts (L,)."""
        if self.class_weight is None:
            return np.ones(len(classes))
        told = codes != NO_LABEL
        if isinstance(self.class_weight, str):
            together = np.bincount(codes[told], weights[told], len(classes))
            # A label without rows has nothing that could count.
            together = np.where(together > 0.0, together, 1.0)
            balanced: NDArray[np.float64] = np.sum(weights[told]) / (len(classes) * together)
            return balanced
        given = self.class_weight
        named = [label in given for label in classes]
        if not all(named) and sum(named) < len(given):
            raise InputError(
                f"LinearSVM: class_weight names {len(given) - sum(named)} labels that y does not"
                " have, while others of y have no weight there. Name the labels as they are in y."
            )
        return np.array([float(given.get(label, 1.0)) for label in classes])

    def _take_rounds(self, dual: Dual, history: list[dict[str, float]]) -> None:
        with progress("LinearSVM.fit", self.max_iter, self.verbose) as shown:
            dual.begin()
            for number in range(1, self.max_iter + 1):
                seen = dual.look()
                if not math.isfinite(seen.objective + seen.dual):
                    raise InputError(
                        "LinearSVM.fit: the objective is too large for float64. Scale the values of"
                        " the features, the weights of the rows and C to less than a million."
                    )
                history.append(seen.facts())
                shown.advance(number, f"gap {seen.gap:.2g}")
                if seen.gap <= self.tol:
                    return
                if number < self.max_iter:
                    dual.improve(seen)

    # What was learnt.

    def _keep(
        self,
        reader: RowReader,
        classes: NDArray[Any],
        samples: Samples,
        dual: Dual,
        history: list[dict[str, float]],
        counts: dict[str, int],
        converged: bool,
    ) -> None:
        self._reader = reader
        self.classes_ = np.array(classes.tolist())
        self._used, self._weights = samples.used, dual.weights
        self._shares, self._shares_of = Shares.of(samples, dual.shares), self.multi_class
        self._counts = counts
        self.history_, self.converged_ = history, converged

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weight of each column for each label (L, F)."""
        self._check_fitted()
        weights = np.zeros((len(self.classes_), self._reader.width))
        weights[:, self._used] = self._weights[: len(self._used)].T
        return weights

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Weight of the column that is always 1, for each label (L,); zeros without it."""
        self._check_fitted()
        if len(self._weights) == len(self._used):
            return np.zeros(len(self.classes_))
        return np.array(self._weights[-1])

    @property
    def n_iter_(self) -> int:
        """How many rounds the last fit took."""
        self._check_fitted()
        return len(self.history_)

    @property
    def n_features_in_(self) -> int:
        """How many columns of numbers there are; for a model fitted on numbers alone."""
        if not self._is_fitted() or self._reader.form != "numbers":
            raise AttributeError(
                "LinearSVM has columns of numbers only after it was fitted on them"
            )
        return self._reader.width

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """What a data frame called its columns; for a model fitted on one alone."""
        if not self._is_fitted() or self._reader.names is None:
            raise AttributeError("LinearSVM has names of columns only after it was fitted on some")
        return np.array(self._reader.names, dtype=object)

    def feature_weights(self, label: Any, top: int | None = 20) -> list[tuple[str, float]]:
        """Return the features that speak most for a label, and most against it, by weight.

        Parameters
        ----------
        label
            One of `classes_`.
        top : int or None
            How many, by absolute weight; None for all.

        Examples
        --------
        >>> svm = LinearSVM().fit([["play", "it"], ["stop", "it"]], ["music", "halt"])
        >>> [name for name, weight in svm.feature_weights("halt", top=2)]
        ['stop', 'play']
        """
        self._check_fitted()
        classes = self.classes_.tolist()
        if label not in classes:
            owner = "LinearSVM.feature_weights"
            raise ParameterError.for_value(owner, "label", label, "one of classes_")
        weights = self._weights[: len(self._used), classes.index(label)]
        chosen = np.argsort(-np.abs(weights), kind="stable")[:top]
        chosen = chosen[np.argsort(-weights[chosen], kind="stable")]
        names = self._reader.feature_names()
        return [(names[self._used[place]], float(weights[place])) for place in chosen.tolist()]

    # What it says.

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of each label for each row (rows, L), columns as `classes_`.

        For two labels, as in scikit-learn, one number a row (rows,), above 0 where the second one
        is predicted: how far it is ahead, and with ``"ovr"`` its own score. Features that the model
        has never met are left out.

        Examples
        --------
        >>> rows = [["play", "it"], ["wake", "me"], ["stop", "it"]]
        >>> svm = LinearSVM().fit(rows, ["music", "alarm", "halt"])
        >>> svm.decision_function([["play", "me"]]).shape
        (1, 3)
        """
        scores = self._scores(X)
        if len(self.classes_) != 2:
            return scores
        if self._shares_of == "ovr":
            return np.ascontiguousarray(scores[:, 1])
        ahead: NDArray[np.float64] = scores[:, 1] - scores[:, 0]
        return ahead

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label with the highest score for each row.

        Examples
        --------
        >>> svm = LinearSVM().fit([[0.0, 1.0], [1.0, 0.0]], [7, 9])
        >>> svm.predict([[0.5, 0.1], [0.2, 0.3]]).tolist()
        [9, 7]
        """
        best = np.argmax(self._scores(X), axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose label is right.

        Rows whose label is None do not count. Labels that the model has never met count as wrong; a
        warning says how many there are.

        Examples
        --------
        >>> svm = LinearSVM().fit([["a"], ["b"]], ["X", "Y"])
        >>> svm.score([["a"], ["b"]], ["X", "X"])
        0.5
        """
        best = np.argmax(self._scores(X), axis=1)
        weights = sample_weights(sample_weight, len(best))
        codes, _ = flat_labels("LinearSVM", y, len(best), self.classes_.tolist())
        unseen = int(np.count_nonzero(codes == OTHER_LABEL))
        if unseen:
            warnings.warn(
                f"{unseen} labels are not among the classes of the model; they count as wrong.",
                UnseenWarning,
                stacklevel=2,
            )
        weights[codes == NO_LABEL] = 0.0
        total = float(np.sum(weights))
        if not total:
            raise InputError("LinearSVM.score needs at least one known label; y has none.")
        return float(np.sum(weights[codes == best])) / total

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Return the scores (rows, L); equal rows are looked at once."""
        self._check_fitted()
        rows = self._reader.read(X)
        columns, indptr = rows.columns, rows.indptr
        values = np.ones(len(columns)) if rows.values is None else rows.values
        if len(self._used) < rows.width:
            place = np.searchsorted(self._used, columns)
            held = np.append(self._used, rows.width)[place] == columns
            indptr = np.append(0, np.cumsum(held))[indptr]
            columns, values = place[held].astype(np.int32), values[held]
        scores = np.empty((rows.unique, len(self.classes_)))
        score_rows(indptr, columns, values, self._weights, scores)
        return (scores + self.intercept_)[rows.index]

    # Saving and taking back.

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take back a pickle; arrays of one that lies in a file may be read-only (joblib)."""
        vars(self).update(state)
        if self._is_fitted():
            self._weights = np.array(self._weights)

    def _to_state(self) -> State:
        self._check_fitted()
        state = State(
            arrays={"weights": self._weights, "used": self._used},
            settings={
                "classes": self.classes_.tolist(),
                "history": self.history_,
                "converged": self.converged_,
                "counts": self._counts,
                "shares_of": self._shares_of,
            },
        )
        state = state.join("reader", self._reader.to_state())
        return state.join("shares", self._shares.to_state())

    def _restore(self, state: State) -> None:
        settings, weights, used = state.settings, state.arrays["weights"], state.arrays["used"]
        self._reader = RowReader.from_state("LinearSVM", state.nested("reader"))
        self.classes_ = np.array(settings["classes"])
        self._used, self._weights = used, weights
        self._shares = Shares.from_state(state.nested("shares"))
        self._shares_of = settings["shares_of"]
        self._counts = settings["counts"]
        self.history_, self.converged_ = settings["history"], settings["converged"]
        # Kernels trust what they are given.
        columns = np.append(np.append(-1, used), self._reader.width)
        if used.ndim != 1 or np.any(np.diff(columns) <= 0):
            raise ValueError("the columns are out of order")
        labels = len(self.classes_)
        if weights.dtype != np.float64 or weights.shape not in (
            (len(used), labels),
            (len(used) + 1, labels),
        ):
            raise ValueError("the number or the type of the weights is wrong")
        if not self._shares.fit(labels):
            raise ValueError("the shares do not fit together")

    def _trained_on(self) -> dict[str, Any]:
        self._check_fitted()
        return {**self._counts, "seconds": self.history_[-1]["seconds"]}


def _tell_column(y: Any) -> None:
    shape: Any = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. It is taken as flat; give"
            " y.ravel().",
            DataConversionWarning.kind(),
            stacklevel=3,
        )


def _check_enough(
    rows: Rows, codes: NDArray[np.int32], classes: NDArray[Any], weights: NDArray[np.float64]
) -> None:
    if not rows.positions:
        raise InputError("LinearSVM.fit needs at least one row; X has none.")
    if not weights.any():
        raise InputError(
            "LinearSVM.fit: every weight in sample_weight is zero; nothing is left to learn."
        )
    unseen = int(np.count_nonzero(codes == OTHER_LABEL))
    if unseen:
        raise InputError(
            f"LinearSVM: {unseen} labels are not among the classes of the model. Fit anew."
        )
    if not np.any(codes >= 0):
        raise InputError("LinearSVM.fit needs at least one known label; all of y is None.")
    if classes.dtype.kind == "f" and np.any(classes != np.floor(classes)):
        raise InputError(
            "Unknown label type: y holds fractions, and LinearSVM tells labels apart. Give names or"
            " whole numbers."
        )
    if len(classes) == 1:
        warnings.warn(
            f"All known labels are {classes[0]!r}: the model will predict nothing else.",
            PurportWarning,
            stacklevel=3,
        )
