"""Workloads: the pods that a resource is rendered to, and the container in them that serves the model."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ..engines.command_line import CommandLine
from ..engines.groups import GroupVariables
from ..engines.memory_settings.reader import MemorySettings, memory_settings_of
from ..engines.memory_settings.settings import argument_position
from ..engines.scripts.commands import engine_line
from ..engines.settings import Setting
from .demand import PodDemand
from .objects import Object, key_of
from .origins import Origin
from .shapes import PodTemplate, WorkloadShape, shape_of

REPLICAS = "spec.replicas"
"""The field that autoscalers set."""
PATCH_FORCE = "pulumi.com/patchForce"
"""Annotation with which the provider takes fields from other managers (``patchForce`` in provider/pkg/await)."""
LWS_VARIABLES = GroupVariables("LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX")
"""Environment variables that the LeaderWorkerSet controller sets in every pod."""


class NamedWeights(NamedTuple):
    """Weights that a server loads from a location that does not name their origin.

    Attributes:
        loaded_as: What the server's command line names: a folder, a file or an address.
        name: The origin: a repository or an address.
        file: The single file that is used; empty for all files.
    """

    loaded_as: str
    name: str
    file: str = ""


class ImageField(NamedTuple):
    """The field that sets the image of a server.

    Attributes:
        origin: The field.
        is_tag: Whether it contains the tag alone.
    """

    origin: Origin
    is_tag: bool = False


class SpreadField(NamedTuple):
    """The fields that set the degrees of parallelism, as messages show them.

    Attributes:
        tensor: Setting for tensor parallelism, with ``{tensor}`` for the degree.
        both: Setting for both, with ``{tensor}`` and ``{pipeline}``; empty if no field sets pipeline parallelism.
        is_whole: Whether the degree must equal the accelerators of a pod.
    """

    tensor: str
    both: str = ""
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Server:
    """The container that serves the model, and its engine.

    Attributes:
        position: Its index among the containers of the pods that receive requests.
        line: Its command line, with the engine and its version.
        args: The field with its arguments, for messages.
        ports: The field that declares its ports, for messages.
        image: The field that sets its image, for messages.
        weights: Origins of the weights that the command line does not name.
        fields: The manifest fields of engine settings that have one.
        is_written: Whether ``args`` is a list that contains each argument as it was written.
        spread: The fields for the degrees of parallelism; None if only engine flags set them.
        shared_memory: How to mount a volume at ``/dev/shm``; empty if its pod template is written by hand.
        config: The fields from which the arguments of its configuration file come.
    """

    position: int
    line: CommandLine
    args: Origin
    ports: Origin
    image: ImageField
    weights: tuple[NamedWeights, ...] = ()
    fields: Mapping[Setting, Origin] = field(default_factory=dict, compare=False, repr=False)
    is_written: bool = False
    spread: SpreadField | None = field(default=None, compare=False, repr=False)
    shared_memory: str = field(default="", compare=False, repr=False)
    config: tuple[Origin, ...] = field(default=(), compare=False, repr=False)

    def field_of(self, setting: Setting) -> Origin:
        """Return the field that sets an engine setting; the field with the arguments if none does."""
        own = (engine_line(self.line) if self.config else None) or self.line
        position = argument_position(own, setting) if self.config or self.is_written else None
        if setting in self.fields and (position is None or own.config_index(position) is None):
            return self.fields[setting]
        return self.args if position is None else self.argument(position)

    def argument(self, position: int) -> Origin:
        """Return the field of an argument: one of the container, or of its configuration file.

        Args:
            position: Its position in the line that the engine parses.
        """
        own = (engine_line(self.line) if self.config else None) or self.line
        index = own.config_index(position)
        if index is not None:
            return self.config[index]
        if not self.is_written or self.line.reading is None or position < 0:
            return self.args
        moved = own.config.moved if own.config else 0
        return replace(self.args, path=f"{self.args.path}[{position + moved}]")


class PodSet(NamedTuple):
    """Pods that are scraped, protected by a disruption budget and drained together, whichever objects create them.

    Attributes:
        name: Unique in the namespace, and valid as an object name.
        front: Labels of the pods that receive requests.
        group: Labels of all pods that communicate with one another; None if pods are independent.
        prefix: Prefix of the pod names, if that is not the name of their workload.
        replicas: Labels of all pods of its replicas, of no other set's; None if only those in ``front`` have some.
    """

    name: str
    front: Mapping[str, str]
    group: Mapping[str, str] | None = None
    prefix: str = ""
    replicas: Mapping[str, str] | None = None


class PodPriority(NamedTuple):
    """The priority of a family's pods, in addition to the class in their templates.

    Attributes:
        field: The field that sets it, or could.
        known: The PriorityClass, if the family's operator ships it; None for any other.
        is_written: Whether the resource sets a priority, even the family's default.
        is_overridden: Whether it sets a priority other than the family's default.
        is_raised: Whether it sets a priority above that default.
    """

    field: Origin
    known: Object | None = None
    is_written: bool = False
    is_overridden: bool = False
    is_raised: bool = False


class UpdateUnit(NamedTuple):
    """The replicas that an operator replaces together, possibly with those of other workloads.

    Attributes:
        of: The resource whose edit replaces them.
        revision: Digest of all that replaces pods of the workload when it changes.
        replicas: Replicas of the workload in one unit.
        partition: Index of the first unit that is replaced.
        unavailable: Units that may be missing at once; None for all.
        at_once: Replicas of the workload in one unit that may be missing at once; None for all.
    """

    of: str
    revision: str
    replicas: int
    partition: int = 0
    unavailable: int | None = None
    at_once: int | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """Identical replicas of a pod or of a group of pods.

    Attributes:
        body: The object, of a kind in ``shapes.SHAPES``.
        server: The serving container of the pods that receive requests.
        port: Port on which it receives requests.
        replicas: Minimum replicas: those of the spec, or the lower bound of the autoscaler.
        pods: Node demand of its pods.
        model: The model that it serves, as metrics and dashboards name it.
        origin: The resource.
        role: Its role if the resource has several workloads, such as ``prefill``.
        most: Upper bound of the autoscaler; None without one.
        operated: Whether an operator creates it; ``body`` then predicts the operator's object and is not registered.
        bare: Whether that operator creates the pods without a workload object; ``body`` then only describes them.
        part_of: The larger pod set that its pods belong to, if any. The workloads of one set are identical.
        priority: The family's priority of its pods; None if only their templates set one.
        unit: How its operator replaces its replicas; None if its kind decides.
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
    unit: UpdateUnit | None = None

    @property
    def shape(self) -> WorkloadShape:
        """The shape of its kind.

        Raises:
            ValueError: ``body`` is not of a known workload kind.
        """
        shape = shape_of(self.body)
        if shape is None:
            kind, namespace, name = key_of(self.body)
            raise ValueError(f"{kind} {namespace}/{name} ({self.body['apiVersion']}) has no shape in fleet/shapes.py")
        return shape.as_single_pods() if self.bare else shape

    @property
    def kind(self) -> str:
        """Its kind; ``Pod`` if an operator creates its pods without a workload object."""
        return self.shape.kind

    @property
    def memory_settings(self) -> MemorySettings | str:
        """The settings of the serving container that affect memory use, or the reason why they are unknown."""
        container = self.container
        env = container.get("env") or ()
        variables = tuple((str(entry["name"]), str(entry["value"]) if "value" in entry else None) for entry in env)
        return memory_settings_of(self.server.line, variables, more=bool(container.get("envFrom")))

    @property
    def name(self) -> str:
        return str(self.body["metadata"]["name"])

    @property
    def namespace(self) -> str:
        return str(self.body["metadata"]["namespace"])

    @property
    def kept_fields(self) -> tuple[str, ...]:
        """Fields that updates must leave as they are: the replicas, if an autoscaler sets them.

        Under server-side apply, a field that its only owner no longer sets returns to its default: leaving out the
        replicas would delete all but one when an autoscaler is added. The provider keeps the value of a field whose
        changes are ignored, and leaves it out once another manager has set it (``handleSSAIgnoreFields`` in
        provider/pkg/await/await.go of pulumi/pulumi-kubernetes).
        """
        return (REPLICAS,) if self.most is not None and "replicas" not in self.body["spec"] else ()

    @property
    def size(self) -> int:
        """Pods of one replica."""
        return self.shape.size_of(self.body)

    @property
    def pod_templates(self) -> tuple[PodTemplate, ...]:
        """Its pod templates, leader first, each with its field and its pods per replica."""
        return self.shape.pod_templates(self.body)

    @property
    def claims(self) -> dict[str, Object]:
        """Specs of the PersistentVolumeClaims that each pod gets its own copy of, by name."""
        return self.shape.claims_of(self.body)

    @property
    def templates(self) -> tuple[Object, ...]:
        """Every pod template, leader first."""
        return tuple(template.body for template in self.pod_templates)

    @property
    def front(self) -> Object:
        """The template of the pods that receive requests: the leaders of groups, otherwise all pods."""
        return self.templates[0]

    @property
    def container(self) -> Object:
        """The serving container."""
        container: Object = self.front["spec"]["containers"][self.server.position]
        return container

    @property
    def own_pods(self) -> PodSet:
        """Its own pods; those of its set if no workload object owns them."""
        if self.bare and self.part_of is not None:
            return self.part_of
        front, group = self.shape.labels_of(self.body)
        return PodSet(self.name, front, group, replicas=group)

    @property
    def pod_set(self) -> PodSet:
        """The set that its pods belong to; its own pods if they belong to no larger set."""
        return self.own_pods if self.part_of is None else self.part_of

    @property
    def set_name(self) -> str:
        """Name of its pod set."""
        return self.name if self.part_of is None else self.part_of.name

    @property
    def backend_keys(self) -> frozenset[tuple[str, str]]:
        """Keys by which endpoints refer to it: namespace and name, of the workload and of its pod set."""
        return frozenset({(self.namespace, self.name), (self.namespace, self.set_name)})

    @property
    def selector(self) -> dict[str, str]:
        """Labels of the pods of its set that receive requests."""
        return dict(self.pod_set.front)

    @property
    def evicted(self) -> dict[str, str]:
        """Labels of the pods of its set whose eviction ends a replica."""
        return dict(self.pod_set.replicas or self.pod_set.front)

    @property
    def group(self) -> dict[str, str] | None:
        """Labels of all pods of a group; None if pods are independent."""
        group = self.pod_set.group
        return None if group is None else dict(group)

    def surge(self, replicas: int) -> int:
        """Return the extra replicas that an update of this many replicas creates."""
        return self.shape.update_of(self.body).added(replicas)


def by_set(workloads: Iterable[Workload]) -> dict[tuple[str, str], list[Workload]]:
    """Group workloads by namespace and name of their pod set."""
    sets: dict[tuple[str, str], list[Workload]] = {}
    for workload in workloads:
        sets.setdefault((workload.namespace, workload.set_name), []).append(workload)
    return sets


def with_own_replicas(body: Object, declared: int | None = None) -> Object:
    """Return an object that takes its replicas back from an autoscaler that it had, if it has any.

    The autoscaler owns the field then, so that an update with another number is a conflict; with the number from
    before, Pulumi sees no difference, and the autoscaler's number stays. The annotation is a difference, and with it
    the provider takes the field.

    Args:
        body: The object.
        declared: The replicas of the resource of an operator, even if it leaves them to their default: without the
            field, the autoscaler's number would stay. None for other objects, of which only workloads are changed.
    """
    spec = body.get("spec")
    if not isinstance(spec, Mapping):
        return body
    if declared is not None:
        body = {**body, "spec": {**spec, "replicas": declared}}
    elif shape_of(body) is None or "replicas" not in spec:
        return body
    metadata = body["metadata"]
    annotations = {PATCH_FORCE: "true", **(metadata.get("annotations") or {})}
    return {**body, "metadata": {**metadata, "annotations": annotations}}
