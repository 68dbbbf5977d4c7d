"""The HorizontalPodAutoscaler of an InferenceService (LLMKube spec 4.5)."""

import re

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...contract.load import LoadedResource
from ...contract.quantity import is_quantity, parse_quantity
from ...fleet.autoscalers import Autoscaler
from ...fleet.objects import HPA, Object
from ...fleet.origins import Origin
from ...fleet.shapes import DEPLOYMENT
from .facts import llmkube
from .pods import selector_of
from .serving import ServiceContext
from .types.inference_service import MetricSpec

_PATH = "spec.autoscaling"
_RESOURCES = ("cpu", "memory")
_METRIC_FIELD = re.compile(r"(metrics\[\d+\])\.[a-z]+\.(.+)", re.IGNORECASE)
_FIELDS = {
    "metric.name": "name",
    "name": "name",
    "target.averageValue": "targetAverageValue",
    "target.averageUtilization": "targetAverageUtilization",
}
_DEFAULT_TARGET = "2"
"""Requests per pod (LLMKube spec 4.5)."""


def autoscaler(serving: ServiceContext, *, operated: bool) -> Autoscaler | None:
    """Return the autoscaler; None without ``spec.autoscaling``."""
    spec, name, findings = serving.service.spec, serving.service.metadata.name, serving.findings
    scaling = spec.autoscaling
    if scaling is None:
        return None
    if spec.suspend:
        return None  # it would start the pods again
    if scaling.min_replicas > scaling.max_replicas:
        findings.error(
            f"{_PATH}.maxReplicas",
            f"must be at least minReplicas ({scaling.min_replicas}), found {scaling.max_replicas}; correct one of "
            "the two",
        )
    if spec.replicas == 0:
        findings.error(
            "spec.replicas",
            "0 stops the service, but the autoscaler starts it again; remove autoscaling to stop it, otherwise "
            "remove replicas",
            RuleId.AUTOSCALING_NO_TRIGGER,
        )
    elif "replicas" in spec.model_fields_set:
        findings.warn(
            "spec.replicas", "has no effect: the autoscaler owns the replicas; remove it", RuleId.FIELD_NO_EFFECT
        )
    source, runtime = findings.source, llmkube().runtimes[serving.runtime]
    metrics: list[Object] = []
    if scaling.metrics:
        rendered = (_metric(metric, f"{_PATH}.metrics[{i}]", findings) for i, metric in enumerate(scaling.metrics))
        metrics = [metric for metric in rendered if metric]
    elif runtime.metric:
        metrics = [_pods_metric(runtime.metric, _DEFAULT_TARGET)]
    else:
        findings.error(
            f"{_PATH}.metrics",
            f"is required with runtime {runtime.name}, which exports no known metric; name one that its server "
            "exports ({type: Pods, name: ..., targetAverageValue: ...}), or scale on cpu ({type: Resource, "
            "name: cpu, targetAverageUtilization: 70})",
            RuleId.AUTOSCALING_NO_TRIGGER,
        )
    hpa = {
        "apiVersion": "autoscaling/v2",
        "kind": HPA,
        "metadata": {"name": name, "namespace": serving.namespace, "labels": selector_of(name)},
        "spec": {
            "scaleTargetRef": DEPLOYMENT.target(name),
            "minReplicas": scaling.min_replicas,
            "maxReplicas": scaling.max_replicas,
            "metrics": metrics,
        },
    }
    # Its operator reads the number once, for the Deployment that the HPA then scales.
    resource = (serving.service.kind, serving.namespace, name) if operated else None
    return Autoscaler(hpa, lambda path: _origin(source, path), operated=operated, resource=resource)


def _origin(source: LoadedResource, path: str) -> Origin:
    """Return the origin of a field of the HPA; metrics of an InferenceService are flat, those of the HPA nested."""
    metric_field = _METRIC_FIELD.fullmatch(path)
    if metric_field is None:
        return Origin(source, _PATH if path == "behavior" else f"{_PATH}.{path}")
    field = _FIELDS.get(metric_field[2])
    return Origin(source, f"{_PATH}.{metric_field[1]}.{field}" if field else f"{_PATH}.{metric_field[1]}")


def _metric(metric: MetricSpec, path: str, findings: Findings) -> Object | None:
    """Return a metric of the HPA; None after an error."""
    field, value, type_ = (
        ("targetAverageUtilization", metric.target_average_utilization, "Resource")
        if metric.type == "Pods"
        else ("targetAverageValue", metric.target_average_value, "Pods")
    )
    if value is not None:
        findings.warn(
            f"{path}.{field}",
            f"has no effect: it applies to type {type_}, found {metric.type}; remove it",
            RuleId.FIELD_NO_EFFECT,
        )
    if metric.type == "Pods":
        text = metric.target_average_value
        if text is None:
            reason = "is required for type Pods; set it to the value per pod, such as '2'"
            findings.error(f"{path}.targetAverageValue", reason)
        elif not is_quantity(text) or parse_quantity(text) <= 0:
            reason = f"must be a quantity above 0 such as '2' or 500m, found {text!r}"
            findings.error(f"{path}.targetAverageValue", reason)
        elif not metric.name:
            findings.error(f"{path}.name", "must name a metric, found an empty string")
        else:
            return _pods_metric(metric.name, text)
        return None
    share = metric.target_average_utilization
    if metric.name not in _RESOURCES:
        reason = f"must be {' or '.join(_RESOURCES)} for type Resource, found {metric.name!r}"
        findings.error(f"{path}.name", f"{reason}; use type Pods for metrics of the server")
    elif share is None:
        findings.error(
            f"{path}.targetAverageUtilization",
            "is required for type Resource; set it to a percentage of what the pods request, such as 70",
        )
    elif share <= 0:
        findings.error(f"{path}.targetAverageUtilization", f"must be above 0 percent, found {share}")
    else:
        target = {"type": "Utilization", "averageUtilization": share}
        return {"type": "Resource", "resource": {"name": metric.name, "target": target}}
    return None


def _pods_metric(name: str, value: str) -> Object:
    return {
        "type": "Pods",
        "pods": {"metric": {"name": name}, "target": {"type": "AverageValue", "averageValue": value}},
    }
