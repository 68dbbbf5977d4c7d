"""llmaz: OpenModel (``llmaz.io``); Playground, Service and BackendRuntime (``inference.llmaz.io``)."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field
from pydantic.config import JsonDict

from ...contract.base import ApiModel, Broken, Int32, NaturalInt32, PositiveInt32, Rule, ScaleReplicas
from ...contract.meta import Resource
from ...contract.rules import unique_names
from ...contract.schema.embedded import Conditions, EnvList, Lifecycle, Metrics, Probe, Quantity, ScaleBehavior, Time
from ..leaderworkerset import rules as lws_rules
from ..leaderworkerset.types import LeaderWorkerTemplate, RolloutBounds
from . import rules

MAX_RESOURCES = 32
MAX_CONFIGS = 64
"""Far above any use. The API server allows a rule over limits only where it can bound its cost."""

ResourceList = dict[str, Quantity]
_BY_NAME: JsonDict = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}


class ModelHub(ApiModel):
    """A model repository on a hub."""

    name: Literal["Huggingface", "ModelScope"] = "Huggingface"
    model_id: str = Field(alias="modelID")
    filename: str | None = None
    revision: str = "main"
    allow_patterns: list[str] | None = None
    ignore_patterns: list[str] | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.HUB_FILENAME, rules.HUB_PATTERNS)


class ModelSource(ApiModel):
    """Where the weights come from; ``modelHub`` wins when both are set."""

    model_hub: ModelHub | None = None
    uri: str | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.SOURCE, rules.URI)


class Flavor(ApiModel):
    """A kind of accelerator node that can serve the model."""

    name: str
    limits: ResourceList | None = None
    node_selector: dict[str, str] | None = None
    params: dict[str, str] | None = None


class InferenceConfig(ApiModel):
    """Flavors in order of preference."""

    flavors: list[Flavor] | None = Field(default=None, max_length=8, json_schema_extra=_BY_NAME)

    def _same_names(self) -> Iterator[Broken]:
        return unique_names(self.flavors, "flavors")

    rules: ClassVar[tuple[Rule, ...]] = (Rule("", _same_names, ""),)


class ModelSpec(ApiModel):
    """What a model is and where it comes from."""

    family_name: str
    source: ModelSource
    inference_config: InferenceConfig | None = None
    # Of later versions of llmaz, which write both into every model: what a list of models says of it.
    owned_by: str | None = None
    created_at: Time | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.FAMILY_NAME,)


class ModelStatus(ApiModel):
    """Observed state."""

    conditions: Conditions | None = None


class OpenModel(Resource):
    """A model that can be claimed (cluster-scoped)."""

    api_version: Literal["llmaz.io/v1alpha1"]
    kind: Literal["OpenModel"]
    spec: ModelSpec
    status: ModelStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.MODEL_NAME,)


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

    rules: ClassVar[tuple[Rule, ...]] = (rules.ONE_MAIN, rules.DRAFT)


class ResourceRequirements(ApiModel):
    """Limits and requests of the model container."""

    limits: ResourceList | None = Field(default=None, max_length=MAX_RESOURCES)
    requests: ResourceList | None = Field(default=None, max_length=MAX_RESOURCES)

    rules: ClassVar[tuple[Rule, ...]] = (rules.LIMITS,)


class HPATrigger(ApiModel):
    """What a HorizontalPodAutoscaler scales on."""

    metrics: Metrics | None = None
    behavior: ScaleBehavior | None = None


class ScaleTrigger(ApiModel):
    """What a Playground scales on."""

    hpa: HPATrigger


class ElasticConfig(ApiModel):
    """Replica bounds and what moves between them."""

    min_replicas: PositiveInt32 = 1
    max_replicas: Int32 | None = None
    scale_trigger: ScaleTrigger | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.MIN_BELOW_MAX,)


class BackendRuntimeConfig(ApiModel):
    """Which engine serves, and how it differs from the recommendation."""

    backend_name: str = "vllm"
    version: str | None = None
    envs: EnvList | None = None
    config_name: str | None = None
    args: list[str] | None = None
    resources: ResourceRequirements | None = None
    shared_memory_size: Quantity | None = None


class PlaygroundSpec(ApiModel):
    """A claimed model, an engine and replica bounds."""

    replicas: ScaleReplicas = 1
    model_claim: ModelClaim | None = None
    model_claims: ModelClaims | None = None
    backend_runtime_config: BackendRuntimeConfig | None = None
    elastic_config: ElasticConfig | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.ONE_CLAIM,)


class WorkloadStatus(ApiModel):
    """Observed state of a Playground or Service."""

    conditions: Conditions | None = None
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

    rules: ClassVar[tuple[Rule, ...]] = (rules.WORKLOAD_NAME,)


class RollingUpdateConfiguration(RolloutBounds):
    """The bounds of a rollout; the contract's own default has no partition."""

    partition: NaturalInt32 | None = None


class RolloutStrategy(ApiModel):
    """How a template change reaches the groups."""

    type: Literal["RollingUpdate"] = "RollingUpdate"
    rolling_update_configuration: RollingUpdateConfiguration | None = None


# With field names that are not only Python's: pydantic writes this default into the schema by alias.
_ROLLOUT = RolloutStrategy.model_validate(
    {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 0}}
)


class ServiceSpec(ApiModel):
    """Claimed models and the pods that serve them: the long form."""

    model_claims: ModelClaims
    replicas: ScaleReplicas = 1
    workload_template: LeaderWorkerTemplate
    rollout_strategy: RolloutStrategy = Field(default=_ROLLOUT)

    rules: ClassVar[tuple[Rule, ...]] = (rules.RUNNER, lws_rules.ROLLOUT_MOVES)


class Service(Resource):
    """Claimed models served by hand-written pod templates, on one or several nodes."""

    api_version: Literal["inference.llmaz.io/v1alpha1"]
    kind: Literal["Service"]
    spec: ServiceSpec
    status: ServiceStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.WORKLOAD_NAME,)


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
    envs: EnvList | None = None
    lifecycle: Lifecycle | None = None
    liveness_probe: Probe | None = None
    readiness_probe: Probe | None = None
    startup_probe: Probe | None = None
    recommended_configs: list[RecommendedConfig] | None = Field(
        default=None, max_length=MAX_CONFIGS, json_schema_extra=_BY_NAME
    )

    def _same_names(self) -> Iterator[Broken]:
        return unique_names(self.recommended_configs, "recommendedConfigs")

    rules: ClassVar[tuple[Rule, ...]] = (Rule("", _same_names, ""),)


class BackendRuntimeStatus(ApiModel):
    """Observed state."""

    conditions: Conditions | None = None


class BackendRuntime(Resource):
    """An inference engine and its recommended configurations (cluster-scoped)."""

    api_version: Literal["inference.llmaz.io/v1alpha1"]
    kind: Literal["BackendRuntime"]
    spec: BackendRuntimeSpec
    status: BackendRuntimeStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.RUNTIME_NAME,)
