"""How the arguments of LLMKube's components map to fields of their resources; unnamed fields map one to one."""

from ...families.llmkube.types import InferenceServiceSpec, ModelSpec
from ...families.llmkube.types.endpoint import EndpointSpec, GatewaySpec
from ...families.llmkube.types.inference_service import (
    AutoscalingSpec,
    DisruptionSpec,
    GPUSharingSpec,
    InferenceResourceRequirements,
    MetricSpec,
    ModelCacheSpec,
    ProbeOverrides,
    RolloutPolicySpec,
    SLOSpec,
)
from ...families.llmkube.types.model import (
    GPUShardingSpec,
    GPUSpec,
    HardwareSpec,
    ModelResources,
    PodResourceClaim,
)
from ...families.llmkube.types.model_router import (
    AuditLogPolicy,
    AuthPolicy,
    BudgetSpec,
    ClassificationPolicy,
    ExternalProvider,
    HealthCheck,
    JWTPolicy,
    MCPServer,
    ModelRouterSpec,
    ProxySpec,
    RouterBackend,
    RouterPolicy,
    RouterRule,
    RuleMatch,
    RuleRoute,
    TeamAllowlist,
    TokenCost,
)
from ...families.llmkube.types.runtimes import (
    PersonaPlexConfig,
    RopeScalingSpec,
    SGLangConfig,
    SGLangLoRAAdapter,
    SGLangSpeculativeConfig,
    SpeculativeConfig,
    SpeculativeDecodingSpec,
    TGIConfig,
    VLLMConfig,
)
from ...families.llmkube.types.shared import (
    FederatedClusterSpec,
    GPUQuotaSpec,
    InferenceServiceReference,
    LoRAAdapterSpec,
    ModelPoolMember,
    ModelPoolSpec,
)
from ...families.llmkube.types.values import GatewayRef, LocalObjectReference
from ..serving.argument_maps import AUTOSCALED, INSTANCE_TYPES, WAITING, realization, release
from ..serving.mapped_arguments import ArgumentMap, Changed, Own

MODEL = ArgumentMap(
    "ModelArgs",
    ModelSpec,
    doc="Arguments of a Model.",
    own={
        "name": Own("str", "Name of the model. Default: the component's name."),
        "namespace": Own("str", "Namespace of the model, and of the services that serve it. Default: default."),
        "realization": realization("native registers no Kubernetes object; operator creates the LLMKube resource."),
        "release": release("LLMKube"),
    },
)
INFERENCE_SERVICE = ArgumentMap(
    "InferenceServiceArgs",
    InferenceServiceSpec,
    doc="Arguments of an InferenceService. All are plain: they decide which objects are created.",
    own={
        "name": Own("str", "Name of the Kubernetes objects. Default: the component's name."),
        "namespace": Own("str", "Namespace of the Kubernetes objects, and of the model. Default: default."),
        "realization": realization("native renders plain Kubernetes objects; operator creates the LLMKube resource."),
        "release": release("LLMKube"),
        "service_account_name": Own("str", "Service account of the pods."),
        "cache_claim": Own("str", "PersistentVolumeClaim that caches weights that the runtime fetches itself."),
        "cache_host_path": Own("str", "Folder on the node that caches weights that the runtime fetches itself."),
        "shared": Own(
            "bool",
            "Whether to create the PriorityClass and the claim of the model cache, which the services of a namespace "
            "share. Only one of several services may create them. Default: true.",
        ),
        "model": Own(
            "pulumi.Input[dict[str, Any]]",
            "The Model to serve, in wire form: the ``manifest`` of a Model component.",
            required=True,
        ),
        "draft_model": Own(
            "pulumi.Input[dict[str, Any]]",
            "A second Model, for vllm_config.speculative or speculative_decoding, in wire form.",
        ),
        "autoscaled": AUTOSCALED,
        "instance_types": INSTANCE_TYPES,
        **WAITING,
    },
    without={"model_ref": "the name in the manifest of model"},
    changed={"image_pull_secrets": Changed("A reference is a name and nothing else.", type="list[dict[str, str]]")},
)

_NAME = Own("str", "Name of the object. Default: the component's name.")
_NAMESPACE = Own("str", "Namespace of the object. Default: default.")
_RELEASE = Own(
    "str",
    "Release of LLMKube whose API the arguments follow, such as the one whose operator runs in the cluster. "
    "Default: none; the fields of all releases are accepted.",
)
MODEL_ROUTER = ArgumentMap(
    "ModelRouterArgs",
    ModelRouterSpec,
    doc="Arguments of a ModelRouter.",
    own={"name": _NAME, "namespace": _NAMESPACE, "release": _RELEASE},
    renamed={"rules_": "rules"},
)
MODEL_POOL = ArgumentMap(
    "ModelPoolArgs",
    ModelPoolSpec,
    doc="Arguments of a ModelPool.",
    own={"name": _NAME, "namespace": _NAMESPACE, "release": _RELEASE},
)
LORA_ADAPTER = ArgumentMap(
    "LoRAAdapterArgs",
    LoRAAdapterSpec,
    doc="Arguments of a LoRAAdapter.",
    own={"name": _NAME, "namespace": _NAMESPACE, "release": _RELEASE},
    renamed={"name": "adapter"},
)
GPU_QUOTA = ArgumentMap(
    "GPUQuotaArgs",
    GPUQuotaSpec,
    doc="Arguments of a GPUQuota.",
    own={"name": _NAME, "namespace": _NAMESPACE, "release": _RELEASE},
)
FEDERATED_CLUSTER = ArgumentMap(
    "FederatedClusterArgs",
    FederatedClusterSpec,
    doc="Arguments of a FederatedCluster.",
    own={"name": _NAME, "release": _RELEASE},
)

MAPS = (
    ArgumentMap("PersonaPlexConfigArgs", PersonaPlexConfig, doc="Settings of PersonaPlex."),
    MODEL,
    INFERENCE_SERVICE,
    ArgumentMap("HardwareArgs", HardwareSpec, doc="What the model runs on."),
    ArgumentMap("GpuArgs", GPUSpec, doc="The GPUs of one pod."),
    ArgumentMap("ShardingArgs", GPUShardingSpec, doc="How llama.cpp splits a model across several GPUs."),
    ArgumentMap("HostResourcesArgs", ModelResources, doc="Host resources that the model needs."),
    ArgumentMap("EndpointArgs", EndpointSpec, doc="The Service in front of the pods."),
    ArgumentMap("PodResourcesArgs", InferenceResourceRequirements, doc="Resources of one pod."),
    ArgumentMap("AutoscalingArgs", AutoscalingSpec, doc="Bounds of the replicas, and what to scale on."),
    ArgumentMap("AutoscalingMetricArgs", MetricSpec, doc="One metric to scale on."),
    ArgumentMap("RopeScalingArgs", RopeScalingSpec),
    ArgumentMap("SpeculativeArgs", SpeculativeConfig, doc="vLLM: speculative decoding with a draft model."),
    ArgumentMap("VllmConfigArgs", VLLMConfig, doc="Settings of vLLM."),
    ArgumentMap("TgiConfigArgs", TGIConfig, doc="Settings of Text Generation Inference."),
    ArgumentMap("SglangConfigArgs", SGLangConfig, doc="Settings of SGLang."),
    ArgumentMap("SglangSpeculativeArgs", SGLangSpeculativeConfig),
    ArgumentMap("SglangAdapterArgs", SGLangLoRAAdapter),
    ArgumentMap("SpeculativeDecodingArgs", SpeculativeDecodingSpec),
    ArgumentMap("AiGatewayRouteArgs", GatewaySpec),
    ArgumentMap("AiGatewayRefArgs", GatewayRef),
    ArgumentMap("NamedObjectArgs", LocalObjectReference),
    ArgumentMap("EvictionProtectionArgs", DisruptionSpec),
    ArgumentMap("GpuSharingArgs", GPUSharingSpec),
    ArgumentMap("OwnCacheArgs", ModelCacheSpec),
    ArgumentMap("RolloutPolicyArgs", RolloutPolicySpec),
    ArgumentMap("SloArgs", SLOSpec),
    ArgumentMap("PodResourceClaimArgs", PodResourceClaim),
    MODEL_ROUTER,
    ArgumentMap("RouterBackendArgs", RouterBackend),
    ArgumentMap("TokenCostArgs", TokenCost),
    ArgumentMap("ExternalProviderArgs", ExternalProvider),
    ArgumentMap("RouterHealthCheckArgs", HealthCheck),
    ArgumentMap("RouterRuleArgs", RouterRule),
    ArgumentMap("RouterMatchArgs", RuleMatch),
    ArgumentMap("RouterRouteArgs", RuleRoute),
    ArgumentMap("RouterPolicyArgs", RouterPolicy),
    ArgumentMap("DataClassificationArgs", ClassificationPolicy),
    ArgumentMap("TokenBudgetArgs", BudgetSpec),
    ArgumentMap("AuditLogArgs", AuditLogPolicy),
    ArgumentMap("RouterAuthArgs", AuthPolicy),
    ArgumentMap("RouterTokensArgs", JWTPolicy),
    ArgumentMap("TeamAllowlistArgs", TeamAllowlist),
    ArgumentMap(
        "RouterProxyArgs",
        ProxySpec,
        changed={
            "image_pull_secrets": Changed("A reference is a name and nothing else.", type="list[dict[str, str]]")
        },
    ),
    ArgumentMap("McpServerArgs", MCPServer),
    MODEL_POOL,
    ArgumentMap("ModelPoolMemberArgs", ModelPoolMember),
    LORA_ADAPTER,
    ArgumentMap("ServiceRefArgs", InferenceServiceReference),
    GPU_QUOTA,
    FEDERATED_CLUSTER,
    ArgumentMap(
        "ProbeOverridesArgs",
        ProbeOverrides,
        doc="Probes of the container; each replaces the whole probe of the runtime (core/v1 Probe, in wire form).",
    ),
)
