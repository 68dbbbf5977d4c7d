"""Render a VariantAutoscaling, for llm-d's controller or natively without it.

The controller measures the load of a model continuously and publishes how many replicas it needs. Natively, the plan
computes the same for the peak and for the quietest time, and an autoscaler on metrics of the engine moves between
these bounds.

A variant without a profile cannot be sized: it is scaled by how full its engines are, as the later controllers do.

The controller's behaviour is that of llm-d/llm-d-workload-variant-autoscaler at the release of the manifest:
internal/controller, internal/collector, docs.
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
from .checks.workload import check_workload
from .costs import replica_cost
from .load import load_of
from .metrics import engine_metrics
from .names import ACCELERATOR_LABEL, OPERATOR
from .notes import bounds_note, cheaper_note
from .profiles import entries_of, profile_of
from .releases import ControllerRelease, bounds_of, controller_of
from .saturation import MAX_REPLICAS, check_unsized, saturation_metrics
from .sizing import SizedVariant, SizingBasis, check_feasible, declared_by, sized, sized_at_peak, sizing_basis
from .types import VariantAutoscaling
from .variant import Variant, find_variant


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
    controller = controller_of(source.kind)
    computes_size = declared.entry is not None or findings.has_errors
    load = load_of(resource, namespace, options.levels, findings) if is_native and computes_size else None
    # Last, because a missing workload ends the rendering: all other problems are reported by then.
    variant = find_variant(source, library, options, findings)
    check_workload(variant, controller)
    basis = sizing_basis(variant, declared)
    _check_cost(variant)
    if not is_native:
        return _render_for_controller(variant, basis, controller)
    if not computes_size:
        return _render_unsized(variant)
    if basis is None or load is None:
        raise Unrenderable
    return _render_natively(SizedVariant(variant, basis, load))


def _check_cost(variant: Variant) -> None:
    """Note a cost that nothing reads natively; with several variants of a model, it is reported at all of them."""
    cost, is_native = variant.resource.spec.variant_cost, variant.options.realization.is_native
    if cost is not None and is_native:
        price = replica_cost(variant.workload, variant.options.levels, variant.accelerator)
        known = f"; a replica costs {price.text} cents/h ({price.source})" if price else ""
        variant.findings.note(
            "spec.variantCost",
            f"{cost} has no effect natively: only the controller compares the variants of a model by it{known}",
            RuleId.FIELD_NO_EFFECT,
        )


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
    for position, entry in enumerate(entries_of(variant.resource)):
        price = accelerator_price(entry.acc, variant.options.levels, count=entry.acc_count)
        profile = profile_of(entry)
        if entry.acc != basis.profile.accelerator and price is not None and profile is not None:
            others[position] = sizing.peak_on(profile, price.cents_per_hour)
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
        return Origin(source, variant.target)

    bounds = _within(variant, (least.replicas, most.replicas))
    hpa = _hpa(variant, *bounds, metrics)
    return Rendered(
        source,
        source.kind.kind,
        source.name,
        variant.namespace,
        autoscalers=(Autoscaler(hpa, origin, target_known=True, sized=most if bounds[1] == most.replicas else None),),
    )


def _within(variant: Variant, needed: tuple[int, int]) -> tuple[int, int]:
    """Return the replicas that a variant needs, within the bounds that it sets."""
    bounds = bounds_of(variant.source)
    if bounds is None:
        return needed
    least, most = bounds
    if needed[1] > most:
        variant.findings.warn(
            "spec.maxReplicas",
            f"is {most}, but the peak needs {needed[1]} replicas to meet the latency targets; raise it, or lower "
            "the load",
            RuleId.SIZING_BOUNDS,
        )
    return min(max(least, needed[0]), most), min(max(least, needed[1]), most)


def _render_unsized(variant: Variant) -> Rendered:
    """Return an autoscaler for a variant whose speed is unknown, between the bounds that it sets."""
    source, findings, bounds = variant.source, variant.findings, bounds_of(variant.source)
    metrics = saturation_metrics(variant)
    if findings.has_errors:
        raise Unrenderable
    check_unsized(variant, bounds)

    def origin(path: str) -> Origin:
        if path in ("minReplicas", "maxReplicas") and bounds:
            return Origin(source, f"spec.{path}")
        return Origin(source, variant.target)

    hpa = _hpa(variant, *(bounds or (1, MAX_REPLICAS)), metrics)
    return Rendered(
        source,
        source.kind.kind,
        source.name,
        variant.namespace,
        autoscalers=(Autoscaler(hpa, origin, target_known=True),),
    )


def _render_for_controller(variant: Variant, basis: SizingBasis | None, controller: ControllerRelease) -> Rendered:
    """Return the resource for the controller, and an autoscaler that follows the controller's signal."""
    source, findings, workload = variant.source, variant.findings, variant.workload
    if basis is None and controller.computes_size:
        raise Unrenderable  # its releases require a profile: the manifest or its release is reported already
    if controller.needs_label and not variant.accelerator:
        findings.error(
            "metadata.labels",
            f"must have {ACCELERATOR_LABEL}: the controller of {controller.title} skips a variant without it; set it "
            "to the accelerator that the workload runs on",
            RuleId.OPERATOR_UNSUPPORTED,
        )
    if controller.only_deployments and workload.shape is not DEPLOYMENT:
        findings.error(
            variant.target,
            f"the controller scales Deployments only, and {workload.name!r} is a {workload.kind}; use realization "
            "'native', also for this family alone (realizations: {llmd: native})",
            RuleId.OPERATOR_UNSUPPORTED,
        )
    model = variant.resource.spec.model_id
    # These end or change a PromQL string.
    if not controller.escapes and any(character in model for character in ('"', "\\", "\n")):
        findings.error(
            "spec.modelID",
            f"must not contain quotes, backslashes or line breaks, found {model!r}: the controller inserts it into "
            "its queries unescaped; use realization 'native', or serve the model under another name",
            RuleId.OPERATOR_UNSUPPORTED,
        )
    peak, bounds = sized_at_peak(variant, basis) if basis else None, bounds_of(source)
    if findings.has_errors:
        raise Unrenderable
    scales_to_zero = variant.options.levels.controller.scale_to_zero
    if scales_to_zero and not (bounds and bounds[0]):
        findings.warn(
            "",
            "without requests it scales to zero (serviceLevels.controller.scaleToZero), and unanswered requests do "
            "not wake it up again; scale it up yourself, or set scaleToZero to false",
            RuleId.AUTOSCALING_ASLEEP,
        )
    signal = {
        "type": "External",
        "external": {
            "metric": {"name": controller.signal, "selector": {"matchLabels": {"variant_name": source.name}}},
            # Type Value would multiply the current replicas by the signal (WVA spec 10).
            "target": {"type": "AverageValue", "averageValue": "1"},
        },
    }
    if basis is None:
        check_unsized(variant, bounds)
    own_bounds = (0 if scales_to_zero else 1, peak.replicas if peak else MAX_REPLICAS)
    hpa = _hpa(variant, *(bounds or own_bounds), [signal])

    def origin(path: str) -> Origin:
        if bounds and path in ("minReplicas", "maxReplicas"):
            return Origin(source, f"spec.{path}")
        if path == "minReplicas":
            return Origin(source, "", "minReplicas, by serviceLevels.controller.scaleToZero: ")
        return Origin(source, variant.target)

    return Rendered(
        source,
        source.kind.kind,
        source.name,
        variant.namespace,
        autoscalers=(Autoscaler(hpa, origin, target_known=True, sized=None if bounds else peak),),
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
