"""The family LLMKube: its kinds and how they are rendered."""

from collections.abc import Iterator, Mapping, Sequence

from ...contract.kinds import Column, Kind, Upstream
from ...contract.problems import Problem
from ...contract.tables import load_table
from ...fleet.objects import Object
from ...fleet.options import Options
from ...fleet.rendered import Rendered
from ..adoption import AdoptedWorkload, Adopting
from ..family import Family, Member
from .adoption import OWN_VARIABLES, adopt
from .rendering import OPERATOR, crowded_claims, render_inference_service, render_model
from .types import InferenceService, Model

_API = "inference.llmkube.dev/v1alpha1"
_UPSTREAM = Upstream(**load_table(__package__, "upstream.yaml"))

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
    upstream=_UPSTREAM,
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
    upstream=_UPSTREAM,
)


class Llmkube(Family, Adopting):
    """LLMKube, whose services may share the claim of a model cache."""

    def check(self, rendered: Sequence[Rendered]) -> Iterator[Problem]:
        yield from crowded_claims(rendered)

    def adopt(self, adopted: AdoptedWorkload, options: Options) -> tuple[Object, ...]:  # noqa: ARG002  of the protocol
        """Return an InferenceService and its Model."""
        return adopt(adopted)

    @property
    def own_variables(self) -> Mapping[str, str]:
        """Return no variables: the operator sets none in every container."""
        return OWN_VARIABLES


FAMILY = Llmkube(
    name="llmkube",
    package=__package__ or "",
    operator=OPERATOR,
    members=(
        Member(INFERENCE_SERVICE, render_inference_service, serves=True, component="InferenceService"),
        Member(MODEL, render_model, referred=True, component="Model"),
    ),
)
