"""LLMKube: InferenceService (``inference.llmkube.dev``); its Model is in :mod:`.model`.

The CustomResourceDefinition of LLMKube v0.8.1 to v0.8.7 knows no rules that span fields, and no webhook adds
any (LLMKube spec 1), so this accepts the same, except for one bound of :mod:`.runtimes`. Rendering checks whether
the fields make sense together.
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from ....contract import rules
from ....contract.base import (
    ApiModel,
    Int32,
    Int64,
    Json,
    NaturalInt32,
    PositiveInt32,
    Rule,
    ScaleReplicas,
    Violation,
    combined_error,
    whole_float_to_int,
)
from ....contract.meta import Resource
from ....contract.releases import Span
from ....contract.schema.embedded import EnvList, PodSecurityContext, Probe, PullSecrets, SecurityContext, Tolerations
from .endpoint import EndpointSpec as EndpointSpec
from .model import Model as Model
from .model import ModelSpec as ModelSpec
from .runtimes import PersonaPlexConfig, RopeScalingSpec, SGLangConfig, SpeculativeDecodingSpec, TGIConfig, VLLMConfig
from .status import InferenceServiceStatus
from .values import (
    Affinity,
    CacheType,
    ContextSize,
    Decimals,
    GpuCount,
    ObjectName,
    Port,
    SpreadConstraints,
    StorageAmount,
    VolumeMounts,
    Volumes,
    Window,
)


def _profile_missing(sharing: Json) -> Iterator[Violation]:
    if sharing.mode == "partitioned" and not sharing.profile:
        yield ("profile",), f", found {sharing.profile!r}; set it to one such as 1g.24gb"


def _profile_unused(sharing: Json) -> Iterator[Violation]:
    if sharing.profile and sharing.mode != "partitioned":
        yield ("profile",), f", found mode {sharing.mode}; remove it, or set mode: partitioned"


def _limit_unused(sharing: Json) -> Iterator[Violation]:
    if sharing.memory_limit_gib is not None and sharing.mode != "shared":
        yield ("memoryLimitGiB",), f", found mode {sharing.mode}; remove it, or set mode: shared"


class GPUSharingSpec(ApiModel):
    """Whether a pod has its GPU for itself."""

    mode: Literal["exclusive", "shared", "partitioned"] = "exclusive"
    """exclusive, shared or partitioned."""
    profile: str | None = None
    """MIG profile such as 1g.24gb, for mode partitioned."""
    memory_limit_gib: PositiveInt32 | None = Field(default=None, alias="memoryLimitGiB")
    """GPU memory that the service may use, for mode shared."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "profile is required when mode is partitioned",
            _profile_missing,
            "!has(self.mode) || self.mode != 'partitioned' || (has(self.profile) && self.profile.size() > 0)",
        ),
        Rule(
            "profile is only valid when mode is partitioned",
            _profile_unused,
            "!has(self.profile) || self.profile.size() == 0 || (has(self.mode) && self.mode == 'partitioned')",
        ),
        Rule(
            "memoryLimitGiB is only valid when mode is shared",
            _limit_unused,
            "!has(self.memoryLimitGiB) || (has(self.mode) && self.mode == 'shared')",
        ),
    )


class InferenceResourceRequirements(ApiModel):
    """Resources of one pod: a number of GPUs, the rest as quantities. ``hostMemory`` wins over ``memory``."""

    gpu: GpuCount | None = None
    """GPUs, 0 to 8."""
    cpu: str | None = None
    """CPU, as a quantity."""
    memory: str | None = None
    """Memory, as a quantity."""
    gpu_memory: str | None = None
    """GPU memory that a pod needs, as a quantity; checked against the instance type."""
    host_memory: str | None = None
    """Host memory, as a quantity; takes precedence over memory."""
    ephemeral_storage: Annotated[StorageAmount | None, Span(since="v0.9.15")] = None
    """Local disk of the node that a pod may use, as a quantity; a request and a limit."""
    gpu_sharing: Annotated[GPUSharingSpec | None, Span(since="v0.9.9")] = None
    """Whether a pod has its GPU for itself. Default: it has."""


class MetricSpec(ApiModel):
    """One metric to scale on. A target value is a quantity per pod, a utilization per cent of the request."""

    type: Literal["Pods", "Resource"]
    """Pods or Resource."""
    name: str
    """Name of the metric, or cpu or memory."""
    target_average_value: str | None = None
    """Target mean over the pods, as a quantity; for type Pods."""
    target_average_utilization: Int32 | None = None
    """Target mean as a percentage of what the pods request; for type Resource."""


class AutoscalingSpec(ApiModel):
    """Replica bounds and metrics of the autoscaler."""

    min_replicas: Annotated[PositiveInt32, Field(le=10)] = 1
    """Lower bound, 1 to 10."""
    max_replicas: Annotated[PositiveInt32, Field(le=100)]
    """Upper bound, 1 to 100."""
    metrics: list[MetricSpec] | None = None
    """What to scale on. Default: the runtime's concurrent requests, if it exports them."""


class ProbeOverrides(ApiModel):
    """Probes that replace the runtime's own; each replaces the whole probe."""

    startup: Probe | None = None
    """When the server has started."""
    liveness: Probe | None = None
    """When to restart the container."""
    readiness: Probe | None = None
    """When it accepts requests."""


class DisruptionSpec(ApiModel):
    """Whether Karpenter may evict the pods in order to save nodes."""

    protect_startup: bool = True
    """Whether pods are protected until the service is ready."""
    protect_always: bool | None = None
    """Whether pods are always protected."""


class RolloutPolicySpec(ApiModel):
    """When pods are replaced by those of a new revision."""

    wait_for_idle: bool | None = None
    """Whether to wait until the server has no requests."""
    idle_timeout_seconds: Annotated[int, Field(ge=0), BeforeValidator(whole_float_to_int)] = 300
    """How long to wait at most, in seconds."""
    force: bool | None = None
    """Whether to replace the pods at once in spite of waitForIdle."""


def _cache_of_neither(cache: Json) -> Iterator[Violation]:
    if cache.persistence == "Ephemeral" and cache.claim_name is not None:
        yield ("claimName",), f", found {cache.claim_name!r}; remove one of the two"


class ModelCacheSpec(ApiModel):
    """Where the files of the model are kept, instead of the cache of the namespace."""

    claim_name: ObjectName | None = None
    """A PersistentVolumeClaim of the namespace, which must exist."""
    persistence: Annotated[Literal["Cached", "Ephemeral"] | None, Span(since="v0.9.15")] = None
    """Cached, or Ephemeral to download the files for every pod."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "claimName cannot be set when persistence is Ephemeral: one names a cache volume to use, the other "
            "declines to use any",
            _cache_of_neither,
            "!(has(self.persistence) && self.persistence == 'Ephemeral' && has(self.claimName))",
            span=Span(since="v0.9.15"),
        ),
    )


_OBJECTIVE = "objective must be a number between 50 and 99.999"


def _in_bounds(text: str) -> str:
    if not 50 <= float(text) <= 99.999:
        raise combined_error([((), f"must be a number between 50 and 99.999, found {text!r}")])
    return text


def _threshold_missing(slo: Json) -> Iterator[Violation]:
    if slo.indicator == "latency" and slo.latency_threshold is None:
        yield ("latencyThreshold",), "; set it to seconds such as '2.5'"


class SLOSpec(ApiModel):
    """A service level objective, as a resource of Pyrra."""

    objective: Annotated[
        Decimals,
        Field(
            json_schema_extra={
                "x-kubernetes-validations": [
                    {"rule": "double(self) >= 50.0 && double(self) <= 99.999", "message": _OBJECTIVE}
                ]
            }
        ),
        AfterValidator(_in_bounds),
    ]
    """Percentage that must be good, such as '99.5'."""
    indicator: Literal["availability", "latency"] = "availability"
    """availability or latency."""
    latency_threshold: Decimals | None = None
    """Seconds in which a request must be served, for indicator latency."""
    window: Window = "28d"
    """Period of the objective."""
    name: str | None = None
    """Name of the resource. Default: that of the service and the indicator."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "latencyThreshold is required when indicator is latency",
            _threshold_missing,
            "self.indicator != 'latency' || has(self.latencyThreshold)",
        ),
    )


def _turbo_bits(bits: int) -> int:
    if bits not in (3, 6, 8):
        raise combined_error([((), f"must be 3, 6 or 8, found {bits}")])
    return bits


RUNTIMES = ("llamacpp", "llamacpp-router", "personaplex", "vllm", "tgi", "sglang", "generic")
_WITHOUT_ROUTER = [name for name in RUNTIMES if name != "llamacpp-router"]


class InferenceServiceSpec(ApiModel):
    """A model, a runtime and its pods. Fields of one runtime have no effect with the others."""

    model_ref: str
    """Name of the Model in the same namespace."""
    runtime: Annotated[
        Literal["llamacpp", "llamacpp-router", "personaplex", "vllm", "tgi", "sglang", "generic"],
        Span(until="v0.9.3", enum=[name for name in _WITHOUT_ROUTER if name != "sglang"]),
        Span("v0.9.4", "v0.9.7", enum=_WITHOUT_ROUTER),
        Span(since="v0.9.8"),
    ] = "llamacpp"
    """llamacpp, llamacpp-router, personaplex, vllm, tgi, sglang or generic."""
    mode: Annotated[Literal["chat", "embedding", "rerank"] | None, Span(since="v0.8.20")] = None
    """chat, embedding or rerank. Default: as extraArgs and endpoint.path tell."""
    replicas: Annotated[ScaleReplicas, Field(le=10)] = 1
    """Replicas, 0 to 10, if there is no autoscaler."""
    suspend: Annotated[bool, Span(since="v0.9.11")] = False
    """Whether the pods are removed while the replicas are kept."""
    revision_history_limit: Annotated[NaturalInt32 | None, Span(since="v0.8.14")] = None
    """Old ReplicaSets to keep."""

    # The pods, whatever runs in them.
    image: str | None = None
    """Image of the container. Default: the runtime's."""
    image_pull_secrets: PullSecrets | None = None
    """Secrets to pull images with."""
    command: list[str] | None = None
    """Entry point of the container, instead of the image's."""
    args: list[str] | None = None
    """Arguments of runtime generic."""
    extra_args: list[str] | None = None
    """Additional engine arguments, after all others."""
    env: EnvList | None = None
    """Environment variables."""
    container_port: Port | None = None
    """Port of the server. Default: that of the endpoint, otherwise that of the runtime."""
    endpoint: EndpointSpec | None = None
    """The Service in front of the pods."""
    resources: InferenceResourceRequirements | None = None
    """Resources of one pod."""
    tolerations: Tolerations | None = None
    """Tolerations of the pods."""
    node_selector: dict[str, str] | None = None
    """Labels of the nodes; node.kubernetes.io/instance-type selects the EC2 instance type."""
    affinity: Annotated[Affinity | None, Span(since="v0.8.14")] = None
    """Affinity of the pods (core/v1 Affinity, in wire form)."""
    topology_spread_constraints: Annotated[SpreadConstraints | None, Span(since="v0.8.14")] = None
    """How the pods are spread (core/v1 TopologySpreadConstraint, in wire form)."""
    disruption: Annotated[DisruptionSpec | None, Span(since="v0.8.12")] = None
    """Whether Karpenter may evict the pods."""
    extra_volumes: Annotated[Volumes | None, Span(since="v0.9.5")] = None
    """Further volumes of the pods (core/v1 Volume, in wire form)."""
    extra_volume_mounts: Annotated[VolumeMounts | None, Span(since="v0.9.5")] = None
    """Further mounts of the container (core/v1 VolumeMount, in wire form)."""
    model_cache: Annotated[ModelCacheSpec | None, Span(since="v0.8.28")] = None
    """Where the files of the model are kept. Default: in the cache of the namespace."""
    bind_address: Annotated[str | None, Span(since="v0.9.11")] = None
    """Address on which the server listens."""
    rollout_policy: Annotated[RolloutPolicySpec | None, Span(since="v0.8.23")] = None
    """When pods are replaced by those of a new revision; needs the operator."""
    max_pod_lifetime_seconds: Annotated[Annotated[Int64, Field(ge=1)] | None, Span(since="v0.9.9")] = None
    """Age in seconds at which a pod is evicted; needs the operator."""
    max_pod_lifetime_idle_timeout_seconds: Annotated[Annotated[Int64, Field(ge=0)] | None, Span(since="v0.9.11")] = (
        None
    )
    """How long to wait for such a pod to be idle, in seconds."""
    slo: Annotated[SLOSpec | None, Span(since="v0.9.8")] = None
    """A service level objective; needs the operator and Pyrra."""
    runtime_class_name: str | None = None
    """RuntimeClass of the pods."""
    priority: Literal["critical", "high", "normal", "low", "batch"] = "normal"
    """critical, high, normal, low or batch."""
    priority_class_name: str | None = None
    """PriorityClass of the pods, instead of the one for priority."""
    pod_annotations: dict[str, str] | None = None
    """Annotations of the pods."""
    pod_labels: dict[str, str] | None = None
    """Labels of the pods."""
    pod_security_context: PodSecurityContext | None = None
    """Security context of the pods, instead of the default."""
    security_context: SecurityContext | None = None
    """Security context of the container, instead of the default."""
    probe_overrides: ProbeOverrides | None = None
    """Probes of the container, each replacing that of the runtime."""
    skip_model_init: bool | None = None
    """Whether the runtime fetches the weights itself."""
    autoscaling: AutoscalingSpec | None = None
    """Bounds of the replicas, and what to scale on. Default: no autoscaler."""
    # Upstream's definition has no default; the contract states it in prose.
    eviction_protection: Annotated[bool, Span(default=None)] = False
    """Only for LLMKube's host agent."""

    # llama.cpp; parallelSlots is for vLLM too. Sizes are tokens.
    context_size: ContextSize | None = None
    """llama.cpp: tokens of context, 128 to 2097152."""
    rope_scaling: RopeScalingSpec | None = None
    """llama.cpp: how to extend the context beyond the trained length."""
    parallel_slots: Annotated[PositiveInt32, Field(le=64)] | None = None
    """llama.cpp and vLLM: concurrent requests, 1 to 64."""
    flash_attention: bool | None = None
    """llama.cpp: whether to use flash attention."""
    jinja: bool | None = None
    """llama.cpp: whether to use the model's chat template."""
    cache_type_k: CacheType | None = None
    """llama.cpp: type of the K cache."""
    cache_type_v: CacheType | None = None
    """llama.cpp: type of the V cache."""
    cache_type_custom_k: str | None = None
    """llama.cpp: type of the K cache, if it is not in the list of cache_type_k."""
    cache_type_custom_v: str | None = None
    """llama.cpp: type of the V cache, if it is not in the list of cache_type_v."""
    moe_cpu_offload: bool | None = Field(default=None, alias="moeCPUOffload")
    """llama.cpp: keep all experts in host memory."""
    moe_cpu_layers: NaturalInt32 | None = Field(default=None, alias="moeCPULayers")
    """llama.cpp: keep the experts of the first N layers in host memory."""
    no_kv_offload: bool | None = None
    """llama.cpp: keep the KV cache in host memory."""
    tensor_overrides: list[str] | None = None
    """llama.cpp: where to place tensors, such as exps=CPU."""
    batch_size: Annotated[PositiveInt32, Field(le=16384)] | None = None
    """llama.cpp: tokens of a logical batch, 1 to 16384."""
    u_batch_size: PositiveInt32 | None = None
    """llama.cpp: tokens of a physical batch."""
    no_warmup: bool | None = None
    """llama.cpp: skip the warmup run."""
    reasoning_budget: NaturalInt32 | None = None
    """llama.cpp: maximum number of tokens for reasoning."""
    reasoning_budget_message: str | None = None
    """llama.cpp: text that ends reasoning when the budget is used up."""
    metadata_overrides: list[str] | None = None
    """llama.cpp: overrides of the model's metadata, such as a.b=int:1."""
    speculative_decoding: Annotated[SpeculativeDecodingSpec | None, Span(since="v0.8.17")] = None
    """llama.cpp: how tokens are proposed."""

    # oMLX, which runs on a Mac.
    turbo_quant_bits: Annotated[
        Annotated[Int32, Field(json_schema_extra={"enum": [3, 6, 8]}), AfterValidator(_turbo_bits)] | None,
        Span(since="v0.8.23"),
    ] = None
    """Only for LLMKube's host agent: bits of the KV cache, 3, 6 or 8."""
    hot_cache_max_size: Annotated[str | None, Span(since="v0.9.7")] = None
    """Only for LLMKube's host agent: size of the cache in memory."""
    paged_ssd_cache_dir: Annotated[str | None, Span(since="v0.9.7")] = Field(default=None, alias="pagedSSDCacheDir")
    """Only for LLMKube's host agent: folder of the cache on disk."""
    paged_ssd_cache_max_size: Annotated[str | None, Span(since="v0.9.7")] = Field(
        default=None, alias="pagedSSDCacheMaxSize"
    )
    """Only for LLMKube's host agent: size of the cache on disk."""

    # The other runtimes.
    persona_plex_config: PersonaPlexConfig | None = None
    """Settings of PersonaPlex."""
    vllm_config: VLLMConfig | None = None
    """Settings of vLLM."""
    tgi_config: TGIConfig | None = None
    """Settings of TGI."""
    sglang_config: Annotated[SGLangConfig | None, Span(since="v0.9.4")] = None
    """Settings of SGLang."""


class InferenceService(Resource):
    """A Model served by a runtime."""

    api_version: Literal["inference.llmkube.dev/v1alpha1"]
    kind: Literal["InferenceService"]
    spec: InferenceServiceSpec
    status: InferenceServiceStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME,)
