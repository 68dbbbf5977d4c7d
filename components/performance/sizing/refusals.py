"""What the model of queues does not take, and promises that nobody can keep, each with the numbers that prove it."""

from .cases import Case

MOST_AT_ONCE = 65_536
"""Requests that a replica works on at once; engines take some thousands."""
MOST_REPLICAS = 2**31 - 1
"""Of a workload: Kubernetes counts them in 32 bits."""
_MOST_MS = 2**31 - 1
"""Of a promise: 24 days."""
_MOST = 1e200
"""Of any number: products of some of them are numbers yet."""


def unusable(case: Case) -> str:
    """Return why there are no figures for a case, whatever is promised; empty if there are."""
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
    """Return why rates cannot be computed: they are at the ends of what numbers can be."""
    profile, tokens = case.profile, max(int(case.output_tokens), 1)
    if profile.alpha + profile.beta == 0:
        return "alpha and beta are 0: a token would take no time"
    if profile.alpha + profile.beta > 1 / _MOST and tokens * (profile.alpha + profile.beta) < _MOST:
        return ""
    return f"alpha {profile.alpha:g} and beta {profile.beta:g}, with {tokens:g} tokens: no rate can be computed"


def constant(case: Case) -> str:
    """Return why a promise does not bound the load: tokens take the same time under any (WVA spec 8.5).

    Upstream compares two equal figures there, and rounding decides.
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
    """Say that the inter-token latency is too long under the least load."""
    promised = case.promise.itl_ms
    return f"a token takes {_beyond(itl_ms, promised)} ms {_at(slowest)}, promised are {promised} ms"


def broken_ttft(case: Case, slowest: float, wait_p95_ms: float) -> str:
    """Say that requests wait too long under the least load."""
    promised = case.promise.ttft_ms
    figure = _beyond(wait_p95_ms, promised)
    return f"5 % of the requests wait longer than {figure} ms {_at(slowest)}, promised are {promised} ms"


def too_many(case: Case, most: float) -> str:
    """Say that a workload cannot have so many replicas."""
    return (
        f"{case.per_minute:g} requests a minute, of which one replica takes {most:.6g}, need more than the "
        f"{MOST_REPLICAS} replicas that a workload can have"
    )


def _at(slowest: float) -> str:
    return f"even at {slowest:.4g} requests a minute and replica"


def _beyond(figure: float, limit: float) -> str:
    """Write a figure with so many digits that it differs from a limit."""
    texts = (f"{figure:.{digits}g}" for digits in (4, 6, 9, 12))
    return next((text for text in texts if float(text) != limit), repr(figure))
