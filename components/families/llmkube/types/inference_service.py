"""LLMKube: InferenceService (``inference.llmkube.dev``); its Model is in :mod:`.llmkube_model`.

The CustomResourceDefinition of LLMKube v0.8.1 to v0.8.7 knows no rules that span fields, and no webhook adds
any (LLMKube spec 1): what it accepts is accepted here, but for one bound in :mod:`.rules_llmkube`. Whether the
fields make sense together is for rendering to say.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....contract import rules
from ....contract.base import ApiModel, Int32, NaturalInt32, PositiveInt32, Rule, ScaleReplicas
from ....contract.meta import Resource
from ....contract.schema.embedded import EnvList, PodSecurityContext, Probe, PullSecrets, SecurityContext, Tolerations
from .model import Model as Model
from .model import ModelSpec as ModelSpec
from .runtimes import PersonaPlexConfig, RopeScalingSpec, TGIConfig, VLLMConfig
from .status import InferenceServiceStatus
from .values import CacheType, ContextSize, GpuCount, Port


class EndpointSpec(ApiModel):
    """The Service in front of the pods. ``path`` is what clients call."""

    port: Port = 8080
    path: str = "/v1/chat/completions"
    type: Literal["ClusterIP", "NodePort", "LoadBalancer"] = "ClusterIP"


class InferenceResourceRequirements(ApiModel):
    """Resources of one pod: a number of GPUs, the rest as quantities. ``hostMemory`` wins over ``memory``."""

    gpu: GpuCount | None = None
    cpu: str | None = None
    memory: str | None = None
    gpu_memory: str | None = None
    host_memory: str | None = None


class MetricSpec(ApiModel):
    """One metric to scale on. A target value is a quantity per pod, a utilization per cent of the request."""

    type: Literal["Pods", "Resource"]
    name: str
    target_average_value: str | None = None
    target_average_utilization: Int32 | None = None


class AutoscalingSpec(ApiModel):
    """Replica bounds and what moves between them."""

    min_replicas: Annotated[PositiveInt32, Field(le=10)] = 1
    max_replicas: Annotated[PositiveInt32, Field(le=100)]
    metrics: list[MetricSpec] | None = None


class ProbeOverrides(ApiModel):
    """Probes that replace the runtime's own, each as a whole."""

    startup: Probe | None = None
    liveness: Probe | None = None
    readiness: Probe | None = None


class InferenceServiceSpec(ApiModel):
    """A model, a runtime and how its pods run. What only one runtime reads has no effect with the others."""

    model_ref: str
    runtime: Literal["llamacpp", "personaplex", "vllm", "tgi", "generic"] = "llamacpp"
    replicas: Annotated[ScaleReplicas, Field(le=10)] = 1

    # The pods, whatever runs in them.
    image: str | None = None
    image_pull_secrets: PullSecrets | None = None
    command: list[str] | None = None
    args: list[str] | None = None
    extra_args: list[str] | None = None
    env: EnvList | None = None
    container_port: Port | None = None
    endpoint: EndpointSpec | None = None
    resources: InferenceResourceRequirements | None = None
    tolerations: Tolerations | None = None
    node_selector: dict[str, str] | None = None
    runtime_class_name: str | None = None
    priority: Literal["critical", "high", "normal", "low", "batch"] = "normal"
    priority_class_name: str | None = None
    pod_annotations: dict[str, str] | None = None
    pod_labels: dict[str, str] | None = None
    pod_security_context: PodSecurityContext | None = None
    security_context: SecurityContext | None = None
    probe_overrides: ProbeOverrides | None = None
    skip_model_init: bool | None = None
    autoscaling: AutoscalingSpec | None = None
    eviction_protection: bool = False

    # llama.cpp; parallelSlots is for vLLM too. Sizes are tokens.
    context_size: ContextSize | None = None
    rope_scaling: RopeScalingSpec | None = None
    parallel_slots: Annotated[PositiveInt32, Field(le=64)] | None = None
    flash_attention: bool | None = None
    jinja: bool | None = None
    cache_type_k: CacheType | None = None
    cache_type_v: CacheType | None = None
    cache_type_custom_k: str | None = None
    cache_type_custom_v: str | None = None
    moe_cpu_offload: bool | None = Field(default=None, alias="moeCPUOffload")
    moe_cpu_layers: NaturalInt32 | None = Field(default=None, alias="moeCPULayers")
    no_kv_offload: bool | None = None
    tensor_overrides: list[str] | None = None
    batch_size: Annotated[PositiveInt32, Field(le=16384)] | None = None
    u_batch_size: PositiveInt32 | None = None
    no_warmup: bool | None = None
    reasoning_budget: NaturalInt32 | None = None
    reasoning_budget_message: str | None = None
    metadata_overrides: list[str] | None = None

    # The other runtimes.
    persona_plex_config: PersonaPlexConfig | None = None
    vllm_config: VLLMConfig | None = None
    tgi_config: TGIConfig | None = None


class InferenceService(Resource):
    """A Model served by a runtime."""

    api_version: Literal["inference.llmkube.dev/v1alpha1"]
    kind: Literal["InferenceService"]
    spec: InferenceServiceSpec
    status: InferenceServiceStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME,)
