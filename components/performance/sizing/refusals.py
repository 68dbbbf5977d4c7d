"""Reasons why a case cannot be sized: numbers out of range, and latency targets that no rate meets."""

from .cases import Behaviour, Case

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
    profile, targets = case.profile, case.targets
    numbers = (
        ("alpha", profile.alpha),
        ("beta", profile.beta),
        ("gamma", profile.gamma),
        ("delta", profile.delta),
        ("the price of an accelerator", case.cents_per_hour),
        ("the request rate", case.per_minute),
        ("the mean output tokens of a request", case.output_tokens),
        ("the mean prompt tokens of a request", case.input_tokens),
    )
    for name, number in numbers:
        if not 0 <= number <= _MOST:
            return f"{name} must be between 0 and {_MOST:g}, found {_short(number)}"
    counts = (
        ("the maximum batch size", profile.batch, 1, MOST_AT_ONCE),
        ("the number of accelerators of a replica", profile.count, 1, MOST_REPLICAS),
        ("the minimum number of replicas", case.least, 0, MOST_REPLICAS),
        ("the inter-token latency target", targets.itl_ms, 0, _MOST_MS),
        ("the time-to-first-token target", targets.ttft_ms, 0, _MOST_MS),
    )
    for name, count, least, most in counts:
        if not least <= count <= most:
            return f"{name} must be between {least} and {most}, found {_short(count)}"
    alone_ms, tokens = profile.alpha + profile.beta, max(int(case.output_tokens), 1)
    if alone_ms == 0:
        return "alpha and beta are both 0, so a token would take no time"
    if alone_ms <= 1 / _MOST or tokens * sum(case.service) >= _MOST:  # service times would underflow or overflow
        return (
            f"no rate can be computed for {tokens:g} tokens with alpha {profile.alpha:g} and beta {profile.beta:g}: "
            "the time of a request is out of range"
        )
    return ""


def _short(number: float) -> str:
    if isinstance(number, int) and abs(number) > _MOST:
        # Python refuses to format integers of more than 4,300 digits.
        return f"more than {_MOST:g}" if number > 0 else f"less than {-_MOST:g}"
    return str(number)


def constant(case: Case) -> str:
    """Return why an inter-token latency target cannot limit the load: token times are constant (WVA spec 8.5).

    Upstream compares two equal figures in this case, so that rounding decides.
    """
    profile, target = case.profile, case.targets.itl_ms
    alone_ms = profile.alpha + profile.beta
    if not target or alone_ms > target or (profile.beta and profile.batch > 1):
        return ""
    cause = "the maximum batch size is 1" if profile.beta else "beta is 0"
    return (
        f"a token takes {alone_ms:.10g} ms at any load, because {cause}, so the target of {target} ms does not limit "
        "the request rate; measure beta with a batch of at least 2, or set no inter-token latency target"
    )


def broken_itl(case: Case, slowest: float, itl_ms: float) -> str:
    """Return the reason for a target that the inter-token latency exceeds even at the smallest load."""
    target = case.targets.itl_ms
    return (
        f"a token takes {_beyond(itl_ms, target)} ms even at {slowest:.4g} requests per minute per replica, above "
        f"the target of {target} ms"
    )


def broken_ttft(case: Case, slowest: float, behaviour: Behaviour) -> str:
    """Return the reason for a target that queueing and the prefill exceed even at the smallest load."""
    target = case.targets.ttft_ms
    figure, awaited = _beyond(behaviour.first_token_p95_ms, target), ""
    if behaviour.prefill_ms:
        awaited = f" for their first token, of which the prefill takes {behaviour.prefill_ms:.4g} ms,"
    return (
        f"5 % of requests wait longer than {figure} ms{awaited} even at {slowest:.4g} requests per minute per "
        f"replica, above the target of {target} ms"
    )


def too_many(case: Case, most: float) -> str:
    """Return the reason for a load that needs more replicas than a workload can have."""
    return (
        f"{case.per_minute:g} requests per minute, at {most:.6g} per replica, need more than the {MOST_REPLICAS} "
        "replicas that a workload can have"
    )


def _beyond(figure: float, limit: float) -> str:
    """Format a figure with enough digits to differ from a limit."""
    texts = (f"{figure:.{digits}g}" for digits in (4, 6, 9, 12))
    return next((text for text in texts if float(text) != limit), repr(figure))
