"""A simulated pod as its engine sees it, and the clock of its simulated time."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ..apis.meter import EngineMeter, meter_of
from ..apis.texts import seed_of
from ..fleet import ServedWorkload, TokenPace
from ..pace.replica import EngineReplica

_MAX_SLEEP = 1.0
"""Maximum real seconds of a sleep, because the speed may change meanwhile."""


class SimulatedClock:
    """A monotonic clock of simulated seconds, which pass ``speed`` times as fast as real ones.

    Args:
        speed: May be changed at any time.
        real: Clock of the machine, in seconds.
    """

    def __init__(self, speed: float = 1.0, real: Callable[[], float] = time.monotonic) -> None:
        self._speed, self._real = speed, real
        self._simulated, self._since = 0.0, real()

    def __call__(self) -> float:
        return self._simulated + (self._real() - self._since) * self._speed

    @property
    def speed(self) -> float:
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        self._simulated, self._since = self(), self._real()
        self._speed = speed

    async def sleep(self, seconds: float) -> None:
        """Sleep for simulated seconds, but at most one real second: call it again until the time has passed."""
        await asyncio.sleep(min(max(seconds, 0.0) / self._speed, _MAX_SLEEP))


@dataclass(slots=True, eq=False)
class LivePod:
    """A pod as its engine sees it.

    Attributes:
        replica: Its queue and batch.
        clock: Simulated time of the engines.
        meter: Counters of ``/metrics``.
        answered: Completed requests.
        refused: Requests that were rejected, or aborted by the client.
        tokens: Generated tokens.
        started_at: Seconds since the epoch.
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
        """Return a unique id for an answer."""
        self._ids += 1
        return f"{seed_of(self.uid, self._ids):016x}"
