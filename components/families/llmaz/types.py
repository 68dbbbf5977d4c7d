"""llmaz: OpenModel (``llmaz.io``); Playground, Service and BackendRuntime (``inference.llmaz.io``)."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field, PlainSerializer, PlainValidator, ValidationError, WithJsonSchema
from pydantic.config import JsonDict

from ...contract.base import (
    ApiModel,
    Int32,
    Json,
    NaturalInt32,
    PositiveInt32,
    Rule,
    ScaleReplicas,
    Violation,
    combined_error,
)
from ...contract.meta import Resource
from ...contract.releases import Span
from ...contract.rules import unique_names
from ...contract.schema.embedded import (
    CORE,
    UNKNOWN,
    ClaimRetention,
    Conditions,
    EnvList,
    Lifecycle,
    Metrics,
    PodTemplate,
    Probe,
    Quantity,
    ScaleBehavior,
    Time,
    VolumeClaims,
)
from ...fleet.flavors import Flavor
from ..leaderworkerset import rules as lws_rules
from ..leaderworkerset.types import NetworkConfig, RolloutBounds
from . import rules

MAX_RESOURCES = 32
MAX_CONFIGS = 64
"""Generous bounds: the API server accepts a CEL rule over a collection only if it can bound the rule's cost."""

ResourceList = dict[str, Quantity]
NO_RELEASE = Span(since="3c13ff3", until="v0.1.0")
"""Fields of LeaderWorkerSets that no release of llmaz has, and only native rendering reads."""
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
    """A repository of a model hub."""
    uri: str | None = None
    """Weights from elsewhere: oss://, ollama:// or host://; s3:// and gcs:// for engines that stream weights."""

    rules: ClassVar[tuple[Rule, ...]] = (rules.SOURCE, rules.URI)


class ModelFlavor(Flavor):
    """A kind of accelerator node that can serve the model."""

    limits: Annotated[dict[str, Quantity] | None, Span(since="v0.1.1")] = None
    """Accelerators of one pod, such as nvidia.com/gpu: 4, as numbers or strings."""
    requests: Annotated[dict[str, Quantity] | None, Span(until="v0.1.0")] = None
    """The same as limits, under the name that v0.1.0 has for it."""

    rules: ClassVar[tuple[Rule, ...]] = (rules.ONE_NAME_OF_LIMITS,)


class InferenceConfig(ApiModel):
    """Flavors in order of preference."""

    flavors: list[ModelFlavor] | None = Field(default=None, max_length=8, json_schema_extra=_BY_NAME)
    """Flavors in order of preference."""

    def _same_names(self) -> Iterator[Violation]:
        return unique_names(self.flavors, "flavors")

    rules: ClassVar[tuple[Rule, ...]] = (Rule("", _same_names, ""),)


class ModelSpec(ApiModel):
    """What a model is and where it comes from."""

    family_name: str
    """Family of the model, such as llama3; becomes a label."""
    source: ModelSource
    """Where the weights come from: a model hub or a URI."""
    inference_config: InferenceConfig | None = None
    """The flavors of nodes that can serve the model."""
    # The last commit writes both fields into every model, for its lists of models.
    owned_by: Annotated[str | None, Span(since="3c13ff3", default="llmaz")] = None
    """Who provides the model, for lists of models of later versions of llmaz."""
    created_at: Annotated[Time | None, Span(since="3c13ff3")] = None
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
    """Name of the OpenModel."""
    role: Literal["main", "draft"] = "main"
    """main, or draft for speculative decoding."""


class ModelClaim(ApiModel):
    """One claimed model."""

    model_name: str
    """Name of the OpenModel."""
    inference_flavors: list[str] | None = None
    """Flavors of the model to use, in order of preference. Default: all of them."""


class ModelClaims(ApiModel):
    """Several claimed models: a main one and, for speculative decoding, a draft."""

    models: list[ModelRef] = Field(min_length=1)
    """The models: one main model and at most one draft."""
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


class NamedScaleTrigger(ScaleTrigger):
    """A trigger that a Playground of v0.1.0 can refer to."""

    name: str | None = None
    """Name of the trigger."""


class ScaleTriggerRef(ApiModel):
    """A reference to a trigger of the BackendRuntime."""

    name: str
    """Name of the trigger."""


class ElasticConfig(ApiModel):
    """Replica bounds and the trigger of the autoscaler."""

    min_replicas: PositiveInt32 = 1
    """Lower bound of the autoscaler. Setting a bound creates one."""
    max_replicas: Annotated[Int32 | None, Span(until="79d833c"), Span(since="v0.1.2", required=True, minimum=1)] = (
        None
    )
    """Upper bound of the autoscaler. Default: no limit."""
    scale_trigger: Annotated[ScaleTrigger | None, Span(until="v0.1.0"), Span(since="79d833c")] = None
    """What the autoscaler scales on. Default: the trigger of the BackendRuntime."""
    scale_trigger_ref: Annotated[ScaleTriggerRef | None, Span(until="v0.1.0")] = None
    """A trigger of the BackendRuntime, of v0.1.0. Default: its first one."""

    rules: ClassVar[tuple[Rule, ...]] = (rules.MIN_BELOW_MAX, rules.ONE_TRIGGER)


class NamedArgs(ApiModel):
    """Engine arguments of v0.1.0, whose name selects the arguments of a runtime."""

    name: str = "default"
    """Name of the arguments, such as default or speculative-decoding."""
    flags: list[str] | None = None
    """The arguments."""


def _read_args(value: Json) -> list[str] | NamedArgs:
    """Read a list of arguments, or the map that v0.1.0 has instead."""
    if isinstance(value, NamedArgs):
        return value
    try:
        if isinstance(value, dict):
            return NamedArgs.model_validate(value)
        return _ArgumentList.model_validate({"args": value}).args
    except ValidationError as error:
        from ...contract.messages import reason_of

        found = [
            (item["loc"], UNKNOWN if item["type"] == "extra_forbidden" else reason_of(dict(item)))
            for item in error.errors(include_url=False)
        ]
        # The path of a list begins with the field of its wrapper.
        skipped = 0 if isinstance(value, dict) else 1
        raise combined_error([(path[skipped:], reason) for path, reason in found]) from None


class _ArgumentList(ApiModel):
    args: list[str]


_LIST_OF_ARGS: JsonDict = {"type": "array", "items": {"type": "string"}}
_MAP_OF_ARGS: JsonDict = {
    "type": "object",
    "properties": {"name": {"type": "string", "default": "default"}, "flags": _LIST_OF_ARGS},
    "additionalProperties": False,
}
Args = Annotated[
    list[str] | NamedArgs,
    PlainValidator(_read_args),
    PlainSerializer(lambda args: args.wire() if isinstance(args, NamedArgs) else args),
    WithJsonSchema({"oneOf": [_LIST_OF_ARGS, _MAP_OF_ARGS]}),
]


class BackendRuntimeConfig(ApiModel):
    """Which engine serves, and how it differs from the recommendation."""

    backend_name: Annotated[str, Span(since="v0.1.1")] = "vllm"
    """BackendRuntime to serve with."""
    name: Annotated[str | None, Span(until="v0.1.0", default="vllm")] = None
    """The same as backendName, under the name that v0.1.0 has for it."""
    version: str | None = None
    """Image tag, instead of the runtime's."""
    envs: EnvList | None = None
    """Environment variables; they override those of the runtime by name."""
    config_name: Annotated[
        str | None,
        Span(since="v0.1.1", until="v0.1.2"),
        Span(since="v0.1.3", until="v0.1.3", default="default"),
        Span(since="v0.1.4"),
    ] = None
    """Recommended configuration of the runtime. Default: default, or speculative-decoding with a draft model."""
    args: Annotated[
        Args | None,
        Span(until="v0.1.0", oneOf=None, **_MAP_OF_ARGS),
        Span(since="v0.1.1", oneOf=None, **_LIST_OF_ARGS),
    ] = None
    """Engine arguments, after the recommended ones."""
    resources: ResourceRequirements | None = None
    shared_memory_size: Annotated[Quantity | None, Span(since="v0.1.1")] = None
    """Size of /dev/shm."""
    scale_trigger: Annotated[ScaleTrigger | None, Span(since="v0.1.1", until="v0.1.1")] = None
    """What to scale on, where v0.1.1 has it; in elasticConfig otherwise."""

    rules: ClassVar[tuple[Rule, ...]] = (rules.ONE_NAME_OF_BACKEND, rules.ONE_CONFIG)


class PlaygroundSpec(ApiModel):
    """A claimed model, an engine and replica bounds."""

    replicas: ScaleReplicas = 1
    """Replicas, if there is no autoscaler."""
    model_claim: ModelClaim | None = None
    """The model to serve; in place of modelClaims."""
    model_claims: ModelClaims | None = None
    """A main model with a draft model; in place of modelClaim."""
    backend_runtime_config: BackendRuntimeConfig | None = None
    """The engine, and how it differs from the recommendation. Default: vllm as recommended."""
    elastic_config: ElasticConfig | None = None
    """Bounds and trigger of the autoscaler. Default: no autoscaler."""

    rules: ClassVar[tuple[Rule, ...]] = (rules.ONE_CLAIM, rules.ONE_PLACE_OF_TRIGGER)


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


class SubGroupPolicy(ApiModel):
    """How a group is divided into subgroups."""

    sub_group_policy_type: Annotated[Literal["LeaderWorker", "LeaderExcluded"], Span(since="3c13ff3")] = (
        "LeaderWorker"
    )
    """LeaderWorker or LeaderExcluded."""
    sub_group_size: PositiveInt32
    """Pods of a subgroup."""


RestartPolicy = Literal["Default", "RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None"]
_RESTARTS = ["Default", "RecreateGroupOnPodRestart", "None"]
_RECREATE: Literal["RecreateGroupOnPodRestart"] = "RecreateGroupOnPodRestart"


class RollingUpdateConfiguration(RolloutBounds):
    """The bounds of a rollout; the contract's own default has no partition."""

    partition: Annotated[NaturalInt32 | None, NO_RELEASE] = None
    """Only groups from this ordinal on are updated. Default: all."""


class RolloutStrategy(ApiModel):
    """How a template change reaches the groups."""

    type: Literal["RollingUpdate"] = "RollingUpdate"
    """RollingUpdate."""
    rolling_update_configuration: RollingUpdateConfiguration | None = None
    """How many groups may be unavailable or extra during the rollout."""


class GroupTemplate(ApiModel):
    """The pods of one group, where v0.1.0 and v0.1.1 have them."""

    leader_template: PodTemplate | None = None
    """Pod template of the leader. Default: the worker template."""
    worker_template: PodTemplate
    """Pod template of the workers."""
    size: PositiveInt32 = 1
    """Pods of one replica, including the leader."""
    restart_policy: Annotated[RestartPolicy, Span(enum=_RESTARTS)] = _RECREATE
    """Default, RecreateGroupOnPodRestart or None."""
    sub_group_policy: SubGroupPolicy | None = None
    """How a group is divided into subgroups. Default: not at all."""

    rules: ClassVar[tuple[Rule, ...]] = (lws_rules.SUBGROUPS, *rules.EXCLUDED_LEADER)


class WorkloadTemplate(ApiModel):
    """The pods of one group: a leader and ``size - 1`` workers. In v0.1.0 and v0.1.1, a whole LeaderWorkerSet."""

    leader_template: Annotated[PodTemplate | None, Span(since="79d833c")] = None
    """Pod template of the leader. Default: the worker template."""
    worker_template: Annotated[PodTemplate | None, Span(since="79d833c", required=True)] = None
    """Pod template of the workers."""
    size: Annotated[PositiveInt32, Span(since="79d833c")] = 1
    """Pods of one replica, including the leader."""
    restart_policy: Annotated[RestartPolicy, Span(since="79d833c", enum=_RESTARTS)] = _RECREATE
    """Default, RecreateGroupOnPodRestart, RecreateGroupAfterStart or None."""
    sub_group_policy: Annotated[SubGroupPolicy | None, Span(since="79d833c")] = None
    """How a group is divided into subgroups. Default: not at all."""
    volume_claim_templates: Annotated[VolumeClaims | None, NO_RELEASE] = None
    """Volume claim templates; each pod gets its own claims."""
    persistent_volume_claim_retention_policy: Annotated[ClaimRetention | None, NO_RELEASE] = None
    """Retention policy of these claims, in wire form: whenDeleted and whenScaled, each Delete or Retain."""
    leader_worker_template: Annotated[GroupTemplate | None, Span(until="v0.1.1", required=True)] = None
    """The pods of one group, in v0.1.0 and v0.1.1."""
    replicas: Annotated[Int32 | None, Span(until="v0.1.1", default=1)] = None
    """Replicas, in v0.1.0 and v0.1.1."""
    rollout_strategy: Annotated[RolloutStrategy | None, Span(until="v0.1.1")] = None
    """How a change of the pods rolls out, in v0.1.0 and v0.1.1."""
    startup_policy: Annotated[
        Literal["LeaderCreated", "LeaderReady"] | None, Span(until="v0.1.1", default="LeaderCreated")
    ] = None
    """When workers are created, in v0.1.0 and v0.1.1, which ignore it."""
    network_config: Annotated[NetworkConfig | None, Span(until="v0.1.1")] = None
    """Which headless Service provides the names of the pods, in v0.1.0 and v0.1.1."""

    rules: ClassVar[tuple[Rule, ...]] = rules.WORKLOAD_TEMPLATE


# With field names that are not only Python's: pydantic writes this default into the schema by alias.
_ROLLOUT = RolloutStrategy.model_validate(
    {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 0}}
)


class ServiceSpec(ApiModel):
    """Claimed models and the pods that serve them: the long form."""

    model_claims: ModelClaims
    """The models to serve."""
    replicas: Annotated[ScaleReplicas, Span(since="79d833c")] = 1
    """Replicas."""
    workload_template: WorkloadTemplate
    """The pods of one replica."""
    rollout_strategy: Annotated[RolloutStrategy, Span(since="79d833c")] = Field(default=_ROLLOUT)
    """How a change of the pods rolls out. Default: one group at a time is unavailable."""

    rules: ClassVar[tuple[Rule, ...]] = rules.SERVICE


class Service(Resource):
    """Claimed models served by hand-written pod templates, on one or several nodes."""

    api_version: Literal["inference.llmaz.io/v1alpha1"]
    kind: Literal["Service"]
    spec: ServiceSpec
    status: ServiceStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.WORKLOAD_NAME,)


_HOOK: JsonDict = {"x-core-ref": f"#/$defs/{CORE}LifecycleHandler"}
_HOOKS: JsonDict = {
    "x-core-ref": None,
    "type": "object",
    "properties": {"postStart": _HOOK, "preStop": _HOOK},
    "additionalProperties": False,
}
"""Hooks of the container, before Kubernetes had signals among them."""


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


class MultiHostCommands(ApiModel):
    """Commands of the pods of a group."""

    leader: list[str] | None = None
    """Command of the leader; the arguments follow its last word."""
    worker: list[str] | None = None
    """Command of the workers."""


class BackendRuntimeSpec(ApiModel):
    """How an engine is started."""

    command: Annotated[list[str] | None, Span(since="79d833c")] = None
    """Command of the container. Default: the image's."""
    commands: Annotated[list[str] | None, Span(until="v0.1.1")] = None
    """The same as command, under the name that v0.1.0 and v0.1.1 have for it."""
    multi_host_commands: Annotated[MultiHostCommands | None, Span(until="v0.1.1")] = None
    """Commands of the leader and the workers of a group, of v0.1.0 and v0.1.1."""
    image: str
    """Image without its tag."""
    version: str
    """Image tag."""
    envs: EnvList | None = None
    """Environment variables."""
    lifecycle: Annotated[Lifecycle | None, Span(since="79d833c", until="v0.1.4", **_HOOKS), Span(since="3c13ff3")] = (
        None
    )
    """Lifecycle hooks of the container."""
    liveness_probe: Probe | None = None
    """Liveness probe of the container."""
    readiness_probe: Probe | None = None
    """Readiness probe of the container."""
    startup_probe: Probe | None = None
    """Startup probe of the container."""
    recommended_configs: Annotated[list[RecommendedConfig] | None, Span(since="v0.1.1")] = Field(
        default=None, max_length=MAX_CONFIGS, json_schema_extra=_BY_NAME
    )
    """Named configurations; a Playground uses the one named default unless it names another."""
    args: Annotated[list[NamedArgs] | None, Span(until="v0.1.0")] = Field(default=None, max_length=MAX_CONFIGS)
    """Engine arguments by name, of v0.1.0."""
    resources: Annotated[ResourceRequirements | None, Span(until="v0.1.0", required=True)] = None
    """Resources of the container, whatever the arguments, of v0.1.0."""
    scale_triggers: Annotated[list[NamedScaleTrigger] | None, Span(until="v0.1.0")] = None
    """What Playgrounds of v0.1.0 can scale on; without a reference, the first one."""

    def _same_names(self) -> Iterator[Violation]:
        yield from unique_names(self.recommended_configs, "recommendedConfigs")
        yield from unique_names(self.args, "args")

    rules: ClassVar[tuple[Rule, ...]] = (Rule("", _same_names, ""), rules.ONE_COMMAND, rules.ONE_FORM_OF_CONFIGS)


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
