"""KEDA ScaledObjects, which replace autoscalers that read Prometheus (lws-hpa spec 2.5)."""

from collections.abc import Iterator
from decimal import Decimal

from ...contract.findings.ids import RuleId
from ...contract.names import LABEL_LENGTH
from ...contract.problems import Problem
from ...fleet.objects import Object
from .checks import target_value
from .monitors import WORKLOAD_LABEL
from .names import is_queryable, queryable_labels, quoted
from .rules import is_gateway
from .scaled_objects import reads_own_series
from .uses import MetricUse, Scaler

_RESOURCES = ("cpu", "memory")


def reads_prometheus(scaler: Scaler) -> bool:
    """Return whether an autoscaler reads more than CPU and memory metrics."""
    return any(use.kind in ("Pods", "External") for use in scaler.uses) or reads_own_series(scaler)


def scaled_object(scaler: Scaler, address: str, window: str) -> Object:
    """Return the ScaledObject equivalent to an autoscaler."""
    spec = scaler.hpa["spec"]
    triggers = [_trigger(use, address, window) for use in scaler.uses if use.kind != "Object" and is_queryable(use)]
    advanced: Object = {"behavior": spec["behavior"]} if spec.get("behavior") else {}
    # KEDA applies no fallback to CPU and memory triggers. This behavior needs KEDA 2.18 for LeaderWorkerSets.
    fallback = (
        {"failureThreshold": 4, "replicas": max(1, scaler.minimum), "behavior": "currentReplicasIfHigher"}
        if all(trigger["type"] == "prometheus" for trigger in triggers)
        else None
    )
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": scaler.autoscaler.name, "namespace": scaler.target.namespace},
        "spec": {
            "scaleTargetRef": dict(spec["scaleTargetRef"]),
            "minReplicaCount": scaler.minimum,
            "maxReplicaCount": spec["maxReplicas"],
            "pollingInterval": 15,
            **({"fallback": fallback} if fallback else {}),
            **({"advanced": {"horizontalPodAutoscalerConfig": advanced}} if advanced else {}),
            "triggers": triggers,
        },
    }


def check_triggers(scaler: Scaler) -> Iterator[Problem]:
    """Reject what a ScaledObject cannot express.

    Its name becomes a label of the HPA that KEDA creates (newHPAForScaledObject in its controllers/keda/hpa.go).
    """
    name = scaler.autoscaler.name
    if len(name) > LABEL_LENGTH:
        reason = (
            f"the name of ScaledObject {name!r} has {len(name)} characters, but KEDA uses it as a label of at most "
            f"{LABEL_LENGTH}; shorten the name"
        )
        yield scaler.item.source.problem("metadata.name", reason, rule=RuleId.NAMES_INVALID)
    for use in scaler.uses:
        if use.selector.get("matchExpressions"):
            reason = "matchExpressions cannot be expressed in a query for KEDA; use matchLabels"
            yield use.problem("metric.selector", reason, rule=RuleId.METRICS_NAME)
        if use.kind in ("Resource", "ContainerResource") and use.name not in _RESOURCES:
            yield use.problem(
                "name", f"must be cpu or memory with KEDA, found {use.name!r}", rule=RuleId.METRICS_NAME
            )


def _trigger(use: MetricUse, address: str, window: str) -> Object:
    if use.kind in ("Resource", "ContainerResource"):
        value = use.target.get("averageUtilization", use.target.get("averageValue"))
        only = {"containerName": use.body["container"]} if use.kind == "ContainerResource" else {}
        metadata = {"value": str(value), **only}
        return {"type": use.name, "metricType": use.target["type"], "metadata": metadata}
    threshold = target_value(use) or Decimal(0)
    return {
        "type": "prometheus",
        "metricType": "Value" if use.target["type"] == "Value" else "AverageValue",
        "metadata": {
            "serverAddress": address,
            "query": query_of(use, window),
            "threshold": f"{threshold.normalize():f}",
            # A missing series must be an error, not a load of zero; otherwise the fallback would never be used.
            "ignoreNullValues": "false",
        },
    }


def query_of(use: MetricUse, window: str) -> str:
    """Return the query of a trigger: one value, of the scaled pods or of the gateway."""
    metric = use.metric
    matchers = ",".join(f"{label}={quoted(value)}" for label, value in _labels(use).items())
    selected = f"{use.series}{{{matchers}}}"
    if use.quantile is not None:
        rates = f"rate({selected}[{window}])"
        # A pod without requests has no percentile, which would make the sum NaN; count it as 0.
        percentiles = f"histogram_quantile({use.quantile}, sum by (pod, le) ({rates}))"
        return f"sum({percentiles} >= 0 or sum by (pod) ({rates}) * 0)"
    if metric is not None and metric.type == "counter":
        return f"sum(rate({selected}[{window}]))"
    if metric is not None and metric.ratio:
        # KEDA divides by the replicas, as an HPA does for Pods metrics, so add up one mean per pod.
        return f"sum(avg by (pod) ({selected}))" if use.kind == "Pods" else f"avg({selected})"
    # A replaced controller leaves its series behind; adding them up would double the replicas.
    desired = metric is not None and metric.kind.startswith("desired_")
    return f"{'max' if desired else 'sum'}({selected})"


def _labels(use: MetricUse) -> dict[str, str]:
    target, metric = use.scaler.target, use.metric
    written = queryable_labels(use)
    if use.kind == "Pods":
        return {"namespace": target.namespace, WORKLOAD_LABEL: target.name, **written}
    if metric is not None and is_gateway(metric):
        return {**({metric.namespace: target.namespace} if metric.namespace else {}), **written}
    return {"namespace": target.namespace, **written}
