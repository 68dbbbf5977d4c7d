"""LLMKube: the observed status (LLMKube spec 1.2, 1.3), for reading live objects only."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....contract.base import ApiModel, Int32, Int64, Rule, Violation
from ....contract.releases import Span
from ....contract.schema.embedded import Conditions, Time
from .values import ConditionReason, ConditionType


class Condition(ApiModel):
    """One condition of an object."""

    type: ConditionType
    status: Literal["True", "False", "Unknown"]
    reason: ConditionReason
    message: Annotated[str, Field(max_length=32768)]
    last_transition_time: Time
    observed_generation: Annotated[Int64, Field(ge=0)] | None = None


class Observed(ApiModel):
    """Fields of both statuses: conditions with unique types, and their last update."""

    conditions: list[Condition] | None = Field(
        default=None,
        json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
    )
    last_updated: Time | None = None

    def _same_types(self) -> Iterator[Violation]:
        seen: set[str] = set()
        for index, condition in enumerate(self.conditions or ()):
            if condition.type in seen:
                yield ("conditions", index, "type"), f"{condition.type!r} is used twice; types must be unique"
            seen.add(condition.type)

    rules: ClassVar[tuple[Rule, ...]] = (Rule("", _same_types, ""),)


_PHASES = ["Pending", "Creating", "Progressing", "Ready", "WaitingForGPU", "Stopped", "Failed"]


class GatewayStatus(ApiModel):
    """The route of a gateway."""

    auth_enabled: bool | None = None
    endpoint: str | None = None
    model_name: str | None = None
    route_ready: bool | None = None


class AccelerationStatus(ApiModel):
    """The device that llama.cpp reports to use."""

    device: str | None = None
    layers_offloaded: Int32 | None = None
    layers_total: Int32 | None = None


class InferenceServiceStatus(Observed):
    """Observed state of an InferenceService."""

    phase: Annotated[
        Literal["Pending", "Creating", "Progressing", "Ready", "WaitingForGPU", "Stopped", "Suspended", "Failed"]
        | None,
        Span(until="v0.9.10", enum=_PHASES),
        Span(since="v0.9.11"),
    ] = None
    ready_replicas: Int32 | None = None
    replicas: Int32 | None = None
    desired_replicas: Int32 | None = None
    endpoint: str | None = None
    model_ready: bool | None = None
    scheduling_status: str | None = None
    scheduling_message: str | None = None
    waiting_for: str | None = None
    queue_position: Int32 | None = None
    effective_priority: Int32 | None = None
    gateway: Annotated[GatewayStatus | None, Span(since="v0.8.8")] = None
    mode: Annotated[str | None, Span(since="v0.8.20")] = None
    acceleration: Annotated[AccelerationStatus | None, Span(since="v0.9.18")] = None


class GGUFMetadata(ApiModel):
    """Header of a GGUF file. Lengths are tokens."""

    architecture: str | None = None
    model_name: str | None = None
    quantization: str | None = None
    context_length: Int64 | None = None
    embedding_size: Int64 | None = None
    layer_count: Int64 | None = None
    head_count: Int64 | None = None
    tensor_count: Int64 | None = None
    file_version: Int32 | None = None
    license: str | None = None


class ModelStatus(Observed):
    """Observed state of a Model. ``sourceContentLength`` is bytes."""

    phase: Literal["Pending", "Downloading", "Copying", "Ready", "Failed"] | None = None
    size: str | None = None
    path: str | None = None
    cache_key: str | None = None
    sha256: str | None = None
    source_etag: str | None = Field(default=None, alias="sourceETag")
    source_content_length: Int64 | None = None
    last_revalidated: Time | None = None
    accelerator_ready: bool | None = None
    gguf: GGUFMetadata | None = None
    staged_files: Annotated[list[str] | None, Span(since="v0.8.18")] = None


class BackendStatus(ApiModel):
    """A backend of a router."""

    name: str
    address: str | None = None
    healthy: bool | None = None
    last_probe_time: Time | None = None
    message: str | None = None
    tier: str | None = None


class BudgetUtilization(ApiModel):
    """How much of a budget is used."""

    name: str
    tokens_used: Int64 | None = None
    usd_used: str | None = None
    utilization: str | None = None


class ModelRouterStatus(Observed):
    """Observed state of a ModelRouter."""

    phase: Literal["Pending", "Provisioning", "Ready", "Degraded", "Failed"] | None = None
    active_rules: Int32 | None = None
    backends: list[BackendStatus] | None = None
    budget_utilization: list[BudgetUtilization] | None = None
    endpoint: str | None = None
    gateway: Annotated[GatewayStatus | None, Span(since="v0.8.8")] = None


class ModelPoolMemberStatus(ApiModel):
    """A member of a pool."""

    name: str
    phase: str | None = None
    resident: bool | None = None


class ModelPoolStatus(ApiModel):
    """Observed state of a ModelPool."""

    phase: Literal["Pending", "Ready", "Swapping", "Degraded"] | None = None
    resident_member: str | None = None
    pending_member: str | None = None
    members: list[ModelPoolMemberStatus] | None = Field(
        default=None,
        json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
    )
    observed_generation: Int64 | None = None
    conditions: Conditions | None = None


class GPUQuotaStatus(ApiModel):
    """Observed state of a GPUQuota."""

    used_gpu_count: Int32 | None = Field(default=None, alias="usedGPUCount")
    used_vram_bytes: Int64 | None = Field(default=None, alias="usedVRAMBytes")
    admission_denials: Int64 | None = None
    last_denial: Time | None = None


class LoRAAdapterStatus(ApiModel):
    """Observed state of a LoRAAdapter."""

    loaded_path: str | None = None
    last_loaded_at: Time | None = None
    conditions: Conditions | None = None


class ClusterCapacity(ApiModel):
    """The nodes and GPUs of a cluster."""

    gpus_allocatable: Int32
    gpus_total: Int32
    nodes: Int32


class ClusterInference(ApiModel):
    """The models and services of a cluster."""

    models: Int32
    services_failed: Int32
    services_ready: Int32
    services_total: Int32


class FederatedClusterStatus(ApiModel):
    """Observed state of a FederatedCluster."""

    phase: str | None = None
    last_heartbeat_time: Time | None = None
    observed_version: str | None = None
    capacity: ClusterCapacity | None = None
    inference: ClusterInference | None = None
