"""Tokens a second of a way to serve a model, estimated from the accelerators, and their price."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from components.plan.fitting.options import FitOption

_SECONDS = 3600
_MILLION = 1_000_000
HOW = (
    "Tokens per second are an estimate from memory bandwidth, FLOP/s and measured efficiency, for all users at once, "
    "each with the whole context in the cache, while they generate. Nine of ten published measurements of the engine "
    "on accelerators of the same generation are in the range in brackets."
)


class GenerationSpeed(NamedTuple):
    """Tokens that all replicas generate in a second, with the bounds of the estimate.

    Attributes:
        users: Requests at once on each replica.
    """

    users: int
    tokens: float
    low: float
    high: float

    def usd_per_million(self, usd_per_hour: float) -> tuple[float, float, float]:
        """Return the price of a million generated tokens: of the estimate, and of its upper and lower bound."""
        return tuple(  # type: ignore[return-value]
            usd_per_hour * _MILLION / (tokens * _SECONDS) for tokens in (self.tokens, self.high, self.low)
        )


def speed_of(option: "FitOption", users: int | None) -> GenerationSpeed | None:
    """Return the speed of an option; None if its model or its accelerators are unknown to the estimate.

    Args:
        option: The option.
        users: Requests at once over all replicas; None for as many as there is room for.
    """
    from livefleet import estimated_pace

    estimate = estimated_pace(option.verdict, option.node.name)
    if estimate is None or not option.users:
        return None
    each = min(option.users, estimate.pace.batch)
    if users:
        each = min(each, -(-users // option.replicas))
    step = estimate.pace.step(each, cached=each * option.verdict.context)
    tokens = option.replicas * each / step
    low, high = tokens / estimate.slower, tokens * estimate.faster
    return GenerationSpeed(users=each, tokens=tokens, low=low, high=high)
