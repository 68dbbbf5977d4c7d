"""Latency of one replica as a function of load, up to its capacity."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.performance.sizing.cases import Sized


@dataclass(frozen=True, slots=True)
class Curve:
    """Latencies of one replica.

    Attributes:
        rates: Requests per minute, ascending.
        itl_ms: Mean inter-token latency at each rate.
        ttft_p95_ms: 95th percentile of the time to first token at each rate; only the queueing time if the prefill
            time is unknown.
    """

    rates: tuple[float, ...]
    itl_ms: tuple[float, ...]
    ttft_p95_ms: tuple[float, ...]


def curve_of(sized: "Sized", prefill_ms: int | None, points: int, up_to: float | None = None) -> Curve | None:
    """Return latencies at evenly spaced rates up to the capacity of a replica; None if that is unknown.

    Args:
        sized: The replica.
        prefill_ms: Prefill time to add to the time to first token; None if unknown.
        points: Number of rates.
        up_to: Highest rate in requests per minute, if below the capacity.
    """
    from components.performance.sizing.queues import behaviours

    last = sized.capacity_per_minute if up_to is None else min(up_to, sized.capacity_per_minute)
    if not last:
        return None
    rates = tuple(last * (number + 1) / points for number in range(points))
    latencies = behaviours(sized.case, rates)
    first = tuple(latency.first_token_p95_ms + (prefill_ms or 0) for latency in latencies)
    return Curve(rates, tuple(latency.itl_ms for latency in latencies), first)
