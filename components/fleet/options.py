"""Rendering options: settings that apply to every resource of a call."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from ..contract.names import is_dns1123_label
from ..engines.draining import grace_for
from .levels import ServiceLevels
from .objects import Object
from .words import Edition, Realization, WorkloadChoice


@dataclass(frozen=True, slots=True)
class PodOverrides:
    """Settings of all pods, in addition to what manifests can express (llmaz spec 6.11).

    Attributes:
        creates_account: Whether the service account is created with the models.
    """

    tolerations: tuple[Object, ...] = ()
    service_account_name: str | None = None
    creates_account: bool = False
    image_pull_secrets: tuple[str, ...] = ()
    priority_class_name: str | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelCache:
    """Storage for loaded weights, so that restarted pods need not download them again. Set exactly one field.

    Attributes:
        claim: Name of a PersistentVolumeClaim in the workload's namespace (ReadWriteMany for several nodes).
        host_path: Folder on the node.
    """

    claim: str | None = None
    host_path: str | None = None

    def __post_init__(self) -> None:
        if bool(self.claim) == bool(self.host_path):
            raise ValueError("a model cache is either a claim or a host path; set exactly one of the two")


@dataclass(frozen=True, slots=True)
class BoundClaim:
    """A claim of the same name in every model namespace, each bound to a PersistentVolume with a predictable name.

    Attributes:
        read_only: Whether pods can only read from it.
    """

    name: str
    read_only: bool = False

    SIZE: ClassVar[str] = "1Ti"
    """Kubernetes requires a size for every claim and volume; shared file systems and buckets ignore it."""

    @property
    def access_modes(self) -> list[str]:
        return ["ReadOnlyMany" if self.read_only else "ReadWriteMany"]

    def volume(self, namespace: str) -> str:
        """Return the name of the PersistentVolume. It is unique because namespaces cannot contain dots."""
        return f"{namespace}.{self.name}"


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of a rendering.

    Attributes:
        workload: Workload kind of a replica; see :class:`WorkloadChoice`.
        namespace: Namespace of resources that do not set one.
        runtimes: Edition of the shipped BackendRuntimes, ``upstream`` or ``current``.
        grace_seconds: Termination grace period of pods, within which they finish their requests.
        longest_request: Seconds that a request may take, for which the grace period of pods is extended; None if
            nothing limits them.
        loader_image: Image that loads weights, instead of the family's default.
        alternatives: Other instance types that pods may use instead, by instance type.
        monitoring: Whether every engine exports metrics, not only those that an autoscaler reads.
        tolerates_devices: Whether the API server adds tolerations for the devices that pods request (admission
            plugin ExtendedResourceToleration).
        tolerates_changes: Whether autoscalers support ``tolerance`` (Kubernetes 1.35 and later).
        realizations: Realization by family, where it differs from ``realization``.
        releases: Release of the API by family: the one in which manifests are read, and whose operator is installed.
        levels: Latency targets and expected load of models.
        default_class: PriorityClass of pods that set none, instead of their family's default; empty for no class,
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
    longest_request: int | None = None
    alternatives: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    monitoring: bool = False
    tolerates_devices: bool = False
    tolerates_changes: bool = False
    realizations: Mapping[str, Realization] = field(default_factory=dict)
    releases: Mapping[str, str] = field(default_factory=dict)
    levels: ServiceLevels = field(default_factory=ServiceLevels)
    default_class: str | None = None

    def __post_init__(self) -> None:
        if not is_dns1123_label(self.namespace):
            raise ValueError(f"namespace must be lower-case letters, digits and '-', found {self.namespace!r}")

    @property
    def pod_grace(self) -> int:
        """Termination grace period of the pods that are rendered, in seconds."""
        if self.longest_request is None:
            return self.grace_seconds
        return max(self.grace_seconds, grace_for(self.longest_request))

    def of_family(self, name: str) -> "Options":
        """Return the options for resources of a family, with the family's realization."""
        own = self.realizations.get(name, self.realization)
        return self if own is self.realization else replace(self, realization=own)
