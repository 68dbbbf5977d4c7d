"""Autoscalers in a form in which two that scale alike are equal."""

import json

from ...contract.base import Json
from ...fleet.autoscalers import DECLINE, GROWTH, Autoscaler
from ...fleet.objects import Object
from .pods import quantity

_PERCENT_OF_ALL = 100
_DEFAULT_METRIC: Object = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
}


def comparable_autoscaler(scaler: Autoscaler) -> Object:
    """Return the bounds, metrics and rules of an autoscaler, with the defaults of Kubernetes."""
    spec = scaler.hpa["spec"]
    behavior = spec.get("behavior") or {}
    metrics = [_quantities(metric) for metric in spec.get("metrics") or [_DEFAULT_METRIC]]
    return {
        "minReplicas": scaler.minimum,
        "maxReplicas": scaler.maximum,
        "metrics": {_metric_name(metric): metric for metric in metrics},
        "behavior": {
            "scaleUp": scaling_rules(behavior.get("scaleUp"), grows=True),
            "scaleDown": _unlimited(scaling_rules(behavior.get("scaleDown"), grows=False)),
        },
    }


def scaling_rules(rules: Object | None, *, grows: bool) -> Object:
    """Return the rules of one direction with the defaults of Kubernetes."""
    full = {
        **(GROWTH if grows else DECLINE),
        **{key: value for key, value in (rules or {}).items() if value is not None},
    }
    return {**full, "policies": sorted(full["policies"], key=lambda policy: json.dumps(policy, sort_keys=True))}


def _unlimited(rules: Object) -> Object:
    """Return rules of a decline without the policies that a larger one makes irrelevant."""
    total = [p for p in rules["policies"] if p["type"] == "Percent" and p["value"] >= _PERCENT_OF_ALL]
    if rules["selectPolicy"] == "Max" and total:
        # Pods may all be removed at once, whatever the period of the policy that allows it.
        return {**rules, "policies": "all pods at once"}
    return rules


def _metric_name(metric: Object) -> str:
    body = next((inner for key, inner in metric.items() if key != "type" and isinstance(inner, dict)), {})
    name = body.get("name") or (body.get("metric") or {}).get("name") or ""
    return f"{metric.get('type', '')} {name}".strip()


def _quantities(value: Json) -> Json:
    if isinstance(value, dict):
        amounts = ("averageValue", "value")
        return {
            key: quantity(inner) if key in amounts else _quantities(inner)
            for key, inner in value.items()
            if inner != {}
        }
    return [_quantities(inner) for inner in value] if isinstance(value, list) else value
