"""The equations of the model as they are written down (WVA spec 8), slowly and one case at a time."""

import math
from collections.abc import Callable

from components.fleet.levels import LatencyTargets
from components.performance.sizing.cases import Behaviour, Case, Profile

Q = -math.log(1 - 0.95)
DELTA = 0.001
ROOM = 10
HALVINGS = 100


def case(
    alpha: float, beta: float, batch: int, tokens: float, targets: tuple[int, int], rate: float, **more: float
) -> Case:
    """Return a case as the tables of the spec write it: cents, count and the prefill by keyword."""
    profile = Profile(
        "A", int(more.get("count", 1)), alpha, beta, batch, more.get("gamma", 0.0), more.get("delta", 0.0)
    )
    least = int(more.get("least", 1))
    return Case(
        profile, LatencyTargets(*targets), rate, tokens, more.get("cents", 0.0), least, more.get("prompt", 0.0)
    )


def completions(each: Case, n: int) -> float:
    """Return mu(n), of 8.2; with a prefill as in BuildModel of pkg/analyzer/queueanalyzer.go at v0.4.2."""
    profile, tokens, prompt = each.profile, int(each.output_tokens), int(each.input_tokens)
    n = min(n, profile.batch)
    if not (prompt and (profile.gamma or profile.delta)):
        return n / (tokens * (profile.alpha + profile.beta * n))
    prefill = profile.gamma + profile.delta * prompt * n
    return n / (prefill + (tokens - 1) * (profile.alpha + profile.beta * n))


def behaviour(each: Case, per_minute: float) -> Behaviour:
    """Return 8.3, state by state."""
    rate, batch, tokens = per_minute / 60_000, each.profile.batch, int(each.output_tokens)
    logs = [0.0]
    for n in range(1, ROOM * batch + 1):
        logs.append(logs[-1] + math.log(rate) - math.log(completions(each, n)))
    shares = [math.exp(log - max(logs)) for log in logs]
    total = math.fsum(shares)
    p = [share / total for share in shares]
    throughput = rate * (1 - p[-1])
    in_system = math.fsum(n * share for n, share in enumerate(p))
    in_service = math.fsum(min(n, batch) * share for n, share in enumerate(p))
    response, service = in_system / throughput, in_service / throughput
    wait = max(0.0, response - service)
    busy = math.fsum(p[1:])
    itl, prefill = service / tokens, 0.0
    profile, prompt = each.profile, int(each.input_tokens)
    if prompt and (profile.gamma or profile.delta):
        # EffectiveConcurrency at v0.4.2: as many as explain the mean time of service.
        fixed = profile.gamma + profile.alpha * (tokens - 1)
        at_once = (service - fixed) / (profile.delta * prompt + profile.beta * (tokens - 1))
        itl, prefill = profile.alpha + profile.beta * at_once, profile.gamma + profile.delta * prompt * at_once
    return Behaviour(
        per_minute,
        throughput * 60_000,
        in_system,
        in_service,
        busy,
        response,
        service,
        wait,
        Q * wait,
        itl,
        prefill,
    )


def most(each: Case) -> tuple[float | None, float | None, float]:
    """Return the largest rates for both promises (None without one, 0 if broken) and without, of 8.4 and 8.5."""
    low, high = DELTA * completions(each, 1) * 60_000, (1 - DELTA) * completions(each, each.profile.batch) * 60_000
    targets = each.targets
    itl = _bisect(lambda rate: behaviour(each, rate).itl_ms, targets.itl_ms, low, high)
    ttft = _bisect(lambda rate: behaviour(each, rate).first_token_p95_ms, targets.ttft_ms, low, high)
    return itl if targets.itl_ms else None, ttft if targets.ttft_ms else None, high


def _bisect(figure: Callable[[float], float], limit: float, low: float, high: float) -> float:
    if not limit or figure(low) > limit:
        return 0.0
    if figure(high) <= limit:
        return high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if figure(middle) <= limit else (low, middle)
    return low
