"""Inputs and results of the queueing model."""

from dataclasses import dataclass, replace
from enum import StrEnum

from ...contract.load import LoadedResource
from ...fleet.levels import LatencyTargets, Load

MINUTE = 60_000.0
"""Milliseconds per minute."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Speed of one replica on an accelerator (WVA spec 2, 8.2; from v0.0.1 on pkg/analyzer/queueanalyzer.go).

    With n concurrent requests, each token takes ``alpha + beta * n`` milliseconds. If the prefill was measured, the
    first one takes ``gamma + delta * tokens of the prompt * n`` instead.

    Attributes:
        accelerator: Name of the accelerator.
        count: Accelerators of one replica.
        alpha: Base time per token, in milliseconds.
        beta: Time per token that each concurrent request adds, in milliseconds.
        batch: Maximum concurrent requests of a replica.
        gamma: Base time of a prefill, in milliseconds; 0 with ``delta`` 0 means that it was not measured.
        delta: Time of a prefill for each token of the prompt and concurrent request, in milliseconds.
    """

    accelerator: str
    count: int
    alpha: float
    beta: float
    batch: int
    gamma: float = 0.0
    delta: float = 0.0

    @property
    def title(self) -> str:
        """The accelerators of a replica, for display."""
        return f"{self.count} x {self.accelerator}" if self.count > 1 else self.accelerator

    def within(self, most: int | None) -> "Profile":
        """Return the profile with its batch capped by an engine limit; unchanged without a limit."""
        return self if most is None or most >= self.batch else replace(self, batch=most)


class Limit(StrEnum):
    """What limits the request rate of a replica."""

    ITL = "itl"
    """The inter-token latency target."""
    TTFT = "ttft"
    """The time-to-first-token target: requests wait in the queue."""
    CAPACITY = "capacity"
    """Its capacity; no latency target is stricter."""


@dataclass(frozen=True, slots=True)
class Case:
    """One model on one accelerator.

    Attributes:
        profile: Decoding speed of a replica.
        targets: Latency targets.
        per_minute: Requests per minute over all replicas.
        output_tokens: Mean output tokens of a request, truncated to a whole number like upstream does.
        cents_per_hour: Price of one accelerator.
        least: Minimum replicas.
        input_tokens: Mean prompt tokens of a request, truncated like the output tokens; 0 if unknown, so that the
            prefill is not part of the service time.
    """

    profile: Profile
    targets: LatencyTargets
    per_minute: float
    output_tokens: float
    cents_per_hour: float = 0.0
    least: int = 1
    input_tokens: float = 0.0

    @property
    def prefill(self) -> tuple[float, float]:
        """Milliseconds of a prefill: the base, and what each concurrent request adds."""
        prompt = int(self.input_tokens)
        return (self.profile.gamma, self.profile.delta * prompt) if prompt else (0.0, 0.0)

    @property
    def service(self) -> tuple[float, float]:
        """Milliseconds of service for each output token: the base, and what each concurrent request adds.

        The prefill, if it is known, yields the first token, and is spread over all of them. Both terms are linear in
        the concurrent requests, so that one queueing model serves profiles with and without a prefill.
        """
        profile, tokens, (base, slope) = self.profile, int(self.output_tokens), self.prefill
        if not tokens or not (base or slope):
            return profile.alpha, profile.beta
        decoded = tokens - 1
        return (base + decoded * profile.alpha) / tokens, (slope + decoded * profile.beta) / tokens


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Steady state of one replica at a request rate (WVA spec 8.3).

    Attributes:
        per_minute: Arriving requests per minute.
        throughput: Completed requests per minute.
        in_system: Mean requests that wait or are served.
        in_service: Mean requests that are served.
        utilisation: Share of time with at least one request, upstream's ``rho``; not how full its batches are.
        response_ms: Mean time from arrival to the last token.
        service_ms: Mean time from the start of the prefill, or else of the first token, to the last token.
        wait_ms: Mean time in the queue.
        wait_p95_ms: 95th percentile of the time in the queue, assuming exponential waits (8.4).
        itl_ms: Mean inter-token latency.
        prefill_ms: Mean prefill time at the mean concurrency; 0 if it is unknown.
    """

    per_minute: float = 0.0
    throughput: float = 0.0
    in_system: float = 0.0
    in_service: float = 0.0
    utilisation: float = 0.0
    response_ms: float = 0.0
    service_ms: float = 0.0
    wait_ms: float = 0.0
    wait_p95_ms: float = 0.0
    itl_ms: float = 0.0
    prefill_ms: float = 0.0

    @property
    def first_token_p95_ms(self) -> float:
        """95th percentile of the wait, plus the prefill."""
        return self.wait_p95_ms + self.prefill_ms

    @property
    def waiting(self) -> float:
        """Mean requests that wait, by Little's law; subtracting two large means would lose precision."""
        return self.throughput * (self.wait_ms / MINUTE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """Sizing result: the required replicas, or why the latency targets cannot be met (WVA spec 8.5, 8.6).

    Attributes:
        reason: Why the targets cannot be met, with the figures that show it; empty if they can, or without load.
        limit: What limits the request rate of a replica.
        most_per_minute: Requests per minute that one replica can serve within the targets; 0 if none, or if answers
            have no whole token.
        itl_per_minute: The rate within the inter-token latency target alone; None without that target.
        ttft_per_minute: The rate within the time-to-first-token target alone; None without that target.
        capacity_per_minute: The rate without targets, upstream's ``lambda_max``: 0.1 % below the largest throughput.
        replicas: Required replicas.
        behaviour: Steady state of one replica at its share of the load; None if the targets cannot be met.
        cents_per_hour: Price of all replicas.
        slowest_per_minute: The smallest rate at which the targets are tested, upstream's ``lambda_min``.
        service_limit_ms: Mean time from first to last token that the inter-token latency target allows; None without
            that target.
        wait_limit_ms: Mean queueing time that the time-to-first-token target allows; None without that target.
    """

    case: Case
    reason: str = ""
    limit: Limit
    most_per_minute: float = 0.0
    itl_per_minute: float | None = None
    ttft_per_minute: float | None = None
    capacity_per_minute: float = 0.0
    replicas: int = 0
    behaviour: Behaviour | None = None
    cents_per_hour: float = 0.0
    slowest_per_minute: float = 0.0
    service_limit_ms: float | None = None
    wait_limit_ms: float | None = None

    @property
    def is_feasible(self) -> bool:
        """Whether the latency targets can be met."""
        return not self.reason

    @property
    def accelerators(self) -> int:
        """Accelerators of all replicas."""
        return self.replicas * self.case.profile.count

    @property
    def batch(self) -> int:
        """Maximum concurrent requests of a replica."""
        return self.case.profile.batch

    @property
    def is_saturated(self) -> bool:
        """Whether the load exceeds what the replicas can serve."""
        return self.case.per_minute > self.replicas * self.most_per_minute


def one_at_a_time(profile: Profile, targets: LatencyTargets) -> LatencyTargets:
    """Return the effective targets of a replica that serves one request at a time for a known reason.

    Load cannot slow down tokens then, so that an inter-token latency target that a single request meets is always met
    and does not limit the rate. A measured profile with a batch of 1 is different: its beta is meaningless
    (:func:`.refusals.constant`).
    """
    met = profile.batch == 1 and profile.alpha + profile.beta <= targets.itl_ms
    return replace(targets, itl_ms=0) if met else targets


@dataclass(frozen=True, slots=True)
class ModelVariant:
    """A variant of a model: the model on one of several accelerators, from a resource of any family.

    Attributes:
        model: The model name that clients request.
        accelerator: The accelerator that it runs on; empty if its resource does not name one.
        profiles: Its profiles, one for each accelerator that it could run on.
        load: The load that its status reports; None if it reports none.
    """

    source: LoadedResource
    model: str
    accelerator: str
    profiles: tuple[Profile, ...]
    load: Load | None = None
