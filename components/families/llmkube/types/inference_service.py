"""LLMKube: InferenceService (``inference.llmkube.dev``); its Model is in :mod:`.model`.

The CustomResourceDefinition of LLMKube v0.8.1 to v0.8.7 knows no rules that span fields, and no webhook adds
any (LLMKube spec 1), so this accepts the same, except for one bound of :mod:`.runtimes`. Rendering checks whether
the fields make sense together.
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
    """Its port."""
    path: str = "/v1/chat/completions"
    """Path that clients call."""
    type: Literal["ClusterIP", "NodePort", "LoadBalancer"] = "ClusterIP"
    """ClusterIP, NodePort or LoadBalancer."""


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


class InferenceServiceSpec(ApiModel):
    """A model, a runtime and its pods. Fields of one runtime have no effect with the others."""

    model_ref: str
    runtime: Literal["llamacpp", "personaplex", "vllm", "tgi", "generic"] = "llamacpp"
    """llamacpp, personaplex, vllm, tgi or generic."""
    replicas: Annotated[ScaleReplicas, Field(le=10)] = 1
    """Replicas, 0 to 10, if there is no autoscaler."""

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
    eviction_protection: bool = False
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

    # The other runtimes.
    persona_plex_config: PersonaPlexConfig | None = None
    """Settings of PersonaPlex."""
    vllm_config: VLLMConfig | None = None
    """Settings of vLLM."""
    tgi_config: TGIConfig | None = None
    """Settings of TGI."""


class InferenceService(Resource):
    """A Model served by a runtime."""

    api_version: Literal["inference.llmkube.dev/v1alpha1"]
    kind: Literal["InferenceService"]
    spec: InferenceServiceSpec
    status: InferenceServiceStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME,)
