"""Workloads: the pods that a resource becomes, and the container in them that serves."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ..engines.command_line import CommandLine
from ..engines.groups import GroupVariables
from ..engines.memory_settings.settings import argument_index
from ..engines.settings import Setting
from .demand import PodDemand
from .objects import Object, key_of
from .origins import Origin
from .shapes import PodTemplate, WorkloadShape, shape_of

LWS_VARIABLES = GroupVariables("LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX")
"""What the controller of LeaderWorkerSets puts into the environment of every pod."""


@dataclass(frozen=True, slots=True)
class NamedWeights:
    """Weights that a server is told of by another name than the one that they are known by.

    Attributes:
        loaded_as: What the server is told: a folder, a file or an address.
        name: Where they are from: a repository, or an address.
        file: The one file of it that is taken; empty where all are.
    """

    loaded_as: str
    name: str
    file: str = ""


@dataclass(frozen=True, slots=True)
class SpreadField:
    """The fields that set a model's degrees of parallelism, as messages show them.

    Attributes:
        tensor: Text that sets tensor parallelism; ``{tensor}`` stands for the degree.
        both: Text that also sets pipeline parallelism, ``{pipeline}``; empty if no field does.
        is_whole: Whether the degree must be the number of accelerators of a pod.
    """

    tensor: str
    both: str = ""
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Server:
    """The container that serves the model, and the engine in it.

    Attributes:
        position: Its position among the containers of the pods that take requests.
        line: What it is started with; knows the engine and its version.
        args: The field with its arguments, for messages.
        ports: The field that declares its ports, for messages.
        weights: Where what it is told to load is from, as far as its command line does not say it.
        fields: The fields that settings come from, where they have fields of their own.
        is_written: Whether the field with its arguments has them one by one.
        spread: The field for the degree of parallelism; None if only a flag of the engine sets it.
    """

    position: int
    line: CommandLine
    args: Origin
    ports: Origin
    weights: tuple[NamedWeights, ...] = ()
    fields: Mapping[Setting, Origin] = field(default_factory=dict, compare=False, repr=False)
    is_written: bool = False
    spread: SpreadField | None = field(default=None, compare=False, repr=False)

    def field_of(self, setting: Setting) -> Origin:
        """Return the field that says a setting; the one with the arguments where none does."""
        if setting in self.fields:
            return self.fields[setting]
        place = argument_index(self.line, setting) if self.is_written else None
        return self.args if place is None else replace(self.args, path=f"{self.args.path}[{place}]")


@dataclass(frozen=True, slots=True)
class PodSet:
    """Pods that are looked at as one, whatever makes them: they are scraped, guarded and drained together.

    Attributes:
        name: What they are called together; unique in the namespace, and fit for the name of an object.
        front: Labels of the pods that take requests.
        group: Labels of all pods that talk to one another; None if each pod is on its own.
        prefix: What the names of the pods begin with, if that is not the name of their workload.
    """

    name: str
    front: Mapping[str, str]
    group: Mapping[str, str] | None = None
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class PodPriority:
    """The priority of a family's pods, in addition to the class in their templates.

    Attributes:
        stated_at: The field that sets it, or would.
        known: The PriorityClass, if it is one of the family's operator; None for any other.
        is_written: Whether the resource sets a priority, even if it is the family's default.
        is_stated: Whether it sets one that differs from the family's default.
        is_raised: Whether it sets one above that default.
    """

    field: Origin
    known: Object | None = None
    is_written: bool = False
    is_overridden: bool = False
    is_raised: bool = False


@dataclass(frozen=True, slots=True)
class Workload:
    """Equal replicas of one pod, or of one group of pods.

    Attributes:
        body: The object, of a kind in ``shapes.SHAPES``.
        server: The container that serves, in the pods that take requests.
        port: Port of the container that receives requests.
        replicas: Replicas at rest: those of the spec, or the lower bound of the autoscaler.
        pods: Node demand of its pods.
        model: What it serves, as series and panels name it.
        origin: The resource.
        role: Its role if a resource has several workloads, such as ``prefill``.
        most: Replicas with the autoscaler at its maximum; None without autoscaler.
        operated: Whether an operator makes it: then ``body`` is what that makes, and is not made here.
        bare: Whether that operator makes its pods one by one: then ``body`` only has their shape.
        part_of: The pods that its own are a part of; None if they are nobody else's. The workloads of one set are
            equal to each other.
        priority: The family's priority of its pods; None if only their templates set it.
    """

    body: Object
    server: Server
    port: int
    replicas: int
    pods: tuple[PodDemand, ...]
    model: str
    origin: Origin
    role: str = ""
    most: int | None = None
    operated: bool = False
    bare: bool = False
    part_of: PodSet | None = None
    priority: PodPriority | None = None

    @property
    def shape(self) -> WorkloadShape:
        """What it has in common with all workloads of its kind.

        Raises:
            ValueError: ``body`` is of no kind that is known as a workload.
        """
        shape = shape_of(self.body)
        if shape is None:
            kind, namespace, name = key_of(self.body)
            raise ValueError(f"{kind} {namespace}/{name} ({self.body['apiVersion']}) has no shape in fleet/shapes.py")
        return shape.as_single_pods() if self.bare else shape

    @property
    def kind(self) -> str:
        """Its kind; ``Pod`` where an operator makes its pods one by one."""
        return self.shape.kind

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.body["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return str(self.body["metadata"]["namespace"])

    @property
    def size(self) -> int:
        """Pods of one replica."""
        return self.shape.size_of(self.body)

    @property
    def pod_templates(self) -> tuple[PodTemplate, ...]:
        """Every pod template with its field and how many pods of a replica it has, leader first."""
        return self.shape.pod_templates(self.body)

    @property
    def claims(self) -> dict[str, Object]:
        """Specs of the PersistentVolumeClaims of which each of its pods gets its own, by their names."""
        return self.shape.claims_of(self.body)

    @property
    def templates(self) -> tuple[Object, ...]:
        """Every pod template, leader first."""
        return tuple(each.body for each in self.pod_templates)

    @property
    def front(self) -> Object:
        """The template of the pods that take requests: leaders of a group, else all."""
        return self.templates[0]

    @property
    def container(self) -> Object:
        """The container that serves."""
        container: Object = self.front["spec"]["containers"][self.server.position]
        return container

    @property
    def own_pods(self) -> PodSet:
        """Its own pods alone; where no object has them, those of its set."""
        if self.bare and self.part_of is not None:
            return self.part_of
        return PodSet(self.name, *self.shape.labels_of(self.body))

    @property
    def pod_set(self) -> PodSet:
        """The pods that its own are looked at with: those of the set that they are a part of, else they alone."""
        return self.own_pods if self.part_of is None else self.part_of

    @property
    def set_name(self) -> str:
        """What the pods of its set are called together."""
        return self.name if self.part_of is None else self.part_of.name

    @property
    def backend_keys(self) -> frozenset[tuple[str, str]]:
        """What endpoints may say to be behind them: its namespace and name, and the name of the set of its pods."""
        return frozenset({(self.namespace, self.name), (self.namespace, self.set_name)})

    @property
    def selector(self) -> dict[str, str]:
        """Labels of the pods of its set that take requests."""
        return dict(self.pod_set.front)

    @property
    def group(self) -> dict[str, str] | None:
        """Labels of all pods that belong together; None if each pod is on its own."""
        group = self.pod_set.group
        return None if group is None else dict(group)

    def surge(self, replicas: int) -> int:
        """Count the replicas that an update adds to so many."""
        return self.shape.update_of(self.body).added(replicas)


def by_set(workloads: Iterable[Workload]) -> dict[tuple[str, str], list[Workload]]:
    """Return workloads by the set of their pods: its namespace and name."""
    sets: dict[tuple[str, str], list[Workload]] = {}
    for workload in workloads:
        sets.setdefault((workload.namespace, workload.set_name), []).append(workload)
    return sets
