"""The linear-chain conditional random field: `CRF`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from purport.errors import InputError, ParameterError
from purport.estimator.constraints import (
    BOOLEAN,
    Constraint,
    Either,
    Instance,
    Number,
    OneOf,
    Whole,
    optional,
)
from purport.estimator.progress import Verbosity
from purport.features.encoders import Encoder
from purport.features.rows import Rows
from purport.features.sensor_windows import SensorWindows
from purport.features.session_windows import SessionWindows
from purport.features.token_windows import TokenWindows
from purport.fold.engine import Engine
from purport.fold.thread_engine import available_cores
from purport.lattice.transitions import Arcs
from purport.sequence.given import Given, check_enough
from purport.sequence.growth import grow
from purport.sequence.inputs import (
    Windows,
    brings_labels,
    check_form,
    form_of,
    known_of,
    make_encoder,
    prepared,
    sequence_weights,
    soft_of,
)
from purport.sequence.labels import UNKNOWN, LabelCodes, with_shares
from purport.sequence.likelihood import NegativeLogLikelihood
from purport.sequence.observed import observed_arcs, observed_counts, observed_layout
from purport.sequence.online import Online
from purport.sequence.partitions import make_partitions
from purport.sequence.passes import Passes, reader_of
from purport.sequence.rules import ForbidConstraint, Forbidden, Rules
from purport.sequence.scorer import Layout
from purport.sequence.training import Watch, train
from purport.sequence.weights import LearntWeights

if TYPE_CHECKING:
    from numpy.typing import NDArray


class CRF(LearntWeights):
    """Linear-chain conditional random field, trained by L-BFGS on the exact likelihood.

    Minimises the negative log-likelihood plus ``l2`` times the sum of squares plus ``l1`` times the
    sum of absolute values: the objective of CRFsuite, with the same features and the same optimum.

    Parameters
    ----------
    l2 : float, default 1.0
        Weight of the sum of squares; CRFsuite's ``c2``.
    l1 : float, default 0.0
        Weight of the sum of absolute values; CRFsuite's ``c1``. Above 0 most weights become exactly
        0.
    max_iter : int, default 100
        Most iterations.
    tol : float, default 1e-5
        Stop when the gradient's norm is at most `tol` times that of the weights, or when the
        objective fell by less than the share `tol` over 10 iterations.
    features : TokenWindows, SessionWindows or SensorWindows, optional
        How rows are made from records; None takes ``TokenWindows()`` for utterances and
        ``SessionWindows()`` for sessions. Lists bring their own features.
    forbid : "bio" or list of (label, next label), optional
        Pairs of labels that never follow each other, in training and in all that is predicted;
        None as the first or second is what is before or after the sequence. ``"bio"`` forbids an
        ``I-x`` that does not follow ``B-x`` or ``I-x``.
    all_possible_states, all_possible_transitions : bool, default False
        Give weights also to pairs (feature, label) and (label, label) that never occur.
    min_freq : float, default 0
        Leave out pairs (feature, label) and (label, label) that occur less often.
    patience : int, default 10
        With ``fit(dev=...)``: stop when the likelihood of these data has not risen for so many
        iterations.
    batch_size : int, default 64
        For `partial_fit` and `fit_batches`: after so many sequences the weights are changed.
    learning_rate : float, default 1.0
        For the same: how large the changes are.
    n_threads : int, optional
        Threads; None takes all cores. The result does not depend on it.
    random_state : int, optional
        Decides the order in which `partial_fit` takes the sequences of a batch; `fit` uses no
        random numbers.
    verbose : bool, "bar" or "lines", default False
        Show progress.
    algorithm, c1, c2, max_iterations, num_memories, epsilon, delta, period, linesearch,
    max_linesearch
        Names of sklearn-crfsuite, so that its code works here: ``c1``, ``c2`` and
        ``max_iterations`` stand for `l1`, `l2` and `max_iter`; the smaller of ``epsilon`` and
        ``delta`` for `tol`. Only ``algorithm="lbfgs"`` is built. The line search and the number of
        memories change the way, not the optimum, and are ours.

    Attributes
    ----------
    classes_ : (L,) array of str
        The labels, sorted.
    transitions_ : (L, L) float64
        Weight of each pair of labels, from row to column.
    history_ : list of dict
        One an iteration, the start first: objective, seconds, gradient_norm, step, evaluations.
    converged_ : bool
        Whether a stopping rule was met; False after an interruption.
    n_features_ : int
        Weights that are not 0.

    Examples
    --------
    >>> X = [[["w=play"], ["w=some"], ["w=jazz"]], [["w=play"], ["w=blues"]]]
    >>> y = [["O", "O", "B-genre"], ["O", "B-genre"]]
    >>> crf = CRF(l2=0.1).fit(X, y)
    >>> crf.predict([[["w=some"], ["w=blues"]]])
    [['O', 'B-genre']]
    """

    _constraints: ClassVar[Mapping[str, Constraint]] = {
        "l2": Number(low=0.0),
        "l1": Number(low=0.0),
        "max_iter": Whole(low=1),
        "tol": Number(low=0.0),
        "features": optional(
            Instance(
                (TokenWindows, SessionWindows, SensorWindows),
                "TokenWindows(...) or SessionWindows(...) or SensorWindows(...)",
            )
        ),
        "forbid": ForbidConstraint(),
        "all_possible_states": optional(BOOLEAN),
        "all_possible_transitions": optional(BOOLEAN),
        "min_freq": optional(Number(low=0.0)),
        "patience": Whole(low=1),
        "batch_size": Whole(low=1),
        "learning_rate": Number(low=0.0, above=True),
        "n_threads": optional(Whole(low=1)),
        "random_state": optional(Whole(low=0)),
        "verbose": optional(Either((BOOLEAN, OneOf(("bar", "lines"))))),
        "algorithm": OneOf((None, "lbfgs")),
        "c1": optional(Number(low=0.0)),
        "c2": optional(Number(low=0.0)),
        "max_iterations": optional(Whole(low=1)),
        "num_memories": optional(Whole(low=1)),
        "epsilon": optional(Number(low=0.0)),
        "delta": optional(Number(low=0.0)),
        "period": optional(Whole(low=1)),
        "linesearch": OneOf((None, "MoreThuente", "Backtracking", "StrongBacktracking")),
        "max_linesearch": optional(Whole(low=1)),
    }

    def __init__(
        self,
        l2: float = 1.0,
        l1: float = 0.0,
        max_iter: int = 100,
        tol: float = 1e-5,
        *,
        features: Windows | None = None,
        forbid: Forbidden | None = None,
        all_possible_states: bool | None = False,
        all_possible_transitions: bool | None = False,
        min_freq: float | None = 0,
        patience: int = 10,
        batch_size: int = 64,
        learning_rate: float = 1.0,
        n_threads: int | None = None,
        random_state: int | None = None,
        verbose: Verbosity | None = False,
        algorithm: str | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        period: int | None = None,
        linesearch: str | None = None,
        max_linesearch: int | None = None,
    ) -> None:
        self.l2 = l2
        self.l1 = l1
        self.max_iter = max_iter
        self.tol = tol
        self.features = features
        self.forbid = forbid
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.min_freq = min_freq
        self.patience = patience
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.algorithm = algorithm
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.num_memories = num_memories
        self.epsilon = epsilon
        self.delta = delta
        self.period = period
        self.linesearch = linesearch
        self.max_linesearch = max_linesearch

    # Learning from all data at once.

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Sequence[float] | NDArray[np.float64] | None = None,
        warm_start: bool = False,
        engine: Engine | None = None,
        *,
        soft: Any = None,
        dev: Any = None,
        groups: Any = None,
        classes: Sequence[Any] | None = None,
    ) -> Self:
        """Learn from labelled sequences.

        Parameters
        ----------
        X : list of sequences, Utterances, Sessions, or rows of numbers
            A sequence is a list of positions; a position is a list of feature strings or a dict.
        y : list of lists of str, optional
            One label a position; None where it is not known, a set of labels where one of them is
            right. Records bring their labels. For rows of numbers one label a row.
        sample_weight : (N,) numbers, optional
            How often each sequence counts; those that count 0 times say nothing.
        warm_start : bool
            Start from the present weights, with the same labels and features.
        engine : engine, optional
            Where to work; None is ``threads(n_threads)``.
        soft : list of (T, L) arrays or None, optional
            How probable each label is at each position, columns as `classes_`; such a sequence
            counts as all its labellings do together, each times its probability, and what y says of
            it does not count. None keeps to y.
        dev : (X, y) or (X, y, groups) or records, optional
            Data to stop early on: the weights kept are those with the highest likelihood of them.
        groups : (rows,) values, optional
            For rows of numbers: the sequence of each.
        classes : list, optional
            The labels there are; None takes those of y.

        Returns
        -------
        CRF
            Itself.

        Examples
        --------
        >>> X = [[{"word": "stop", "first": True}, {"word": "now"}]]
        >>> CRF().fit(X, [["B-halt", "O"]]).classes_.tolist()
        ['B-halt', 'O']
        >>> shares = np.array([[0.9, 0.1], [0.2, 0.8]])
        >>> soft = CRF().fit(X, soft=[shares], classes=["B-halt", "O"])
        >>> soft.predict(X)
        [['B-halt', 'O']]
        """
        self._check_parameters()
        if not isinstance(warm_start, bool):
            raise InputError(
                "CRF.fit: warm_start must be True or False. Data to stop early on are given as"
                " dev=(X_dev, y_dev)."
            )
        with self._all_or_nothing(engine) as working:
            given = self._given(X, y, sample_weight, warm_start, soft, groups, classes)
            check_enough("CRF", given)
            if not warm_start:
                self._begin(given)
            self._counts = given.counts()
            self._online = None
            self._keep(self._theta, [], converged=False)
            watch = None if dev is None else self._watch(dev, working, groups is not None)
            self._train(given, working, watch)
        return self

    def _given(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        continues: bool,
        soft: Any,
        groups: Any,
        classes: Sequence[Any] | None,
        encoder: Encoder | None = None,
    ) -> Given:
        """Turn what the user gave into rows, labels and weights."""
        if continues:
            self._check_fitted()
            check_form("CRF", self._form, X)
            rows = self._rows(X, groups)
            encoder, classes = self._encoder, self.classes_.tolist()
        else:
            X = prepared("CRF", X, groups)
            encoder = make_encoder("CRF", X, self.features)
            rows = encoder.fit_transform(X)
            classes = _sorted_classes(classes)
        weights = sequence_weights(sample_weight, len(rows))
        if soft is not None and y is None and not brings_labels(X):
            if classes is None:
                raise InputError(
                    "CRF.fit: soft= has one column a label, but without y nobody says which. Give"
                    " classes=, the labels of the columns, sorted."
                )
            coded = _nothing_known(rows, classes)
        else:
            coded = known_of("CRF", X, y, rows.offsets, classes, weights > 0.0)
        if classes is not None and coded.unseen:
            raise InputError(
                f"CRF: {coded.unseen} labels are not among the classes"
                f"{_LATER_LABELS if continues else ' given.'}"
            )
        if soft is not None:
            coded = with_shares(coded, soft_of(X, soft, rows.offsets))
        return Given(rows, coded, weights, encoder, form_of(X))

    def _begin(self, given: Given) -> None:
        """Decide what has a weight, and start at zero."""
        rules = Rules.of(self.forbid, given.coded.classes)
        if rules is not None:
            rules.check(given.rows, given.coded, given.weights > 0.0)
        layout, arcs = self._choose_weights(given)
        # All at once, so that an interruption leaves either the old model or the new one.
        self._encoder, self._form = given.encoder, given.form
        self.classes_ = np.array(given.coded.classes)
        self._layout, self._arcs = layout, arcs if rules is None else rules.keep(arcs)
        self._rules = rules
        self._theta = np.zeros(len(self._layout) + len(self._arcs))

    def _choose_weights(self, given: Given) -> tuple[Layout, Arcs]:
        """Decide which pairs of features and labels, and of labels, have a weight."""
        rows, coded, least = given.rows, given.coded, self.min_freq or 0.0
        states = len(coded.classes)
        if self.all_possible_states and not least:
            layout = Layout.complete(rows.width, states)
        else:
            layout = observed_layout(rows, coded, least)
        if self.all_possible_transitions and not least:
            return layout, Arcs.all(states)
        return layout, observed_arcs(rows, coded, least)

    def _objective(self, given: Given, l2: float, engine: Engine) -> NegativeLogLikelihood:
        return NegativeLogLikelihood(
            make_partitions(given.rows, given.coded, given.weights, self._layout),
            observed_counts(given.rows, given.coded, given.weights, self._layout, self._arcs),
            self._layout,
            self._arcs,
            l2,
            engine,
            self._rules,
        )

    def _watch(self, dev: Any, engine: Engine, grouped: bool = False) -> Watch:
        """Return what gives the mean log-likelihood of a position of the dev data."""
        parts = isinstance(dev, tuple) and len(dev) in (2, 3)
        X, y, groups = (*dev, None)[:3] if parts else (dev, None, None)
        check_form("CRF", self._form, X)
        if grouped and groups is None:
            raise InputError(
                "CRF.fit: X came with groups=, the rows of dev come without. Give"
                " dev=(X_dev, y_dev, groups_dev)."
            )
        rows = self._rows(X, groups)
        coded = known_of("CRF", X, y, rows.offsets, self.classes_.tolist())
        positions = int(np.count_nonzero(coded.told))
        if not positions:
            raise InputError("CRF.fit: the dev data have no label that the model knows.")
        given = Given(rows, coded, np.ones(len(rows)), self._encoder, self._form)
        objective = self._objective(given, 0.0, engine)
        return Watch(lambda theta: -objective(theta)[0] / positions, self.patience)

    def _train(self, given: Given, engine: Engine, watch: Watch | None) -> None:
        stops = [tol for tol in (self.epsilon, self.delta) if tol is not None]
        train(
            "CRF",
            self._objective(given, self._l2, engine),
            self._theta,
            self._keep,
            l1=self._l1,
            max_iter=self.max_iter if self.max_iterations is None else self.max_iterations,
            tol=min(stops) if stops else self.tol,
            n_threads=self.n_threads or available_cores(),
            verbose=self.verbose or False,
            watch=watch,
        )

    @property
    def _l2(self) -> float:
        return self.l2 if self.c2 is None else self.c2

    @property
    def _l1(self) -> float:
        return self.l1 if self.c1 is None else self.c1

    # Learning from one batch after the other.

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: Sequence[Any] | None = None,
        sample_weight: Sequence[float] | NDArray[np.float64] | None = None,
        *,
        groups: Any = None,
        engine: Engine | None = None,
    ) -> Self:
        """Go on learning from more labelled sequences, each looked at once.

        The first call learns the features and the labels; later calls leave out features that it
        did not show (windows with ``hash_bits`` leave out none). Weights for new pairs of features
        and labels are added. `l1` and `l2` count once for all calls together.

        Parameters
        ----------
        X, y, sample_weight, groups, engine
            As in `fit`.
        classes : list, optional
            All labels there will be, in the first call; None takes those of y.

        Examples
        --------
        >>> X, y = [[["w=play"], ["w=jazz"]]], [["O", "B-genre"]]
        >>> crf = CRF(l2=0.01)
        >>> for _ in range(10):
        ...     crf = crf.partial_fit(X, y)
        >>> crf.predict(X)
        [['O', 'B-genre']]
        """
        self._check_parameters()
        self._check_online()
        continues = self._is_fitted()
        if (
            continues
            and classes is not None
            and list(_sorted_classes(classes) or []) != (self.classes_.tolist())
        ):
            raise InputError(
                "CRF.partial_fit: classes= differ from those of the first call. Leave them out."
            )
        with self._all_or_nothing(engine) as working:
            given = self._given(X, y, sample_weight, continues, None, groups, classes)
            if not continues:
                check_enough("CRF", given)
                self._begin(given)
                self._counts, self._online = {}, None
                self._keep(self._theta, [], converged=True)
            self._learn_batch(given, working)
            for name, count in given.counts().items():
                self._counts[name] = self._counts.get(name, 0) + count
        return self

    def fit_batches(
        self,
        read: Callable[[], Iterable[Any]] | list[Any],
        passes: int = 3,
        *,
        classes: Sequence[Any] | None = None,
        dev: Any = None,
        engine: Engine | None = None,
    ) -> Self:
        """Learn from more data than memory holds.

        The first look at the data learns features and labels, each of the `passes` after it the
        weights. Memory is bounded by one batch and the weights.

        Parameters
        ----------
        read : callable or list
            Gives the batches, the same each time it is called: records with labels, or pairs
            (X, y). Batches without labels teach features only. A list holds them all.
        passes : int
            How often the data are gone through; the last one ends it.
        classes : list, optional
            As in `partial_fit`.
        dev : (X, y) or records, optional
            The weights kept are those of the pass after which these data were most likely.
        engine : engine, optional
            As in `fit`.

        Examples
        --------
        >>> from purport.records.utterances import Utterances
        >>> talk = Utterances.from_lists([["to", "rome"]] * 50, slots=[["O", "B-city"]] * 50)
        >>> crf = CRF(l2=0.01).fit_batches(lambda: [talk[:25], talk[25:]])
        >>> crf.predict(talk[:1])
        [['O', 'B-city']]
        """
        self._check_parameters()
        if not Whole(1).allows(passes):
            raise ParameterError.for_value("CRF.fit_batches", "passes", passes, Whole(1).words())
        self._check_online()
        with self._all_or_nothing(engine) as working:
            self._fit_passes(Passes(reader_of(read), passes, classes), dev, working)
        return self

    def _check_online(self) -> None:
        if self.min_freq:
            raise InputError(
                "CRF: min_freq counts pairs in all data at once, which batches do not show. Leave"
                " it out, or give windows with min_count."
            )

    def _fit_passes(self, data: Passes, dev: Any, engine: Engine) -> None:
        first = data.learn_columns(self.features)
        self._encoder, self._form = first.encoder, first.form
        self.classes_ = np.array(first.classes)
        self._rules = Rules.of(self.forbid, first.classes)
        nothing = np.zeros(0, np.int32)
        states = len(first.classes)
        self._layout = Layout.of(states, np.zeros(self._encoder.width + 1, np.int64), nothing)
        self._arcs = Arcs(states, nothing, nothing, 0.0)
        self._counts, self._online = first.counts, None
        self._keep(np.zeros(0), [], converged=False)
        best, best_theta, seen = -np.inf, self._theta, 0
        for number, batches in data.repeat(first.counts["sequences"], self.verbose or False):
            loss = 0.0
            for X, y in batches:
                given = self._given(X, y, None, True, None, None, None)
                seen += len(given.rows)
                loss += self._learn_batch(given, engine, first.counts["sequences"])
            told = {"objective": loss, "seconds": data.seconds, "sequences": seen}
            if dev is not None:
                told["dev_log_likelihood"] = now = self._watch(dev, engine).measure(self._theta)
                if now <= best:
                    self._keep(best_theta, [*self.history_, told], converged=True)
                    return
                best, best_theta = now, self._theta
            self._keep(self._theta, [*self.history_, told], converged=number == data.passes)

    def _learn_batch(self, given: Given, engine: Engine, of: int = 0) -> float:
        """Take in a batch `of` so many sequences in all, and return its loss on the way."""
        if self._rules is not None:
            self._rules.check(given.rows, given.coded, given.weights > 0.0)
        if self._online is None:
            self._online = Online.at(self._theta, self.learning_rate, self._l1, self._l2)
        self._grow(given)
        self._online.of = of
        loss = self._online.learn(
            given,
            self._layout,
            self._arcs,
            self._rules,
            engine,
            batch_size=self.batch_size,
            seed=self.random_state or 0,
            l1=self._l1,
            l2=self._l2,
        )
        self._keep(self._online.mean.copy(), self.history_, self.converged_)
        return loss

    def _grow(self, given: Given) -> None:
        """Give weights to the pairs that only this batch shows."""
        layout, arcs = self._choose_weights(given)
        if self._rules is not None:
            arcs = self._rules.keep(arcs)
        grown = grow(self._layout, self._arcs, layout, arcs)
        if len(grown.places) == len(grown.layout) + len(grown.arcs):
            return
        assert self._online is not None
        self._online.rearrange(grown.spread)
        theta = grown.spread(self._theta)
        self._layout, self._arcs = grown.layout, grown.arcs
        self._keep(theta, self.history_, self.converged_)


_LATER_LABELS = (
    " of the model. Fit anew; for partial_fit, give classes= (all labels there will be) in the"
    " first call."
)


def _sorted_classes(classes: Sequence[Any] | None) -> list[Any] | None:
    if classes is None:
        return None
    listed = np.asarray(classes).tolist() if not isinstance(classes, list) else classes
    if sorted(set(listed)) != listed:
        raise InputError("classes= must be sorted, without a label twice, as classes_ will be.")
    return listed


def _nothing_known(rows: Rows, classes: Sequence[Any]) -> LabelCodes:
    return LabelCodes(np.full(rows.positions, UNKNOWN, np.int32), rows.offsets, list(classes))
