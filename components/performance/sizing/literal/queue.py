"""Upstream's queue, in its precision and order of operations (queue-analysis v0.1.0, pkg/queue and pkg/utils)."""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

Single = np.float32
_ROOM = 10  # states of the queue, as a multiple of the batch
_DELTA = Single(0.001)
_HALVINGS = 100
_CLOSE = float(Single(1e-6))


@dataclass(frozen=True, slots=True)
class Solved:
    """Steady state of the queue at a rate, in requests and milliseconds."""

    throughput: Single
    in_system: Single
    in_service: Single
    busy: Single

    @property
    def response(self) -> Single:
        """Mean time from arrival to the last token."""
        return self.in_system / self.throughput

    @property
    def service(self) -> Single:
        """Mean time from the first to the last token."""
        return self.in_service / self.throughput

    @property
    def wait(self) -> Single:
        """Mean time in the queue."""
        return max(self.response - self.service, Single(0))


class Queue:
    """A queue of one replica.

    Args:
        alpha: Base time per token, in milliseconds.
        beta: Time per token that each concurrent request adds, in milliseconds.
        batch: Maximum concurrent requests.
        tokens: Output tokens of a request.
    """

    def __init__(self, alpha: Single, beta: Single, batch: int, tokens: int) -> None:
        at_once = np.arange(1, batch + 1, dtype=Single)
        rates = at_once / ((alpha + beta * at_once) * Single(tokens))
        self.tokens = tokens
        self.low: Single = rates[0] * _DELTA
        self.high: Single = rates[-1] * (Single(1) - _DELTA)
        self._batch = batch
        self._rates: list[float] = [*rates.tolist(), *([float(rates[-1])] * ((_ROOM - 1) * batch))]
        self._numbers = np.arange(1.0, _ROOM * batch + 1)

    @property
    def is_computable(self) -> bool:
        """Whether all rates are finite and above 0."""
        return float(self.low) > 0 and 0 < min(self._rates) <= max(self._rates) < math.inf

    def solve(self, rate: Single) -> Solved:
        """Return the steady state at a rate."""
        shares = self._shares(float(rate))
        sums = np.add.accumulate(self._numbers * shares[1:])
        up_to_full = np.add.accumulate(shares[: self._batch + 1])[-1]
        in_service = sums[self._batch - 1] + (1 - up_to_full) * self._batch
        throughput = rate * (Single(1) - Single(shares[-1]))
        return Solved(throughput, Single(sums[-1]), Single(in_service), Single(1) - Single(shares[0]))

    def _shares(self, rate: float) -> NDArray[np.float64]:
        """Return the probability of each state. If weights overflow, all earlier ones are scaled down."""
        weights, scale = np.array([1.0]), sys.float_info.max / len(self._rates)
        while len(weights) <= len(self._rates):
            rest = self._rates[len(weights) - 1 :]
            more = np.array(list(accumulate(rest, lambda p, s: p * rate / s, initial=float(weights[-1])))[1:])
            finite = _before_overflow(more)
            weights = np.concatenate([weights, more[:finite]])
            if finite < len(more):
                weights /= scale
        total, start = 0.0, 0
        while start < len(weights):
            sums = np.add.accumulate(np.concatenate([[total], weights[start:]]))[1:]
            finite = _before_overflow(sums)
            start += finite
            if start < len(weights):
                weights /= scale
                start += 1
                sums = np.add.accumulate(weights[:start])
            total = float(sums[-1])
        return weights / total


def _before_overflow(numbers: NDArray[np.float64]) -> int:
    return len(numbers) if np.isfinite(numbers[-1]) else int(np.argmin(np.isfinite(numbers)))


def largest(low: Single, high: Single, limit: Single, figure: Callable[[Single], Single]) -> tuple[Single, int]:
    """Return the rate at which a figure reaches its limit, and -1 or 1 if it is below or above the range; else 0.

    The values at both ends decide whether the figure counts as increasing; equal ones count as decreasing. Upstream's
    test for an early end compares the figure with 1 instead of the limit (:func:`_is_close`), so that all steps are
    done unless the figure is about 1 ms.
    """
    ends = []
    for end in (low, high):
        ends.append(figure(end))
        if _is_close(ends[-1], limit):
            return end, 0
    at_low, at_high = ends
    grows = bool(at_low < at_high)
    if limit < at_low if grows else limit > at_low:
        return low, -1
    if limit > at_high if grows else limit < at_high:
        return high, 1
    middle = low
    for _ in range(_HALVINGS):
        middle, before = Single(0.5) * (low + high), (low, high)
        found = figure(middle)
        if _is_close(found, limit):
            break
        low, high = (low, middle) if (limit < found if grows else limit > found) else (middle, high)
        if (low, high) == before:
            break  # adjacent floats: further steps change nothing
    return middle, 0


def _is_close(figure: Single, limit: Single) -> bool:
    """Reproduce upstream's test for a tolerance, which by mistake divides the limit by itself."""
    if figure == limit:
        return True
    return bool(limit) and abs(float(figure - Single(1))) <= _CLOSE
