"""How to render: plain settings that are the same for every resource of a call."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from ..contract.names import is_dns1123_label
from .levels import ServiceLevels
from .objects import Object
from .words import Edition, Realization, WorkloadChoice


@dataclass(frozen=True, slots=True)
class PodOverrides:
    """Pod settings that a Playground has no fields for (llmaz spec 6.11)."""

    tolerations: tuple[Object, ...] = ()
    service_account_name: str | None = None
    image_pull_secrets: tuple[str, ...] = ()
    priority_class_name: str | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelCache:
    """Where loaded weights are kept, so that a restarted pod need not load them again: exactly one of the two.

    Attributes:
        claim: Name of a PersistentVolumeClaim in the workload's namespace (ReadWriteMany for several nodes).
        host_path: Folder on the node.
    """

    claim: str | None = None
    host_path: str | None = None

    def __post_init__(self) -> None:
        """Refuse both and neither."""
        if bool(self.claim) == bool(self.host_path):
            raise ValueError("a model cache is either a claim or a host path; set exactly one of the two")


@dataclass(frozen=True, slots=True)
class BoundClaim:
    """A claim in every namespace of models that is bound to one PersistentVolume each, known before either is there.

    Attributes:
        read_only: Whether pods can only read it.
    """

    name: str
    read_only: bool = False

    SIZE: ClassVar[str] = "1Ti"
    """Kubernetes wants a size of every claim and volume. Shared file systems and buckets ignore it."""

    @property
    def access_modes(self) -> list[str]:
        """How pods on several nodes use it."""
        return ["ReadOnlyMany" if self.read_only else "ReadWriteMany"]

    def volume(self, namespace: str) -> str:
        """Return the name of the PersistentVolume. Namespaces have no dots, so that no two claims share one."""
        return f"{namespace}.{self.name}"


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of a rendering.

    Attributes:
        workload: ``auto`` creates a Deployment if a replica is one pod and a LeaderWorkerSet if it spans
            several; ``lws`` forces LeaderWorkerSet; ``deployment`` rejects replicas of several pods.
        namespace: Namespace of resources that do not set one.
        runtimes: Edition of the shipped BackendRuntimes, ``upstream`` or ``current``.
        loader_image: Image that loads weights, instead of the family's own.
        alternatives: By instance type, further types whose nodes pods may use instead.
        monitoring: Whether every engine exports its metrics, not only those that an autoscaler reads.
        tolerates_devices: Whether the API server lets pods that request a device tolerate the taint of its nodes
            (admission plugin ExtendedResourceToleration).
        tolerates_changes: Whether autoscalers can be told how small a change to ignore (Kubernetes 1.35 and later).
        realizations: By family, another realization for its resources.
        levels: What is promised and expected of models.
        default_class: PriorityClass of pods that set none, in place of their family's default; empty for no class,
            None to keep the family's default.
    """

    realization: Realization = Realization.NATIVE
    workload: WorkloadChoice = WorkloadChoice.AUTO
    namespace: str = "default"
    overrides: PodOverrides = PodOverrides()
    cache: ModelCache | None = None
    loader_image: str = ""
    scheduler_name: str = "default-scheduler"
    runtimes: Edition = Edition.UPSTREAM
    grace_seconds: int = 130
    alternatives: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    monitoring: bool = False
    tolerates_devices: bool = False
    tolerates_changes: bool = False
    realizations: Mapping[str, Realization] = field(default_factory=dict)
    levels: ServiceLevels = field(default_factory=ServiceLevels)
    default_class: str | None = None

    def __post_init__(self) -> None:
        """Refuse a namespace that no object can have."""
        if not is_dns1123_label(self.namespace):
            raise ValueError(f"namespace must be lower-case letters, digits and '-', found {self.namespace!r}")

    def of_family(self, name: str) -> "Options":
        """Return the settings for the resources of a family, which may have a realization of its own."""
        own = self.realizations.get(name, self.realization)
        return self if own is self.realization else replace(self, realization=own)
