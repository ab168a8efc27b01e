"""Models of sessions by name: which there are, what each takes, where each starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from purport.errors import InputError
from purport.estimator.progress import Verbosity
from purport.sequence.crf import CRF
from purport.sequence.ldcrf import LDCRF
from purport.sequence.shdcrf import SHDCRF
from purport.study.defaults import L2_HIDDEN, L2_OF_STEPS, MAX_ITER, TOL_HIDDEN

SequenceModel = CRF | LDCRF | SHDCRF
Name = Literal["crf", "ldcrf", "shdcrf"]
Semi = Literal["self-training", "free-sum"]

PENALTIES: Final[dict[Name, float]] = {"crf": L2_OF_STEPS, "ldcrf": L2_HIDDEN, "shdcrf": L2_HIDDEN}
"""The weight of the squares where nothing is said."""

TAKEN_BY: Final[dict[str, tuple[Name, ...]]] = {
    "l1": ("crf",),
    "states": ("shdcrf",),
    "states_per_label": ("ldcrf",),
    "sparsity": ("shdcrf",),
    "restarts": ("ldcrf", "shdcrf"),
    "semi": ("shdcrf",),
}
"""Options that not every model takes."""


@dataclass(frozen=True)
class Choice:
    """A model of sessions and what was said about it; None leaves the model its own value.

    Attributes
    ----------
    model : "crf", "ldcrf" or "shdcrf"
        Which.
    l2 : float, optional
        Weight of the squares.
    l1 : float, optional
        Weight of the absolute values.
    max_iter : int
        Most iterations.
    states, states_per_label : int, optional
        Hidden states, in all or of each label.
    sparsity : float, optional
        What keeps the labels of a state few.
    restarts : int, optional
        From so many starts.
    semi : "self-training" or "free-sum", optional
        How sessions without labels are learnt from.
    seed : int, optional
        Decides what is left to chance.

    Examples
    --------
    >>> Choice("shdcrf", states=24).make()
    SHDCRF(states=24, l2=0.3, max_iter=500, tol=0.0001, semi='self-training')
    """

    model: Name
    l2: float | None = None
    l1: float | None = None
    max_iter: int = MAX_ITER
    states: int | None = None
    states_per_label: int | None = None
    sparsity: float | None = None
    restarts: int | None = None
    semi: Semi | None = None
    seed: int | None = None

    def make(self, n_threads: int | None = None, verbose: Verbosity = False) -> SequenceModel:
        """Return the model, not yet trained; what it does not take is refused.

        Examples
        --------
        >>> Choice("crf").make(n_threads=2)
        CRF(max_iter=500, n_threads=2)
        """
        said = {name: getattr(self, name) for name in TAKEN_BY}
        said = {name: value for name, value in said.items() if value is not None}
        for name in said:
            if self.model not in TAKEN_BY[name]:
                raise InputError(not_taken(f"--{name.replace('_', '-')}", TAKEN_BY[name]))
        l2 = PENALTIES[self.model] if self.l2 is None else self.l2
        said |= {"l2": l2, "max_iter": self.max_iter, "random_state": self.seed}
        said |= {"n_threads": n_threads, "verbose": verbose}
        if self.model == "crf":
            return CRF(**said)
        if self.model == "ldcrf":
            return LDCRF(tol=TOL_HIDDEN, **said)
        return SHDCRF(tol=TOL_HIDDEN, **{"semi": "self-training", **said})


def not_taken(option: str, takers: tuple[Name, ...]) -> str:
    """Say that an option does not go with the model.

    Examples
    --------
    >>> not_taken("--states", ("shdcrf",))
    '--states goes with --model shdcrf alone. Leave it out, or choose that model.'
    """
    if len(takers) == 1:
        return f"{option} goes with --model {takers[0]} alone. Leave it out, or choose that model."
    return f"{option} goes with --model {' or '.join(takers)}. Leave it out, or choose one of them."
