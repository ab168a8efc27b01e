"""The shared trainer: progress, a history, and the last finished weights kept."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from purport.errors import ConvergenceWarning, InputError
from purport.estimator.progress import Verbosity, progress
from purport.fold.blas import one_blas_thread
from purport.optimize.lbfgs import Objective, minimise

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Watch:
    """Something that shall rise while a model learns, and for how long it may fail to.

    Attributes
    ----------
    measure : callable
        Gives it for weights.
    patience : int
        Iterations.
    """

    measure: Callable[[NDArray[np.float64]], float]
    patience: int


Keep = Callable[["NDArray[np.float64]", list[dict[str, float]], bool], None]


def train(
    owner: str,
    objective: Objective,
    start: NDArray[np.float64],
    keep: Keep,
    *,
    l1: float,
    max_iter: int,
    tol: float,
    n_threads: int,
    verbose: Verbosity = False,
    watch: Watch | None = None,
) -> None:
    """Minimise an objective and hand every finished iteration to `keep`.

    BLAS is held to one thread, so that the bits do not depend on its number. An interruption passes
    through; what `keep` got last is then the model.

    Parameters
    ----------
    owner : str
        Whom messages speak of.
    objective : callable
        Value and gradient.
    start : (n,) float64
        The first weights.
    keep : callable
        Takes the weights, the history so far and whether a stopping rule was met.
    l1, max_iter, tol, n_threads
        As for `minimise`.
    verbose : bool, "bar" or "lines"
        Shows progress.
    watch : Watch, optional
        Stops early; `keep` then gets the weights for which it was highest.
    """
    history: list[dict[str, float]] = []
    began = time.perf_counter()
    converged = False
    best, best_number, best_weights = -math.inf, 0, start
    # The search copes with an objective that is not finite; NumPy need not tell of it too.
    quiet = np.errstate(over="ignore", invalid="ignore")
    with one_blas_thread(), quiet, progress(f"{owner}.fit", max_iter, verbose) as shown:
        search = minimise(objective, start, l1=l1, max_iter=max_iter, tol=tol, n_threads=n_threads)
        for number, now in enumerate(search):
            if not math.isfinite(now.value + now.gradient_norm):
                raise InputError(
                    f"{owner}.fit: the objective is too large for float64. Scale the values of the"
                    " features, and the weights of the sequences, to less than a million."
                )
            facts = {
                "objective": now.value,
                "seconds": time.perf_counter() - began,
                "gradient_norm": now.gradient_norm,
                "step": now.step,
                "evaluations": now.evaluations,
            }
            if watch is not None:
                facts["dev_log_likelihood"] = risen = watch.measure(now.x)
                if risen > best:
                    best, best_number, best_weights = risen, number, now.x.copy()
            # A new list: what was kept before an interruption stays as it was.
            history = [*history, facts]
            converged = now.converged
            keep(now.x, history, converged)
            shown.advance(number, f"objective {now.value:.6g}")
            if watch is not None and number - best_number >= watch.patience:
                converged = True
                break
    if watch is not None:
        keep(best_weights, history, converged)
    if not converged:
        warnings.warn(
            f"{owner} stopped at max_iter={max_iter} before it converged to tol={tol:g}."
            " Raise max_iter, or tol if the fit is good enough.",
            ConvergenceWarning,
            stacklevel=4,
        )
