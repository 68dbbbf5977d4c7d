"""What the autoscalers of a fleet read, and where it says so in the manifests."""

import re
from dataclasses import dataclass

from ..api.llmaz import Playground
from ..api.llmkube import InferenceService
from ..api.problems import Problem
from ..catalog.metrics import Metric, find_anywhere
from .metric_pods import Serving, serving_of
from .types import Fleet, Object, Rendered

_LWS_LABEL = "leaderworkerset.sigs.k8s.io"
_WORKLOADS = ("Deployment", "LeaderWorkerSet")


@dataclass(frozen=True, slots=True)
class Target:
    """A workload that takes requests, as it is rendered.

    Attributes:
        template: The pods that take requests: leaders of a group, else all.
    """

    item: Rendered
    body: Object
    template: Object
    serving: Serving

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return str(self.body["metadata"]["namespace"])

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.body["metadata"]["name"])

    @property
    def model(self) -> str:
        """What it serves: the model's name, else its own."""
        return self.item.model or self.name

    @property
    def size(self) -> int:
        """Pods of one replica."""
        size: int = self.body["spec"].get("leaderWorkerTemplate", {}).get("size", 1)
        return size

    @property
    def selector(self) -> dict[str, str]:
        """Labels of the pods that take requests."""
        if self.body["kind"] == "LeaderWorkerSet":
            return {f"{_LWS_LABEL}/name": self.name, f"{_LWS_LABEL}/worker-index": "0"}
        labels: dict[str, str] = self.body["spec"]["selector"]["matchLabels"]
        return dict(labels)


@dataclass(frozen=True, slots=True)
class Scaler:
    """A HorizontalPodAutoscaler and the workload that it moves."""

    target: Target
    hpa: Object

    @property
    def minimum(self) -> int:
        """Its lower bound."""
        return int(self.hpa["spec"].get("minReplicas", 1))

    @property
    def uses(self) -> tuple["Use", ...]:
        """What it reads; without metrics Kubernetes scales on CPU at 80 %."""
        metrics = self.hpa["spec"].get("metrics")
        if not metrics:
            resource = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}
            return (Use(self, "metrics", "Resource", resource),)
        return tuple(_use(self, position, metric) for position, metric in enumerate(metrics))

    def problem(self, path: str, reason: str, severity: str = "error") -> Problem:
        """Return a problem of a field below the trigger, at the place in the manifest that brought it."""
        source = self.target.item.source
        resource = source.resource
        if isinstance(resource, InferenceService):
            return source.problem(_inference_path(path), reason, severity)
        if not isinstance(resource, Playground):
            where = f"HorizontalPodAutoscaler {self.hpa['metadata']['name']!r}, spec.{path}"
            return source.problem("spec", f"{where}: {reason}", severity)
        elastic = resource.spec.elastic_config
        if path == "minReplicas":
            return source.problem("spec.elasticConfig.minReplicas", reason, severity)
        if elastic and elastic.scale_trigger:
            return source.problem(f"spec.elasticConfig.scaleTrigger.hpa.{path}", reason, severity)
        return source.problem("spec.elasticConfig", f"recommended scaleTrigger.hpa.{path}: {reason}", severity)


@dataclass(frozen=True, slots=True)
class Use:
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
        return f"{self.path}.{self.kind[0].lower()}{self.kind[1:]}"

    @property
    def metric(self) -> Metric | None:
        """What the table knows of it: of the pods' own engine first."""
        facts = self.scaler.target.serving.facts
        own = facts.find(self.name) if facts else None
        if self.kind == "Pods" and self.scaler.target.serving.is_known:
            return own
        return own or find_anywhere(self.name)

    @property
    def series(self) -> str:
        """Name of the series behind it; what is not in the table stands for itself."""
        return self.metric.name if self.metric else self.name

    def problem(self, path: str, reason: str, severity: str = "error") -> Problem:
        """Return a problem of a field of this metric."""
        return self.scaler.problem(f"{self.place}.{path}" if path else self.path, reason, severity)


def _inference_path(path: str) -> str:
    """Return the field of an InferenceService behind a field of its autoscaler: its metrics have one level."""
    fields = {
        "metric.name": "name",
        "name": "name",
        "target.averageValue": "targetAverageValue",
        "target.averageUtilization": "targetAverageUtilization",
    }
    whole = re.fullmatch(r"(metrics\[\d+\])\.[a-z]+\.(.+)", path, re.IGNORECASE)
    if whole is None:
        return "spec.autoscaling" if path == "behavior" else f"spec.autoscaling.{path}"
    field = fields.get(whole[2])
    return f"spec.autoscaling.{whole[1]}.{field}" if field else f"spec.autoscaling.{whole[1]}"


def targets_of(fleet: Fleet) -> tuple[Target, ...]:
    """Return the workloads of a fleet."""
    return tuple(
        Target(item, body, template, serving_of(template["spec"], item.source))
        for item in fleet.rendered
        for body in item.objects
        if body["kind"] in _WORKLOADS
        for template in (_front(body),)
    )


def scalers_of(fleet: Fleet) -> tuple[Scaler, ...]:
    """Return the autoscalers of a fleet whose workloads are part of it."""
    return tuple(
        Scaler(target, hpa)
        for target in targets_of(fleet)
        for hpa in target.item.objects
        if hpa["kind"] == "HorizontalPodAutoscaler" and _aims_at(hpa, target)
    )


def _aims_at(hpa: Object, target: Target) -> bool:
    aim = hpa["spec"]["scaleTargetRef"]
    return (aim["kind"], aim["name"]) == (target.body["kind"], target.name)


def _front(body: Object) -> Object:
    spec: Object = body["spec"]
    group: Object = spec.get("leaderWorkerTemplate", {})
    template: Object = group.get("leaderTemplate") or group.get("workerTemplate") or spec["template"]
    return template


def _use(scaler: Scaler, position: int, metric: Object) -> Use:
    kind = str(metric["type"])
    return Use(scaler, f"metrics[{position}]", kind, metric[kind[0].lower() + kind[1:]])
