"""Autoscalers of workloads; the workload may belong to another resource."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ..contract.problems import did_you_mean
from .objects import Key, Object
from .origins import Origin
from .words import CUSTOM_METRICS, EXTERNAL_METRICS, RESOURCE_METRICS

_APIS = {
    "Resource": RESOURCE_METRICS,
    "ContainerResource": RESOURCE_METRICS,
    "Pods": CUSTOM_METRICS,
    "Object": CUSTOM_METRICS,
    "External": EXTERNAL_METRICS,
}
_RESOURCE_TYPES = ("Resource", "ContainerResource")
KEDA_CHART = "keda"
"""Name of the chart that installs KEDA."""
TOLERANCE_SINCE = "1.35"
"""First Kubernetes version whose ``behavior`` has a tolerance (feature gate HPAConfigurableTolerance)."""
GROWTH: Object = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
DECLINE: Object = {
    "stabilizationWindowSeconds": 300,
    "selectPolicy": "Max",
    "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
}
"""Rules without ``behavior`` (kubernetes/kubernetes v1.36.3, pkg/apis/autoscaling/v2/defaults.go)."""


def body_field(kind: str) -> str:
    """Return the field of a metric that holds its details, such as ``pods`` for type ``Pods``."""
    return f"{kind[:1].lower()}{kind[1:]}"


def is_well_formed(metric: Object) -> bool:
    """Return whether a metric has a known type and the field that the type requires."""
    return metric.get("type") in _APIS and body_field(metric["type"]) in metric


class SizedBound(Protocol):
    """The sizing result that sets the upper bound of an autoscaler; ``performance.sizing`` computes it."""

    @property
    def replicas(self) -> int:
        """Required replicas."""

    @property
    def batch(self) -> int:
        """Concurrent requests of one replica."""

    @property
    def limit(self) -> str:
        """What limits the request rate of a replica."""

    @property
    def most_per_minute(self) -> float:
        """Requests per minute that one replica can serve."""

    @property
    def cents_per_hour(self) -> float:
        """Price of all replicas, in US cents per hour."""


@dataclass(frozen=True, slots=True)
class Autoscaler:
    """A HorizontalPodAutoscaler, or the object that replaces it.

    Attributes:
        hpa: The HorizontalPodAutoscaler with the metrics to scale on.
        origin_of: Maps a field of the autoscaler's spec, such as ``metrics[0].pods.target.averageValue``, to the
            manifest field that it comes from.
        replacement: The object that is created instead, such as a ScaledObject.
        operated: Whether an operator creates it.
        reads_pods: Whether the controller scrapes the pods itself, so that no metrics API is needed.
        target_known: Whether the resource that the target is rendered from exists; a missing workload is then
            reported at that resource.
        target_elsewhere: Whether a workload that is missing here may exist in the cluster all the same.
        sized: The sizing result that its upper bound comes from, if any.
        is_written: Whether it is a manifest of its own, which is created unchanged.
        resource: The resource of an operator whose ``spec.replicas`` autoscaling takes over, if it is not the target.
    """

    hpa: Object
    origin_of: Callable[[str], Origin]
    replacement: Object | None = None
    operated: bool = False
    reads_pods: bool = False
    target_known: bool = False
    target_elsewhere: bool = False
    sized: SizedBound | None = None
    is_written: bool = False
    resource: Key | None = None

    @property
    def is_created(self) -> bool:
        """Whether it is created for its resource: not by an operator, and not as a manifest of its own."""
        return not self.operated and not self.is_written

    @property
    def title(self) -> str:
        """``Kind/name`` of the object that is created."""
        return f"{self.body['kind']}/{self.body['metadata']['name']}"

    @property
    def uses_keda(self) -> bool:
        """Whether it is a manifest of KEDA, whose triggers KEDA reads itself."""
        return self.is_written and self.replacement is not None

    @property
    def body(self) -> Object:
        return self.hpa if self.replacement is None else self.replacement

    @property
    def name(self) -> str:
        return str(self.hpa["metadata"]["name"])

    @property
    def minimum(self) -> int:
        return int(self.hpa["spec"].get("minReplicas", 1))

    @property
    def maximum(self) -> int:
        return int(self.hpa["spec"]["maxReplicas"])

    @property
    def target(self) -> Key:
        """Kind, namespace and name of the workload that it scales."""
        reference = self.hpa["spec"]["scaleTargetRef"]
        return reference["kind"], self.hpa["metadata"]["namespace"], reference["name"]

    @property
    def malformed(self) -> tuple[tuple[str, str], ...]:
        """Field and reason of each metric that the API server would reject for its shape."""
        problems = []
        for position, metric in enumerate(self.hpa["spec"].get("metrics") or ()):
            kind = str(metric.get("type", ""))
            if kind not in _APIS:
                hint = did_you_mean(kind, _APIS) or "; choose one of them"
                reason = f"must be one of {', '.join(_APIS)}, found {kind!r}{hint}"
                problems.append((f"metrics[{position}].type", reason))
            elif body_field(kind) not in metric:
                problems.append((f"metrics[{position}].{body_field(kind)}", f"is required for type {kind}; set it"))
        return tuple(problems)

    @property
    def apis(self) -> frozenset[str]:
        """The metrics APIs that it reads; without metrics Kubernetes scales on CPU."""
        if self.reads_pods:
            return frozenset()
        if self.uses_keda:
            return frozenset({KEDA_CHART, *([RESOURCE_METRICS] if self._reads_resources else [])})
        kinds = [metric.get("type", "Resource") for metric in self.hpa["spec"].get("metrics") or ()] or ["Resource"]
        return frozenset(_APIS[kind] for kind in kinds if kind in _APIS)

    @property
    def _reads_resources(self) -> bool:
        return any(metric.get("type") in _RESOURCE_TYPES for metric in self.hpa["spec"].get("metrics") or ())
