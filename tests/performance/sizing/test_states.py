"""The closed forms of what is beyond a full batch, against sums of fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest

from components.performance.sizing.arrays.roots import roots
from components.performance.sizing.arrays.states import States

ROOM = 10
LOADS = [1e-9, 1e-3, 0.3, 0.9, 0.99, 0.9999, 1 - 1e-9, 1.0, 1 + 1e-9, 1.001, 1.5, 30.0]
PROFILES = [(1.0, 1.0, 1), (1.0, 0.5, 2), (0.0, 2.0, 3), (5.0, 0.0, 3), (7.0, 0.25, 8)]


def exactly(alpha: float, beta: float, batch: int, log_load: float) -> tuple[Fraction, Fraction, Fraction]:
    """Return others, completions ahead, and the busy share: sums over all states."""
    load, full = Fraction(math.exp(log_load)), Fraction(alpha) + Fraction(beta) * batch
    weights = [Fraction(1)]
    for n in range(1, ROOM * batch + 1):
        at_once = min(n, batch)
        slower = (Fraction(alpha) + Fraction(beta) * at_once) * batch / (at_once * full)
        weights.append(weights[-1] * load * slower)
    accepting = weights[:-1]
    others = sum(min(n, batch - 1) * weight for n, weight in enumerate(accepting)) / sum(accepting)
    ahead = sum(max(n - batch + 1, 0) * weight for n, weight in enumerate(accepting)) / sum(accepting)
    return Fraction(others), Fraction(ahead), 1 - weights[0] / sum(weights)


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize(("alpha", "beta", "batch"), PROFILES)
def test_sums_lose_no_digits(alpha: float, beta: float, batch: int, load: float) -> None:
    """Also where the terms of a closed form nearly cancel: at a load of almost 1."""
    states = States.of(np.array([alpha]), np.array([beta]), batch)
    log_load = math.log(load)
    found = states.at(np.array([log_load]), np.array([0]))
    others, ahead, busy = exactly(alpha, beta, batch, log_load)
    assert float(found.others[0]) == pytest.approx(float(others), rel=1e-12)
    assert float(np.exp(found.log_ahead[0])) == pytest.approx(float(ahead), rel=1e-12)
    assert float(found.busy[0]) == pytest.approx(float(busy), rel=1e-12)


@pytest.mark.parametrize("guess", [-9.0, -2.0, 0.5])
def test_roots_are_found_to_the_last_digits(guess: float) -> None:
    """Functions that are straight, steep on one side, or flat around the root."""
    targets = np.linspace(-3.9, 0.9, 30)
    shapes = [
        lambda x: x,
        lambda x: np.exp(20 * x),
        lambda x: np.cbrt(x),
        lambda x: x**3,
        lambda x: np.arctan(40 * x),
    ]
    for shape in shapes:
        low, high, guesses = (np.full_like(targets, end) for end in (-4.0, 1.0, guess))

        def function(x: np.ndarray, rows: np.ndarray, shape=shape) -> np.ndarray:
            return np.asarray(shape(x - targets[rows]) - shape(np.zeros(1)))

        ends = (function(low, np.arange(30)), function(high, np.arange(30)))
        found = roots(function, low, high, ends, guesses)
        assert found == pytest.approx(targets, abs=1e-14, rel=1e-14)
        assert (function(found, np.arange(30)) <= 0).all()
