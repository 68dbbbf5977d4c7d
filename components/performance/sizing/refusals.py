"""Reasons why a case cannot be sized: numbers out of range, and latency targets that no rate meets."""

from .cases import Case

MOST_AT_ONCE = 65_536
"""Maximum batch; engines support a few thousand concurrent requests."""
MOST_REPLICAS = 2**31 - 1
"""Maximum replicas of a workload: Kubernetes stores them as int32."""
_MOST_MS = 2**31 - 1
"""Maximum latency target: 24 days."""
_MOST = 1e200
"""Maximum of any input, so that products of several inputs stay finite."""


def unusable(case: Case) -> str:
    """Return why a case cannot be computed, whatever its targets; empty if it can."""
    profile, promise = case.profile, case.promise
    numbers = (
        ("alpha", profile.alpha),
        ("beta", profile.beta),
        ("the price of an accelerator", case.cents_per_hour),
        ("the rate of requests", case.per_minute),
        ("the mean length of an answer", case.output_tokens),
    )
    for name, number in numbers:
        if not 0 <= number <= _MOST:
            return f"{name} is {_short(number)}: a number from 0 to {_MOST:g} is needed"
    counts = (
        ("the largest batch", profile.batch, 1, MOST_AT_ONCE),
        ("the number of accelerators of a replica", profile.count, 1, MOST_REPLICAS),
        ("the least number of replicas", case.least, 0, MOST_REPLICAS),
        ("the promised inter-token latency", promise.itl_ms, 0, _MOST_MS),
        ("the promised time to the first token", promise.ttft_ms, 0, _MOST_MS),
    )
    for name, count, least, most in counts:
        if not least <= count <= most:
            return f"{name} is {_short(count)}: {least} to {most} can be computed"
    return _immeasurable(case)


def _short(number: float) -> str:
    if isinstance(number, int) and abs(number) > _MOST:
        return f"more than {_MOST:g}" if number > 0 else f"less than {-_MOST:g}"  # text of so many digits
    return str(number)


def _immeasurable(case: Case) -> str:
    """Return why rates cannot be computed: service times would under- or overflow."""
    profile, tokens = case.profile, max(int(case.output_tokens), 1)
    if profile.alpha + profile.beta == 0:
        return "alpha and beta are 0: a token would take no time"
    if profile.alpha + profile.beta > 1 / _MOST and tokens * (profile.alpha + profile.beta) < _MOST:
        return ""
    return f"alpha {profile.alpha:g} and beta {profile.beta:g}, with {tokens:g} tokens: no rate can be computed"


def constant(case: Case) -> str:
    """Return why an inter-token latency target cannot limit the load: token times are constant (WVA spec 8.5).

    Upstream compares two equal figures in this case, so that rounding decides.
    """
    profile, promised = case.profile, case.promise.itl_ms
    fixed = profile.alpha + profile.beta
    if not promised or fixed > promised or (profile.beta and profile.batch > 1):
        return ""
    cause = "the largest batch is 1" if profile.beta else "beta is 0"
    return (
        f"a token takes {fixed:.10g} ms under any load ({cause}), promised are {promised} ms: nothing follows from "
        "that; measure beta, with a batch of at least 2, or promise no inter-token latency"
    )


def broken_itl(case: Case, slowest: float, itl_ms: float) -> str:
    """Return the reason for a target that the inter-token latency exceeds even at the smallest load."""
    promised = case.promise.itl_ms
    return f"a token takes {_beyond(itl_ms, promised)} ms {_at(slowest)}, promised are {promised} ms"


def broken_ttft(case: Case, slowest: float, wait_p95_ms: float) -> str:
    """Return the reason for a target that queueing exceeds even at the smallest load."""
    promised = case.promise.ttft_ms
    figure = _beyond(wait_p95_ms, promised)
    return f"5 % of the requests wait longer than {figure} ms {_at(slowest)}, promised are {promised} ms"


def too_many(case: Case, most: float) -> str:
    """Return the reason for a load that needs more replicas than a workload can have."""
    return (
        f"{case.per_minute:g} requests a minute, of which one replica takes {most:.6g}, need more than the "
        f"{MOST_REPLICAS} replicas that a workload can have"
    )


def _at(slowest: float) -> str:
    return f"even at {slowest:.4g} requests a minute and replica"


def _beyond(figure: float, limit: float) -> str:
    """Format a figure with enough digits to differ from a limit."""
    texts = (f"{figure:.{digits}g}" for digits in (4, 6, 9, 12))
    return next((text for text in texts if float(text) != limit), repr(figure))
