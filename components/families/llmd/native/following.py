"""What an autoscaler follows natively: the queue of the engine, and how many requests it works on at once."""

from decimal import ROUND_DOWN, Decimal

from ....contract.findings.ids import RuleId
from ....contract.quantity import format_quantity
from ....engines.exporters import Exporter, exporter_of
from ....engines.metrics import NONE, Metric
from ....engines.versions import engine_title
from ....fleet.objects import Object
from ....performance.sizing.cases import MINUTE, Sized
from ..variant import Variant
from .remembered import at_largest

_TOLERANCE = 1.1
"""An autoscaler leaves alone what is less than a tenth above its target (--horizontal-pod-autoscaler-tolerance)."""
_HUNDREDTH = Decimal("0.01")
_LEAST_QUEUE = Decimal(1)


def followed(variant: Variant, most: Sized) -> list[Object]:
    """Return the metrics of an autoscaler, of which the one that asks for more replicas counts; none with an error.

    What waits tells at once that there is too much to do. Its target is what waits on average where a replica takes
    as much as it can and keeps the promise, but at least one request: a single one that happens to wait would double
    the replicas else.

    That alone keeps no promise. With small batches less than a tenth of a request waits at that rate, and if the time
    from token to token is what counts, nothing does. Seeing no queue, an autoscaler takes replicas away until there
    is one, and the promise is broken long before. So what is worked on is followed as well, which grows with the
    rate.

    Args:
        variant: What is scaled.
        most: What a replica can take.
    """
    exporter = exporter_of(variant.workload.container, variant.workload.server.line)
    queue, running = _gauge(exporter, "queue"), _gauge(exporter, "running")
    if queue is None:
        variant.findings.error("metadata.name", _without_queue(variant, exporter), RuleId.METRICS_NOT_EXPORTED)
        return []
    _check_exported(variant, exporter)
    waiting, working = _targets(most)
    return [_pods_metric(queue, waiting), *([_pods_metric(running, working)] if running else [])]


def _targets(most: Sized) -> tuple[Decimal, Decimal]:
    """Return how many requests may wait, and how many may be worked on, on average for each replica.

    An autoscaler multiplies what is worked on in all replicas. With too few of them, each works on more than it
    should, and that must be more than an autoscaler tolerates. With enough of them it must not find fewer to be
    enough: the less a replica has to do, the faster it is with each request, down to the time of one that is alone.
    """
    case, busy = most.case, at_largest(most.case, most.most_per_minute)
    service_ms = int(case.output_tokens) * (case.profile.alpha + case.profile.beta)
    alone = most.most_per_minute / MINUTE * service_ms
    waiting, working = _short(busy.waiting), _short(min(alone, busy.in_service / _TOLERANCE))
    return max(_LEAST_QUEUE, waiting), max(_HUNDREDTH, working)


def _gauge(exporter: Exporter, kind: str) -> Metric | None:
    return next((each for each in exporter.metrics if (each.kind, each.type) == (kind, "gauge")), None)


def _short(number: float) -> Decimal:
    """Return a number with two decimals, as the API server stores it: never more than it is."""
    return Decimal(number).quantize(_HUNDREDTH, ROUND_DOWN)


def _pods_metric(metric: Metric, target: Decimal) -> Object:
    wanted = {"type": "AverageValue", "averageValue": format_quantity(target)}
    return {"type": "Pods", "pods": {"metric": {"name": metric.name}, "target": wanted}}


def _without_queue(variant: Variant, exporter: Exporter) -> str:
    facts, image = exporter.facts, exporter.container.get("image", "")
    if facts is None or not exporter.is_known:
        what = f"nothing is known of the metrics of image {image!r}"
    elif facts.exports == NONE:
        what = f"{facts.engine} exports no metrics"
    else:
        what = f"{engine_title(facts.engine, exporter.tag)} exports no queue"
    return (
        f"{what}, so that no autoscaler can follow the queue of {variant.item.title}; serve it with an engine that "
        "exports one, such as vllm, or scale it on cpu by an autoscaler of your own"
    )


def _check_exported(variant: Variant, exporter: Exporter) -> None:
    """Report an engine that keeps its metrics to itself, where its arguments are written."""
    reason = exporter.missing_reason(f"the metrics that {variant.source.title} scales on")
    if reason:
        variant.findings.problems.append(variant.workload.server.args.problem(reason, rule=RuleId.METRICS_OFF))
