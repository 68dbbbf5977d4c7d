"""A pod whose engine is played."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ..pace.replica import EngineReplica
from ..served import ServedWorkload, TokenPace

Clock = Callable[[], float]
"""Simulated seconds: runs ``speed`` times as fast as the machine's."""


@dataclass(slots=True, eq=False)
class LivePod:
    """A pod, as its engine sees itself.

    Attributes:
        clock: Simulated time of the process; ``wait`` sleeps until one of its moments.
        replica: Its queue.
        number: A number of its own that stays, for texts and seeds.
        counts: What ``/metrics`` counts, by the kind in the engine's table (``components/engines/*/metrics.yaml``).
    """

    workload: ServedWorkload
    name: str
    uid: str
    ip: str
    node: str
    instance_type: str
    pace: TokenPace
    replica: EngineReplica
    clock: Clock
    counts: dict[str, float] = field(default_factory=dict)
    answered: int = 0
    refused: int = 0
    tokens: int = 0
