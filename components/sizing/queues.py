"""Replicas for a service level, by a queue with a rate of service that depends on its state (WVA spec 8)."""

import math
from collections.abc import Callable, Sequence

from .cases import Behaviour, Case, Limit, Sized

P95 = -math.log(1 - 0.95)
"""The 95th percentile of an exponential distribution, in means."""
_MARGIN = 0.001
_ROOM = 10
"""Requests that a replica has room for, waiting ones included, for each that it works on at once."""
_HALVINGS = 100
_MINUTE = 60_000.0
"""Milliseconds."""


def size(cases: Sequence[Case]) -> tuple[Sized, ...]:
    """Return how many replicas each case needs, and what they do."""
    return tuple(_size(case) for case in cases)


def behaviour(case: Case, per_minute: float) -> Behaviour:
    """Return what one replica does at a rate of requests above 0."""
    rate = per_minute / _MINUTE
    batch, tokens = case.profile.batch, int(case.output_tokens)
    room = _ROOM * batch
    weights = [0.0]
    for n in range(1, room + 1):
        weights.append(weights[-1] + math.log(rate / _completions(case, min(n, batch))))
    most = max(weights)
    shares = [math.exp(weight - most) for weight in weights]
    total = math.fsum(shares)
    p = [share / total for share in shares]
    throughput = rate * (1 - p[-1])
    in_system = math.fsum(n * share for n, share in enumerate(p))
    in_service = math.fsum(min(n, batch) * share for n, share in enumerate(p))
    response, service = in_system / throughput, in_service / throughput
    wait = max(0.0, response - service)
    return Behaviour(
        per_minute=per_minute,
        throughput=throughput * _MINUTE,
        in_system=in_system,
        in_service=in_service,
        utilisation=1 - p[0],
        response_ms=response,
        service_ms=service,
        wait_ms=wait,
        wait_p95_ms=P95 * wait,
        itl_ms=service / tokens,
    )


def _completions(case: Case, at_once: int) -> float:
    profile, tokens = case.profile, int(case.output_tokens)
    return at_once / (tokens * (profile.alpha + profile.beta * at_once))


def _size(case: Case) -> Sized:
    profile, promise, tokens = case.profile, case.promise, int(case.output_tokens)
    if case.per_minute <= 0 or tokens <= 0:
        raise NotImplementedError("zero load: WVA spec 8.6")
    low = (1 + _MARGIN - 1) * _completions(case, 1) * _MINUTE
    high = (1 - _MARGIN) * _completions(case, profile.batch) * _MINUTE
    itl = _largest(case, low, high, lambda b: b.service_ms, tokens * promise.itl_ms) if promise.itl_ms else None
    ttft = _largest(case, low, high, lambda b: b.wait_p95_ms, promise.ttft_ms) if promise.ttft_ms else None
    most = min(rate for rate in (itl, ttft, high) if rate is not None)
    limit = Limit.ITL if most == itl else Limit.TTFT if most == ttft else Limit.CAPACITY
    if most <= 0:
        reason = f"a token takes at least {profile.alpha + profile.beta:g} ms, promised are {promise.itl_ms} ms"
        return Sized(case, reason, limit, 0.0, itl, ttft, high, 0, None, 0.0)
    replicas = max(case.least, math.ceil(case.per_minute / most))
    cost = case.cents_per_hour * profile.count * replicas
    at_share = behaviour(case, case.per_minute / replicas)
    return Sized(case, "", limit, most, itl, ttft, high, replicas, at_share, cost)


def _largest(case: Case, low: float, high: float, read: Callable[[Behaviour], float], limit: float) -> float:
    """Return the largest rate at which a figure, which grows with it, is within a limit; 0 if there is none."""
    if read(behaviour(case, low)) > limit:
        return 0.0
    if read(behaviour(case, high)) <= limit:
        return high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if read(behaviour(case, middle)) <= limit else (low, middle)
    return low
