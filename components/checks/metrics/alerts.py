"""Alerts for every model: a PrometheusRule made from the table of metrics."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...contract.problems import did_you_mean
from ...engines.metrics import engine_metrics
from ...fleet.objects import Object
from ...fleet.rendered import Fleet
from .queries import expand
from .series import alert_rows
from .uses import scraped

_SERVED = 'workload!="",namespace=~"{namespaces}"'


@dataclass(frozen=True, slots=True)
class AlertSettings:
    """What is alerted of, and from which value on.

    Attributes:
        thresholds: Other thresholds, by the alert's name.
        left_out: Names of alerts that are not wanted.
        labels: Labels by which Prometheus finds the rule, such as ``release``.
    """

    thresholds: Mapping[str, float] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse alerts that there are not."""
        for name in self.left_out:
            _refuse_unknown("left_out", name, alert_names())
        for name in self.thresholds:
            _refuse_unknown("thresholds", name, [row["name"] for row in alert_rows() if "threshold" in row])


DEFAULTS = AlertSettings()


def alert_names() -> tuple[str, ...]:
    """Return the names of all alerts."""
    return tuple(row["name"] for row in alert_rows())


def prometheus_rule(name: str, namespace: str, fleet: Fleet, settings: AlertSettings = DEFAULTS) -> Object | None:
    """Return the alerts of a fleet as a PrometheusRule; None for a fleet without workloads."""
    rules = alerts(fleet, settings)
    if not rules:
        return None
    labels = {"labels": dict(sorted(settings.labels.items()))} if settings.labels else {}
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": name, "namespace": namespace, **labels},
        "spec": {"groups": [{"name": "models", "rules": rules}]},
    }


def alerts(fleet: Fleet, settings: AlertSettings = DEFAULTS) -> list[Object]:
    """Return the alerts that the engines of a fleet have metrics for."""
    targets = scraped(fleet)
    if not targets:
        return []
    engines = {target.exporter.facts.engine for target in targets if target.exporter.facts}
    # An image of an unknown engine may hold any of them.
    asked = engines if all(target.exporter.facts for target in targets) else set(engine_metrics())
    workloads = [target.workload for target in targets]
    words = {
        "namespaces": _one_of(target.namespace for target in targets),
        "workloads": _one_of(each.name for each in workloads),
        "pods": f"({_one_of(each.pod_set.prefix or each.name for each in workloads)})-.*",
    }
    rules = (_alert(row, asked, words, settings) for row in alert_rows() if row["name"] not in settings.left_out)
    return [rule for rule in rules if rule]


def _alert(
    row: Mapping[str, Any], engines: Collection[str], words: Mapping[str, str], settings: AlertSettings
) -> Object | None:
    if "engines" in row and not set(engines) & set(row["engines"]):
        return None
    threshold = settings.thresholds.get(row["name"], row.get("threshold", ""))
    selector = _SERVED.format_map(words)
    query = expand(row["expr"], engines, selector, {**words, "threshold": str(threshold)})
    if query is None:
        return None
    return {
        "alert": row["name"],
        "expr": query,
        "for": row["for"],
        "labels": {"severity": row["severity"]},
        "annotations": {"summary": row["summary"], "description": row["first"]},
    }


def _one_of(names: Iterable[str]) -> str:
    """Match any of some names. A backslash would be one of PromQL's string as well as of the expression."""
    return "|".join(re.sub(r"\.", "[.]", name) for name in sorted(set(names)))


def _refuse_unknown(what: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        hint = did_you_mean(name, known)
        raise ValueError(f"{what}: no alert named {name!r}{hint} (available: {', '.join(known)}); correct the name")
