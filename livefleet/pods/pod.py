"""A pod whose engine is played."""

import time
from dataclasses import dataclass, field

from ..apis.meter import EngineMeter, meter_of
from ..apis.texts import seed_of
from ..fleet import ServedWorkload, TokenPace
from ..pace.replica import EngineReplica
from .clock import SimulatedClock


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
