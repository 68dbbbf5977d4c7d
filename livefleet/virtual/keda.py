"""The HorizontalPodAutoscaler that KEDA creates for a ScaledObject.

Read in kedacore/keda at 8b4f083 (2026-08-20): controllers/keda/hpa.go, pkg/scaling/executor, pkg/fallback.
"""

from collections.abc import Mapping
from typing import Any

from ..fleet import Object
from .fleet import Gauge, VirtualScaler

_MOST_REPLICAS = 100
"""KEDA's default of ``maxReplicaCount``."""
_FALSE = ("0", "f", "F", "false", "False", "FALSE")
"""Values of ``ignoreNullValues`` that turn it off (``strconv.ParseBool``); it is on by default
(pkg/scalers/prometheus_scaler.go)."""


def scaler_of(spec: Mapping[str, Any], queries: Mapping[str, Gauge], interval: float) -> VirtualScaler | str:
    """Return the autoscaler of a ScaledObject, or why it is not simulated.

    Its replicas never become 0, so KEDA's own loop, with its cooldown and activation, does not change them: the HPA
    does. Without a series a trigger is 0 by default. With ``ignoreNullValues: "false"`` it fails, and the HPA keeps
    the replicas, as does the fallback in its accepted form.

    Args:
        spec: The spec of the ScaledObject.
        queries: The gauge of each query that can be computed.
        interval: Scrape interval of the metrics.
    """
    least, idle = int(spec.get("minReplicaCount") or 0), spec.get("idleReplicaCount")
    advanced, fallback = spec.get("advanced") or {}, spec.get("fallback")
    if least < 1 or idle is not None:
        return "its ScaledObject scales below one replica or to idleReplicaCount, which is not simulated"
    if advanced.get("scalingModifiers"):
        return "its ScaledObject has scalingModifiers, which are not simulated"
    if fallback and (
        fallback.get("behavior") != "currentReplicasIfHigher" or int(fallback.get("replicas", 0)) > least
    ):
        return (
            "the fallback of its ScaledObject is not simulated; it must have behavior currentReplicasIfHigher, and "
            "no more replicas than minReplicaCount"
        )
    metrics: list[Object] = []
    gauges: dict[str, Gauge] = {}
    zeros: list[str] = []
    for position, trigger in enumerate(spec["triggers"]):
        metadata, kind = trigger["metadata"], trigger["type"]
        if kind != "prometheus":
            return f"its ScaledObject has a trigger of type {kind}; only prometheus is simulated"
        query = metadata.get("query", "")
        gauge = queries.get(query)
        if gauge is None:
            return f"its ScaledObject has a query that is not simulated: {query}"
        name = f"s{position}-prometheus"
        if metadata.get("ignoreNullValues") not in _FALSE:
            zeros.append(name)
        average = trigger.get("metricType", "AverageValue") == "AverageValue"
        target = {
            "type": "AverageValue" if average else "Value",
            "averageValue" if average else "value": str(metadata["threshold"]),
        }
        metrics.append({"type": "External", "external": {"metric": {"name": name}, "target": target}})
        gauges[name] = gauge
    hpa: Object = {
        "minReplicas": least,
        "maxReplicas": int(spec.get("maxReplicaCount", _MOST_REPLICAS)),
        "metrics": metrics,
    }
    behavior = (advanced.get("horizontalPodAutoscalerConfig") or {}).get("behavior")
    return VirtualScaler({**hpa, "behavior": behavior} if behavior else hpa, gauges, interval, tuple(zeros))
