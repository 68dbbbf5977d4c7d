"""The side of the fleet in words: for the live line, the terminal and the page."""

from collections.abc import Iterator

from components.contract.texts.printable import printable
from toolkit.printing import pluralize

from ...control_api import NoteKind
from .record import FleetPoint, FleetRecord
from .summary import FleetEvent, FleetSummary

_SECONDS = 3600.0
_MOST_EVENTS = 12
_MOST_NUMBERS = 10
_ROWS = {
    "replicas wanted": "replicas",
    "replicas ready": "ready",
    "replicas starting": "starting",
    "replicas pending": "pending",
    "replicas that autoscalers want": "wanted",
    "requests waiting": "waiting",
    "requests running": "running",
    "cache in use, %": "cache",
    "nodes": "nodes",
    "nodes starting": "nodes_starting",
    "USD/h of the model": "model_usd_per_hour",
    "USD/h of all nodes": "usd_per_hour",
}
_AMOUNTS = ("model_usd_per_hour", "usd_per_hour")


def live_fleet(record: FleetRecord) -> str:
    """Return how the fleet is, as the end of the live line."""
    if not record.points:
        return "; the live fleet does not answer"
    point = record.points[-1]
    return f"; simulated: {_replicas(point)}, {point.waiting} waiting, {point.running} running, {_nodes(point)}"


def _replicas(point: FleetPoint) -> str:
    ways = [f"{count} {name}" for name, count in (("starting", point.starting), ("pending", point.pending)) if count]
    if point.wanted is not None and point.wanted != point.replicas:
        ways.append(f"autoscaler wants {point.wanted}")
    more = f" ({', '.join(ways)})" if ways else ""
    return f"ready {point.ready}/{point.replicas}{more}"


def _nodes(point: FleetPoint) -> str:
    more = f" (+{point.nodes_starting})" if point.nodes_starting else ""
    return f"{pluralize(point.nodes, 'node')}{more}, {point.usd_per_hour:.2f} USD/h"


def fleet_rows(found: FleetSummary) -> Iterator[tuple[str, str, str]]:
    """Yield a name, the least and the most of each figure that the fleet has."""
    for title, name in _ROWS.items():
        if ends := found.least_most(name):
            yield title, _cell(name, ends[0]), _cell(name, ends[1])


def _cell(name: str, value: float) -> str:
    if name in _AMOUNTS:
        return f"{value:.2f}"
    return f"{value * 100:.0f}" if name == "cache" else f"{value:g}"


def fleet_sentences(found: FleetSummary) -> Iterator[str]:
    """Yield what the figures are of, what the run would cost, and what happened."""
    yield _pace(found)
    if found.points:
        yield (
            f"all nodes would cost {found.usd:.2f} USD for {_hours(found.hours)}: simulated nodes, at list prices of "
            "on-demand instances; nobody pays"
        )
    if found.gaps:
        yield f"the live fleet did not answer {pluralize(found.gaps, 'time')}; its series have gaps"
    faults = [each for each in found.events if each.kind is NoteKind.FAULT]
    for event in faults[:_MOST_EVENTS]:
        yield _fault(event)
    if len(faults) > _MOST_EVENTS:
        yield f"and {pluralize(len(faults) - _MOST_EVENTS, 'further fault')}"
    preempted = [each for each in found.events if each.kind is NoteKind.PREEMPTED]
    for event in preempted[:_MOST_EVENTS]:
        yield f"preempted at {event.seconds:.1f} s: {printable(event.text)}"
    if len(preempted) > _MOST_EVENTS:
        yield f"and {pluralize(len(preempted) - _MOST_EVENTS, 'further pod')} preempted"


def _pace(found: FleetSummary) -> str:
    """Say what the times of clients mean."""
    if not found.points:
        return "a simulated fleet, which never said how it is"
    if found.speed is None:
        speeds = sorted({each.speed for each in found.points})
        return (
            f"simulated engines, whose speed was changed during the run (from {speeds[0]:g} to {speeds[-1]:g} x as "
            "fast as in life): all times are as clients measured them, and not to be compared with real ones"
        )
    if found.speed == 1:
        return "simulated engines, which answer as fast as in life"
    return (
        f"simulated engines, which answer {found.speed:g} x as fast as in life: times and rates are as clients "
        f"measured them; in life times are {found.speed:g} x as long, and rates are divided by {found.speed:g}. What "
        "this machine itself takes for a request is in the times, and the more of them the faster engines answer"
    )


def _hours(hours: float) -> str:
    seconds = hours * _SECONDS
    if seconds < 120:
        return f"{seconds:.0f} simulated seconds"
    return f"{seconds / 60:.1f} simulated minutes" if hours < 2 else f"{hours:.1f} simulated hours"


def _fault(event: FleetEvent) -> str:
    numbers = ", ".join(f"#{each.number}" for each in event.hit[:_MOST_NUMBERS])
    more = len(event.hit) - _MOST_NUMBERS
    which = f" ({numbers}{f' and {more} more' if more > 0 else ''})" if event.hit else ""
    return (
        f"fault at {event.seconds:.1f} s: {printable(event.text)}; of {pluralize(event.in_flight, 'request')} in "
        f"flight {len(event.hit)} failed{which}, and of those sent later {event.later}"
    )
