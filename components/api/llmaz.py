"""llmaz: OpenModel (``llmaz.io/v1alpha1``), Playground, Service and BackendRuntime (``inference.llmaz.io/v1alpha1``)."""

from typing import Literal

from pydantic import Field

from .base import ApiModel, Int32
from .leaderworkerset import LeaderWorkerTemplate, RolloutStrategy
from .meta import JsonObject, Resource

Quantity = str | int | float
ResourceList = dict[str, Quantity]


class ModelHub(ApiModel):
    """A model repository on a hub."""

    name: Literal["Huggingface", "ModelScope"] = "Huggingface"
    model_id: str = Field(alias="modelID")
    filename: str | None = None
    revision: str = "main"
    allow_patterns: list[str] | None = None
    ignore_patterns: list[str] | None = None


class ModelSource(ApiModel):
    """Where the weights come from; ``modelHub`` wins when both are set."""

    model_hub: ModelHub | None = None
    uri: str | None = None


class Flavor(ApiModel):
    """A kind of accelerator node that can serve the model."""

    name: str
    limits: ResourceList | None = None
    node_selector: dict[str, str] | None = None
    params: dict[str, str] | None = None


class InferenceConfig(ApiModel):
    """Flavors in order of preference."""

    flavors: list[Flavor] | None = Field(default=None, max_length=8)


class ModelSpec(ApiModel):
    """What a model is and where it comes from."""

    family_name: str
    source: ModelSource
    inference_config: InferenceConfig | None = None


class ModelStatus(ApiModel):
    """Observed state."""

    conditions: list[JsonObject] | None = None


class OpenModel(Resource):
    """A model that can be claimed (cluster-scoped)."""

    api_version: Literal["llmaz.io/v1alpha1"]
    kind: Literal["OpenModel"]
    spec: ModelSpec
    status: ModelStatus | None = None


class ModelRef(ApiModel):
    """A claimed model and the part it plays."""

    name: str
    role: Literal["main", "draft"] = "main"


class ModelClaim(ApiModel):
    """One claimed model."""

    model_name: str
    inference_flavors: list[str] | None = None


class ModelClaims(ApiModel):
    """Several claimed models: a main one and, for speculative decoding, a draft."""

    models: list[ModelRef] = Field(min_length=1)
    inference_flavors: list[str] | None = None


class ResourceRequirements(ApiModel):
    """Limits and requests of the model container."""

    limits: ResourceList | None = None
    requests: ResourceList | None = None


class HPATrigger(ApiModel):
    """What a HorizontalPodAutoscaler scales on."""

    metrics: list[JsonObject] | None = None
    behavior: JsonObject | None = None


class ScaleTrigger(ApiModel):
    """What makes a Playground scale."""

    hpa: HPATrigger


class ElasticConfig(ApiModel):
    """Replica bounds and what moves between them."""

    min_replicas: Int32 = Field(default=1, ge=1)
    max_replicas: Int32 | None = None
    scale_trigger: ScaleTrigger | None = None


class BackendRuntimeConfig(ApiModel):
    """Which engine serves, and how it differs from the recommendation."""

    backend_name: str = "vllm"
    version: str | None = None
    envs: list[JsonObject] | None = None
    config_name: str | None = None
    args: list[str] | None = None
    resources: ResourceRequirements | None = None
    shared_memory_size: Quantity | None = None


class PlaygroundSpec(ApiModel):
    """A claimed model, an engine and replica bounds."""

    replicas: Int32 = 1
    model_claim: ModelClaim | None = None
    model_claims: ModelClaims | None = None
    backend_runtime_config: BackendRuntimeConfig | None = None
    elastic_config: ElasticConfig | None = None


class WorkloadStatus(ApiModel):
    """Observed state of a Playground or Service."""

    conditions: list[JsonObject] | None = None
    replicas: Int32
    selector: str | None = None


class PlaygroundStatus(WorkloadStatus):
    """Observed state of a Playground."""


class ServiceStatus(WorkloadStatus):
    """Observed state of a Service."""


class Playground(Resource):
    """A claimed model served by an engine: the short form."""

    api_version: Literal["inference.llmaz.io/v1alpha1"]
    kind: Literal["Playground"]
    spec: PlaygroundSpec
    status: PlaygroundStatus | None = None


class ServiceSpec(ApiModel):
    """Claimed models and the pods that serve them: the long form."""

    model_claims: ModelClaims
    replicas: Int32 = 1
    workload_template: LeaderWorkerTemplate
    rollout_strategy: RolloutStrategy | None = None


class Service(Resource):
    """Claimed models served by hand-written pod templates, on one or several nodes."""

    api_version: Literal["inference.llmaz.io/v1alpha1"]
    kind: Literal["Service"]
    spec: ServiceSpec
    status: ServiceStatus | None = None


class RecommendedConfig(ApiModel):
    """A named set of engine arguments and resources."""

    name: str
    args: list[str] | None = None
    resources: ResourceRequirements | None = None
    shared_memory_size: Quantity | None = None
    scale_trigger: ScaleTrigger | None = None


class BackendRuntimeSpec(ApiModel):
    """How an engine is started."""

    command: list[str] | None = None
    image: str
    version: str
    envs: list[JsonObject] | None = None
    lifecycle: JsonObject | None = None
    liveness_probe: JsonObject | None = None
    readiness_probe: JsonObject | None = None
    startup_probe: JsonObject | None = None
    recommended_configs: list[RecommendedConfig] | None = None


class BackendRuntimeStatus(ApiModel):
    """Observed state."""

    conditions: list[JsonObject] | None = None


class BackendRuntime(Resource):
    """An inference engine and its recommended configurations (cluster-scoped)."""

    api_version: Literal["inference.llmaz.io/v1alpha1"]
    kind: Literal["BackendRuntime"]
    spec: BackendRuntimeSpec
    status: BackendRuntimeStatus | None = None
