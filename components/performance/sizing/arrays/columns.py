"""Cases with one batch as columns of numbers: what replicas do, and how much they can take (WVA spec 8.3 to 8.5)."""

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
"""The 95th percentile of an exponential distribution, in means."""
_MARGIN = 0.001
"""Of the rates between which the largest is looked for (WVA spec 8.1)."""
_LOADS = 1e-250, 1e250
"""Between which the shares of states are told apart: below, there is at most one request; above, the room is full."""


@dataclass(frozen=True)
class Columns:
    """Some numbers of each case; those that have no figures are not among them.

    A load is the logarithm of a rate of requests, as a share of the largest rate at which a replica completes them.

    Attributes:
        batch: Requests that a replica works on at once: the same in all cases.
    """

    batch: int
    alpha: Floats
    beta: Floats
    tokens: Floats
    itl_ms: Floats
    ttft_ms: Floats

    @classmethod
    def of(cls, cases: Sequence[Case]) -> Self:
        """Return the columns of some cases."""
        numbers = [
            (
                case.profile.alpha,
                case.profile.beta,
                int(case.output_tokens),
                case.promise.itl_ms,
                case.promise.ttft_ms,
            )
            for case in cases
        ]
        return cls(cases[0].profile.batch, *np.array(numbers, dtype=np.float64).T)

    @cached_property
    def states(self) -> States:
        """The weights of their states."""
        return States.of(self.alpha, self.beta, self.batch)

    @cached_property
    def completion_ms(self) -> Floats:
        """Mean time from one completion to the next, with a full batch."""
        return np.asarray(self.tokens * (self.alpha + self.beta * self.batch) / self.batch)

    @cached_property
    def low(self) -> Floats:
        """Least load that is tried: a thousandth of the completions with one request."""
        return np.asarray(np.log(_MARGIN * self.completion_ms / (self.tokens * (self.alpha + self.beta))))

    @cached_property
    def high(self) -> Floats:
        """Largest load that is tried."""
        return np.full_like(self.alpha, np.log1p(-_MARGIN))

    def per_minute(self, load: Floats) -> Floats:
        """Return the rates of some loads; 0 for minus infinity."""
        return np.asarray(np.exp(load) * (MINUTE / self.completion_ms))

    @cached_property
    def service_limit_ms(self) -> Floats:
        """Mean time from first to last token that the promises allow."""
        return np.asarray(self.tokens * self.itl_ms)

    @cached_property
    def wait_limit_ms(self) -> Floats:
        """Mean wait that the promises allow: waits count as exponential."""
        return np.asarray(self.ttft_ms / P95)

    @cached_property
    def itl_load(self) -> Floats:
        """Largest load within the promised inter-token latency; minus infinity if it is broken under any load."""
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
        """Largest load within the promised time to the first token; minus infinity if it is broken under any load."""
        ahead = self.wait_limit_ms / self.completion_ms
        # Large batches smooth the load: requests hardly wait until it is close to 1.
        guess = np.full_like(ahead, -3 / math.sqrt(self.batch))
        return self._largest(lambda load, rows: self.states.at(load, rows).log_ahead, ahead, self.ttft_ms > 0, guess)

    def _largest(
        self, log_figure: Callable[[Floats, Rows], Floats], limit: Floats, promised: NDArray[np.bool_], guess: Floats
    ) -> Floats:
        found = self.high.copy()
        rows = np.flatnonzero(promised)
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
        """Return what replicas of some rows do at a rate each."""
        completion, tokens, fixed = self.completion_ms[rows], self.tokens[rows], (self.alpha + self.beta)[rows]
        with np.errstate(over="ignore"):
            exact = per_minute / MINUTE * completion
        load = np.clip(exact, *_LOADS)
        occupancy = self.states.at(np.log(load), rows)
        throughput = np.minimum(per_minute, occupancy.completed * (MINUTE / completion))
        itl = fixed + self.beta[rows] * occupancy.others
        service, wait = tokens * itl, np.exp(occupancy.log_ahead) * completion
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
        )
        return [Behaviour(*figures) for figures in zip(*(column.tolist() for column in columns), strict=True)]
