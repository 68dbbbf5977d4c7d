"""The control API of the process behind the pods: its types.

The process serves it on loopback, with a bearer token (``Addresses.control`` and ``.token``):

- ``GET /state``: a :class:`LiveState` as JSON
- ``GET /targets/<job>``: targets of one job for Prometheus' HTTP service discovery, with the meta labels of role
  ``pod``; ``<job>`` is ``namespace.name`` of the PodMonitor. Targets have loopback addresses
- ``GET /backends``: the loopback address of every listening pod, Ready or not, as a JSON object: by ``ip:port``, and
  by ``namespace/pod:port``
- ``POST /speed`` ``{"answers": 60, "starts": 60}``; both keys are optional. Returns both speeds
- ``POST /fault`` ``{"fault": "node", "name": "..."}``; returns a :class:`FaultOutcome`. A pod is named
  ``namespace/name``, or by its name if that is unique

Errors are ``{"error": "...", "there": ["..."]}``: 400 for an invalid request, 404 for an unknown object, with the
valid names in ``there``.
"""

from dataclasses import dataclass
from enum import StrEnum

from .fleet import PaceSource
from .option_values import LiveFault as LiveFault


class NoteKind(StrEnum):
    """Kind of an event."""

    FAULT = "fault"
    """A fault was injected, or took effect."""
    NODE = "node"
    """A node was added or removed."""
    POD = "pod"
    """A pod became Ready, terminated, or stays Pending."""
    SCALE = "scale"
    """The desired number of replicas changed."""
    PREEMPTED = "preempted"
    """The scheduler evicted a pod, the victim, for a pod of higher priority, the preemptor."""


@dataclass(frozen=True, slots=True)
class FleetNote:
    """An event in the fleet.

    Attributes:
        at: Seconds since the epoch.
        text: A sentence that names the object.
        victim: ``namespace/name`` of the evicted pod; empty for other kinds.
        preemptor: ``namespace/name`` of the pod that it was evicted for.
    """

    at: float
    kind: NoteKind
    text: str
    victim: str = ""
    preemptor: str = ""


@dataclass(frozen=True, slots=True)
class FaultOutcome:
    """The immediate effect of a fault.

    Attributes:
        name: The node, pod or zone.
        pods: ``namespace/name`` of the pods that are lost, or will be.
        broken: Number of requests whose connection broke.
        text: The same in a sentence.
    """

    fault: LiveFault
    name: str
    pods: tuple[str, ...]
    broken: int
    text: str


@dataclass(frozen=True, slots=True)
class PodState:
    """A pod that serves or will serve, or a worker of one: replicas may span several pods.

    Attributes:
        name: ``namespace/name``.
        title: Name of the resource in the outputs.
        node: Its node; empty while it is Pending.
        zone: Zone of the node; empty if it has none.
        spot: Whether the node is a spot instance.
        ready: Whether it answers requests.
        waiting: Queued requests; those of a replica with several pods are queued in the leader.
        running: Requests in the batch.
    """

    name: str
    title: str
    node: str
    zone: str
    spot: bool
    ready: bool
    waiting: int
    running: int


@dataclass(frozen=True, slots=True)
class ScalerState:
    """An autoscaler of a model; ``desired`` is 0 until it has read its metric."""

    name: str
    current: int
    desired: int
    least: int
    most: int

    @property
    def has_read_metric(self) -> bool:
        """Whether it has read its metric: only then is its desired count within its bounds."""
        return self.desired >= self.least

    @property
    def is_scaling(self) -> bool:
        """Whether its desired count differs from the current one."""
        return self.has_read_metric and self.desired != self.current


@dataclass(frozen=True, slots=True)
class ModelState:
    """A serving resource with all its workloads.

    Attributes:
        title: Its key in the outputs.
        model: Name of the model for clients.
        replicas: Desired replicas of its workloads.
        ready: Replicas that answer requests.
        starting: Replicas whose pods are bound to nodes, but not Ready.
        pending: Replicas with an unschedulable pod.
        waiting: Queued requests.
        running: Requests in the batch.
        cache: Share of the KV cache in use, of the fullest replica.
        answered: Requests completed since it started.
        refused: Requests rejected or aborted since it started.
        tokens: Tokens generated since it started.
        usd_per_hour: List price of the accelerators that its pods hold, workers included; None without a price.
        pace: Source of its speed.
        scalers: Its autoscalers.
    """

    title: str
    model: str
    replicas: int
    ready: int
    starting: int
    pending: int
    waiting: int
    running: int
    cache: float
    answered: int
    refused: int
    tokens: int
    usd_per_hour: float | None
    pace: PaceSource
    scalers: tuple[ScalerState, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupState:
    """A group of nodes.

    Attributes:
        nodes: Nodes in use.
        starting: Nodes that start.
        least: Its minimum.
        most: Its maximum.
        usd_per_hour: List price of the nodes in use; None without a price.
    """

    name: str
    instance_type: str
    nodes: int
    starting: int
    least: int
    most: int
    usd_per_hour: float | None


@dataclass(frozen=True, slots=True)
class LiveState:
    """A snapshot of the fleet.

    Attributes:
        at: Seconds since the epoch.
        speed: How much faster than real time answers are.
        start_speed: How much faster than real time nodes and pods start.
        usd_per_hour: List price of all nodes in use, without those that have no price.
        pods: Every pod that serves or will serve, and its workers, sorted by name.
        notes: Recent events, newest last.
    """

    at: float
    speed: float
    start_speed: float
    models: tuple[ModelState, ...]
    groups: tuple[GroupState, ...]
    usd_per_hour: float
    pods: tuple[PodState, ...] = ()
    notes: tuple[FleetNote, ...] = ()


def new_notes(before: tuple[FleetNote, ...], after: tuple[FleetNote, ...]) -> tuple[FleetNote, ...]:
    """Return the notes that are new in ``after``; both lists have dropped their oldest notes."""
    for length in range(min(len(before), len(after)), 0, -1):
        if before[-length:] == after[:length]:
            return after[length:]
    return after
