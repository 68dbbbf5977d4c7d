"""The family LLMKube: its kinds and how they are rendered."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...contract.kinds import Column, Kind
from ...contract.problems import Problem
from ...contract.releases import Releases, Span
from ...contract.tables import load_table
from ...engines.registry import engines
from ...fleet.objects import Object
from ...fleet.options import Options
from ...fleet.rendered import Rendered
from ..adoption import AdoptedWorkload, Adopting
from ..family import Authoring, Family, LabelledServer, Member, Migrating, PodLabels
from .adoption import OWN_VARIABLES, adopt
from .facts import llmkube
from .pods import RUNTIME_LABEL
from .rendering import OPERATOR, crowded_claims, render_inference_service, render_model
from .shared import (
    render_federated_cluster,
    render_gpu_quota,
    render_lora_adapter,
    render_model_pool,
    render_model_router,
)
from .types import FederatedCluster, GPUQuota, InferenceService, LoRAAdapter, Model, ModelPool, ModelRouter

if TYPE_CHECKING:
    from ..authoring import ModelDeployment
    from ..migration import ReleaseStep

_API = "inference.llmkube.dev/v1alpha1"
_FEDERATION = "federation.llmkube.dev/v1alpha1"
RELEASES = Releases.from_table("llmkube", load_table(__package__, "releases.yaml"))

INFERENCE_SERVICE = Kind(
    _API,
    "InferenceService",
    InferenceService,
    "inferenceservices",
    namespaced=True,
    short_names=("isvc",),
    scales_unselected=True,
    columns=(
        Column("Phase", "string", ".status.phase"),
        Column("Model", "string", ".spec.modelRef"),
        Column("Replicas", "integer", ".status.readyReplicas"),
        Column("Reason", "string", ".status.schedulingStatus", 1),
        Column("Queue", "integer", ".status.queuePosition", 1),
        Column("Priority", "string", ".spec.priority", 1),
        Column("Endpoint", "string", ".status.endpoint"),
    ),
    releases=RELEASES,
)
MODEL = Kind(
    _API,
    "Model",
    Model,
    "models",
    namespaced=True,
    short_names=("mdl",),
    columns=(
        Column("Phase", "string", ".status.phase"),
        Column("Size", "string", ".status.size"),
        Column("Accelerator", "string", ".spec.hardware.accelerator"),
        Column("Arch", "string", ".status.gguf.architecture", 1),
    ),
    releases=RELEASES,
)
MODEL_ROUTER = Kind(
    _API,
    "ModelRouter",
    ModelRouter,
    "modelrouters",
    namespaced=True,
    short_names=("mr",),
    columns=(
        Column("Phase", "string", ".status.phase"),
        Column("Endpoint", "string", ".status.endpoint"),
        Column("Rules", "integer", ".status.activeRules"),
    ),
    releases=RELEASES,
)
GPU_QUOTA = Kind(
    _API,
    "GPUQuota",
    GPUQuota,
    "gpuquotas",
    namespaced=True,
    short_names=("gq",),
    columns=(
        Column("GPU Count", "integer", ".spec.gpuCount"),
        Column("Used GPUs", "integer", ".status.usedGPUCount"),
    ),
    releases=RELEASES,
    span=Span(since="v0.9.6"),
)
LORA_ADAPTER = Kind(
    _API,
    "LoRAAdapter",
    LoRAAdapter,
    "loraadapters",
    namespaced=True,
    short_names=("lora",),
    columns=(
        Column("Service", "string", ".spec.inferenceServiceRef.name"),
        Column("Adapter", "string", ".spec.name"),
        Column("Loaded", "string", '.status.conditions[?(@.type=="Loaded")].status'),
    ),
    releases=RELEASES,
    span=Span(since="v0.9.6"),
)
MODEL_POOL = Kind(
    _API,
    "ModelPool",
    ModelPool,
    "modelpools",
    namespaced=True,
    short_names=("mpool",),
    columns=(
        Column("Policy", "string", ".spec.swapPolicy"),
        Column("Resident", "string", ".status.residentMember"),
        Column("Phase", "string", ".status.phase"),
    ),
    releases=RELEASES,
    span=Span(since="v0.9.16"),
)
FEDERATED_CLUSTER = Kind(
    _FEDERATION,
    "FederatedCluster",
    FederatedCluster,
    "federatedclusters",
    namespaced=False,
    short_names=("fedcluster", "fc"),
    columns=(
        Column("Tier", "string", ".spec.dataResidencyTier"),
        Column("Phase", "string", ".status.phase"),
        Column("Last Heartbeat", "date", ".status.lastHeartbeatTime"),
        Column("GPUs", "string", ".status.capacity.gpusAllocatable"),
    ),
    releases=RELEASES,
    span=Span(since="v0.9.11"),
)


class Llmkube(Family, Migrating, Adopting, Authoring, PodLabels):
    """LLMKube, whose services may share the claim of a model cache."""

    def check(self, rendered: Sequence[Rendered]) -> Iterator[Problem]:
        yield from crowded_claims(rendered)

    def adopt(self, adopted: AdoptedWorkload, options: Options) -> tuple[Object, ...]:  # noqa: ARG002  of the protocol
        """Return an InferenceService and its Model."""
        return adopt(adopted)

    def author(self, deployment: "ModelDeployment") -> tuple[Object, ...]:
        """Return a Model and an InferenceService."""
        from .authoring import author

        return author(deployment)

    @property
    def own_variables(self) -> Mapping[str, str]:
        """Return no variables: the operator sets none in every container."""
        return OWN_VARIABLES

    def labelled_server(self, labels: Mapping[str, str]) -> LabelledServer | None:
        """Return the server of the runtime in the labels; runtimes of other servers have no engine."""
        runtime = llmkube().runtimes.get(labels.get(RUNTIME_LABEL, ""))
        return LabelledServer(runtime.engine, runtime.container) if runtime and runtime.engine in engines() else None

    def steps(self) -> "tuple[ReleaseStep, ...]":
        from .migration import STEPS

        return STEPS


FAMILY = Llmkube(
    name="llmkube",
    package=__package__ or "",
    operator=OPERATOR,
    members=(
        Member(
            INFERENCE_SERVICE,
            render_inference_service,
            serves=True,
            component="InferenceService",
            # defilantech/LLMKube at 907ac8d8, internal/controller/status_builder.go
            ready_condition="Available",
        ),
        Member(MODEL, render_model, referred=True, component="Model"),
        Member(MODEL_ROUTER, render_model_router, attached=True, component="ModelRouter"),
        Member(MODEL_POOL, render_model_pool, attached=True, component="ModelPool"),
        Member(LORA_ADAPTER, render_lora_adapter, attached=True, component="LoRAAdapter"),
        Member(GPU_QUOTA, render_gpu_quota, attached=True, component="GPUQuota"),
        Member(FEDERATED_CLUSTER, render_federated_cluster, component="FederatedCluster"),
    ),
)
