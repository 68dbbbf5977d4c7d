"""Inputs and results of the queueing model."""

from dataclasses import dataclass, replace
from enum import StrEnum

from ...contract.load import LoadedResource
from ...fleet.levels import Load, Promise

MINUTE = 60_000.0
"""Milliseconds."""


@dataclass(frozen=True, slots=True)
class Profile:
    """How fast one replica of a model generates tokens on an accelerator (WVA spec 2, 8.2).

    With n requests at once, a token of each takes ``alpha + beta * n`` milliseconds.

    Attributes:
        accelerator: Name of the accelerator.
        count: Accelerators of one replica.
        alpha: Milliseconds for a token, without other requests.
        beta: Milliseconds that each request at once adds.
        batch: Requests that a replica works on at once.
    """

    accelerator: str
    count: int
    alpha: float
    beta: float
    batch: int

    @property
    def title(self) -> str:
        """The accelerators of a replica, for people."""
        return f"{self.count} x {self.accelerator}" if self.count > 1 else self.accelerator

    def within(self, most: int | None) -> "Profile":
        """Return the profile of a replica whose engine works on at most so many requests at once."""
        return self if most is None or most >= self.batch else replace(self, batch=most)


class Limit(StrEnum):
    """What keeps a replica from taking more requests."""

    ITL = "itl"
    """The promised inter-token latency."""
    TTFT = "ttft"
    """The promised time to the first token: requests wait."""
    CAPACITY = "capacity"
    """Nothing promised: it has no more to give."""


@dataclass(frozen=True, slots=True)
class Case:
    """One model on one accelerator.

    Attributes:
        profile: How fast a replica is.
        promise: What is promised.
        per_minute: Requests a minute, over all replicas.
        output_tokens: Mean tokens of an answer; its whole part counts, as upstream reads it.
        cents_per_hour: Price of one accelerator.
        least: Replicas that there are at least.
    """

    profile: Profile
    promise: Promise
    per_minute: float
    output_tokens: float
    cents_per_hour: float = 0.0
    least: int = 1


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What one replica does at some rate of requests, in the long run (WVA spec 8.3).

    Attributes:
        per_minute: Requests that arrive at it a minute.
        throughput: Requests that it completes a minute.
        in_system: Mean requests that wait or are worked on.
        in_service: Mean requests that are worked on.
        utilisation: Share of the time in which it works on something, ``rho`` of upstream; not how full its batches
            are.
        response_ms: Mean time from arrival to the last token.
        service_ms: Mean time from the first to the last token.
        wait_ms: Mean time until the work on a request begins.
        wait_p95_ms: Time that 95 % of the requests wait at most, if waits are exponential (8.4).
        itl_ms: Mean time from one token to the next.
    """

    per_minute: float
    throughput: float
    in_system: float
    in_service: float
    utilisation: float
    response_ms: float
    service_ms: float
    wait_ms: float
    wait_p95_ms: float
    itl_ms: float

    @property
    def waiting(self) -> float:
        """Mean requests that wait; their small number is no difference of large ones."""
        return self.throughput * (self.wait_ms / MINUTE)


@dataclass(frozen=True, slots=True)
class Sized:
    """Replicas, and what they do; without any if the promise cannot be kept (WVA spec 8.5, 8.6).

    Attributes:
        reason: Why it cannot be kept, with the numbers that prove it; empty if it can, and where nothing is asked.
        limit: What bounds the rate of a replica.
        most_per_minute: Requests a minute that one replica can take and keep the promise; 0 if none, and where
            answers have no whole token.
        itl_per_minute: Those within the promised inter-token latency alone; None without that promise.
        ttft_per_minute: Those within the promised time to the first token alone; None without that promise.
        capacity_per_minute: Those with no promise, upstream's ``lambda_max``: a thousandth less than it can complete.
        replicas: How many are needed.
        behaviour: Of one of them, at its share of the requests; None if the promise cannot be kept.
        cents_per_hour: Price of all of them.
        slowest_per_minute: The smallest rate at which the promise is tried, ``lambda_min`` of upstream.
        service_limit_ms: Mean time from first to last token that the promised inter-token latency allows; None
            without that promise.
        wait_limit_ms: Mean wait that the promised time to the first token allows; None without that promise.
    """

    case: Case
    reason: str
    limit: Limit
    most_per_minute: float
    itl_per_minute: float | None
    ttft_per_minute: float | None
    capacity_per_minute: float
    replicas: int
    behaviour: Behaviour | None
    cents_per_hour: float
    slowest_per_minute: float = 0.0
    service_limit_ms: float | None = None
    wait_limit_ms: float | None = None

    @property
    def is_feasible(self) -> bool:
        """Whether the promise can be kept."""
        return not self.reason

    @property
    def accelerators(self) -> int:
        """Of all replicas."""
        return self.replicas * self.case.profile.count

    @property
    def batch(self) -> int:
        """Requests that a replica works on at once."""
        return self.case.profile.batch

    @property
    def is_saturated(self) -> bool:
        """Whether more is asked than the replicas can take."""
        return self.case.per_minute > self.replicas * self.most_per_minute


def one_at_a_time(profile: Profile, promise: Promise) -> Promise:
    """Return what a promise bounds where a replica works on one request at a time for a known reason.

    No load makes a token slower then: an inter-token latency that one request keeps is kept always, and bounds
    nothing. A profile that says so of itself is another matter: its beta means nothing (:func:`.refusals.constant`).
    """
    kept = profile.batch == 1 and profile.alpha + profile.beta <= promise.itl_ms
    return replace(promise, itl_ms=0) if kept else promise


@dataclass(frozen=True, slots=True)
class ModelVariant:
    """A model on one of several accelerators.

    Attributes:
        model: The name under which clients ask for it.
        accelerator: The one that it runs on; empty where its resource does not say.
        profiles: How fast it is on each that it could run on.
        load: What was once observed to be asked of it; None where its resource does not say.
    """

    source: LoadedResource
    model: str
    accelerator: str
    profiles: tuple[Profile, ...]
    load: Load | None = None
