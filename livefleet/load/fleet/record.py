"""What the live fleet said of itself while a load ran: once a second, on the clock of the load."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from toolkit.errors import UserError

from ...control_api import FleetNote, LiveState, ModelState, new_notes
from ...control_client import ControlClient

_EVERY = 1.0
_BEFORE = 1.0
"""Seconds before the start within which something still belongs to the load."""


@dataclass(frozen=True, slots=True)
class FleetPoint:
    """The fleet at one moment: the model under load, all nodes, and what they cost.

    Attributes:
        seconds: After the start of the load.
        speed: How much faster than life answers are.
        wanted: Replicas that autoscalers want; None without one.
        cache: Share of the cache in use, the fullest replica's.
        model_usd_per_hour: Of the model under load; None without a price.
        usd_per_hour: Of all nodes that are there.
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
    """Points and notes, as they come.

    Attributes:
        titles: Resources under load, as the state names them.
        gaps: How often the fleet did not answer.
    """

    control: ControlClient
    titles: tuple[str, ...]
    points: list[FleetPoint] = field(default_factory=list)
    notes: list[tuple[float, FleetNote]] = field(default_factory=list)
    gaps: int = 0
    _last: tuple[FleetNote, ...] = ()

    def take(self, seconds: float, state: LiveState, started: float) -> None:
        """Add what the fleet says.

        Args:
            seconds: After the start of the load.
            state: The fleet.
            started: When the load began, in seconds since the epoch.
        """
        models = [each for each in state.models if each.title in self.titles]
        self.points.append(_point(seconds, state, models))
        for note in new_notes(self._last, state.notes):
            if note.at >= started - _BEFORE:
                self.notes.append((max(note.at - started, 0.0), note))
        self._last = state.notes

    async def follow(self, clock: Callable[[], float]) -> None:
        """Ask again and again, until cancelled."""
        while True:
            await self.look(clock)
            await asyncio.sleep(_EVERY)

    async def look(self, clock: Callable[[], float]) -> None:
        """Ask once; a fleet that does not answer leaves a gap."""
        try:
            # In a thread: a fleet that is slow to answer must not hold up requests.
            state = await asyncio.to_thread(self.control.state)
        except UserError:
            self.gaps += 1
        else:
            now = clock()
            self.take(now, state, time.time() - now)


def _point(seconds: float, state: LiveState, models: list[ModelState]) -> FleetPoint:
    wishes = [scaler.desired for each in models for scaler in each.scalers if scaler.has_wish]
    prices = [each.usd_per_hour for each in models if each.usd_per_hour is not None]
    return FleetPoint(
        seconds=seconds,
        speed=state.speed,
        start_speed=state.start_speed,
        replicas=sum(each.replicas for each in models),
        ready=sum(each.ready for each in models),
        starting=sum(each.starting for each in models),
        pending=sum(each.pending for each in models),
        wanted=sum(wishes) if wishes else None,
        waiting=sum(each.waiting for each in models),
        running=sum(each.running for each in models),
        cache=max((each.cache for each in models), default=0.0),
        nodes=sum(each.nodes for each in state.groups),
        nodes_starting=sum(each.starting for each in state.groups),
        model_usd_per_hour=sum(prices) if prices else None,
        usd_per_hour=state.usd_per_hour,
    )
