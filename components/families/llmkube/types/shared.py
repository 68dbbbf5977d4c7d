"""LLMKube: kinds that concern several services, all of which need the operator."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....contract import rules
from ....contract.base import ApiModel, Int32, Int64, Json, NaturalInt32, Rule, Violation
from ....contract.meta import Resource
from .status import FederatedClusterStatus, GPUQuotaStatus, LoRAAdapterStatus, ModelPoolStatus
from .values import AdapterName, LabelSelector, LocalObjectReference, Text


class ModelPoolMember(ApiModel):
    """A service of a pool."""

    inference_service_ref: LocalObjectReference
    """An InferenceService of the same namespace."""


class ModelPoolSpec(ApiModel):
    """Services that share GPUs, of which one runs at a time."""

    members: Annotated[
        list[ModelPoolMember], Field(min_length=1, json_schema_extra={"x-kubernetes-list-type": "atomic"})
    ]
    """The services."""
    default: str | None = None
    """Name of the service that starts first. Default: the first one that is requested."""
    gpu: NaturalInt32 = 1
    """GPUs that they share; informational."""
    node_selector: dict[str, str] | None = None
    """Labels of the node that they share; informational."""
    swap_policy: Literal["sticky"] = "sticky"
    """sticky."""
    swap_budget: str = "300s"
    """How long a request waits for its service to start, as a duration."""


class ModelPool(Resource):
    """Services that share GPUs, of which one runs at a time; needs the operator."""

    api_version: Literal["inference.llmkube.dev/v1alpha1"]
    kind: Literal["ModelPool"]
    spec: ModelPoolSpec
    status: ModelPoolStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME,)


def _one_scope(spec: Json) -> Iterator[Violation]:
    if (spec.selector is None) == (spec.namespace_ref is None):
        found = "neither" if spec.selector is None else "both"
        yield ("namespaceRef",), f", found {found}"


class GPUQuotaSpec(ApiModel):
    """Limits of the services of some namespaces."""

    gpu_count: NaturalInt32
    """Maximum number of GPUs; 0 allows none."""
    vram_bytes: Annotated[Int64, Field(ge=0)] | None = None
    """Maximum GPU memory in bytes; 0 is no limit."""
    namespace_ref: str | None = None
    """The namespace that it applies to."""
    selector: LabelSelector | None = None
    """Labels of the namespaces that it applies to, instead of one namespace."""
    min_priority: Literal["critical", "high", "normal", "low", "batch"] | None = None
    """Lowest priority of services that are admitted."""
    cost_budget_ref: str | None = None
    """Name of a budget; no release reads it."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "exactly one of selector or namespaceRef must be set",
            _one_scope,
            "has(self.selector) != has(self.namespaceRef)",
        ),
    )


class GPUQuota(Resource):
    """Limits of the services of some namespaces; needs the operator."""

    api_version: Literal["inference.llmkube.dev/v1alpha1"]
    kind: Literal["GPUQuota"]
    spec: GPUQuotaSpec
    status: GPUQuotaStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME,)


class InferenceServiceReference(ApiModel):
    """An InferenceService."""

    name: str
    """Its name."""
    namespace: str | None = None
    """Its namespace. Default: that of this object."""


class LoRAAdapterSpec(ApiModel):
    """An adapter that is loaded into the running pods of a service."""

    inference_service_ref: InferenceServiceReference
    """An InferenceService with runtime sglang."""
    name: AdapterName
    """Name under which requests select it."""
    path: Text
    """Its folder in the container."""


class LoRAAdapter(Resource):
    """An adapter that is loaded into the running pods of a service; needs the operator."""

    api_version: Literal["inference.llmkube.dev/v1alpha1"]
    kind: Literal["LoRAAdapter"]
    spec: LoRAAdapterSpec
    status: LoRAAdapterStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME,)


class FederatedClusterSpec(ApiModel):
    """A cluster that reports to this one."""

    display_name: str | None = None
    """Name of the cluster for people."""
    data_residency_tier: str | None = None
    """Where data may be kept."""
    heartbeat_interval_seconds: Annotated[Int32, Field(ge=5)] = 30
    """Seconds between reports."""


class FederatedCluster(Resource):
    """A cluster that reports to this one; needs the operator."""

    api_version: Literal["federation.llmkube.dev/v1alpha1"]
    kind: Literal["FederatedCluster"]
    spec: FederatedClusterSpec | None = None
    status: FederatedClusterStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME,)
