"""A simulated pod as its engine sees it, and the clock that it lives by."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ..apis.meter import EngineMeter, meter_of
from ..apis.texts import seed_of
from ..fleet import ServedWorkload, TokenPace
from ..pace.replica import EngineReplica

_LONGEST = 1.0
"""Real seconds after which a sleeper looks again: the speed may have changed meanwhile."""


class SimulatedClock:
    """Simulated seconds, which pass ``speed`` times as fast as those of the machine, and never go back.

    Args:
        speed: How much faster than life; may be changed at any time.
        real: The machine's seconds.
    """

    def __init__(self, speed: float = 1.0, real: Callable[[], float] = time.monotonic) -> None:
        self._speed, self._real = speed, real
        self._simulated, self._since = 0.0, real()

    def __call__(self) -> float:
        """Return the time."""
        return self._simulated + (self._real() - self._since) * self._speed

    @property
    def speed(self) -> float:
        """How much faster than life time passes."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        self._simulated, self._since = self(), self._real()
        self._speed = speed

    async def sleep(self, seconds: float) -> None:
        """Sleep so many simulated seconds, but not more than a real one: the speed may change meanwhile."""
        await asyncio.sleep(min(max(seconds, 0.0) / self._speed, _LONGEST))


@dataclass(slots=True, eq=False)
class LivePod:
    """A pod, as its engine sees itself.

    Attributes:
        clock: Simulated time of the process.
        replica: Its queue.
        meter: What ``/metrics`` counts.
        answered: Requests that were answered to their end.
        refused: Requests that were refused, or broken off by the client.
        tokens: Tokens that it produced.
        started_at: When it was started, in seconds since the epoch.
    """

    workload: ServedWorkload
    name: str
    uid: str
    ip: str
    node: str
    instance_type: str
    pace: TokenPace
    replica: EngineReplica
    clock: SimulatedClock
    meter: EngineMeter = field(init=False)
    answered: int = 0
    refused: int = 0
    tokens: int = 0
    started_at: int = field(default_factory=lambda: int(time.time()))
    _ids: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.meter = meter_of(self.workload)
        self.replica.watcher = self.meter.steps

    def next_id(self) -> str:
        """Return an id for an answer, which no other one has."""
        self._ids += 1
        return f"{seed_of(self.uid, self._ids):016x}"
