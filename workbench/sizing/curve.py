"""Latency against load: what one replica does at more and more requests, up to all that it can complete."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.performance.sizing.cases import Sized


@dataclass(frozen=True, slots=True)
class Curve:
    """Latencies of one replica.

    Attributes:
        rates: Requests a minute, rising.
        itl_ms: Mean time from one token to the next at each of them.
        ttft_p95_ms: Time to the first token that 95 % of the requests stay below at each of them; that in the queue
            alone where the rest is not known.
    """

    rates: tuple[float, ...]
    itl_ms: tuple[float, ...]
    ttft_p95_ms: tuple[float, ...]


def curve_of(sized: "Sized", prefill_ms: int | None, points: int, up_to: float | None = None) -> Curve | None:
    """Return the latencies at even distances up to the capacity of a replica; None where that is not known.

    Args:
        sized: What the replica is.
        prefill_ms: What prefill adds to the time to the first token; None where that is not known.
        points: How many.
        up_to: Where to end, in requests a minute, if that is before the capacity.
    """
    from components.performance.sizing.queues import behaviours

    last = sized.capacity_per_minute if up_to is None else min(up_to, sized.capacity_per_minute)
    if not last:
        return None
    rates = tuple(last * (number + 1) / points for number in range(points))
    found = behaviours(sized.case, rates)
    waits = tuple(each.wait_p95_ms + (prefill_ms or 0) for each in found)
    return Curve(rates, tuple(each.itl_ms for each in found), waits)
