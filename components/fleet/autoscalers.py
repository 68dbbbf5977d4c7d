"""Autoscalers: what scales a workload, of the same resource or of another one."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from ..contract.problems import did_you_mean
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
TOLERANCE_SINCE = "1.35"
"""First version of Kubernetes in which ``behavior`` may have a tolerance (feature gate HPAConfigurableTolerance)."""


def body_field(kind: str) -> str:
    """Return the field that has what a metric of a type says."""
    return f"{kind[:1].lower()}{kind[1:]}"


def is_well_formed(metric: Object) -> bool:
    """Tell whether a metric has a type that there is, and says something of it."""
    return metric.get("type") in _APIS and body_field(metric["type"]) in metric


def _malformed(metrics: Iterable[Object]) -> Iterator[tuple[str, str]]:
    for position, metric in enumerate(metrics):
        kind = str(metric.get("type", ""))
        if kind not in _APIS:
            hint = did_you_mean(kind, _APIS) or "; choose one of them"
            yield f"metrics[{position}].type", f"must be one of {', '.join(_APIS)}, found {kind!r}{hint}"
        elif body_field(kind) not in metric:
            yield f"metrics[{position}].{body_field(kind)}", f"is required for type {kind}; set it"


class SizedBound(Protocol):
    """The answer of a queueing model from which the upper bound of an autoscaler follows; ``sizing`` computes it."""

    @property
    def replicas(self) -> int:
        """How many replicas are needed."""

    @property
    def batch(self) -> int:
        """Requests that a replica works on at once."""

    @property
    def limit(self) -> str:
        """What bounds the rate of a replica."""

    @property
    def most_per_minute(self) -> float:
        """Requests a minute that one replica can take."""

    @property
    def cents_per_hour(self) -> float:
        """Price of all replicas, in US cents an hour."""


@dataclass(frozen=True, slots=True)
class Autoscaler:
    """A HorizontalPodAutoscaler, or what replaces it.

    Attributes:
        hpa: The HorizontalPodAutoscaler with the metrics to scale on.
        origin_of: Returns the field of the manifest behind a field of the autoscaler's spec, such as
            ``metrics[0].pods.target.averageValue``.
        replacement: What is created in its place, such as a ScaledObject.
        operated: Whether an operator creates it.
        reads_pods: Whether who scales reads the metrics of pods itself: nothing has to stand behind it.
        target_known: Whether what becomes the workload was found: where there is none, that is wrong there.
        sized: What its upper bound follows from, if a queueing model computed it.
    """

    hpa: Object
    origin_of: Callable[[str], Origin]
    replacement: Object | None = None
    operated: bool = False
    reads_pods: bool = False
    target_known: bool = False
    sized: SizedBound | None = None

    @property
    def body(self) -> Object:
        """The object that is created."""
        return self.hpa if self.replacement is None else self.replacement

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
    def target(self) -> Key:
        """Kind, namespace and name of the workload that it scales."""
        reference = self.hpa["spec"]["scaleTargetRef"]
        return reference["kind"], self.hpa["metadata"]["namespace"], reference["name"]

    @property
    def malformed(self) -> tuple[tuple[str, str], ...]:
        """The metrics that the API server rejects for their shape: field and reason."""
        return tuple(_malformed(self.hpa["spec"].get("metrics") or ()))

    @property
    def apis(self) -> frozenset[str]:
        """The metrics APIs that it reads; without metrics Kubernetes scales on CPU."""
        if self.reads_pods:
            return frozenset()
        kinds = [metric.get("type", "Resource") for metric in self.hpa["spec"].get("metrics") or ()] or ["Resource"]
        return frozenset(_APIS[kind] for kind in kinds if kind in _APIS)
