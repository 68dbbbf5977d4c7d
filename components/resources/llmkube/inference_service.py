"""LLMKube's InferenceService: a model served by llama.cpp, vLLM, TGI, PersonaPlex or an image of one's own.

InferenceService
├── PriorityClass             <name>-priorityclass, unless it is made elsewhere
├── PersistentVolumeClaim     <name>-persistentvolumeclaim, for the model cache; likewise
├── Deployment                <name>
├── Service                   <name>-lb
└── HorizontalPodAutoscaler   <name>-hpa, with autoscaling
"""

from typing import Any, Required, TypedDict

import pulumi

from ...families.llmkube.types import InferenceServiceSpec
from ...fleet.rendered import Rendered
from ..serving.arguments import Arguments, model_by_argument, wire_names
from ..serving.rendering_options import is_autoscaled, options_of
from ..serving.workload_component import ReferredComponent, render_one
from .engine_args import PersonaPlexConfigArgs, RopeScalingArgs, TgiConfigArgs, VllmConfigArgs
from .service_args import AutoscalingArgs, EndpointArgs, PodResourcesArgs, ProbeOverridesArgs


class InferenceServiceArgs(TypedDict, total=False):
    """Arguments of an InferenceService. All are plain: they decide which objects there are."""

    name: str
    """Name of the Kubernetes objects. Default: the component's name."""
    namespace: str
    """Namespace of the Kubernetes objects, and of the model. Default: default."""
    realization: str
    """native renders plain Kubernetes objects; operator creates the LLMKube resource. Default: native."""
    service_account_name: str
    """Service account of the pods."""
    cache_claim: str
    """PersistentVolumeClaim that caches weights that the runtime fetches itself."""
    cache_host_path: str
    """Folder on the node that caches weights that the runtime fetches itself."""
    shared: bool
    """Whether to create the PriorityClass and the claim of the model cache, which the services of a namespace
    share. Only one of several services may create them. Default: true."""
    model: Required[pulumi.Input[dict[str, Any]]]
    """The Model to serve, in wire form: the ``manifest`` of a Model component."""
    draft_model: pulumi.Input[dict[str, Any]]
    """A second Model, for speculative decoding in vllm_config, in wire form."""
    runtime: str
    """llamacpp, personaplex, vllm, tgi or generic. Default: llamacpp."""
    replicas: int
    """Replicas, 0 to 10, if there is no autoscaler. Default: 1."""
    autoscaled: bool
    """Whether an autoscaler of another component, owns the replicas. Default: false."""
    image: str
    """Image of the container. Default: the runtime's."""
    image_pull_secrets: list[dict[str, str]]
    """Secrets to pull images with."""
    command: list[str]
    """Entry point of the container, instead of the image's."""
    args: list[str]
    """Arguments of runtime generic."""
    extra_args: list[str]
    """Additional engine arguments, after all others."""
    env: list[dict[str, Any]]
    """Environment variables."""
    container_port: int
    """Port of the server. Default: that of the endpoint, otherwise that of the runtime."""
    endpoint: EndpointArgs
    """The Service in front of the pods."""
    resources: PodResourcesArgs
    """Resources of one pod."""
    tolerations: list[dict[str, Any]]
    """Tolerations of the pods."""
    node_selector: dict[str, str]
    """Labels of the nodes; node.kubernetes.io/instance-type selects the EC2 instance type."""
    runtime_class_name: str
    """RuntimeClass of the pods."""
    priority: str
    """critical, high, normal, low or batch. Default: normal."""
    priority_class_name: str
    """PriorityClass of the pods, instead of the one for priority."""
    pod_annotations: dict[str, str]
    """Annotations of the pods."""
    pod_labels: dict[str, str]
    """Labels of the pods."""
    pod_security_context: dict[str, Any]
    """Security context of the pods, instead of the default."""
    security_context: dict[str, Any]
    """Security context of the container, instead of the default."""
    probe_overrides: ProbeOverridesArgs
    """Probes of the container, each replacing that of the runtime."""
    skip_model_init: bool
    """Whether the runtime fetches the weights itself."""
    autoscaling: AutoscalingArgs
    """Bounds of the replicas, and what to scale on. Default: no autoscaler."""
    eviction_protection: bool
    """Only for LLMKube's host agent."""
    context_size: int
    """llama.cpp: tokens of context, 128 to 2097152."""
    rope_scaling: RopeScalingArgs
    """llama.cpp: how to extend the context beyond the trained length."""
    parallel_slots: int
    """llama.cpp and vLLM: concurrent requests, 1 to 64."""
    flash_attention: bool
    """llama.cpp: whether to use flash attention."""
    jinja: bool
    """llama.cpp: whether to use the model's chat template."""
    cache_type_k: str
    """llama.cpp: type of the K cache."""
    cache_type_v: str
    """llama.cpp: type of the V cache."""
    cache_type_custom_k: str
    """llama.cpp: type of the K cache, if it is not in the list of cache_type_k."""
    cache_type_custom_v: str
    """llama.cpp: type of the V cache, if it is not in the list of cache_type_v."""
    moe_cpu_offload: bool
    """llama.cpp: keep all experts in host memory."""
    moe_cpu_layers: int
    """llama.cpp: keep the experts of the first N layers in host memory."""
    no_kv_offload: bool
    """llama.cpp: keep the KV cache in host memory."""
    tensor_overrides: list[str]
    """llama.cpp: where to place tensors, such as exps=CPU."""
    batch_size: int
    """llama.cpp: tokens of a logical batch, 1 to 16384."""
    u_batch_size: int
    """llama.cpp: tokens of a physical batch."""
    no_warmup: bool
    """llama.cpp: skip the warmup run."""
    reasoning_budget: int
    """llama.cpp: maximum number of tokens for reasoning."""
    reasoning_budget_message: str
    """llama.cpp: text that ends reasoning when the budget is used up."""
    metadata_overrides: list[str]
    """llama.cpp: overrides of the model's metadata, such as a.b=int:1."""
    persona_plex_config: PersonaPlexConfigArgs
    """Settings of PersonaPlex."""
    vllm_config: VllmConfigArgs
    """Settings of vLLM."""
    tgi_config: TgiConfigArgs
    """Settings of TGI."""


_OF_PODS = frozenset({"tolerations", "image_pull_secrets", "priority_class_name", "pod_annotations", "pod_labels"})
"""What the specification has fields for, and other kinds have not."""


class InferenceService(ReferredComponent):
    """Serves a model: a Deployment of the runtime, a Service in front of it and, with bounds, an autoscaler.

    Does not create nodes or Secrets with access tokens.
    """

    def __init__(self, name: str, args: InferenceServiceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Render and register.

        Raises:
            InvalidArguments: the arguments contradict the contract, or a pod fits no node.
        """
        self.register(name, _render(name, args), opts, shared=bool(args.get("shared", True)))


def _render(name: str, args: InferenceServiceArgs) -> Rendered:
    given = Arguments(name, args, InferenceServiceArgs, model_by_argument(InferenceServiceSpec))
    options = options_of(given, _OF_PODS)
    autoscaled = is_autoscaled(given, options, ("replicas", "autoscaling"))
    referred = [given.manifest(key, "Model") for key in ("model", "draft_model") if key in ("model", *given.values)]
    given.check()
    spec = {"modelRef": referred[0]["metadata"]["name"], **wire_names(given.values, InferenceServiceSpec)}
    metadata = {"name": given.get("name", name), "namespace": given.get("namespace", "default")}
    resource = given.resource("inference.llmkube.dev/v1alpha1", "InferenceService", metadata, spec)
    return render_one(resource, referred, options, autoscaled=autoscaled)
