"""What a load came to on the side of the fleet: least and most, the cost, and who was hit by what happened."""

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ...control_api import NoteKind
from ..outcomes import RequestOutcome
from .record import FleetPoint, FleetRecord

_HOUR = 3600.0
_TOLD = 0.25
"""Seconds by which the clocks of a fault and of a client may differ: what broke so shortly before was in flight when
it came, and what was sent so shortly before and failed otherwise came after it."""


@dataclass(frozen=True, slots=True)
class HitRequest:
    """A request that was in flight when something happened, and was not answered. Times are seconds."""

    number: int
    sent: float
    ended: float
    error: str


@dataclass(frozen=True, slots=True)
class FleetEvent:
    """Something that happened in the fleet.

    Attributes:
        seconds: After the start of the load.
        in_flight: Requests that had been sent and had no end.
        hit: Those of them that failed.
        later: Requests sent after it that failed, until the next fault.
        victim: The pod that was preempted; empty where none was.
        preemptor: The pod for which it was.
    """

    seconds: float
    kind: NoteKind
    text: str
    in_flight: int
    hit: tuple[HitRequest, ...]
    later: int
    victim: str = ""
    preemptor: str = ""


@dataclass(frozen=True, slots=True)
class FleetSummary:
    """What the fleet said of itself during a load. All of it is simulated.

    Attributes:
        speed: How much faster than life answers were; None if that changed.
        hours: What the run stands for, in simulated hours.
        usd: What all nodes would cost for so long.
        gaps: How often the fleet did not answer.
    """

    speed: float | None
    hours: float
    usd: float
    gaps: int
    points: tuple[FleetPoint, ...]
    events: tuple[FleetEvent, ...]

    def least_most(self, name: str) -> tuple[float, float] | None:
        """Return the least and the most of a series; None where it has no value."""
        values = [value for each in self.points if (value := getattr(each, name)) is not None]
        return (min(values), max(values)) if values else None

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain JSON, with one list for each series."""
        rows = [asdict(each) for each in self.points]
        return {
            "simulated": True,
            "speed": self.speed,
            "simulated_hours": self.hours,
            "usd": self.usd,
            "gaps": self.gaps,
            "series": {name: [row[name] for row in rows] for name in (rows[0] if rows else ())},
            "events": [asdict(each) for each in self.events],
        }


def fleet_summary(record: FleetRecord, outcomes: Sequence[RequestOutcome]) -> FleetSummary:
    """Return what the fleet said, and what became of requests when something happened to it."""
    points = record.points
    speeds = {each.speed for each in points}
    # A second of the machine is as many of the fleet as answers are faster than in life.
    hours = [(next_.seconds - each.seconds) * each.speed / _HOUR for each, next_ in itertools.pairwise(points)]
    return FleetSummary(
        speed=speeds.pop() if len(speeds) == 1 else None,
        hours=sum(hours),
        usd=sum(each.usd_per_hour * length for each, length in zip(points, hours, strict=False)),
        gaps=record.gaps,
        points=tuple(points),
        events=tuple(_events(record, outcomes)),
    )


def _events(record: FleetRecord, outcomes: Sequence[RequestOutcome]) -> list[FleetEvent]:
    faults = sorted(seconds for seconds, note in record.notes if note.kind is NoteKind.FAULT)
    found = _scaled(record.points)
    for seconds, note in record.notes:
        if note.kind is NoteKind.FAULT:
            place = bisect.bisect_right(faults, seconds)
            until = faults[place] if place < len(faults) else float("inf")
            found.append(_fault(seconds, note.text, until, outcomes))
        else:
            found.append(FleetEvent(seconds, note.kind, note.text, 0, (), 0, note.victim, note.preemptor))
    return sorted(found, key=lambda each: each.seconds)


def _scaled(points: Sequence[FleetPoint]) -> list[FleetEvent]:
    """Return when another number of replicas was wanted."""
    return [
        FleetEvent(
            each.seconds, NoteKind.SCALE, f"{each.replicas} replicas are wanted, not {before.replicas}", 0, (), 0
        )
        for before, each in itertools.pairwise(points)
        if each.replicas != before.replicas
    ]


def _fault(seconds: float, text: str, until: float, outcomes: Sequence[RequestOutcome]) -> FleetEvent:
    """Return a fault with the requests that it hit; of several, the last one before the end of a request counts.

    Args:
        seconds: When it came.
        text: What happened.
        until: When the next one came; infinity for the last.
        outcomes: What became of all requests.
    """
    there = [each for each in outcomes if each.sent <= seconds < each.ended + _slack(each)]
    failed = [each for each in outcomes if each.error and each.ended < until - _slack(each)]
    ours = {each.number for each in failed}
    hit = [each for each in there if each.number in ours]
    numbers = {each.number for each in hit}
    later = [each for each in failed if seconds - _TOLD < each.sent < until - _TOLD and each.number not in numbers]
    return FleetEvent(
        seconds,
        NoteKind.FAULT,
        text,
        len(there),
        tuple(HitRequest(each.number, each.sent, each.ended, each.error) for each in hit),
        len(later),
    )


def _slack(request: RequestOutcome) -> float:
    """Return by how much a request may have ended before the fault that broke it."""
    return _TOLD if request.is_broken else 0.0
