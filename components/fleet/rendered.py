"""The result of rendering: plain data, computed before anything is registered with Pulumi."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ..contract.load import LoadedResource
from ..contract.problems import Problem
from .autoscalers import Autoscaler
from .demand import PodDemand
from .endpoints import Endpoint
from .objects import Key, Object
from .timeouts import Timeouts, Waits
from .workloads import Workload

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Rendered:
    """The result of rendering one resource.

    Attributes:
        kind: Kind of the resource; for a shared object, the kind of that object.
        others: Objects that are neither workloads nor Services of endpoints nor autoscalers.
        shared: Objects that other resources may need as well; the fleet creates each once, as an item of its own.
        requires: Capabilities that the cluster must provide besides metrics APIs, such as ``leaderworkerset``.
        model: Name of the resource that defines the served model; empty if none is served.
        warnings: Warnings of a resource that is rendered alone; those of a fleet are in ``Fleet.problems``.
        timeouts: Timeouts of its objects; computed when it is registered.
        waits: What an update waits for.
        scaled: The objects that are no workloads, and whose replicas an autoscaler owns.
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
    timeouts: Mapping[Key, Timeouts] = field(default_factory=dict, compare=False, repr=False)
    waits: Waits = field(default_factory=Waits, compare=False, repr=False)
    scaled: frozenset[Key] = field(default=frozenset(), compare=False)

    @property
    def title(self) -> str:
        """``Kind/name``."""
        return f"{self.kind}/{self.name}"

    @property
    def objects(self) -> tuple[Object, ...]:
        """The objects to create for it, in an order in which they can be applied."""
        return (
            *(workload.body for workload in self.workloads if not workload.operated),
            *(endpoint.body for endpoint in self.endpoints if endpoint.body is not None),
            *(scaler.body for scaler in self.autoscalers if scaler.is_created),
            *self.others,
        )

    @property
    def needs(self) -> frozenset[str]:
        """Capabilities that the cluster must provide, metrics APIs included."""
        return self.requires.union(*(scaler.apis for scaler in self.autoscalers))

    @property
    def pods(self) -> tuple[PodDemand, ...]:
        """Node demand of its pods."""
        return tuple(demand for workload in self.workloads for demand in workload.pods)


@dataclass(frozen=True, slots=True)
class Fleet:
    """All rendered resources of an environment, shared objects first, and their problems."""

    rendered: tuple[Rendered, ...]
    problems: tuple[Problem, ...]

    @property
    def objects(self) -> Iterator[Object]:
        """All objects to create, in an order in which they can be applied."""
        return (body for item in self.rendered for body in item.objects)

    @property
    def workloads(self) -> Iterator[tuple[Rendered, Workload]]:
        return ((item, workload) for item in self.rendered for workload in item.workloads)

    @property
    def endpoints(self) -> Iterator[tuple[Rendered, Endpoint]]:
        return ((item, endpoint) for item in self.rendered for endpoint in item.endpoints)

    @property
    def autoscalers(self) -> Iterator[tuple[Rendered, Autoscaler]]:
        return ((item, scaler) for item in self.rendered for scaler in item.autoscalers)

    def workload(self, key: Key) -> Workload | None:
        """Find a workload by kind, namespace and name."""
        return next((w for _, w in self.workloads if (w.kind, w.namespace, w.name) == key), None)


class KeyedIndex(Generic[_T]):
    """Items by their keys, so that a lookup does not read all other items.

    Args:
        items: Each item with its keys.
    """

    def __init__(self, items: Iterable[tuple[Iterable[Hashable], _T]]) -> None:
        self._by_key: dict[Hashable, dict[int, _T]] = {}
        for position, (keys, item) in enumerate(items):
            for key in keys:
                self._by_key.setdefault(key, {})[position] = item

    def of_keys(self, keys: Iterable[Hashable]) -> list[_T]:
        """Return the items with at least one of the keys, in their original order."""
        found: dict[int, _T] = {}
        for key in keys:
            found |= self._by_key.get(key, {})
        return [found[position] for position in sorted(found)]


class ServingIndex(KeyedIndex[Workload]):
    """The workloads of a fleet by the keys with which endpoints refer to them."""

    def __init__(self, fleet: Fleet) -> None:
        super().__init__((workload.backend_keys, workload) for _, workload in fleet.workloads)

    def of_resource(self, item: Rendered) -> Sequence[Workload]:
        """Return the workloads of a resource; of one that only routes, those that its endpoints select."""
        return item.workloads or self.of_keys(key for endpoint in item.endpoints for key in endpoint.backend_keys)
