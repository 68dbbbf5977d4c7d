"""Alerts for every model: a PrometheusRule generated from ``alerts.yaml``."""

import functools
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...contract.problems import did_you_mean
from ...contract.tables import load_table
from ...engines.metrics import engine_metrics
from ...fleet.objects import Object
from ...fleet.rendered import Fleet
from .queries import expand
from .uses import scrape_targets

_SERVED = 'workload!="",namespace=~"{namespaces}"'


@functools.cache
def alert_rows() -> tuple[Mapping[str, Any], ...]:
    return tuple(load_table(__package__, "alerts.yaml"))


def alert_names() -> tuple[str, ...]:
    return tuple(row["name"] for row in alert_rows())


@dataclass(frozen=True, slots=True)
class AlertSettings:
    """Settings of the alerts.

    Attributes:
        thresholds: Thresholds that replace the defaults, by the alert's name.
        left_out: Names of disabled alerts.
        labels: Labels by which Prometheus selects the rule, such as ``release``.
    """

    thresholds: Mapping[str, float] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Reject unknown alerts."""
        with_threshold = [row["name"] for row in alert_rows() if "threshold" in row]
        for key, names, known in (
            ("left_out", self.left_out, alert_names()),
            ("thresholds", tuple(self.thresholds), with_threshold),
        ):
            for name in names:
                if name not in known:
                    hint = did_you_mean(name, known)
                    available = ", ".join(known)
                    raise ValueError(
                        f"{key}: no alert named {name!r}{hint} (available: {available}); correct the name"
                    )


DEFAULTS = AlertSettings()


def prometheus_rule(name: str, namespace: str, fleet: Fleet, settings: AlertSettings = DEFAULTS) -> Object | None:
    """Return the alerts of a fleet as a PrometheusRule; None without workloads."""
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
    """Return the alerts whose metrics the engines of a fleet export."""
    targets = scrape_targets(fleet)
    if not targets:
        return []
    engines = {target.exporter.facts.engine for target in targets if target.exporter.facts}
    # An unknown image may run any engine.
    possible = engines if all(target.exporter.facts for target in targets) else set(engine_metrics())
    workloads = [target.workload for target in targets]
    words = {
        "namespaces": _one_of(target.namespace for target in targets),
        "workloads": _one_of(workload.name for workload in workloads),
        "pods": f"({_one_of(workload.pod_set.prefix or workload.name for workload in workloads)})-.*",
    }
    rules = (_alert(row, possible, words, settings) for row in alert_rows() if row["name"] not in settings.left_out)
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
    # Not re.escape: a backslash would be an escape of the PromQL string, too.
    return "|".join(re.sub(r"\.", "[.]", name) for name in sorted(set(names)))
