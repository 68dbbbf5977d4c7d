"""Behaviour and maximum load of replicas, for cases with the same batch as columns (WVA spec 8.3 to 8.5)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..cases import MINUTE, Behaviour, Case
from .roots import Floats, Rows, roots
from .states import States

P95 = -math.log(1 - 0.95)
"""The 95th percentile of an exponential distribution, as a multiple of its mean."""
_MARGIN = 0.001
"""Margin of the range in which the maximum rate is searched (WVA spec 8.1)."""
_LOADS = 1e-250, 1e250
"""Range of loads that are computed: below it there is at most one request; above it the replica is full."""


@dataclass(frozen=True)
class Columns:
    """The parameters of each case; cases that cannot be computed are excluded.

    A load is the logarithm of a request rate, as a share of the maximum rate at which a replica completes requests.

    Attributes:
        batch: Concurrent requests of a replica, equal in all cases.
        alpha: Base time of a token after the first one.
        beta: Time that each concurrent request adds to it.
        base: Base time of service for each token, with its share of the prefill; ``alpha`` without prefill.
        slope: Time that each concurrent request adds to it; ``beta`` without prefill.
        prefill: Base time of a prefill.
        prefill_slope: Time that each concurrent request adds to it.
    """

    batch: int
    alpha: Floats
    beta: Floats
    base: Floats
    slope: Floats
    prefill: Floats
    prefill_slope: Floats
    tokens: Floats
    itl_ms: Floats
    ttft_ms: Floats

    @classmethod
    def of(cls, cases: Sequence[Case]) -> Self:
        numbers = [
            (
                case.profile.alpha,
                case.profile.beta,
                *case.service,
                *case.prefill,
                int(case.output_tokens),
                case.targets.itl_ms,
                case.targets.ttft_ms,
            )
            for case in cases
        ]
        return cls(cases[0].profile.batch, *np.array(numbers, dtype=np.float64).T)

    @cached_property
    def states(self) -> States:
        return States.of(self.base, self.slope, self.batch)

    @cached_property
    def completion_ms(self) -> Floats:
        """Mean time between completions with a full batch."""
        return np.asarray(self.tokens * (self.base + self.slope * self.batch) / self.batch)

    @cached_property
    def low(self) -> Floats:
        """Lower end of the search: a thousandth of the completion rate with one request."""
        return np.asarray(np.log(_MARGIN * self.completion_ms / (self.tokens * (self.base + self.slope))))

    @cached_property
    def high(self) -> Floats:
        """Upper end of the search."""
        return np.full_like(self.alpha, np.log1p(-_MARGIN))

    def per_minute(self, load: Floats) -> Floats:
        """Return the request rates of loads; 0 for minus infinity."""
        return np.asarray(np.exp(load) * (MINUTE / self.completion_ms))

    @cached_property
    def service_limit_ms(self) -> Floats:
        """Mean time from the first to the last token that the latency targets allow."""
        return np.asarray(self.tokens * self.itl_ms)

    @cached_property
    def wait_limit_ms(self) -> Floats:
        """Mean wait that the latency targets allow, if waits are distributed exponentially."""
        return np.asarray(self.ttft_ms / P95)

    @cached_property
    def itl_load(self) -> Floats:
        """Maximum load that meets the target for inter-token latency; minus infinity if no load does."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            others = (self.itl_ms - (self.alpha + self.beta)) / self.beta
        return self._largest(
            lambda load, rows: np.log(self.states.at(load, rows).others),
            others,
            self.itl_ms > 0,
            (self.low + self.high) / 2,
        )

    @cached_property
    def ttft_load(self) -> Floats:
        """Maximum load that meets the target for the time to the first token; minus infinity if no load does."""
        ahead = self.wait_limit_ms / self.completion_ms
        # Large batches smooth the load: requests hardly wait until the load is close to 1.
        guess = np.full_like(ahead, -3 / math.sqrt(self.batch))
        return self._largest(self._log_ahead, ahead, self.ttft_ms > 0, guess)

    def _log_ahead(self, load: Floats, rows: Rows) -> Floats:
        """Return the logarithm of the completions that pass before the first token, with the prefill as completions.

        The limit is one on the mean wait, so the prefill counts with its share of the percentile.
        """
        occupancy = self.states.at(load, rows)
        prefill = self._prefill_ms(occupancy.others, rows)
        if not prefill.any():
            return occupancy.log_ahead
        with np.errstate(divide="ignore"):
            share = np.log(prefill / (P95 * self.completion_ms[rows]))
        return np.asarray(np.logaddexp(occupancy.log_ahead, share))

    def _prefill_ms(self, others: Floats, rows: Rows) -> Floats:
        """Return the prefill times with a mean number of other concurrent requests; 0 where it is unknown."""
        return np.asarray(self.prefill[rows] + self.prefill_slope[rows] * (1 + others))

    def _largest(
        self,
        log_figure: Callable[[Floats, Rows], Floats],
        limit: Floats,
        has_target: NDArray[np.bool_],
        guess: Floats,
    ) -> Floats:
        found = self.high.copy()
        rows = np.flatnonzero(has_target)
        found[rows[limit[rows] <= 0]] = -np.inf
        rows = rows[limit[rows] > 0]
        limits = np.log(np.where(limit > 0, limit, 1.0))
        at_low, at_high = (log_figure(end[rows], rows) - limits[rows] for end in (self.low, self.high))
        found[rows[at_low > 0]] = -np.inf
        between = (at_low <= 0) & (at_high > 0)
        inner, ends = rows[between], (at_low[between], at_high[between])

        def above(load: Floats, some: Rows) -> Floats:
            return np.asarray(log_figure(load, inner[some]) - limits[inner[some]])

        found[inner] = roots(above, self.low[inner], self.high[inner], ends, guess[inner])
        return found

    def behaviours(self, per_minute: Floats, rows: Rows) -> list[Behaviour]:
        """Return the behaviour of replicas of the given rows, at one request rate each."""
        completion, tokens = self.completion_ms[rows], self.tokens[rows]
        with np.errstate(over="ignore"):
            exact = per_minute / MINUTE * completion
        load = np.clip(exact, *_LOADS)
        occupancy = self.states.at(np.log(load), rows)
        throughput = np.minimum(per_minute, occupancy.completed * (MINUTE / completion))
        others = occupancy.others
        itl = (self.alpha + self.beta)[rows] + self.beta[rows] * others
        service = tokens * ((self.base + self.slope)[rows] + self.slope[rows] * others)
        wait = np.exp(occupancy.log_ahead) * completion
        columns = (
            per_minute,
            throughput,
            throughput * ((service + wait) / MINUTE),
            throughput * (service / MINUTE),
            occupancy.busy * np.minimum(exact / load, 1.0),
            service + wait,
            service,
            wait,
            wait * P95,
            itl,
            self._prefill_ms(others, rows),
        )
        return [Behaviour(*figures) for figures in zip(*(column.tolist() for column in columns), strict=True)]
