"""Roots of many increasing functions at once."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

_TOLERANCE = 2e-15
"""Relative to the root, but absolute for roots below 1."""
_MOST_STEPS = 200
"""Bisection alone would need sixty steps."""


def roots(
    function: Callable[[Floats, Rows], Floats], low: Floats, high: Floats, ends: tuple[Floats, Floats], guess: Floats
) -> Floats:
    """Return the largest number known to be at or below each root, by Chandrupatla's method.

    The method uses inverse quadratic interpolation where it is reliable, and bisection elsewhere (Chandrupatla, "A
    new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function without using derivatives",
    1997). A row that has its root is not iterated further, so that no row depends on the others.

    Args:
        function: Returns the values of the given rows, at one number each.
        low: Where each function is at most zero.
        high: Where each function is above zero.
        ends: The values at ``low`` and ``high``.
        guess: Initial guesses.
    """
    result = low.copy()
    rows: Rows = np.arange(len(low))
    # x1 and x2 enclose the root; x3 is the point before. State: x1, x2, x3, f1, f2, f3, share of the next step.
    share = np.clip((high - guess) / (high - low), 0.01, 0.99)
    state = np.array([high, low, low, ends[1], ends[0], ends[0], share])
    for _ in range(_MOST_STEPS):
        if not len(rows):
            break
        x = state[0] + state[6] * (state[1] - state[0])
        state = _enclose(state, x, function(x, rows))
        result[rows] = np.where(state[3] <= 0, state[0], state[1])
        smallest = _smallest_share(state)
        unfinished = (smallest < 0.5) & (state[3] != 0)
        state, rows = state[:, unfinished], rows[unfinished]
        state[6] = _next_share(state, smallest[unfinished])
    return result


def _enclose(state: Floats, x: Floats, f: Floats) -> Floats:
    """Return the state with a new point as x1."""
    x1, x2, _, f1, f2, _, share = state
    same = (f > 0) == (f1 > 0)
    x3, f3 = np.where(same, x1, x2), np.where(same, f1, f2)
    return np.array([x, np.where(same, x2, x1), x3, f, np.where(same, f2, f1), f3, share])


def _smallest_share(state: Floats) -> Floats:
    """Return the tolerance as a share of the interval; the interval is narrow enough from one half on."""
    x1, x2 = state[:2]
    width = np.maximum(np.abs(x2 - x1), np.finfo(np.float64).tiny)
    return np.asarray(_TOLERANCE * np.maximum(1.0, np.abs(x1)) / width)


def _next_share(state: Floats, smallest: Floats) -> Floats:
    """Return the next step from x1 towards x2 as a share: interpolated through three points, or one half."""
    x1, x2, x3, f1, f2, f3, _ = state
    with np.errstate(divide="ignore", invalid="ignore"):
        xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
        interpolated = f1 / (f1 - f2) * f3 / (f3 - f2) - (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f2 - f3)
        is_trusted = (1 - np.sqrt(1 - xi) < phi) & (phi < np.sqrt(xi)) & np.isfinite(interpolated)
    return np.clip(np.where(is_trusted, interpolated, 0.5), smallest, 1 - smallest)
