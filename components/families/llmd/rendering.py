"""Render a VariantAutoscaling, for llm-d's controller or natively without it.

The controller measures the load of a model continuously and publishes how many replicas it needs. Natively, the plan
computes the same for the peak and for the quietest time, and an autoscaler on metrics of the engine moves between
these bounds.

The controller's behaviour is that of llm-d/llm-d-workload-variant-autoscaler at c0f645c: internal/controller,
internal/collector, docs.
"""

from collections.abc import Sequence

from ...contract.findings.collector import Findings, Unrenderable
from ...contract.findings.ids import RuleId
from ...contract.load import LoadedResource
from ...fleet.autoscalers import Autoscaler
from ...fleet.library import Library
from ...fleet.objects import HPA, Object, new_object
from ...fleet.options import Options
from ...fleet.origins import Origin
from ...fleet.rendered import Rendered
from ...fleet.serving import as_manifest
from ...fleet.shapes import DEPLOYMENT
from ...performance.sizing.accelerators import accelerator_price
from .checks.accelerator import ENTRIES
from .load import load_of
from .metrics import engine_metrics
from .names import OPERATOR
from .notes import bounds_note, cheaper_note
from .profiles import profile_of
from .sizing import SizedVariant, SizingBasis, check_feasible, declared_by, sized, sized_at_peak, sizing_basis
from .types import VariantAutoscaling
from .variant import Variant, find_variant

SIGNAL = "inferno_desired_replicas"
_MAX_REPLICAS = 10
"""Upper bound without a configured load, as in upstream's sample (WVA spec 10)."""


def render_variant_autoscaling(
    source: LoadedResource, library: Library, options: Options, findings: Findings
) -> Rendered:
    """Render a VariantAutoscaling.

    Raises:
        Unrenderable: an error that leaves nothing to render; it is in ``findings``.
    """
    resource = source.resource
    assert isinstance(resource, VariantAutoscaling)  # noqa: S101  the caller chose this function by kind
    declared = declared_by(resource, options.levels, findings)
    namespace, is_native = resource.metadata.namespace or options.namespace, options.realization.is_native
    load = load_of(resource, namespace, options.levels, findings) if is_native else None
    # Last, because a missing workload ends the rendering: all other problems are reported by then.
    variant = find_variant(source, library, options, findings)
    basis = sizing_basis(variant, declared)
    if basis is None:
        raise Unrenderable
    if not is_native:
        return _render_for_controller(variant, basis)
    if load is None:
        raise Unrenderable
    return _render_natively(SizedVariant(variant, basis, load))


def _render_natively(sizing: SizedVariant) -> Rendered:
    variant, basis, load = sizing.variant, sizing.basis, sizing.load
    source, findings = variant.source, variant.findings
    least, most = sized((sizing.case(load.least_per_minute), sizing.case(load.per_minute)))
    check_feasible(basis, most, sizing.observed.source, findings)
    if not most.is_feasible:
        raise Unrenderable
    metrics = engine_metrics(variant, most)
    if findings.has_errors:
        raise Unrenderable
    findings.note(basis.path, bounds_note(sizing, least, most), RuleId.SIZING_BOUNDS)
    # Only a note: the controller would not move the variant to a cheaper accelerator either (WVA spec 8.7).
    others = {}
    for position, entry in enumerate(variant.resource.spec.model_profile.accelerators):
        price = accelerator_price(entry.acc, variant.options.levels, count=entry.acc_count)
        if entry.acc != basis.profile.accelerator and price is not None:
            others[position] = sizing.peak_on(profile_of(entry), price.cents_per_hour)
    cheaper = [
        (size.cents_per_hour, position, size)
        for position, size in zip(others, sized(tuple(others.values())), strict=True)
        if size.is_feasible and size.cents_per_hour < most.cents_per_hour
    ]
    if cheaper:
        _, position, best = min(cheaper, key=lambda candidate: candidate[:2])
        findings.note(f"{ENTRIES}[{position}]", cheaper_note(most, best), RuleId.SIZING_CHEAPER)

    def origin(path: str) -> Origin:
        if path in ("minReplicas", "maxReplicas"):
            return Origin(source, basis.path, f"{path} of the autoscaler, for {sizing.observed.source}: ")
        return Origin(source, "metadata.name")

    hpa = _hpa(variant, least.replicas, most.replicas, metrics)
    return Rendered(
        source,
        source.kind.kind,
        source.name,
        variant.namespace,
        autoscalers=(Autoscaler(hpa, origin, target_known=True, sized=most),),
    )


def _render_for_controller(variant: Variant, basis: SizingBasis) -> Rendered:
    """Return the resource for the controller, and an autoscaler that follows the controller's signal."""
    source, findings, workload = variant.source, variant.findings, variant.workload
    if workload.shape is not DEPLOYMENT:
        findings.error(
            "metadata.name",
            f"the controller scales Deployments only, and {workload.name!r} is a {workload.kind}; use realization "
            "'native', also for this family alone (realizations: {llmd: native})",
            RuleId.OPERATOR_UNSUPPORTED,
        )
    model = variant.resource.spec.model_id
    # These end or change a PromQL string, and the controller does not escape them.
    if any(character in model for character in ('"', "\\", "\n")):
        findings.error(
            "spec.modelID",
            f"must not contain quotes, backslashes or line breaks, found {model!r}: the controller inserts it into "
            "its queries unescaped; use realization 'native', or serve the model under another name",
            RuleId.OPERATOR_UNSUPPORTED,
        )
    peak = sized_at_peak(variant, basis)
    if findings.has_errors:
        raise Unrenderable
    scales_to_zero = variant.options.levels.controller.scale_to_zero
    if scales_to_zero:
        findings.warn(
            "",
            "without requests it scales to zero (serviceLevels.controller.scaleToZero), and unanswered requests do "
            "not wake it up again; scale it up yourself, or set scaleToZero to false",
            RuleId.AUTOSCALING_ASLEEP,
        )
    signal = {
        "type": "External",
        "external": {
            "metric": {"name": SIGNAL, "selector": {"matchLabels": {"variant_name": source.name}}},
            # Type Value would multiply the current replicas by the signal (WVA spec 10).
            "target": {"type": "AverageValue", "averageValue": "1"},
        },
    }
    hpa = _hpa(variant, 0 if scales_to_zero else 1, peak.replicas if peak else _MAX_REPLICAS, [signal])

    def origin(path: str) -> Origin:
        if path == "minReplicas":
            return Origin(source, "", "minReplicas, by serviceLevels.controller.scaleToZero: ")
        return Origin(source, "metadata.name")

    return Rendered(
        source,
        source.kind.kind,
        source.name,
        variant.namespace,
        autoscalers=(Autoscaler(hpa, origin, sized=peak),),
        others=(as_manifest(source, variant.options),),
        requires=frozenset({OPERATOR}),
    )


def _hpa(variant: Variant, least: int, most: int, metrics: Sequence[Object]) -> Object:
    workload = variant.workload
    # Up without delay: the metrics already account for all waiting work, and starting replicas do not raise them.
    # Down slowly: metrics are up to a minute old, and a replica removed too early takes minutes to start again.
    # Upstream's samples do not wait at all, since their models are emulated; its later chart has 240 s, and 10
    # replicas in 150 s. A group of several pods means several nodes and weights to load again: one at a time.
    down = {"value": 10, "periodSeconds": 150} if workload.size == 1 else {"value": 1, "periodSeconds": 60}
    spec: Object = {
        "scaleTargetRef": workload.shape.target(workload.name),
        "minReplicas": least,
        "maxReplicas": most,
        "behavior": {
            "scaleUp": {
                "stabilizationWindowSeconds": 0,
                "policies": [{"type": "Pods", "value": 10, "periodSeconds": 15}],
            },
            "scaleDown": {"stabilizationWindowSeconds": 300, "policies": [{"type": "Pods", **down}]},
        },
        "metrics": [*metrics],
    }
    # With a suffix: a workload that brings its own autoscaler uses its own name for it.
    return new_object("autoscaling/v2", HPA, f"{workload.name}-va", variant.namespace, spec)
