"""What the scaled kernels do to the lanes of one state: the innermost loops of the chain.

Each is compiled into its caller with the promise that no array shares memory with one that is
written. Without it the compiler checks that before every loop, which takes longer than the loop. A
flag that is a constant at the call costs nothing.

Symbols: B lanes; x0 to x3 the rows of four states at the other end of arcs, d0 to d3 the arcs.
"""

from __future__ import annotations

from purport.fold.kernel import Floats, kernel


@kernel(reassociate=True, distinct=True)
def add_four(
    sums: Floats,  # (B,) in and out
    begins: bool,
    x0: Floats,
    x1: Floats,
    x2: Floats,
    x3: Floats,
    d0: float,
    d1: float,
    d2: float,
    d3: float,
) -> None:
    """Add four rows times numbers to the sums, or begin the sums with them."""
    for b in range(len(sums)):
        before = 0.0 if begins else sums[b]
        sums[b] = before + (d0 * x0[b] + d1 * x1[b] + d2 * x2[b] + d3 * x3[b])


@kernel(reassociate=True, distinct=True)
def reach(
    out: Floats,  # (B,) out
    total: Floats,  # (B,) added to
    emitted: Floats,  # (B,)
    scale: Floats,  # (B,)
    sums: Floats,  # (B,)
    one_plus: float,
) -> None:
    """Close the sum over arcs: out is what reaches the state, and grows the step's total."""
    for b in range(len(out)):
        x = emitted[b] * (one_plus + scale[b] * sums[b])
        out[b] = x
        total[b] += x


@kernel(reassociate=True, distinct=True)
def reach_by_four(
    out: Floats,  # (B,) out
    total: Floats,  # (B,) added to
    emitted: Floats,  # (B,)
    scale: Floats,  # (B,)
    one_plus: float,
    x0: Floats,
    x1: Floats,
    x2: Floats,
    x3: Floats,
    d0: float,
    d1: float,
    d2: float,
    d3: float,
) -> None:
    """Begin and close the sum at once, for the many states that have no more than four arcs."""
    for b in range(len(out)):
        reached = d0 * x0[b] + d1 * x1[b] + d2 * x2[b] + d3 * x3[b]
        x = emitted[b] * (one_plus + scale[b] * reached)
        out[b] = x
        total[b] += x


@kernel(reassociate=True, distinct=True)
def reach_times(
    out: Floats,  # (B,) out
    total: Floats,  # (B,) added to
    emitted: Floats,  # (B,)
    factor: float,
) -> None:
    """Fill out with the emission times a number, and add it to the step's total."""
    for b in range(len(out)):
        x = emitted[b] * factor
        out[b] = x
        total[b] += x


@kernel(reassociate=True, distinct=True)
def reach_product(
    out: Floats,  # (B,) in and out
    total: Floats,  # (B,) added to
    emitted: Floats,  # (B,)
    scale: Floats,  # (B,)
) -> None:
    """Scale and emit what a matrix product has brought, and add it to the step's total."""
    for b in range(len(out)):
        x = out[b] * emitted[b] * scale[b]
        out[b] = x
        total[b] += x


@kernel(distinct=True)
def multiply(
    out: Floats,  # (B,) out
    x: Floats,  # (B,)
    y: Floats,  # (B,)
) -> None:
    """Fill out with x y."""
    for b in range(len(out)):
        out[b] = x[b] * y[b]


@kernel(reassociate=True, distinct=True)
def count_four(
    beta: Floats,  # (B,) in and out
    begins: bool,
    total: Floats,  # (B,)
    scale: Floats,  # (B,)
    weighed: Floats,  # (B,)
    x0: Floats,
    x1: Floats,
    x2: Floats,
    x3: Floats,
    d0: float,
    d1: float,
    d2: float,
    d3: float,
) -> tuple[float, float, float, float]:
    """Add four arcs of a state to beta, which `total` begins, and return how often each is used."""
    p0, p1, p2, p3 = 0.0, 0.0, 0.0, 0.0
    for b in range(len(beta)):
        w, y0, y1, y2, y3 = weighed[b], x0[b], x1[b], x2[b], x3[b]
        p0 += w * y0
        p1 += w * y1
        p2 += w * y2
        p3 += w * y3
        before = total[b] if begins else beta[b]
        beta[b] = before + scale[b] * (d0 * y0 + d1 * y1 + d2 * y2 + d3 * y3)
    return p0, p1, p2, p3


@kernel(reassociate=True, distinct=True)
def finish_state(
    posterior: Floats,  # (B,) a in, posterior out
    emitted: Floats,  # (B,) psi in, v out
    total: Floats,  # (B,) added to
    beta: Floats,  # (B,)
    scale: Floats,  # (B,)
) -> None:
    """Turn a into the posterior and psi into v, and add v to the step's total."""
    for b in range(len(posterior)):
        posterior[b] *= beta[b] * scale[b]
        x = emitted[b] * beta[b]
        emitted[b] = x
        total[b] += x
