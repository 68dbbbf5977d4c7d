"""Scale a variant without a profile: by how full its engines are, as the controllers from v0.0.5 on do.

They add a replica once the mean spare capacity of the replicas falls below a trigger, in the KV cache or in the
queue. An autoscaler on both metrics does the same at the same fill level.
"""

from decimal import Decimal

from ...contract.findings.ids import RuleId
from ...contract.schema.embedded import format_value
from ...fleet.objects import Object
from .load import configured_load
from .metrics import pods_metric, queue_gauges
from .variant import Variant

# Defaults of capacityScaling (charts/workload-variant-autoscaler/values.yaml at v0.5.1): a replica is full at 0.80 of
# its cache or with 5 waiting requests, and another one is added once less than 0.1 or 3 of that are left.
_CACHE = Decimal("0.80") - Decimal("0.1")
_QUEUE = Decimal(5) - Decimal(3)
MAX_REPLICAS = 10
"""Upper bound where nothing sets one: that of upstream's sample of an autoscaler (hpa.maxReplicas in its chart)."""


def saturation_metrics(variant: Variant) -> list[Object]:
    """Return the metrics of an autoscaler that follows the fuller of cache and queue; none after an error."""
    gauges = queue_gauges(variant)
    targets = {"cache": _CACHE, "queue": _QUEUE}
    return [pods_metric(gauges[kind], target) for kind, target in targets.items() if kind in gauges]


def check_unsized(variant: Variant, bounds: tuple[int, int] | None) -> None:
    """Report what is not checked without a profile: whether the replicas meet the latency targets."""
    model, levels = variant.resource.spec.model_id, variant.options.levels
    least, most = bounds or (1, MAX_REPLICAS)
    where = "by minReplicas and maxReplicas" if bounds else "as in upstream's sample, because nothing sets bounds"
    targets = [service_class.targets[model] for service_class in levels.classes_of(model)]
    texts = [f"its targets (itlMs {target.itl_ms}, ttftMs {target.ttft_ms})" for target in targets]
    load = configured_load(variant.namespace, variant.source.name, levels)
    asked = f" under {load.source}" if load else ""
    kept = f"meet {texts[0]}{asked}" if texts else f"are enough{asked}"
    by = "" if variant.options.realization.is_native else "by the controller, "
    variant.findings.warn(
        "spec.modelID",
        f"without a modelProfile, the speed of {format_value(model)} is unknown, so it is not checked whether "
        f"{least} to {most} replicas, {where}, {kept}; they are scaled {by}on KV cache and queue, at upstream's "
        "thresholds. Measure a profile (workbench dev fit-profile), and compare with workbench size",
        RuleId.SIZING_UNCHECKED,
    )
