"""Checks of autoscalers: metrics that exist, targets that can trigger, safe bounds.

Sources: lws-hpa spec 2.3 and 2.4, WVA spec 10.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity, did_you_mean
from ...contract.quantity import parse_quantity
from ...engines.exporters import Exporter
from ...engines.metrics import NONE, Metric, engine_metrics, gateway_metrics
from ...engines.versions import engine_title, format_version
from ...fleet.demand import accelerated_nodes
from ...fleet.objects import Object
from ...fleet.rendered import Fleet
from .names import check_names
from .uses import MetricUse, Scaler, ScrapeTarget
from .words import Adapter

_NEVER_AGAIN = "the model would never scale up from 0 again, because without pods nothing exports {names}; set 1"
_SLOW = "behavior.scaleDown: {stabilizationWindowSeconds: 600, policies: [{type: Pods, value: 1, periodSeconds: 60}]}"


def check_scaler(scaler: Scaler, targets: Sequence[ScrapeTarget], adapter: Adapter) -> Iterator[Problem]:
    yield from (scaler.problem(path, reason) for path, reason in scaler.autoscaler.malformed)
    for use in scaler.uses:
        if use.kind in ("Resource", "ContainerResource"):
            yield from _check_requests(use)
        elif use.kind in ("Pods", "External"):
            # An invalid name is the cause of a missing metric: report only that.
            invalid = list(check_names(use, adapter))
            yield from invalid or (_check_pods_metric(use) if use.kind == "Pods" else _check_external(use, targets))
        else:
            reason = (
                f"no adapter rule is generated for metrics of type {use.kind}; use Pods or External, or install the "
                "rule yourself"
            )
            severity = Severity.ERROR if adapter == Adapter.KEDA else Severity.WARNING
            yield use.problem("", reason, severity, rule=RuleId.METRICS_ADAPTER_MISSING)
    if adapter == Adapter.KEDA and scaler.autoscaler.is_written and not scaler.autoscaler.uses_keda:
        yield from _check_served(scaler)
    # Imported where there is an autoscaler, because it reads PromQL.
    from .scaled_objects import check_queries

    yield from check_queries(scaler, targets)
    yield from _check_scale_from_zero(scaler, adapter)

    # Kubernetes removes all spare replicas at once. A group is many nodes, and must load its weights again.
    down = (scaler.hpa["spec"].get("behavior") or {}).get("scaleDown")
    reads_serving_metrics = any(use.kind in ("Pods", "External") for use in scaler.uses)
    if scaler.target.workload.size > 1 and reads_serving_metrics and not down:
        reason = (
            f"a replica is {scaler.target.workload.size} pods, and by default all spare replicas are removed at "
            f"once after 300 s; add {_SLOW}"
        )
        yield scaler.problem("behavior", reason, Severity.WARNING, rule=RuleId.AUTOSCALING_ABRUPT)


def _check_served(scaler: Scaler) -> Iterator[Problem]:
    """Report metrics that nothing serves to a HorizontalPodAutoscaler where KEDA is the adapter.

    KEDA serves external metrics of its own ScaledObjects alone (lws-hpa spec 2.5).
    """
    for use in scaler.uses:
        if use.kind in ("Pods", "External"):
            reason = (
                f"with adapter 'keda' nothing serves {use.name!r} to a HorizontalPodAutoscaler, and it stays as it "
                "is written; write a ScaledObject with a trigger of type prometheus instead, or use adapter "
                "'prometheus-adapter'"
            )
            yield use.problem("metric.name", reason, rule=RuleId.METRICS_ADAPTER_MISSING)


def _check_pods_metric(use: MetricUse) -> Iterator[Problem]:
    serving = use.exporter
    yield from _check_exported(use, serving)
    target_type = use.target.get("type")
    if target_type != "AverageValue":
        reason = f"must be AverageValue for Pods metrics, found {target_type}; set averageValue to the value per pod"
        yield use.problem("target.type", reason)
        return
    metric, value = use.metric, target_value(use)
    if value is None or value <= 0:
        yield use.problem("target.averageValue", f"must be above 0, found {use.target.get('averageValue')}")
    elif metric and metric.ratio and value > 1:
        yield use.problem("target.averageValue", _above_one(metric, value), rule=RuleId.METRICS_TARGET)
    elif metric:
        yield from _check_reachable(use, metric, value, serving)


def _check_exported(use: MetricUse, serving: Exporter) -> Iterator[Problem]:
    facts, metric = serving.facts, use.metric
    if not serving.is_known or facts is None:
        if metric is None:
            image = serving.container.get("image", "")
            reason = (
                f"{use.name!r} cannot be checked, because the metrics of image {image!r} are unknown; make sure that "
                "it exports a series with this name"
            )
            yield use.problem("metric.name", reason, Severity.WARNING, rule=RuleId.METRICS_UNCHECKED)
    elif facts.exports == NONE:
        reason = f"{facts.engine} exports no metrics, found {use.name!r}; scale on cpu, or choose another backend"
        yield use.problem("metric.name", reason, rule=RuleId.METRICS_NOT_EXPORTED)
        return
    elif metric is None:
        scalable = [gauge.name for gauge in serving.metrics if gauge.type == "gauge" and not gauge.lifetime]
        hint = did_you_mean(use.name, [*scalable, *(name.replace(":", "_") for name in scalable)])
        reason = (
            f"{engine_title(facts.engine, serving.tag)} does not export {use.name!r}{hint} (metrics to scale on: "
            f"{', '.join(scalable)}); use one of them"
        )
        yield use.problem("metric.name", reason, rule=RuleId.METRICS_NOT_EXPORTED)
        return
    if metric is not None:
        yield from _check_usable(use, metric, serving)


def _check_usable(use: MetricUse, metric: Metric, serving: Exporter) -> Iterator[Problem]:
    """Reject metrics that the engine's version does not export, or that cannot be scaled on."""
    engine = serving.facts.engine if serving.facts else "the engine"
    own = serving.facts is not None and metric in serving.facts.metrics
    version = serving.facts.version(serving.tag) if serving.facts else None
    if own and metric.span.is_before(version):
        since = format_version(metric.span.since or ())
        reason = f"{use.name!r} was added in {engine} {since}, but the pods run {serving.tag}; {_other(use, serving)}"
        yield use.problem("metric.name", f"{reason}, or a later version", rule=RuleId.METRICS_NOT_EXPORTED)
    elif own and metric.span.is_after(version):
        until = f" since {format_version(metric.span.until)}" if metric.span.until else ""
        reason = (
            f"{engine} no longer exports {use.name!r}{until}, and the pods run {engine_title(engine, serving.tag)}"
        )
        yield use.problem("metric.name", f"{reason}; {_other(use, serving)}", rule=RuleId.METRICS_NOT_EXPORTED)
    elif metric.type == "histogram" and use.quantile is None:
        reason = f"{use.name!r} is a histogram, so it has no single value to scale on; {_other(use, serving)}"
        percentile = f", or {use.name}{':' if ':' in use.name else '_'}p95 for its 95th percentile"
        yield use.problem(
            "metric.name", reason + (percentile if use.kind == "Pods" else ""), rule=RuleId.METRICS_UNSCALABLE
        )
    elif metric.lifetime:
        reason = f"{use.name!r} is an average over the lifetime of the process, which barely decreases again"
        yield use.problem(
            "metric.name", f"{reason}; {_other(use, serving)}", Severity.WARNING, rule=RuleId.METRICS_UNSCALABLE
        )


def _other(use: MetricUse, serving: Exporter) -> str:
    """Suggest a metric: the successor, one of the same kind, or the queue length."""
    metric = use.metric
    offered = {m.name: m for m in serving.metrics if m.type != "histogram" and not m.lifetime}
    candidates = [m for m in offered.values() if m.kind == "queue"]
    if metric is not None:
        same = [m for m in offered.values() if m.kind == metric.kind]
        successor = [offered[metric.instead]] if metric.instead in offered else []
        candidates = [*successor, *same, *candidates]
    if not candidates:
        return "use another metric"
    chosen = candidates[0]
    # In the notation of the name that it replaces: with a colon, as engines write names, or without one.
    return f"use {chosen.name if ':' in use.name or ':' not in chosen.name else chosen.neutral}"


def _check_reachable(use: MetricUse, metric: Metric, value: Decimal, serving: Exporter) -> Iterator[Problem]:
    """Warn about targets of running requests above the engine's limit on concurrent requests."""
    if metric.kind != "running" or metric not in serving.metrics:
        return
    from ...performance.sizing.engine_limits import limit_on

    nodes = accelerated_nodes(use.scaler.target.workload.pods)
    accelerators = [node.accelerator for node in nodes] or [""]
    limits = [limit_on([use.scaler.target.workload], accelerator, nodes) for accelerator in accelerators]
    most = max((limit.limit or 0 for limit in limits if limit), default=0)
    highest = next((limit for limit in limits if limit and limit.limit == most), None)
    if highest is None or not all(limit and limit.limit and not limit.is_lowest_default for limit in limits):
        return
    if value >= most:
        queue = next(metric for metric in serving.metrics if metric.kind == "queue")
        reason = (
            f"is {_format(value)}, but a pod never processes more than {most} requests at once ({highest.reason}), "
            f"so it can never trigger; use {queue.name if ':' in use.name else queue.neutral}, or lower the target"
        )
        yield use.problem("target.averageValue", reason, Severity.WARNING, rule=RuleId.METRICS_NEVER_TRIGGERS)


def _check_external(use: MetricUse, targets: Sequence[ScrapeTarget]) -> Iterator[Problem]:
    metric = use.metric
    kind = str(use.target.get("type"))
    if metric is None:
        names = [m.name for m in gateway_metrics()]
        names += [m.name for engine in engine_metrics().values() for m in engine.metrics]
        hint = did_you_mean(use.name, [*names, *(name.replace(":", "_") for name in names)])
        reason = f"no model exports {use.name!r}{hint}; make sure that Prometheus has a series with this name"
        yield use.problem("metric.name", reason, Severity.WARNING, rule=RuleId.METRICS_UNCHECKED)
        return
    if metric.target and kind != metric.target:
        if metric.kind == "desired_replicas":
            reason = (
                f"must be AverageValue with averageValue 1 for {metric.name}, found {kind}; Value would multiply the "
                "replicas by the metric without bound"
            )
        else:
            reason = f"must be {metric.target} with value 1 for {metric.name}, found {kind}"
        yield use.problem("target.type", reason, rule=RuleId.METRICS_TARGET)
    if metric in gateway_metrics():
        return
    yield from _check_usable(use, metric, use.exporter)
    yield from _check_exporters(use, metric, targets)
    value = target_value(use)
    if metric.ratio and kind == "AverageValue":
        reason = (
            "divides an average over all pods by the number of pods again; use a metric of type Pods, or target "
            "type Value"
        )
        yield use.problem("target.type", reason, rule=RuleId.METRICS_TARGET)
    elif metric.ratio and value is not None and value > 1:
        yield use.problem("target.value", _above_one(metric, value), rule=RuleId.METRICS_TARGET)


def _check_exporters(use: MetricUse, metric: Metric, targets: Sequence[ScrapeTarget]) -> Iterator[Problem]:
    """Warn about external metrics of no model, or of several: they are one value per namespace."""
    namespace = use.scaler.target.namespace
    exporters = [t for t in targets if t.namespace == namespace and metric in t.exporter.metrics]
    facts = use.exporter.facts
    if not exporters and not (facts and metric in facts.metrics):
        reason = f"no model in namespace {namespace!r} exports {use.name!r}; use a metric that its own engine exports"
        yield use.problem("metric.name", reason, Severity.WARNING, rule=RuleId.METRICS_UNCHECKED)
    elif len(exporters) > 1 and not use.selector:
        others = ", ".join(sorted(t.name for t in exporters))
        reason = f"is the sum over {others}; use a metric of type Pods, or metric.selector.matchLabels: {{workload: "
        yield use.problem(
            "metric", f"{reason}{use.scaler.target.name}}}", Severity.WARNING, rule=RuleId.METRICS_AMBIGUOUS
        )


def _check_requests(use: MetricUse) -> Iterator[Problem]:
    """Reject utilization targets on containers without resource requests."""
    if use.target.get("type") != "Utilization":
        return
    only = use.body.get("container")
    containers: list[Object] = use.scaler.target.workload.front["spec"]["containers"]
    missing = []
    for container in containers:
        resources = container.get("resources") or {}
        # A limit alone is enough: the API server uses it as the request, too.
        is_set = any(use.name in (resources.get(part) or {}) for part in ("requests", "limits"))
        if not is_set and only in (None, container["name"]):
            missing.append(container["name"])
    if missing:
        reason = f"utilization is relative to {use.name} requests, but container {', '.join(missing)} has none"
        path = use.path if use.path == "metrics" else f"{use.place}.name"
        yield use.scaler.problem(
            path,
            f"{reason}; set resources.requests.{use.name}, or scale on the engine's queue",
            rule=RuleId.METRICS_REQUESTS_MISSING,
        )


def _check_scale_from_zero(scaler: Scaler, adapter: Adapter) -> Iterator[Problem]:
    """Report a minimum of 0 that is refused, or from which nothing could start the model again.

    The advice is to keep one replica, unless the autoscaler reads a metric that exists without pods: no field and no
    adapter makes one of the model's own metrics exist without them.
    """
    if scaler.minimum > 0 or scaler.autoscaler.reads_pods or not scaler.autoscaler.maximum:
        return
    written = scaler.autoscaler
    reason = ""
    if written.uses_keda:
        from .scaled_objects import wakes_from_zero

        reason = "" if wakes_from_zero(scaler) else _NEVER_AGAIN.format(names="what its triggers read")
    elif not any(
        use.kind == "External" and (use.metric is None or use.metric in gateway_metrics()) for use in scaler.uses
    ):
        reason = _NEVER_AGAIN.format(names=", ".join(use.name for use in scaler.uses))
    elif written.is_written:
        reason = (
            "must be at least 1: the API server rejects 0 without the feature gate HPAScaleToZero; write a "
            "ScaledObject instead, or set 1"
        )
    elif adapter != Adapter.KEDA:
        reason = "0 requires KEDA, because a HorizontalPodAutoscaler stops at 1; use adapter 'keda', or set 1"
    if reason:
        yield scaler.problem("minReplicas", reason, rule=RuleId.AUTOSCALING_FROM_ZERO)


def check_first_requests(fleet: Fleet, known: Iterable[Problem], scalers: Iterable[Scaler] = ()) -> Iterator[Problem]:
    """Warn about models that may scale to zero although nothing queues requests until a pod is ready.

    Args:
        fleet: The autoscalers.
        known: Problems found before; autoscalers that can never scale up again are not reported twice.
        scalers: The autoscalers whose workload exists.
    """
    matched = {id(scaler.autoscaler) for scaler in scalers}
    stuck = {(problem.owner, problem.path) for problem in known if problem.rule == RuleId.AUTOSCALING_FROM_ZERO}
    for _, scaler in fleet.autoscalers:
        # The controller of an HTTPScaledObject queues requests itself. KEDA may have been told to pause at 0.
        if (
            scaler.minimum > 0
            or not scaler.maximum
            or (scaler.is_written and (scaler.reads_pods or id(scaler) not in matched))
        ):
            continue
        _, namespace, name = scaler.target
        problem = scaler.origin_of("minReplicas").problem(
            f"{namespace}/{name} may scale to zero, and nothing queues requests until a pod is ready: without pods "
            "its Service has no endpoints, and the first requests fail; set 1, or let clients retry failed requests",
            Severity.WARNING,
            RuleId.AUTOSCALING_UNHELD,
        )
        if (problem.owner, problem.path) not in stuck:
            yield problem


def target_value(use: MetricUse) -> Decimal | None:
    """Return the target of a metric, per pod or in total."""
    text = use.target.get("averageValue", use.target.get("value"))
    return None if text is None else parse_quantity(text)


def _above_one(metric: Metric, value: Decimal) -> str:
    share = value / 100 if value <= 100 else Decimal("0.8")
    return (
        f"must be at most 1 for {metric.name}, which ranges from 0 to 1, found {_format(value)}; for example, set "
        f"{_format(share)}"
    )


def _format(value: Decimal) -> str:
    return f"{value.normalize():f}"
