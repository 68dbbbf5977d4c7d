"""What is simulated of a stack, as plain data: also of another revision, which exchanges it as JSON.

Times are seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

from ..fleet import Object, ServedEndpoint, ServedWorkload

if TYPE_CHECKING:
    from pydantic import TypeAdapter


class Gauge(StrEnum):
    """A metric of an engine that autoscalers may read."""

    QUEUE = "queue"
    RUNNING = "running"
    CACHE = "cache"


@dataclass(frozen=True, slots=True)
class VirtualPod:
    """Identical pods of a replica.

    Attributes:
        count: Pods of this kind in one replica.
        requests: Resource requests of one pod, in base units.
        groups: Names of the node groups that it may run on, in order of preference.
        accelerators: Accelerators of one pod.
    """

    count: int
    requests: Mapping[str, float]
    groups: tuple[str, ...]
    accelerators: int


@dataclass(frozen=True, slots=True)
class VirtualScaler:
    """A HorizontalPodAutoscaler.

    Attributes:
        spec: Its rendered spec.
        gauges: Each metric that it reads, by name.
        interval: Scrape interval of the metrics.
        zeros: The metrics that are 0 while no pod has a value; without a value of any other, the replicas stay.
    """

    spec: Object
    gauges: Mapping[str, Gauge]
    interval: float = 15.0
    zeros: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VirtualWorkload:
    """A serving workload.

    Attributes:
        served: Its model, engine and paces.
        replicas: Replicas at the start.
        pods: The pods of one replica.
        finishing: Seconds that the requests of a terminating pod have, until they are aborted.
        scaler: Its autoscaler; None if its replicas do not change.
    """

    served: ServedWorkload
    replicas: int
    pods: tuple[VirtualPod, ...]
    finishing: float = 30.0
    scaler: VirtualScaler | None = None

    @property
    def accelerators(self) -> int:
        """Accelerators of one replica."""
        return sum(pod.count * pod.accelerators for pod in self.pods)


@dataclass(frozen=True, slots=True)
class VirtualGroup:
    """Nodes of one kind.

    Attributes:
        offered: Allocatable resources of a node, in base units.
        start: Nodes at the start.
        least: Minimum number of nodes.
        most: Maximum number of nodes.
        elastic: Whether nodes are added and removed; otherwise all nodes exist from the start to the end.
        accelerators: Accelerators of one node.
        usd_per_hour: Price of a node; None without one.
        price_source: The region and kind of the price, or why there is none.
    """

    name: str
    instance_type: str
    offered: Mapping[str, float]
    start: int
    least: int
    most: int
    elastic: bool = True
    accelerators: int = 0
    usd_per_hour: float | None = None
    price_source: str = ""


@dataclass(frozen=True, slots=True)
class VirtualFleet:
    """The simulated part of a stack.

    Attributes:
        endpoints: Endpoints of models that can be simulated.
        refused: Why other endpoints cannot be simulated, by their names in the outputs.
        notes: What the simulation leaves out, in sentences.
    """

    stack: str
    workloads: tuple[VirtualWorkload, ...] = ()
    endpoints: tuple[ServedEndpoint, ...] = ()
    groups: tuple[VirtualGroup, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def as_json(self) -> bytes:
        """Return the fleet as JSON, for another process."""
        return _adapter().dump_json(self)

    @classmethod
    def from_json(cls, text: bytes) -> "VirtualFleet":
        """Read what :meth:`as_json` returned.

        Raises:
            ValueError: it is something else.
        """
        return _adapter().validate_json(text)


@cache
def _adapter() -> "TypeAdapter[VirtualFleet]":
    from pydantic import TypeAdapter

    return TypeAdapter(VirtualFleet)
