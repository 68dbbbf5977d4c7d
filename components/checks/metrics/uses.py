"""The metrics that the autoscalers of a fleet read, with their fields in the manifests."""

import re
from decimal import Decimal
from typing import NamedTuple

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...engines.exporters import Exporter, exporter_of
from ...engines.metrics import Metric, find_anywhere
from ...fleet.autoscalers import Autoscaler, body_field, is_well_formed
from ...fleet.objects import Object
from ...fleet.rendered import Fleet, Rendered
from ...fleet.workloads import Workload

_PERCENTILE = re.compile(r"(.+)[:_]p([1-9][0-9]?)")
"""A histogram with a percentile, such as ``name:p95``."""


class ScrapeTarget(NamedTuple):
    """A serving workload with its metrics."""

    item: Rendered
    workload: Workload
    exporter: Exporter

    @property
    def namespace(self) -> str:
        return self.workload.namespace

    @property
    def name(self) -> str:
        """Name of the set of pods, which are scraped together."""
        return self.workload.set_name


class Scaler(NamedTuple):
    """An autoscaler, the workload it scales, and the resource that defines it."""

    item: Rendered
    target: ScrapeTarget
    autoscaler: Autoscaler

    @property
    def hpa(self) -> Object:
        """The HorizontalPodAutoscaler with the metrics."""
        return self.autoscaler.hpa

    @property
    def minimum(self) -> int:
        return self.autoscaler.minimum

    @property
    def uses(self) -> tuple["MetricUse", ...]:
        """The metrics. Without any, Kubernetes scales on 80 % CPU utilization.

        Those that KEDA reads itself for a ScaledObject that is written by hand are in its queries.
        """
        metrics = self.hpa["spec"].get("metrics")
        if self.autoscaler.uses_keda:
            metrics = [metric for metric in metrics or () if metric.get("type") != "External"]
        elif not metrics:
            resource = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}
            return (MetricUse(self, "metrics", "Resource", resource),)
        return tuple(
            MetricUse(self, f"metrics[{position}]", str(metric["type"]), metric[body_field(str(metric["type"]))])
            for position, metric in enumerate(self.hpa["spec"].get("metrics") or ())
            if metric in metrics and is_well_formed(metric)
        )

    def problem(
        self, path: str, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT
    ) -> Problem:
        """Return a problem of a field below the trigger, at the manifest field it came from."""
        return self.autoscaler.origin_of(path).problem(reason, severity, rule)


class MetricUse(NamedTuple):
    """One metric of an autoscaler.

    Attributes:
        path: The field below the trigger.
        kind: ``Resource``, ``ContainerResource``, ``Pods``, ``External`` or ``Object``.
        body: The object of that kind, such as ``pods``.
    """

    scaler: Scaler
    path: str
    kind: str
    body: Object

    @property
    def name(self) -> str:
        return str(self.body["metric"]["name"] if "metric" in self.body else self.body["name"])

    @property
    def selector(self) -> Object:
        selector: Object = self.body.get("metric", {}).get("selector") or {}
        return selector

    @property
    def target(self) -> Object:
        target: Object = self.body["target"]
        return target

    @property
    def place(self) -> str:
        """Path including the field of its kind."""
        return f"{self.path}.{body_field(self.kind)}"

    @property
    def exporter(self) -> Exporter:
        """The metrics of the scaled pods."""
        return self.scaler.target.exporter

    @property
    def metric(self) -> Metric | None:
        """The known metric, preferably of the pods' own engine; for a percentile, its histogram."""
        return self._find(self.name) or self._histogram

    @property
    def quantile(self) -> Decimal | None:
        """Quantile of a percentile such as ``vllm:time_to_first_token_seconds:p95``; otherwise None."""
        match = _PERCENTILE.fullmatch(self.name)
        return Decimal(match[2]) / 100 if match and not self._find(self.name) and self._histogram else None

    @property
    def series(self) -> str:
        """Name of the series; for unknown metrics, the name itself."""
        if self.metric is None:
            return self.name
        return self.metric.name if self.quantile is None else f"{self.metric.name}_bucket"

    @property
    def _histogram(self) -> Metric | None:
        match = _PERCENTILE.fullmatch(self.name) if self.kind == "Pods" else None
        metric = self._find(match[1]) if match else None
        return metric if metric and metric.type == "histogram" else None

    def _find(self, name: str) -> Metric | None:
        facts = self.exporter.facts
        own = facts.find(name) if facts else None
        if self.kind == "Pods" and self.exporter.is_known:
            return own
        return own or find_anywhere(name)

    def problem(
        self, path: str, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT
    ) -> Problem:
        return self.scaler.problem(f"{self.place}.{path}" if path else self.path, reason, severity, rule)


def scrape_targets(fleet: Fleet) -> tuple[ScrapeTarget, ...]:
    """Return the serving workloads of a fleet with their metrics."""
    return tuple(
        ScrapeTarget(item, workload, exporter_of(workload.container, workload.server.line))
        for item, workload in fleet.workloads
    )


def scalers_of(fleet: Fleet, targets: tuple[ScrapeTarget, ...]) -> tuple[Scaler, ...]:
    """Return the autoscalers that read metrics of the workloads of a fleet, in the order of the workloads."""
    by_target: dict[tuple[str, str, str], list[tuple[Rendered, Autoscaler]]] = {}
    for item, autoscaler in fleet.autoscalers:
        if autoscaler.reads_pods:
            continue
        by_target.setdefault(autoscaler.target, []).append((item, autoscaler))
    return tuple(
        Scaler(item, target, autoscaler)
        for target in targets
        for item, autoscaler in by_target.get(
            (target.workload.kind, target.workload.namespace, target.workload.name), ()
        )
    )
