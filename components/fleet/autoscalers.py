"""Autoscalers: what moves the replicas of a workload, be it of the same resource or of another one's."""

from collections.abc import Callable
from dataclasses import dataclass

from .capabilities import CUSTOM_METRICS, EXTERNAL_METRICS, RESOURCE_METRICS
from .objects import Key, Object
from .origins import Origin

_APIS = {
    "Resource": RESOURCE_METRICS,
    "ContainerResource": RESOURCE_METRICS,
    "Pods": CUSTOM_METRICS,
    "Object": CUSTOM_METRICS,
    "External": EXTERNAL_METRICS,
}


@dataclass(frozen=True, slots=True)
class Autoscaler:
    """A HorizontalPodAutoscaler, or what takes its place.

    Attributes:
        hpa: The HorizontalPodAutoscaler that says what to scale on.
        blame: Returns the field of the manifest behind a field of the autoscaler's spec, such as
            ``metrics[0].pods.target.averageValue``.
        instead: What is made in its place, such as a ScaledObject.
        operated: Whether an operator makes it.
    """

    hpa: Object
    blame: Callable[[str], Origin]
    instead: Object | None = None
    operated: bool = False

    @property
    def body(self) -> Object:
        """The object that is made."""
        return self.hpa if self.instead is None else self.instead

    @property
    def name(self) -> str:
        """Name of the autoscaler."""
        return str(self.hpa["metadata"]["name"])

    @property
    def minimum(self) -> int:
        """Its lower bound."""
        return int(self.hpa["spec"].get("minReplicas", 1))

    @property
    def maximum(self) -> int:
        """Its upper bound."""
        return int(self.hpa["spec"]["maxReplicas"])

    @property
    def aim(self) -> Key:
        """Kind, namespace and name of the workload that it moves."""
        aim = self.hpa["spec"]["scaleTargetRef"]
        return aim["kind"], self.hpa["metadata"]["namespace"], aim["name"]

    @property
    def apis(self) -> frozenset[str]:
        """The metrics APIs that it reads; without metrics Kubernetes scales on CPU."""
        kinds = [metric.get("type", "Resource") for metric in self.hpa["spec"].get("metrics") or ()] or ["Resource"]
        return frozenset(_APIS[kind] for kind in kinds if kind in _APIS)
