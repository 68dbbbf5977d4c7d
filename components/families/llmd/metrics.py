"""The metrics of a native autoscaler: the engine's queue, and the requests that it works on at once."""

from decimal import ROUND_DOWN, Decimal

from ...contract.findings.ids import RuleId
from ...contract.quantity import format_quantity
from ...engines.exporters import exporter_of
from ...engines.metrics import NONE, Metric
from ...engines.versions import engine_title
from ...fleet.objects import Object
from ...performance.sizing.cases import MINUTE, Sized
from .sizing import behaviour_at
from .variant import Variant

_TOLERANCE = 1.1
"""An HPA ignores metrics less than 10 % above their target (--horizontal-pod-autoscaler-tolerance)."""
_HUNDREDTH = Decimal("0.01")
_MIN_WAITING = Decimal(1)
"""With a lower target, a single request that happens to wait would double the replicas."""


def engine_metrics(variant: Variant, peak: Sized) -> list[Object]:
    """Return the metrics of an autoscaler, which follows the one that needs more replicas; none after an error.

    The queue grows as soon as a replica is overloaded. Its target is the mean queue of a replica at the highest
    rate that meets the targets. The queue alone is not enough, though: with small batches less than a tenth of a
    request waits at that rate, and none does if the inter-token latency is the limit. Without a queue, an autoscaler
    removes replicas until there is one, long after the targets are missed. So it also scales on the running requests,
    which grow with the rate.

    Args:
        variant: The variant to scale.
        peak: Its size at the peak, with the highest rate of a replica.
    """
    gauges = queue_gauges(variant)
    if not gauges:
        return []
    case, busy = peak.case, behaviour_at(peak.case, peak.most_per_minute)
    # An autoscaler sums the running requests of all replicas. With too few replicas, each runs more than its target,
    # by more than the HPA tolerates. With enough of them the sum must not suggest fewer: the less a replica has to
    # do, the faster it finishes each request, down to the time of a request that runs alone.
    alone_ms = int(case.output_tokens) * sum(case.service)
    running = min(peak.most_per_minute / MINUTE * alone_ms, busy.in_service / _TOLERANCE)
    targets = {"queue": max(_MIN_WAITING, _rounded(busy.waiting)), "running": max(_HUNDREDTH, _rounded(running))}
    return [pods_metric(gauges[kind], target) for kind, target in targets.items() if kind in gauges]


def pods_metric(metric: Metric, target: Decimal) -> Object:
    """Return a metric of an autoscaler: the mean over the pods of its target."""
    value = {"type": "AverageValue", "averageValue": format_quantity(target)}
    return {"type": "Pods", "pods": {"metric": {"name": metric.name}, "target": value}}


def queue_gauges(variant: Variant) -> dict[str, Metric]:
    """Return the gauges of a variant's engine by kind, the queue among them; none after an error."""
    exporter = exporter_of(variant.workload.container, variant.workload.server.line)
    gauges = {metric.kind: metric for metric in reversed(exporter.metrics) if metric.type == "gauge"}
    if "queue" not in gauges:
        facts, image = exporter.facts, exporter.container.get("image", "")
        if facts is None or not exporter.is_known:
            cause = f"the metrics of image {image!r} are unknown"
        elif facts.exports == NONE:
            cause = f"{facts.engine} exports no metrics"
        else:
            cause = f"{engine_title(facts.engine, exporter.tag)} exports no queue"
        variant.findings.error(
            "metadata.name",
            f"{cause}, so no autoscaler can follow the queue of {variant.item.title}; serve it with an engine that "
            "exports one, such as vllm, or scale it on cpu with an autoscaler of your own",
            RuleId.METRICS_NOT_EXPORTED,
        )
        return {}
    silence = exporter.missing_reason(f"the metrics that {variant.source.title} scales on")
    if silence:
        variant.findings.problems.append(variant.workload.server.args.problem(silence, rule=RuleId.METRICS_OFF))
    return gauges


def _rounded(number: float) -> Decimal:
    """Round a target down to two decimals, so that rounding never weakens a latency target."""
    return Decimal(number).quantize(_HUNDREDTH, ROUND_DOWN)
