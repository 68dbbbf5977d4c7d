"""The figures of the fleet as text, for the progress line, the terminal and the HTML report."""

from collections.abc import Iterator

from components.contract.texts.printable import printable
from toolkit.printing import pluralize

from ...control_api import NoteKind
from .record import FleetRecord
from .summary import FleetEvent, FleetSummary

_HOUR_SECONDS = 3600.0
_MAX_EVENTS = 12
_MAX_NUMBERS = 10
_ROWS = {
    "replicas": "replicas",
    "replicas ready": "ready",
    "replicas starting": "starting",
    "replicas pending": "pending",
    "replicas desired by autoscalers": "wanted",
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
    """Return the current state of the fleet, as the end of the progress line."""
    if not record.points:
        return "; the live fleet does not answer"
    point = record.points[-1]
    details = [
        f"{count} {name}" for name, count in (("starting", point.starting), ("pending", point.pending)) if count
    ]
    if point.wanted is not None and point.wanted != point.replicas:
        details.append(f"{point.wanted} desired by autoscalers")
    replicas = f"ready {point.ready}/{point.replicas}" + (f" ({', '.join(details)})" if details else "")
    nodes = pluralize(point.nodes, "node") + (f" (+{point.nodes_starting})" if point.nodes_starting else "")
    return (
        f"; simulated: {replicas}, {point.waiting} waiting, {point.running} running, {nodes}, "
        f"{point.usd_per_hour:.2f} USD/h"
    )


def fleet_rows(summary: FleetSummary) -> Iterator[tuple[str, str, str]]:
    """Yield the title, the minimum and the maximum of each series that has values."""
    for title, name in _ROWS.items():
        if bounds := summary.bounds(name):
            yield title, _cell(name, bounds[0]), _cell(name, bounds[1])


def _cell(name: str, value: float) -> str:
    if name in _AMOUNTS:
        return f"{value:.2f}"
    return f"{value * 100:.0f}" if name == "cache" else f"{value:g}"


def fleet_sentences(summary: FleetSummary) -> Iterator[str]:
    """Yield how the times of clients are to be read, the cost of the run, and its faults and preemptions."""
    yield _speed_sentence(summary)
    if summary.points:
        seconds = summary.hours * _HOUR_SECONDS
        if seconds < 120:
            duration = f"{seconds:.0f} simulated seconds"
        elif summary.hours < 2:
            duration = f"{seconds / 60:.1f} simulated minutes"
        else:
            duration = f"{summary.hours:.1f} simulated hours"
        yield (
            f"all nodes would cost {summary.usd:.2f} USD for {duration}: simulated nodes at list prices of on-demand "
            "instances, not billed"
        )
    if summary.gaps:
        yield f"the live fleet did not answer {pluralize(summary.gaps, 'time')}; its series have gaps"
    faults = [event for event in summary.events if event.kind is NoteKind.FAULT]
    for event in faults[:_MAX_EVENTS]:
        yield _fault_sentence(event)
    if len(faults) > _MAX_EVENTS:
        yield f"and {pluralize(len(faults) - _MAX_EVENTS, 'further fault')}"
    preemptions = [event for event in summary.events if event.kind is NoteKind.PREEMPTED]
    for event in preemptions[:_MAX_EVENTS]:
        yield f"preempted at {event.seconds:.1f} s: {printable(event.text)}"
    if len(preemptions) > _MAX_EVENTS:
        yield f"and {pluralize(len(preemptions) - _MAX_EVENTS, 'further pod')} preempted"


def _speed_sentence(summary: FleetSummary) -> str:
    """Return how the times of clients relate to real time."""
    if not summary.points:
        return "a simulated fleet that reported no state"
    if summary.speed is None:
        speeds = sorted({point.speed for point in summary.points})
        return (
            f"simulated engines, whose speed changed during the run (from {speeds[0]:g} to {speeds[-1]:g} x real "
            "time): all times are as clients measured them, and do not compare with those of real engines"
        )
    if summary.speed == 1:
        return "simulated engines, which answer in real time"
    return (
        f"simulated engines, which answer {summary.speed:g} x as fast as in real time: times and rates are as "
        f"clients measured them; in real time, times are {summary.speed:g} x as long, and rates are divided by "
        f"{summary.speed:g}. Times include this machine's overhead per request, whose share grows with the speed"
    )


def _fault_sentence(event: FleetEvent) -> str:
    numbers = ", ".join(f"#{request.number}" for request in event.hit[:_MAX_NUMBERS])
    more = len(event.hit) - _MAX_NUMBERS
    failed = f" ({numbers}{f' and {more} more' if more > 0 else ''})" if event.hit else ""
    return (
        f"fault at {event.seconds:.1f} s: {printable(event.text)}; {len(event.hit)} of "
        f"{pluralize(event.in_flight, 'request')} in flight failed{failed}, and {event.later} sent afterwards"
    )
