"""The state of the live fleet during a load, recorded once a second on the clock of the load."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from toolkit.errors import UserError

from ...control_api import FleetNote, LiveState, new_notes
from ...control_client import ControlClient

_INTERVAL = 1.0
_LEAD_SECONDS = 1.0
"""Events that happened at most this long before the start are recorded, too."""


@dataclass(frozen=True, slots=True)
class FleetPoint:
    """A snapshot of the model under load, all nodes and their prices. Its fields are the series of the JSON output.

    Attributes:
        seconds: Seconds after the start of the load.
        speed: How much faster than real time answers are.
        wanted: Replicas desired by autoscalers; None without autoscalers.
        cache: Share of the KV cache in use, of the fullest replica.
        model_usd_per_hour: Price of the model under load; None without a price.
        usd_per_hour: Price of all nodes in use.
    """

    seconds: float
    speed: float
    start_speed: float
    replicas: int
    ready: int
    starting: int
    pending: int
    wanted: int | None
    waiting: int
    running: int
    cache: float
    nodes: int
    nodes_starting: int
    model_usd_per_hour: float | None
    usd_per_hour: float


@dataclass(slots=True)
class FleetRecord:
    """Snapshots and events of the fleet, appended while the load runs.

    Attributes:
        control: Client of the fleet.
        titles: Names in the outputs of the resources under load.
        notes: Events, with their seconds after the start of the load.
        gaps: Number of requests for the state that failed.
    """

    control: ControlClient
    titles: tuple[str, ...]
    points: list[FleetPoint] = field(default_factory=list)
    notes: list[tuple[float, FleetNote]] = field(default_factory=list)
    gaps: int = 0
    _last: tuple[FleetNote, ...] = ()

    def take(self, seconds: float, state: LiveState, started: float) -> None:
        """Add a state of the fleet.

        Args:
            seconds: Seconds after the start of the load.
            state: The state.
            started: Start of the load, in seconds since the epoch.
        """
        models = [model for model in state.models if model.title in self.titles]
        desired = [scaler.desired for model in models for scaler in model.scalers if scaler.has_read_metric]
        prices = [model.usd_per_hour for model in models if model.usd_per_hour is not None]
        self.points.append(
            FleetPoint(
                seconds=seconds,
                speed=state.speed,
                start_speed=state.start_speed,
                replicas=sum(model.replicas for model in models),
                ready=sum(model.ready for model in models),
                starting=sum(model.starting for model in models),
                pending=sum(model.pending for model in models),
                wanted=sum(desired) if desired else None,
                waiting=sum(model.waiting for model in models),
                running=sum(model.running for model in models),
                cache=max((model.cache for model in models), default=0.0),
                nodes=sum(group.nodes for group in state.groups),
                nodes_starting=sum(group.starting for group in state.groups),
                model_usd_per_hour=sum(prices) if prices else None,
                usd_per_hour=state.usd_per_hour,
            )
        )
        for note in new_notes(self._last, state.notes):
            if note.at >= started - _LEAD_SECONDS:
                self.notes.append((max(note.at - started, 0.0), note))
        self._last = state.notes

    async def follow(self, clock: Callable[[], float]) -> None:
        """Record the state once a second, until cancelled."""
        while True:
            await self.poll(clock)
            await asyncio.sleep(_INTERVAL)

    async def poll(self, clock: Callable[[], float]) -> None:
        """Record the current state; a fleet that does not answer leaves a gap."""
        try:
            # In a thread, so that a slow answer does not delay the requests of the load.
            state = await asyncio.to_thread(self.control.state)
        except UserError:
            self.gaps += 1
        else:
            now = clock()
            self.take(now, state, time.time() - now)
