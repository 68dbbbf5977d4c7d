"""How the arguments of llmaz's components map to fields of their resources; unnamed fields map one to one."""

from ...families.llmaz.types import (
    BackendRuntimeSpec,
    HPATrigger,
    ModelSpec,
    PlaygroundSpec,
    RecommendedConfig,
    ResourceRequirements,
    RollingUpdateConfiguration,
    RolloutStrategy,
    ScaleTrigger,
    ServiceSpec,
)
from ..serving.argument_maps import (
    AUTOSCALED,
    INSTANCE_TYPES,
    NAMESPACE,
    POD_ARGUMENTS,
    WAITING,
    realization,
    release,
)
from ..serving.mapped_arguments import ArgumentMap, Changed, Own

_EARLIER = "an earlier release's name or place of another argument"
_DECLARED = realization("native registers no Kubernetes object; operator creates the llmaz resource.")
_RELEASE = release("llmaz")
_CLAIMED = {
    "model": Own(
        "pulumi.Input[dict[str, Any]]",
        "The OpenModel to serve, in wire form: the ``manifest`` of an OpenModel component.",
        required=True,
    ),
    "draft_model": Own(
        "pulumi.Input[dict[str, Any]]",
        "A second OpenModel, the draft model that proposes tokens, in wire form.",
    ),
}

WORKLOAD = ArgumentMap(
    "WorkloadArgs",
    doc="Arguments of every component that runs pods. All are plain: they decide which objects are created.",
    own={
        "name": Own("str", "Name of the Kubernetes objects. Default: the component's name."),
        "namespace": NAMESPACE,
        "realization": realization("native renders plain Kubernetes objects; operator creates the llmaz resource."),
        "release": _RELEASE,
        "workload": Own(
            "str",
            "auto, lws or deployment. auto creates a LeaderWorkerSet only if a replica spans several pods. "
            "Default: auto.",
        ),
        "runtimes": Own("str", "Edition of the shipped runtimes: upstream or current. Default: upstream."),
        **POD_ARGUMENTS,
        "cache_claim": Own("str", "PersistentVolumeClaim that keeps loaded weights across pod restarts."),
        "cache_host_path": Own("str", "Folder on the node that keeps loaded weights across pod restarts."),
        "skip_model_loader": Own("bool", "Whether the engine fetches the weights itself, from the model ID or URI."),
        "autoscaled": AUTOSCALED,
        "instance_types": INSTANCE_TYPES,
        **WAITING,
    },
)
OPEN_MODEL = ArgumentMap(
    "OpenModelArgs",
    ModelSpec,
    doc="Arguments of an OpenModel: a hub's model_id, or a uri.",
    own={
        "name": Own("str", "Name of the model. Default: the component's name."),
        "realization": _DECLARED,
        "release": _RELEASE,
    },
    flat=("source", "source.model_hub", "inference_config"),
    renamed={"source.model_hub.name": "hub"},
    changed={
        "model_id": Changed("A model from a uri has none.", required=False),
        "flavors": Changed("Those of other programs have no names of earlier releases.", type="list[FlavorArgs]"),
    },
)
PLAYGROUND = ArgumentMap(
    "PlaygroundArgs",
    PlaygroundSpec,
    doc="Arguments of a Playground.",
    base=WORKLOAD,
    own={
        **_CLAIMED,
        "backend_runtime": Own(
            "pulumi.Input[dict[str, Any]]",
            "Your own BackendRuntime in wire form, if backend_name is not a shipped one.",
        ),
    },
    flat=(
        *("model_claim", "backend_runtime_config", "backend_runtime_config.resources"),
        *("elastic_config", "elastic_config.scale_trigger", "elastic_config.scale_trigger.hpa"),
    ),
    renamed={"backend_runtime_config.version": "backend_version"},
    without={
        "model_claim.model_name": "the name in the manifest of model",
        "model_claims": "built from model, draft_model and inference_flavors",
        "backend_runtime_config.name": _EARLIER,
        "backend_runtime_config.scale_trigger": _EARLIER,
        "elastic_config.scale_trigger_ref": _EARLIER,
    },
    changed={
        "args": Changed("Only an earlier release has a map.", type="list[str]"),
        "limits": Changed(
            "A recommended configuration overrides nothing.",
            doc="Resource limits; they override the recommended ones by key. Accelerators belong in the model's "
            "flavors.",
        ),
        "requests": Changed(
            "A recommended configuration overrides nothing.",
            doc="Resource requests; they override the recommended ones by key.",
        ),
    },
)
SERVICE = ArgumentMap(
    "ServiceArgs",
    ServiceSpec,
    doc="Arguments of a Service.",
    base=WORKLOAD,
    own=_CLAIMED,
    flat=("model_claims", "workload_template"),
    without={
        "model_claims.models": "built from model and draft_model",
        "workload_template.leader_worker_template": _EARLIER,
        "workload_template.replicas": _EARLIER,
        "workload_template.rollout_strategy": _EARLIER,
        "workload_template.startup_policy": "it had no effect in the releases that have it",
        "workload_template.network_config": "it had no effect in the releases that have it",
    },
    changed={
        "worker_template": Changed(
            "LeaderWorkerSets of other families need no such container.",
            required=True,
            doc="Pod template of the workers; it must have a container named model-runner.",
        )
    },
)
BACKEND_RUNTIME = ArgumentMap(
    "BackendRuntimeArgs",
    BackendRuntimeSpec,
    doc="Arguments of a BackendRuntime.",
    own={
        "name": Own("str", "Name of the runtime. Default: the component's name."),
        "realization": _DECLARED,
        "release": _RELEASE,
    },
    without=dict.fromkeys(("commands", "multi_host_commands", "args", "resources", "scale_triggers"), _EARLIER),
    changed={"recommended_configs": Changed("Without one, a Playground would have no arguments.", required=True)},
)

MAPS = (
    WORKLOAD,
    OPEN_MODEL,
    PLAYGROUND,
    SERVICE,
    BACKEND_RUNTIME,
    ArgumentMap("RolloutStrategyArgs", RolloutStrategy, doc="How a change of the pods rolls out."),
    ArgumentMap(
        "RollingUpdateArgs",
        RollingUpdateConfiguration,
        doc="How many groups may be unavailable or extra during a rollout.",
    ),
    ArgumentMap(
        "RequirementsArgs", ResourceRequirements, doc="Resources of the model's container, such as cpu or memory."
    ),
    ArgumentMap("HpaTriggerArgs", HPATrigger),
    ArgumentMap("ScaleTriggerArgs", ScaleTrigger),
    ArgumentMap("RecommendedConfigArgs", RecommendedConfig),
)
