"""The kind of llm-d, as the API server registers it (WVA spec 1), and its releases."""

from dataclasses import replace

from ...contract.kinds import Column, Kind
from ...contract.releases import Releases, Span
from ...contract.tables import load_table
from .names import API
from .types import LAST, VariantAutoscaling

RELEASES = Releases.from_table("llmd", load_table(__package__, "releases.yaml"))
_STATUS = ".status.desiredOptimizedAlloc.numReplicas"
_MODEL, _OPTIMIZED = Column("Model", "string", ".spec.modelID"), Column("Optimized", "string", _STATUS)
_READY = Column("MetricsReady", "string", ".status.conditions[?(@.type=='MetricsAvailable')].status")
_TARGET = Column("Target", "string", ".spec.scaleTargetRef.name")
_BOUNDS = (Column("Min", "integer", ".spec.minReplicas"), Column("Max", "integer", ".spec.maxReplicas"))
_CURRENT = (
    Column("Accelerator", "string", ".status.currentAlloc.accelerator"),
    Column("CurrentReplicas", "integer", ".status.currentAlloc.numReplicas"),
)
_COLUMNS = (
    (Span(until="v0.0.1"), (_MODEL, *_CURRENT, _OPTIMIZED)),
    (Span("v0.0.2", "v0.4.2"), (_MODEL, *_CURRENT, _OPTIMIZED, _READY)),
    (Span("v0.5.0", "v0.5.1"), (_TARGET, _MODEL, _OPTIMIZED, _READY)),
    (Span("v0.6.0", LAST), (_TARGET, _MODEL, *_BOUNDS, _OPTIMIZED, _READY)),
)
"""Printed columns by release."""

VARIANT_AUTOSCALING = Kind(
    API,
    "VariantAutoscaling",
    VariantAutoscaling,
    "variantautoscalings",
    namespaced=True,
    short_names=("va",),
    columns=_COLUMNS[0][1],
    reads_status=True,  # the load that the controller observed
    releases=RELEASES,
    span=Span(until=LAST),
)


def kind_at(release: str) -> Kind:
    """Return the kind as the API server of a release with it registers it, with the columns of that release."""
    columns = next(columns for span, columns in _COLUMNS if RELEASES.covers(span, release))
    return replace(VARIANT_AUTOSCALING.at(release), columns=columns)
