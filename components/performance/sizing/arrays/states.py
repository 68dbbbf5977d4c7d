"""How many requests a replica has: a queue whose rate of service depends on their number (WVA spec 8.3).

With n requests it completes mu(n) = n / (K * (alpha + beta * n)) a millisecond, up to a batch of N; with more, mu(N).
It has room for 10 * N. The weight of n requests, relative to none, is the product of lambda / mu(i) for i = 1 to n.

Everything follows from the load r = lambda / mu(N): the weight of n is r^n times something that depends on the
profile alone, and beyond N weights are a geometric series, whose sums are known. So one evaluation takes N steps
instead of 10 * N. What an arriving request finds are the states below the full room (PASTA), and that gives figures
without differences of nearly equal numbers:

- a request is worked on with a mean of E[min(n, N - 1)] others, so a token takes alpha + beta * (1 + others);
- it waits for E[max(n - N + 1, 0)] completions, of 1 / mu(N) each.

Both grow with the load. They are S/X and Q/X - S/X of the spec, as one sees with X as the sum of mu(n) p(n).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from .roots import Floats, Rows

ROOM = 10
"""Requests that a replica has room for, waiting ones included, for each that it works on at once."""
_LEAST = -700.0
"""Logarithm of what is nothing beside 1; below it, exponentials are slow."""


@dataclass(frozen=True, slots=True)
class States:
    """Weights of the states of replicas with one batch, a row for each.

    Attributes:
        weights: Logarithm of the weight of 1 to N requests at a load of 1; the columns are N.
    """

    weights: Floats

    @classmethod
    def of(cls, alpha: Floats, beta: Floats, batch: int) -> Self:
        """Return those of some profiles."""
        full = alpha + beta * batch
        at_once = np.arange(1.0, batch + 1)
        slower = np.multiply.outer(beta / full, at_once)
        slower += (alpha / full)[:, None]
        slower *= batch / at_once
        np.log(slower, out=slower)
        return cls(np.cumsum(slower, axis=1, out=slower))

    def at(self, log_load: Floats, rows: Rows) -> "Occupancy":
        """Return what some rows have at a load each, which may be above 1."""
        batch = self.weights.shape[1]
        terms = self.weights[rows]
        terms += np.multiply.outer(log_load, np.arange(1.0, batch + 1))
        full_room = terms[:, -1] + (ROOM - 1) * batch * log_load
        most = np.maximum(np.maximum(terms.max(axis=1), full_room), 0.0)
        terms -= most[:, None]
        log_full = terms[:, -1].copy()
        np.maximum(terms, _LEAST, out=terms)
        return Occupancy(log_load, np.exp(-most), log_full, np.exp(terms, out=terms))


@dataclass(frozen=True)
class Occupancy:
    """Weights of the states at a load, relative to the largest, and what follows from them, by row.

    Attributes:
        log_load: Logarithm of the rate of arrivals, as a share of the largest rate of completions.
        idle: Weight of no request.
        log_full: Logarithm of the weight of a full batch.
        terms: Weights of 1 to N requests.
    """

    log_load: Floats
    idle: Floats
    log_full: Floats
    terms: Floats

    @property
    def _queue(self) -> int:
        """Requests for which there is room while N are worked on."""
        return (ROOM - 1) * int(self.terms.shape[1])

    @cached_property
    def _some(self) -> Floats:
        return np.asarray(self.terms.sum(axis=1))

    @cached_property
    def _beyond(self) -> Floats:
        """Weight of more than N requests, without a full room."""
        return np.exp(self.log_full + self.log_load + _log_sum(self.log_load, self._queue - 1))

    @cached_property
    def _accepting(self) -> Floats:
        """Weight of all states but the full room."""
        return np.asarray(self.idle + self._some + self._beyond)

    @property
    def others(self) -> Floats:
        """Mean requests besides one that is worked on."""
        batch = self.terms.shape[1]
        besides = np.minimum(np.arange(1.0, batch + 1), batch - 1)
        return np.asarray(((self.terms * besides).sum(axis=1) + (batch - 1) * self._beyond) / self._accepting)

    @property
    def log_ahead(self) -> Floats:
        """Logarithm of the mean completions for which a request waits; it has no bottom, where they would be 0."""
        queued = self.log_full + _log_sum(self.log_load, self._queue) - np.log(self._accepting)
        return np.asarray(queued + np.log1p(_mean(self.log_load, self._queue)))

    @property
    def busy(self) -> Floats:
        """Share of the time in which there is a request."""
        some = self._some + self._beyond + np.exp(self.log_full + self._queue * self.log_load)
        return np.asarray(some / (self.idle + some))

    @property
    def completed(self) -> Floats:
        """Rate of completions, as a share of the largest."""
        almost = np.exp(self.log_full + (self._queue - 1) * self.log_load - np.log(self._accepting))
        return np.asarray(1 / (np.exp(-self.log_load) + almost))


def _log_sum(log_ratio: Floats, terms: int) -> Floats:
    """Return the logarithm of 1 + r + r^2 + ..., of some terms."""
    steep = np.maximum(np.abs(log_ratio), np.finfo(np.float64).tiny)
    falling = np.log(np.expm1(-terms * steep) / np.expm1(-steep))
    return np.asarray(falling + np.where(log_ratio > 0, (terms - 1) * steep, 0.0))


def _mean(log_ratio: Floats, terms: int) -> Floats:
    """Return the mean of the numbers below some, if each has the weight r to its power."""
    steep = np.maximum(np.abs(log_ratio), np.finfo(np.float64).tiny)
    far = 1 / np.expm1(steep) - terms / np.expm1(np.minimum(terms * steep, 700.0))
    # Those are nearly equal where all weights are: there, what coth lacks of its pole.
    near = (terms - 1 - terms * _langevin(terms * steep / 2) + _langevin(steep / 2)) / 2
    falling = np.where(terms * steep > 1, far, near)
    return np.asarray(np.where(log_ratio > 0, terms - 1 - falling, falling))


def _langevin(x: Floats) -> Floats:
    """Return coth(x) - 1/x, for x from 0 to 1."""
    small = np.minimum(x, 1.0)
    return np.asarray(
        small / (3 + small**2 / (5 + small**2 / (7 + small**2 / (9 + small**2 / (11 + small**2 / 13)))))
    )
