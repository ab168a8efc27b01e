"""Where chance comes from: what users give as `random_state`, checked, as a generator."""

from __future__ import annotations

import numpy as np

from purport.estimator.constraints import Either, Instance, Whole, check_parameters, optional

RandomState = int | np.random.Generator | None


def generator_of(owner: str, random_state: RandomState) -> np.random.Generator:
    """Return the generator of a `random_state`.

    Examples
    --------
    >>> generator_of("example", 0).integers(10) == np.random.default_rng(0).integers(10)
    np.True_
    """
    generator = Instance((np.random.Generator,), "a numpy.random.Generator")
    allowed = {"random_state": optional(Either((Whole(low=0), generator)))}
    check_parameters(owner, {"random_state": random_state}, allowed)
    return np.random.default_rng(random_state)
