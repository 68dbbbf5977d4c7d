"""What the process behind the pods says of itself, and what it can be told.

It serves, on loopback and with a bearer token (``Addresses.control`` and ``.token``):

- ``GET /state``: a :class:`LiveState` as JSON
- ``GET /targets/<job>``: targets of one job as Prometheus' HTTP service discovery takes them, with the meta labels
  of role ``pod``; ``<job>`` is ``namespace.name`` of the PodMonitor. The address of a target is that on loopback
- ``GET /backends``: the loopback address of every pod that listens, Ready or not, as JSON: by ``ip:port``, and by
  ``namespace/pod:port``
- ``POST /speed`` ``{"answers": 60, "starts": 60}``; either may be absent. Answers with both, as they are then
- ``POST /fault`` ``{"fault": "node", "name": "..."}``; answers with a :class:`FaultOutcome`. A pod is named
  ``namespace/name``; a name alone will do where one pod has it

What it refuses is answered with 400, and what is not there with 404: ``{"error": "...", "there": ["..."]}``.
"""

from dataclasses import dataclass
from enum import StrEnum

from .fleet import PaceSource
from .option_values import LiveFault as LiveFault


class NoteKind(StrEnum):
    """What something that happened is about."""

    FAULT = "fault"
    """A fault was asked for, or what came of it."""
    NODE = "node"
    """A node came or went."""
    POD = "pod"
    """A pod became Ready, ended, or stays Pending."""
    SCALE = "scale"
    """The replicas that are wanted changed."""
    PREEMPTED = "preempted"
    """The scheduler ended a pod, the victim, for one of a higher priority, the preemptor."""


@dataclass(frozen=True, slots=True)
class FleetNote:
    """Something that happened.

    Attributes:
        at: Seconds since the epoch.
        text: What, in a sentence that names the object.
        victim: ``namespace/name`` of the pod that was preempted; empty for other kinds of notes.
        preemptor: ``namespace/name`` of the pod for which it was.
    """

    at: float
    kind: NoteKind
    text: str
    victim: str = ""
    preemptor: str = ""


@dataclass(frozen=True, slots=True)
class FaultOutcome:
    """What a fault did at once.

    Attributes:
        name: What it happened to.
        pods: ``namespace/name`` of the pods that are gone, or will be.
        broken: Requests whose connection it broke.
        text: The same in a sentence.
    """

    fault: LiveFault
    name: str
    pods: tuple[str, ...]
    broken: int
    text: str


@dataclass(frozen=True, slots=True)
class PodState:
    """A pod that serves, or will, or a worker of one: replicas may span several pods.

    Attributes:
        name: ``namespace/name``.
        title: The resource, as the outputs name it.
        node: Where it is; empty while it is Pending.
        zone: Of the node; empty without one.
        spot: Whether the node is one that the cloud may take back.
        ready: Whether it answers.
        waiting: Requests that wait in it; those of a replica of several pods wait in the leader.
        running: Requests that it computes.
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
    """An autoscaler of a model: what it wants, which is 0 until it has read its metric."""

    name: str
    current: int
    desired: int
    least: int
    most: int

    @property
    def has_wish(self) -> bool:
        """Whether it has read its metric: what it wants is within its bounds then."""
        return self.desired >= self.least

    @property
    def moves(self) -> bool:
        """Whether it wants another number of replicas than there is."""
        return self.has_wish and self.desired != self.current


@dataclass(frozen=True, slots=True)
class ModelState:
    """A resource that serves, all workloads of it together.

    Attributes:
        title: Its key in the outputs.
        model: What clients ask for.
        replicas: Wanted by its workloads.
        ready: Replicas that answer.
        starting: Replicas whose pods are on a node, and do not answer yet.
        pending: Replicas with a pod for which there is no room.
        waiting: Requests that wait.
        running: Requests that are computed.
        cache: Share of the cache in use, the fullest replica's.
        answered: Requests that were answered since it started.
        refused: Requests that were refused or broken off since it started.
        tokens: Tokens that it produced since it started.
        usd_per_hour: What the accelerators that its pods hold would cost, workers included; None without a price.
        pace: Where its speed is from.
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
        nodes: Nodes that are there.
        starting: Nodes that were asked for.
        least: Its lower bound.
        most: Its upper bound.
        usd_per_hour: What the nodes that are there would cost; None without a price.
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
    """The fleet at one moment.

    Attributes:
        at: Seconds since the epoch.
        speed: How much faster than life answers are.
        start_speed: How much faster than life nodes and pods start.
        usd_per_hour: What all nodes that are there would cost; those without a price are not in it.
        pods: Every pod that serves, or will, and its workers, by name.
        notes: What happened lately, newest last: a node came, a fault, a pod that stays Pending and why.
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
    """Return what is new in a list that forgets its oldest notes: all behind the longest common part."""
    for length in range(min(len(before), len(after)), 0, -1):
        if before[-length:] == after[:length]:
            return after[length:]
    return after
