"""What a resource becomes: plain data, computed before anything is registered."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..contract.load import LoadedResource
from ..contract.problems import Problem
from .autoscalers import Autoscaler
from .demand import PodDemand
from .endpoints import Endpoint
from .objects import Key, Object
from .workloads import Workload


@dataclass(frozen=True, slots=True)
class Rendered:
    """What one resource becomes.

    Attributes:
        kind: Kind of the resource; for a shared object, its own kind.
        others: Objects that are neither workload nor Service of an endpoint nor autoscaler.
        shared: Objects that other resources may need as well; a fleet creates each once, as an item of its own.
        requires: What the cluster must provide besides the metrics of its autoscalers, such as ``leaderworkerset``.
        model: Name of the resource that defines what is served; empty if nothing is.
        warnings: What there is to say of it where it is alone; in a fleet, the fleet has it.
    """

    source: LoadedResource
    kind: str
    name: str
    namespace: str
    workloads: tuple[Workload, ...] = ()
    endpoints: tuple[Endpoint, ...] = ()
    autoscalers: tuple[Autoscaler, ...] = ()
    others: tuple[Object, ...] = ()
    shared: tuple[Object, ...] = ()
    requires: frozenset[str] = frozenset()
    model: str = ""
    warnings: tuple[Problem, ...] = ()

    @property
    def title(self) -> str:
        """``Kind/name``."""
        return f"{self.kind}/{self.name}"

    @property
    def objects(self) -> tuple[Object, ...]:
        """What is created for it, in the order in which it can be applied."""
        return (
            *(workload.body for workload in self.workloads if not workload.operated),
            *(endpoint.body for endpoint in self.endpoints if endpoint.body is not None),
            *(scaler.body for scaler in self.autoscalers if not scaler.operated),
            *self.others,
        )

    @property
    def needs(self) -> frozenset[str]:
        """What the cluster must provide for it to work."""
        return self.requires.union(*(scaler.apis for scaler in self.autoscalers))

    @property
    def pods(self) -> tuple[PodDemand, ...]:
        """Node demand of its pods."""
        return tuple(demand for workload in self.workloads for demand in workload.pods)


@dataclass(frozen=True, slots=True)
class Fleet:
    """Every resource after rendering, shared objects first, and everything that is wrong with them."""

    rendered: tuple[Rendered, ...]
    problems: tuple[Problem, ...]

    @property
    def objects(self) -> Iterator[Object]:
        """Everything that is created for the resources, in the order in which it can be applied."""
        return (body for item in self.rendered for body in item.objects)

    @property
    def workloads(self) -> Iterator[tuple[Rendered, Workload]]:
        """Every workload, with its resource."""
        return ((item, workload) for item in self.rendered for workload in item.workloads)

    @property
    def endpoints(self) -> Iterator[tuple[Rendered, Endpoint]]:
        """Every endpoint, with its resource."""
        return ((item, endpoint) for item in self.rendered for endpoint in item.endpoints)

    @property
    def autoscalers(self) -> Iterator[tuple[Rendered, Autoscaler]]:
        """Every autoscaler, with its resource."""
        return ((item, scaler) for item in self.rendered for scaler in item.autoscalers)

    def workload(self, key: Key) -> Workload | None:
        """Return the workload with a kind, namespace and name; None if the fleet has none."""
        return next((w for _, w in self.workloads if (w.kind, w.namespace, w.name) == key), None)
