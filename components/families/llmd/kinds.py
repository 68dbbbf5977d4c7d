"""The kind of llm-d, as the API server registers it (WVA spec 1)."""

from ...contract.kinds import Column, Kind, Upstream
from ...contract.tables import load_table
from .names import API
from .types import VariantAutoscaling

VARIANT_AUTOSCALING = Kind(
    API,
    "VariantAutoscaling",
    VariantAutoscaling,
    "variantautoscalings",
    namespaced=True,
    short_names=("va",),
    columns=(
        Column("Model", "string", ".spec.modelID"),
        Column("Accelerator", "string", ".status.currentAlloc.accelerator"),
        Column("CurrentReplicas", "integer", ".status.currentAlloc.numReplicas"),
        Column("Optimized", "string", ".status.desiredOptimizedAlloc.numReplicas"),
    ),
    upstream=Upstream(**load_table(__package__, "upstream.yaml")),
    reads_status=True,  # the load that the controller observed
)
