"""The kinds of the contract, as the API server registers them (contract/README.md)."""

from dataclasses import dataclass
from types import MappingProxyType

from .leaderworkerset import LeaderWorkerSet
from .llmaz import BackendRuntime, OpenModel, Playground, Service
from .llmkube import InferenceService, Model
from .meta import Resource


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind and how it is served."""

    api_version: str
    kind: str
    model: type[Resource]
    plural: str
    namespaced: bool
    short_names: tuple[str, ...] = ()
    scale_selector: str = ""
    """Status path of the pod selector; empty for kinds without a scale subresource, or without a selector in it."""
    scales_unselected: bool = False
    """Whether there is a scale subresource that tells no selector: autoscalers cannot use it, clients can."""

    @property
    def group(self) -> str:
        """The API group."""
        return self.api_version.partition("/")[0]

    @property
    def version(self) -> str:
        """The API version within the group."""
        return self.api_version.partition("/")[2]

    @property
    def scope(self) -> str:
        """``Namespaced`` or ``Cluster``."""
        return "Namespaced" if self.namespaced else "Cluster"

    @property
    def scales(self) -> bool:
        """Whether there is a scale subresource."""
        return bool(self.scale_selector) or self.scales_unselected

    @property
    def crd_name(self) -> str:
        """Name of the CustomResourceDefinition."""
        return f"{self.plural}.{self.group}"

    @property
    def title(self) -> str:
        """``apiVersion/Kind``, the key of a schema listing."""
        return f"{self.api_version}/{self.kind}"


_ALL = (
    Kind("llmaz.io/v1alpha1", "OpenModel", OpenModel, "openmodels", namespaced=False, short_names=("om",)),
    Kind(
        "inference.llmaz.io/v1alpha1",
        "BackendRuntime",
        BackendRuntime,
        "backendruntimes",
        namespaced=False,
        short_names=("br",),
    ),
    Kind(
        "inference.llmaz.io/v1alpha1",
        "Playground",
        Playground,
        "playgrounds",
        namespaced=True,
        short_names=("pl",),
        scale_selector=".status.selector",
    ),
    Kind(
        "inference.llmaz.io/v1alpha1",
        "Service",
        Service,
        "services",
        namespaced=True,
        short_names=("isvc",),
        scale_selector=".status.selector",
    ),
    Kind(
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        LeaderWorkerSet,
        "leaderworkersets",
        namespaced=True,
        short_names=("lws",),
        scale_selector=".status.hpaPodSelector",
    ),
)

LLMKUBE = (
    Kind(
        "inference.llmkube.dev/v1alpha1",
        "InferenceService",
        InferenceService,
        "inferenceservices",
        namespaced=True,
        short_names=("isvc",),
        scales_unselected=True,
    ),
    Kind("inference.llmkube.dev/v1alpha1", "Model", Model, "models", namespaced=True, short_names=("mdl",)),
)

KINDS = MappingProxyType({(kind.api_version, kind.kind): kind for kind in (*_ALL, *LLMKUBE)})


def kinds_named(name: str) -> list[Kind]:
    """Return the kinds with this name, or with this ``apiVersion/Kind``."""
    return [kind for kind in KINDS.values() if name in (kind.kind, kind.title)]


def kind_of(resource: Resource) -> Kind:
    """Return the kind of a resource."""
    return KINDS[resource.api_version, resource.kind]
