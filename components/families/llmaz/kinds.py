"""The kinds of llmaz, as the API server registers them."""

from ...contract.kinds import Column, Kind
from ...contract.releases import Releases
from ...contract.tables import load_table
from .types import BackendRuntime, OpenModel, Playground, Service

RELEASES = Releases.from_table("llmaz", load_table(__package__, "releases.yaml"))
_SERVING = "inference.llmaz.io/v1alpha1"

OPEN_MODEL = Kind(
    "llmaz.io/v1alpha1",
    "OpenModel",
    OpenModel,
    "openmodels",
    namespaced=False,
    short_names=("om",),
    releases=RELEASES,
    columns=(Column("Family", "string", ".spec.familyName"),),
)
BACKEND_RUNTIME = Kind(
    _SERVING,
    "BackendRuntime",
    BackendRuntime,
    "backendruntimes",
    namespaced=False,
    short_names=("br",),
    releases=RELEASES,
    columns=(Column("Image", "string", ".spec.image"), Column("Version", "string", ".spec.version")),
)
PLAYGROUND = Kind(
    _SERVING,
    "Playground",
    Playground,
    "playgrounds",
    namespaced=True,
    short_names=("pl",),
    scale_selector=".status.selector",
    releases=RELEASES,
    columns=(
        Column("Model", "string", ".spec.modelClaim.modelName"),
        Column("Desired", "integer", ".spec.replicas"),
    ),
)
SERVICE = Kind(
    _SERVING,
    "Service",
    Service,
    "services",
    namespaced=True,
    short_names=("isvc",),
    scale_selector=".status.selector",
    releases=RELEASES,
    columns=(Column("Desired", "integer", ".spec.replicas"),),
)
