"""The metrics and the behavior of the HPA that an AutoscalingPolicy becomes (Kthena spec 4.2 to 4.4, 4.6)."""

import functools
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....contract.problems import did_you_mean
from ....contract.tables import load_table
from ....engines.exporters import Exporter
from ....engines.versions import engine_title
from ....fleet.objects import Object
from ....fleet.options import Options
from ..types.autoscaling import AutoscalingPolicyMetric
from .effective import EffectivePolicy, Pace

_UP, _DOWN = "spec.behavior.scaleUp.stablePolicy", "spec.behavior.scaleDown"
_MAX_PERIOD, _MAX_WINDOW = 1800, 3600
"""Seconds, in an HPA (kubernetes/kubernetes v1.36.3, pkg/apis/autoscaling/validation/validation.go)."""
_DEFAULT_TOLERANCE = 10
"""Percent, of the controller manager (--horizontal-pod-autoscaler-tolerance)."""


@functools.cache
def runtime_metrics() -> Mapping[str, str]:
    """Return the kinds of the metrics of Kthena's runtime by name."""
    return MappingProxyType(dict(load_table(__package__, "metrics.yaml")))


NamedMetric = tuple[AutoscalingPolicyMetric, str, str]
"""A metric of a policy, its name in the output of the pods, and the field with this name."""


def pods_metrics(metrics: Sequence[NamedMetric], exporter: Exporter, findings: Findings) -> list[Object]:
    """Return the metrics of an HPA under the engine's own names, because native pods have no Kthena runtime.

    Args:
        metrics: The metrics of the policy.
        exporter: The metrics that the engine exports.
        findings: The problems of the policy.
    """
    names = [_metric_name(name, path, exporter, findings) for _, name, path in metrics]
    return [
        {
            "type": "Pods",
            "pods": {
                "metric": {"name": name},
                "target": {"type": "AverageValue", "averageValue": metric.target_value},
            },
        }
        for name, (metric, _, _) in zip(names, metrics, strict=True)
        if name
    ]


def _metric_name(name: str, path: str, exporter: Exporter, findings: Findings) -> str:
    """Return the name of a metric for an HPA; empty, with an error, if the engine has no such metric.

    Kthena reads gauges and counters as they are, and the 95th percentile of a histogram for each pod (spec 4.2).
    """
    if not name.startswith("kthena:"):
        metric = exporter.facts.find(name) if exporter.facts else None
        if metric is None:
            return name
    elif name not in runtime_metrics():
        reason = (
            f"Kthena's runtime has no metric {name!r}{did_you_mean(name, runtime_metrics())} (known: "
            f"{', '.join(runtime_metrics())}); use one of them"
        )
        findings.error(path, reason, RuleId.REFERENCE_MISSING)
        return ""
    else:
        kind = runtime_metrics()[name]
        metric = next((metric for metric in exporter.metrics if metric.kind == kind), None)
        if metric is None:
            offered = ", ".join(metric.name for metric in exporter.metrics if not metric.lifetime)
            remedy = (
                f"use one of its own: {offered}" if offered else "name a metric that the container itself exports"
            )
            if exporter.facts and exporter.metrics:
                engine = engine_title(exporter.facts.engine, exporter.tag)
                reason = f"{engine} has no metric for {name!r}; {remedy}"
            else:
                image = str(exporter.container.get("image", ""))
                reason = (
                    f"is a metric of Kthena's runtime, which native pods do not have, and image {image!r} has no "
                    f"known metric for {name!r}; {remedy}"
                )
            findings.error(path, reason, RuleId.NATIVE_UNSUPPORTED)
            return ""
    if metric.type == "counter":
        reason = (
            f"{metric.name} is a counter: natively its rate per second is compared to the target, while Kthena "
            "compares its value"
        )
        findings.warn(path, reason, RuleId.NATIVE_DIFFERS)
    native = name if name in (metric.name, metric.neutral) else metric.name
    return f"{native}{':' if ':' in native else '_'}p95" if metric.type == "histogram" else native


def hpa_behavior(policy: EffectivePolicy, max_replicas: int, options: Options, findings: Findings) -> Object:
    """Return the ``behavior`` of an HPA.

    Both Kthena and Kubernetes evaluate every 15 seconds.

    Args:
        policy: The policy with its defaults.
        max_replicas: The upper bound of the HPA.
        options: The options of the environment.
        findings: The problems of the policy.
    """
    tolerance: Object = {}
    if policy.tolerance != _DEFAULT_TOLERANCE and options.tolerates_changes:
        whole, hundredths = divmod(policy.tolerance, 100)
        tolerance = {"tolerance": f"{hundredths * 10}m" if hundredths else str(whole)}
    elif policy.tolerance != _DEFAULT_TOLERANCE:
        reason = (
            "has no effect on an HPA of Kubernetes before 1.35, or of an unknown version: changes below "
            f"{_DEFAULT_TOLERANCE} % are ignored, found {policy.tolerance}"
        )
        findings.warn("spec.tolerancePercent", reason, RuleId.FIELD_NO_EFFECT)
    if policy.panic is not None:
        reason = (
            f"natively there is no panic mode: {_UP} limits growth even when the recommendation reaches "
            f"{policy.panic.threshold} % of the replicas; raise its limits, or use realization 'operator'"
        )
        findings.warn("spec.behavior.scaleUp.panicPolicy", reason, RuleId.NATIVE_DIFFERS)
    unlimited_up: Object = {"type": "Pods", "value": max_replicas, "periodSeconds": 15}
    unlimited_down: Object = {"type": "Percent", "value": 100, "periodSeconds": 15}
    return {
        "scaleUp": {**_scaling_rules(policy.up, _UP, unlimited_up, findings), **tolerance},
        "scaleDown": {**_scaling_rules(policy.down, _DOWN, unlimited_down, findings), **tolerance},
    }


def _scaling_rules(pace: Pace, path: str, unlimited: Object, findings: Findings) -> Object:
    """Return the rules of an HPA for one direction.

    ``instances`` and ``percent`` are limits in Kthena and policies in an HPA: ``Or`` takes the looser and ``And`` the
    tighter one. An HPA accepts neither a limit of 0 nor a period of 0.

    Args:
        pace: The limits.
        path: The section of the policy with the limits.
        unlimited: A policy that never limits this direction.
        findings: The problems of the policy.
    """
    window = _whole_seconds(pace.window, _MAX_WINDOW, f"{path}.stabilizationWindow", findings)
    period = _whole_seconds(pace.period, _MAX_PERIOD, f"{path}.period", findings)
    policies = [
        {"type": kind, "value": value, "periodSeconds": period}
        for kind, value in (("Pods", pace.instances), ("Percent", pace.percent))
        if value
    ]
    select = "Max" if pace.fastest else "Min"
    if not period:
        policies = [unlimited]
    elif not policies or (len(policies) < 2 and not pace.fastest):
        # Both limits are 0, or the tighter one is.
        policies, select = [unlimited], "Disabled"
    return {"stabilizationWindowSeconds": window, "selectPolicy": select, "policies": policies}


def _whole_seconds(milliseconds: int, maximum: int, path: str, findings: Findings) -> int:
    seconds, rest = divmod(milliseconds, 1000)
    if rest or not 0 <= seconds <= maximum:
        reason = (
            f"must be whole seconds from 0 to {maximum} natively, found {milliseconds} ms; round it, or use "
            "realization 'operator'"
        )
        findings.error(path, reason, RuleId.NATIVE_UNSUPPORTED)
    return seconds
