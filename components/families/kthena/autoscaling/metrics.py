"""What a policy scales on, in the words of the engine that runs: natively nothing stands before its metrics.

Kthena reads gauges and counters as they are, and of a histogram the 95th percentile of each pod (Kthena spec 4.2).
"""

import functools
from collections.abc import Mapping
from types import MappingProxyType

from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....contract.problems import did_you_mean
from ....contract.tables import load_table
from ....engines.exporters import Exporter
from ....engines.metrics import Metric, find_anywhere
from ....engines.versions import engine_title
from ....fleet.objects import Object
from ..types.autoscaling import AutoscalingPolicyMetric

_PREFIX = "kthena:"
_PERCENTILE = "p95"
NEVER_OFFERED = frozenset({"kthena:generation_tokens_total"})
"""What is documented of Kthena's runtime, and not there: it cuts ``_total`` off."""


@functools.cache
def runtime_metrics() -> Mapping[str, str]:
    """Return the metrics of Kthena's runtime, each with what it measures."""
    return MappingProxyType(dict(load_table(__package__, "metrics.yaml")))


def is_counter(name: str) -> bool:
    """Tell whether a metric of some engine only ever grows."""
    metric = find_anywhere(name)
    return metric is not None and metric.type == "counter"


def pods_metrics(metrics: list[AutoscalingPolicyMetric], exporter: Exporter, findings: Findings) -> list[Object]:
    """Return the metrics of an autoscaler on pods of an engine.

    Args:
        metrics: The policy's.
        exporter: What the engine exports.
        findings: Of the policy.
    """
    named = [(_name(metric.metric_name, i, exporter, findings), metric) for i, metric in enumerate(metrics)]
    return [
        {
            "type": "Pods",
            "pods": {
                "metric": {"name": name},
                "target": {"type": "AverageValue", "averageValue": metric.target_value},
            },
        }
        for name, metric in named
        if name
    ]


def _name(name: str, position: int, exporter: Exporter, findings: Findings) -> str:
    """Return the name for the autoscaler; empty, with an error, where there is none."""
    path = f"spec.metrics[{position}].metricName"
    metric = _of_runtime(name, path, exporter, findings) if name.startswith(_PREFIX) else _own(name, exporter)
    if metric is None:
        return "" if name.startswith(_PREFIX) else name
    if metric.type == "counter":
        findings.warn(
            path,
            f"{metric.name} only ever grows: natively its rate per second counts for the target, where Kthena takes "
            "the number itself",
            RuleId.NATIVE_DIFFERS,
        )
    chosen = name if name in (metric.name, metric.neutral) else metric.name
    return f"{chosen}{':' if ':' in chosen else '_'}{_PERCENTILE}" if metric.type == "histogram" else chosen


def _own(name: str, exporter: Exporter) -> Metric | None:
    return exporter.facts.find(name) if exporter.facts else None


def _of_runtime(name: str, path: str, exporter: Exporter, findings: Findings) -> Metric | None:
    kind = runtime_metrics().get(name)
    if kind is None:
        known = ", ".join(runtime_metrics())
        hint = did_you_mean(name, runtime_metrics())
        findings.error(
            path,
            f"Kthena's runtime offers no {name!r}{hint} (known: {known}); use one of them",
            RuleId.REFERENCE_MISSING,
        )
        return None
    found = next((metric for metric in exporter.metrics if metric.kind == kind), None)
    if found is None:
        findings.error(
            path, f"{_missing(exporter)} has no metric for {name!r}; {_instead(exporter)}", RuleId.NATIVE_UNSUPPORTED
        )
    return found


def _missing(exporter: Exporter) -> str:
    if exporter.facts and exporter.metrics:
        return engine_title(exporter.facts.engine, exporter.tag)
    return f"is of Kthena's runtime, which native pods do not have, and what is known of image {_image(exporter)!r}"


def _instead(exporter: Exporter) -> str:
    offered = ", ".join(metric.name for metric in exporter.metrics if not metric.lifetime)
    return f"use one of its own: {offered}" if offered else "name a metric that the container itself exports"


def _image(exporter: Exporter) -> str:
    return str(exporter.container.get("image", ""))
