"""Results of the live fleet: series of its state, the cost, and the requests that each fault made fail."""

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ...control_api import NoteKind
from ..outcomes import RequestOutcome
from .record import FleetPoint, FleetRecord

_HOUR = 3600.0
_CLOCK_SKEW = 0.25
"""Seconds by which the clocks of a fault and of a client may differ. A connection that broke so shortly before a
fault counts as in flight then, and any other failed request that was sent so shortly before it as sent later."""


@dataclass(frozen=True, slots=True)
class HitRequest:
    """A request that was in flight at a fault and failed. Times are seconds after the start of the load."""

    number: int
    sent: float
    ended: float
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetEvent:
    """An event in the fleet.

    Attributes:
        seconds: Seconds after the start of the load.
        in_flight: Requests in flight at a fault.
        hit: Those of them that failed.
        later: Requests sent after a fault, and before the next one, that failed.
        victim: The pod that was preempted; empty for other kinds.
        preemptor: The pod that it was evicted for.
    """

    seconds: float
    kind: NoteKind
    text: str
    in_flight: int = 0
    hit: tuple[HitRequest, ...] = ()
    later: int = 0
    victim: str = ""
    preemptor: str = ""


@dataclass(frozen=True, slots=True)
class FleetSummary:
    """State and events of the fleet during a load. All of it is simulated.

    Attributes:
        speed: How much faster than real time answers were; None if it changed.
        hours: Duration in simulated hours.
        usd: Price of all nodes for this duration.
        gaps: How often the fleet did not answer.
    """

    speed: float | None
    hours: float
    usd: float
    gaps: int
    points: tuple[FleetPoint, ...]
    events: tuple[FleetEvent, ...]

    def bounds(self, name: str) -> tuple[float, float] | None:
        """Return the minimum and the maximum of a series; None without values."""
        values = [value for point in self.points if (value := getattr(point, name)) is not None]
        return (min(values), max(values)) if values else None

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON output, with one list per series."""
        rows = [asdict(point) for point in self.points]
        return {
            "simulated": True,
            "speed": self.speed,
            "simulated_hours": self.hours,
            "usd": self.usd,
            "gaps": self.gaps,
            "series": {name: [row[name] for row in rows] for name in (rows[0] if rows else ())},
            "events": [asdict(event) for event in self.events],
        }


def fleet_summary(record: FleetRecord, outcomes: Sequence[RequestOutcome]) -> FleetSummary:
    """Summarize a record, and attribute failed requests to the faults of the fleet."""
    points = record.points
    speeds = {point.speed for point in points}
    # Simulated hours: in each real second, as many seconds pass in the fleet as answers are faster than real time.
    hours = [(after.seconds - point.seconds) * point.speed / _HOUR for point, after in itertools.pairwise(points)]
    return FleetSummary(
        speed=speeds.pop() if len(speeds) == 1 else None,
        hours=sum(hours),
        usd=sum(point.usd_per_hour * length for point, length in zip(points, hours, strict=False)),
        gaps=record.gaps,
        points=tuple(points),
        events=tuple(_events(record, outcomes)),
    )


def _events(record: FleetRecord, outcomes: Sequence[RequestOutcome]) -> list[FleetEvent]:
    events = []
    for before, point in itertools.pairwise(record.points):
        if point.replicas != before.replicas:
            text = f"scaled from {before.replicas} to {point.replicas} replicas"
            events.append(FleetEvent(seconds=point.seconds, kind=NoteKind.SCALE, text=text))
    faults = sorted(seconds for seconds, note in record.notes if note.kind is NoteKind.FAULT)
    for seconds, note in record.notes:
        if note.kind is NoteKind.FAULT:
            following = bisect.bisect_right(faults, seconds)
            until = faults[following] if following < len(faults) else float("inf")
            events.append(_fault(seconds, note.text, until, outcomes))
        else:
            events.append(
                FleetEvent(
                    seconds=seconds, kind=note.kind, text=note.text, victim=note.victim, preemptor=note.preemptor
                )
            )
    return sorted(events, key=lambda event: event.seconds)


def _fault(seconds: float, text: str, until: float, outcomes: Sequence[RequestOutcome]) -> FleetEvent:
    """Return a fault with the requests that it hit.

    A request that is in flight at several faults failed because of the last one before its end.

    Args:
        seconds: Time of the fault.
        text: Its message.
        until: Time of the next fault; infinity for the last.
        outcomes: Outcomes of all requests.
    """

    def skew(request: RequestOutcome) -> float:
        """Return by how much a request may have ended before the fault that broke its connection."""
        return _CLOCK_SKEW if request.is_broken else 0.0

    in_flight = [request for request in outcomes if request.sent <= seconds < request.ended + skew(request)]
    failed = [request for request in outcomes if request.error and request.ended < until - skew(request)]
    failed_numbers = {request.number for request in failed}
    hit = [request for request in in_flight if request.number in failed_numbers]
    hit_numbers = {request.number for request in hit}
    later = [
        request
        for request in failed
        if seconds - _CLOCK_SKEW < request.sent < until - _CLOCK_SKEW and request.number not in hit_numbers
    ]
    return FleetEvent(
        seconds=seconds,
        kind=NoteKind.FAULT,
        text=text,
        in_flight=len(in_flight),
        hit=tuple(HitRequest(request.number, request.sent, request.ended, request.error) for request in hit),
        later=len(later),
    )
