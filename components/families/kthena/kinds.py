"""The kinds of Kthena, as the API server registers them."""

from typing import Any

from ...contract.kinds import Kind
from ...contract.meta import Resource
from ...contract.releases import Releases, Span
from ...contract.tables import load_table
from .names import NETWORKING_API, WORKLOAD_API
from .types import (
    AutoscalingPolicy,
    AutoscalingPolicyBinding,
    ModelBooster,
    ModelRoute,
    ModelServer,
    ModelServing,
)

RELEASES = Releases.from_table("kthena", load_table(__package__, "releases.yaml"))


def _kind(api_version: str, model: type[Resource], plural: str, span: Span = Span(), **facts: Any) -> Kind:  # noqa: ANN401, B008
    return Kind(api_version, model.__name__, model, plural, namespaced=True, releases=RELEASES, span=span, **facts)


MODEL_BOOSTER = _kind(WORKLOAD_API, ModelBooster, "modelboosters")
MODEL_SERVING = _kind(
    WORKLOAD_API,
    ModelServing,
    "modelservings",
    scale_selector=".status.labelSelector",
    scale_span=Span(since="v0.3.0"),
)
POLICY = _kind(WORKLOAD_API, AutoscalingPolicy, "autoscalingpolicies")
BINDING = _kind(WORKLOAD_API, AutoscalingPolicyBinding, "autoscalingpolicybindings", Span(until="v0.4.0"))
MODEL_SERVER = _kind(NETWORKING_API, ModelServer, "modelservers")
MODEL_ROUTE = _kind(NETWORKING_API, ModelRoute, "modelroutes")
