"""What the autoscalers of a fleet read, and where it says so in the manifests."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...engines.exporters import Exporter, exporter_of
from ...engines.metrics import Metric, find_anywhere
from ...fleet.autoscalers import Autoscaler, body_field, is_well_formed
from ...fleet.objects import Object
from ...fleet.rendered import Fleet, Rendered
from ...fleet.workloads import Workload

_PERCENTILE = re.compile(r"(.+)[:_]p([1-9][0-9]?)")
"""Name of a histogram, and which of its percentiles."""


@dataclass(frozen=True, slots=True)
class Scraped:
    """A workload that takes requests, and what its engine exports."""

    item: Rendered
    workload: Workload
    exporter: Exporter

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return self.workload.namespace

    @property
    def name(self) -> str:
        """Name of the set of its pods, which are scraped together."""
        return self.workload.set_name


@dataclass(frozen=True, slots=True)
class Scaler:
    """An autoscaler, the workload that it moves, and the resource that asks for it."""

    item: Rendered
    target: Scraped
    autoscaler: Autoscaler

    @property
    def hpa(self) -> Object:
        """The HorizontalPodAutoscaler that says what to scale on."""
        return self.autoscaler.hpa

    @property
    def minimum(self) -> int:
        """Its lower bound."""
        return self.autoscaler.minimum

    @property
    def uses(self) -> tuple["MetricUse", ...]:
        """What it reads; without metrics Kubernetes scales on CPU at 80 %."""
        metrics = self.hpa["spec"].get("metrics")
        if not metrics:
            resource = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}
            return (MetricUse(self, "metrics", "Resource", resource),)
        return tuple(
            _use(self, position, metric) for position, metric in enumerate(metrics) if is_well_formed(metric)
        )

    def problem(
        self, path: str, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT
    ) -> Problem:
        """Return a problem of a field below the trigger, at the place in the manifest that brought it."""
        return self.autoscaler.origin_of(path).problem(reason, severity, rule)


@dataclass(frozen=True, slots=True)
class MetricUse:
    """One metric of an autoscaler.

    Attributes:
        path: Its field below the trigger.
        kind: ``Resource``, ``ContainerResource``, ``Pods``, ``External`` or ``Object``.
        body: What it says of that kind.
    """

    scaler: Scaler
    path: str
    kind: str
    body: Object

    @property
    def name(self) -> str:
        """Name of the metric or resource."""
        return str(self.body["metric"]["name"] if "metric" in self.body else self.body["name"])

    @property
    def selector(self) -> Object:
        """Label selector of the metric."""
        selector: Object = self.body.get("metric", {}).get("selector") or {}
        return selector

    @property
    def wanted(self) -> Object:
        """The target that it is held against."""
        wanted: Object = self.body["target"]
        return wanted

    @property
    def place(self) -> str:
        """Its path with the field of its kind."""
        return f"{self.path}.{body_field(self.kind)}"

    @property
    def exporter(self) -> Exporter:
        """What the scaled pods export."""
        return self.scaler.target.exporter

    @property
    def metric(self) -> Metric | None:
        """What the table knows of it: of the pods' own engine first. Of a percentile it is the histogram."""
        return self._find(self.name) or self._histogram

    @property
    def quantile(self) -> Decimal | None:
        """The share of what a histogram counts, as in ``vllm:time_to_first_token_seconds:p95``; None without one."""
        match = _PERCENTILE.fullmatch(self.name)
        return Decimal(match[2]) / 100 if match and not self._find(self.name) and self._histogram else None

    @property
    def series(self) -> str:
        """Name of the series behind it; what is not in the table stands for itself."""
        if self.metric is None:
            return self.name
        return self.metric.name if self.quantile is None else f"{self.metric.name}_bucket"

    @property
    def _histogram(self) -> Metric | None:
        """The histogram of each pod that a percentile is of."""
        match = _PERCENTILE.fullmatch(self.name) if self.kind == "Pods" else None
        found = self._find(match[1]) if match else None
        return found if found and found.type == "histogram" else None

    def _find(self, name: str) -> Metric | None:
        facts = self.exporter.facts
        own = facts.find(name) if facts else None
        if self.kind == "Pods" and self.exporter.is_known:
            return own
        return own or find_anywhere(name)

    def problem(
        self, path: str, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT
    ) -> Problem:
        """Return a problem of a field of this metric."""
        return self.scaler.problem(f"{self.place}.{path}" if path else self.path, reason, severity, rule)


def scraped(fleet: Fleet) -> tuple[Scraped, ...]:
    """Return the workloads of a fleet with what they export."""
    return tuple(_scraped(item, workload) for item, workload in fleet.workloads)


def scalers_of(fleet: Fleet, targets: tuple[Scraped, ...]) -> tuple[Scaler, ...]:
    """Return the autoscalers of a fleet that read metrics of its workloads, in the order of these."""
    by_aim: dict[tuple[str, str, str], list[tuple[Rendered, Autoscaler]]] = {}
    for item, autoscaler in fleet.autoscalers:
        if autoscaler.reads_pods:
            continue
        by_aim.setdefault(autoscaler.target, []).append((item, autoscaler))
    return tuple(_aimed(targets, by_aim))


def _aimed(
    targets: tuple[Scraped, ...], by_aim: dict[tuple[str, str, str], list[tuple[Rendered, Autoscaler]]]
) -> Iterator[Scaler]:
    for target in targets:
        workload = target.workload
        for item, autoscaler in by_aim.get((workload.kind, workload.namespace, workload.name), ()):
            yield Scaler(item, target, autoscaler)


def _scraped(item: Rendered, workload: Workload) -> Scraped:
    return Scraped(item, workload, exporter_of(workload.container, workload.server.line))


def _use(scaler: Scaler, position: int, metric: Object) -> MetricUse:
    kind = str(metric["type"])
    return MetricUse(scaler, f"metrics[{position}]", kind, metric[body_field(kind)])
