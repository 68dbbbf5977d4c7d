"""llmaz: OpenModel (``llmaz.io``); Playground, Service and BackendRuntime (``inference.llmaz.io``)."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field
from pydantic.config import JsonDict

from ...contract.base import ApiModel, Int32, NaturalInt32, PositiveInt32, Rule, ScaleReplicas, Violation
from ...contract.meta import Resource
from ...contract.rules import unique_names
from ...contract.schema.embedded import Conditions, EnvList, Lifecycle, Metrics, Probe, Quantity, ScaleBehavior, Time
from ...fleet.flavors import Flavor as Flavor
from ..leaderworkerset import rules as lws_rules
from ..leaderworkerset.types import LeaderWorkerTemplate, RolloutBounds
from . import rules

MAX_RESOURCES = 32
MAX_CONFIGS = 64
"""Generous bounds: the API server accepts a CEL rule over a collection only if it can bound the rule's cost."""

ResourceList = dict[str, Quantity]
_BY_NAME: JsonDict = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}


class ModelHub(ApiModel):
    """A model repository on a hub."""

    name: Literal["Huggingface", "ModelScope"] = "Huggingface"
    """Huggingface or ModelScope."""
    model_id: str = Field(alias="modelID")
    """Model on a hub, such as Qwen/Qwen2-7B-Instruct."""
    filename: str | None = None
    """One file of the repository, such as a GGUF file."""
    revision: str = "main"
    """Branch, tag or commit on the hub."""
    allow_patterns: list[str] | None = None
    """Files to load, as glob patterns."""
    ignore_patterns: list[str] | None = None
    """Files not to load, as glob patterns."""

    rules: ClassVar[tuple[Rule, ...]] = (rules.HUB_FILENAME, rules.HUB_PATTERNS)


class ModelSource(ApiModel):
    """Where the weights come from; ``modelHub`` wins when both are set."""

    model_hub: ModelHub | None = None
    uri: str | None = None
    """Weights from elsewhere: oss://, ollama:// or host://; s3:// and gcs:// for engines that stream weights."""

    rules: ClassVar[tuple[Rule, ...]] = (rules.SOURCE, rules.URI)


class InferenceConfig(ApiModel):
    """Flavors in order of preference."""

    flavors: list[Flavor] | None = Field(default=None, max_length=8, json_schema_extra=_BY_NAME)
    """Flavors in order of preference."""

    def _same_names(self) -> Iterator[Violation]:
        return unique_names(self.flavors, "flavors")

    rules: ClassVar[tuple[Rule, ...]] = (Rule("", _same_names, ""),)


class ModelSpec(ApiModel):
    """What a model is and where it comes from."""

    family_name: str
    """Family of the model, such as llama3; becomes a label."""
    source: ModelSource
    inference_config: InferenceConfig | None = None
    # Later versions of llmaz write both fields into every model, for their lists of models.
    owned_by: str | None = None
    """Who provides the model, for lists of models of later versions of llmaz."""
    created_at: Time | None = None
    """When it was created, such as 2026-01-31T12:00:00Z, for the same lists."""

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
    """Flavors of the model to use, in order of preference. Default: all of them."""


class ModelClaims(ApiModel):
    """Several claimed models: a main one and, for speculative decoding, a draft."""

    models: list[ModelRef] = Field(min_length=1)
    inference_flavors: list[str] | None = None
    """Flavors of the model to use, in order of preference. Default: all of them."""

    rules: ClassVar[tuple[Rule, ...]] = (rules.ONE_MAIN, rules.DRAFT)


class ResourceRequirements(ApiModel):
    """Limits and requests of the model container."""

    limits: ResourceList | None = Field(default=None, max_length=MAX_RESOURCES)
    """Limits, as quantities."""
    requests: ResourceList | None = Field(default=None, max_length=MAX_RESOURCES)
    """Requests, as quantities."""

    rules: ClassVar[tuple[Rule, ...]] = (rules.LIMITS,)


class HPATrigger(ApiModel):
    """What a HorizontalPodAutoscaler scales on."""

    metrics: Metrics | None = None
    """Metrics of the autoscaler."""
    behavior: ScaleBehavior | None = None
    """Scaling behavior of the autoscaler."""


class ScaleTrigger(ApiModel):
    """What a Playground scales on."""

    hpa: HPATrigger
    """What its HorizontalPodAutoscaler scales on."""


class ElasticConfig(ApiModel):
    """Replica bounds and the trigger of the autoscaler."""

    min_replicas: PositiveInt32 = 1
    """Lower bound of the autoscaler. Setting a bound creates one."""
    max_replicas: Int32 | None = None
    """Upper bound of the autoscaler. Default: no limit."""
    scale_trigger: ScaleTrigger | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.MIN_BELOW_MAX,)


class BackendRuntimeConfig(ApiModel):
    """Which engine serves, and how it differs from the recommendation."""

    backend_name: str = "vllm"
    """BackendRuntime to serve with."""
    version: str | None = None
    """Image tag, instead of the runtime's."""
    envs: EnvList | None = None
    """Environment variables; they override those of the runtime by name."""
    config_name: str | None = None
    """Recommended configuration of the runtime. Default: default, or speculative-decoding with a draft model."""
    args: list[str] | None = None
    """Engine arguments, after the recommended ones."""
    resources: ResourceRequirements | None = None
    shared_memory_size: Quantity | None = None
    """Size of /dev/shm."""


class PlaygroundSpec(ApiModel):
    """A claimed model, an engine and replica bounds."""

    replicas: ScaleReplicas = 1
    """Replicas, if there is no autoscaler."""
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
    """Only groups from this ordinal on are updated. Default: all."""


class RolloutStrategy(ApiModel):
    """How a template change reaches the groups."""

    type: Literal["RollingUpdate"] = "RollingUpdate"
    """RollingUpdate."""
    rolling_update_configuration: RollingUpdateConfiguration | None = None
    """How many groups may be unavailable or extra during the rollout."""


# With field names that are not only Python's: pydantic writes this default into the schema by alias.
_ROLLOUT = RolloutStrategy.model_validate(
    {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 0}}
)


class ServiceSpec(ApiModel):
    """Claimed models and the pods that serve them: the long form."""

    model_claims: ModelClaims
    replicas: ScaleReplicas = 1
    """Replicas."""
    workload_template: LeaderWorkerTemplate
    rollout_strategy: RolloutStrategy = Field(default=_ROLLOUT)
    """How a change of the pods rolls out. Default: one group at a time is unavailable."""

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
    """Name of the configuration, such as default."""
    args: list[str] | None = None
    """Engine arguments; {{ .ModelPath }} and other placeholders are filled in from the model."""
    resources: ResourceRequirements | None = None
    """Resources of the container."""
    shared_memory_size: Quantity | None = None
    """Size of /dev/shm."""
    scale_trigger: ScaleTrigger | None = None
    """What Playgrounds with bounds but without metrics scale on."""


class BackendRuntimeSpec(ApiModel):
    """How an engine is started."""

    command: list[str] | None = None
    """Command of the container. Default: the image's."""
    image: str
    """Image without its tag."""
    version: str
    """Image tag."""
    envs: EnvList | None = None
    """Environment variables."""
    lifecycle: Lifecycle | None = None
    """Lifecycle hooks of the container."""
    liveness_probe: Probe | None = None
    """Liveness probe of the container."""
    readiness_probe: Probe | None = None
    """Readiness probe of the container."""
    startup_probe: Probe | None = None
    """Startup probe of the container."""
    recommended_configs: list[RecommendedConfig] | None = Field(
        default=None, max_length=MAX_CONFIGS, json_schema_extra=_BY_NAME
    )
    """Named configurations; a Playground uses the one named default unless it names another."""

    def _same_names(self) -> Iterator[Violation]:
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
