"""Requests as events, and a replica that they happen to."""

from collections.abc import Sequence
from dataclasses import dataclass

from livefleet.fleet import TokenPace
from livefleet.pace.replica import EngineReplica, Job
from tests.livefleet.pace.tokens import Request

FOREVER = 1e9


@dataclass(frozen=True)
class Event:
    """A request comes, or its client hangs up."""

    at: float
    kind: str
    which: int


def events(requests: Sequence[Request]) -> list[Event]:
    """Return what happens, in order."""
    come = [Event(each.at, "comes", which) for which, each in enumerate(requests)]
    go = [Event(each.cancelled, "goes", which) for which, each in enumerate(requests) if each.cancelled is not None]
    return sorted([*come, *go], key=lambda event: (event.at, event.kind, event.which))


def played(pace: TokenPace, requests: Sequence[Request], looks: Sequence[float] = ()) -> list[Job]:
    """Play requests; ``looks`` are further moments at which somebody looks."""
    replica, jobs = EngineReplica(pace, None, 0.0), list[Job]()
    moments = sorted([*events(requests), *(Event(at, "look", 0) for at in looks)], key=lambda event: event.at)
    for event in moments:
        match event.kind:
            case "comes":
                jobs.append(replica.submit(event.at, requests[event.which].prompt, requests[event.which].wanted))
            case "goes":
                replica.cancel(event.at, jobs[event.which])
            case _:
                replica.advance(event.at)
    replica.advance(FOREVER)
    assert (replica.waiting, replica.running, replica.cached) == (0, 0, 0)
    return jobs
