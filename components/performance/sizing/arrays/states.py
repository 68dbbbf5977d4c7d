"""State probabilities of a replica: a queue with a state-dependent service rate (WVA spec 8.3).

With n requests, a replica completes mu(n) = n / (K * (alpha + beta * n)) per millisecond, up to a batch of N; with
more, mu(N). It holds up to 10 * N requests. The weight of the state with n requests, relative to the empty state, is
the product of lambda / mu(i) for i = 1 to n.

All results follow from the load r = lambda / mu(N): the weight of n is r^n times a factor that depends only on the
profile, and above N the weights are a geometric series with a closed-form sum. One evaluation therefore takes N steps
instead of 10 * N. An arriving request sees the states that are not full (PASTA), which yields the results without
differences of nearly equal numbers:

- a request is processed with a mean of E[min(n, N - 1)] others, so a token takes alpha + beta * (1 + others);
- it waits for E[max(n - N + 1, 0)] completions, of 1 / mu(N) each.

Both increase with the load. They equal S/X and Q/X - S/X of the spec, where X is the sum of mu(n) p(n).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from .roots import Floats, Rows

ROOM = 10
"""Requests that a replica holds, including waiting ones, as a multiple of its batch."""
_LEAST = -700.0
"""Logarithm of a weight that is negligible; below it, exponentials are slow to compute."""


@dataclass(frozen=True, slots=True)
class States:
    """State weights of replicas with the same batch, one row each.

    Attributes:
        weights: Logarithms of the weights of 1 to N requests at a load of 1, in N columns.
    """

    weights: Floats

    @classmethod
    def of(cls, alpha: Floats, beta: Floats, batch: int) -> Self:
        full = alpha + beta * batch
        at_once = np.arange(1.0, batch + 1)
        slower = np.multiply.outer(beta / full, at_once)
        slower += (alpha / full)[:, None]
        slower *= batch / at_once
        np.log(slower, out=slower)
        return cls(np.cumsum(slower, axis=1, out=slower))

    def at(self, log_load: Floats, rows: Rows) -> "Occupancy":
        """Return the occupancy of the given rows at one load each, which may exceed 1."""
        batch = self.weights.shape[1]
        terms = self.weights[rows]
        terms += np.multiply.outer(log_load, np.arange(1.0, batch + 1))
        full_room = terms[:, -1] + (ROOM - 1) * batch * log_load
        # Relative to the largest weight, so that exponentials do not overflow.
        most = np.maximum(np.maximum(terms.max(axis=1), full_room), 0.0)
        terms -= most[:, None]
        log_full = terms[:, -1].copy()
        np.maximum(terms, _LEAST, out=terms)
        return Occupancy(log_load, np.exp(-most), log_full, np.exp(terms, out=terms))


@dataclass(frozen=True)
class Occupancy:
    """State weights at a load, relative to the largest weight, and the results derived from them, by row.

    Attributes:
        log_load: Logarithm of the arrival rate as a share of the maximum completion rate.
        idle: Weight of the empty state.
        log_full: Logarithm of the weight of a full batch.
        terms: Weights of 1 to N requests.
    """

    log_load: Floats
    idle: Floats
    log_full: Floats
    terms: Floats

    @property
    def _queue(self) -> int:
        """Maximum waiting requests while N are processed."""
        return (ROOM - 1) * int(self.terms.shape[1])

    @cached_property
    def _some(self) -> Floats:
        return np.asarray(self.terms.sum(axis=1))

    @cached_property
    def _beyond(self) -> Floats:
        """Weight of more than N requests, without the state in which the replica is full."""
        return np.exp(self.log_full + self.log_load + _log_sum(self.log_load, self._queue - 1))

    @cached_property
    def _accepting(self) -> Floats:
        """Weight of all states in which the replica accepts requests."""
        return np.asarray(self.idle + self._some + self._beyond)

    @property
    def others(self) -> Floats:
        """Mean number of other requests that are processed together with one."""
        batch = self.terms.shape[1]
        besides = np.minimum(np.arange(1.0, batch + 1), batch - 1)
        return np.asarray(((self.terms * besides).sum(axis=1) + (batch - 1) * self._beyond) / self._accepting)

    @property
    def log_ahead(self) -> Floats:
        """Logarithm of the mean completions that a request waits for; does not underflow to 0 at low loads."""
        queued = self.log_full + _log_sum(self.log_load, self._queue) - np.log(self._accepting)
        return np.asarray(queued + np.log1p(_mean(self.log_load, self._queue)))

    @property
    def busy(self) -> Floats:
        """Share of the time with at least one request."""
        some = self._some + self._beyond + np.exp(self.log_full + self._queue * self.log_load)
        return np.asarray(some / (self.idle + some))

    @property
    def completed(self) -> Floats:
        """Completion rate as a share of the maximum."""
        almost = np.exp(self.log_full + (self._queue - 1) * self.log_load - np.log(self._accepting))
        return np.asarray(1 / (np.exp(-self.log_load) + almost))


def _log_sum(log_ratio: Floats, terms: int) -> Floats:
    """Return the logarithm of 1 + r + r^2 + ... with the given number of terms."""
    steep = np.maximum(np.abs(log_ratio), np.finfo(np.float64).tiny)
    falling = np.log(np.expm1(-terms * steep) / np.expm1(-steep))
    return np.asarray(falling + np.where(log_ratio > 0, (terms - 1) * steep, 0.0))


def _mean(log_ratio: Floats, terms: int) -> Floats:
    """Return the mean of 0, 1, ..., ``terms`` - 1, where n has the weight r^n."""
    steep = np.maximum(np.abs(log_ratio), np.finfo(np.float64).tiny)
    far = 1 / np.expm1(steep) - terms / np.expm1(np.minimum(terms * steep, 700.0))
    # If all weights are nearly equal, both terms of far are too; there, use coth without its pole.
    near = (terms - 1 - terms * _langevin(terms * steep / 2) + _langevin(steep / 2)) / 2
    falling = np.where(terms * steep > 1, far, near)
    return np.asarray(np.where(log_ratio > 0, terms - 1 - falling, falling))


def _langevin(x: Floats) -> Floats:
    """Return coth(x) - 1/x, for x from 0 to 1."""
    small = np.minimum(x, 1.0)
    return np.asarray(
        small / (3 + small**2 / (5 + small**2 / (7 + small**2 / (9 + small**2 / (11 + small**2 / 13)))))
    )
