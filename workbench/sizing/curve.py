"""Latency against load: what one replica does at more and more requests, up to all that it can complete."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.sizing.assessments import Assessment


@dataclass(frozen=True, slots=True)
class Curve:
    """Latencies of one replica.

    Attributes:
        rates: Requests a minute, rising.
        itl_ms: Mean time from one token to the next at each of them.
        ttft_p95_ms: Time to the first token that 95 % of the requests stay below at each of them.
    """

    rates: tuple[float, ...]
    itl_ms: tuple[float, ...]
    ttft_p95_ms: tuple[float, ...]


def curve_of(assessment: "Assessment", points: int) -> Curve | None:
    """Return the latencies at even distances up to the capacity of a replica; None where it is not known."""
    from components.sizing.queues import behaviours

    sized = assessment.sized
    if not sized.capacity_per_minute:
        return None
    rates = tuple(sized.capacity_per_minute * (number + 1) / points for number in range(points))
    found = behaviours(sized.case, rates)
    prefill = assessment.question.prefill_ms
    return Curve(rates, tuple(each.itl_ms for each in found), tuple(each.wait_p95_ms + prefill for each in found))
