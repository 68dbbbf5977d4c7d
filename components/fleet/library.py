"""Index of the resources that others refer to, by kind, namespace and name."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from ..contract.load import LoadedResource
from ..contract.meta import Resource
from ..contract.problems import Problem, errors
from .rendered import Rendered
from .workloads import Workload

R = TypeVar("R", bound=Resource)


class Library:
    """Index of all resources, and of the workloads that were rendered so far."""

    def __init__(
        self, resources: Iterable[LoadedResource], default_namespace: str, unread: Iterable[Problem] = ()
    ) -> None:
        """Index the resources.

        Args:
            resources: The resources that were read.
            default_namespace: Namespace of namespaced resources that set none.
            unread: Problems of reading; resources that have errors must not be reported as missing.
        """
        self._unread = frozenset((problem.kind, problem.name) for problem in errors(unread))
        self._lost: set[tuple[str, str]] = set()
        self._default_namespace = default_namespace
        self._by_kind: dict[type[Resource], dict[str, dict[str, Resource]]] = {}
        self._sources: dict[tuple[type[Resource], str, str], LoadedResource] = {}
        self._items: dict[tuple[str, str], Rendered] = {}
        self._workloads: dict[tuple[str, str], tuple[Rendered, Workload]] = {}
        self._passed_through: set[tuple[str, str]] = set()
        for source in resources:
            namespace = (source.resource.metadata.namespace or default_namespace) if source.kind.namespaced else ""
            names = self._by_kind.setdefault(type(source.resource), {}).setdefault(namespace, {})
            names[source.name] = source.resource
            self._sources[type(source.resource), namespace, source.name] = source

    def all(self, kind: type[R], namespace: str = "") -> Mapping[str, R]:
        """Return the resources of a kind in a namespace by name; cluster-scoped kinds use the empty namespace."""
        resources: Mapping[str, R] = self._by_kind.get(kind, {}).get(namespace, {})  # type: ignore[assignment]
        return resources

    def names(self, kind: type[Resource], namespace: str = "") -> list[str]:
        """Return the names of a kind that a resource may refer to, also those of resources that could not be read."""
        unread = (name for other, name in self._unread if other == kind.__name__)
        return sorted({*self.all(kind, namespace), *filter(None, unread)})

    def source(self, kind: type[Resource], namespace: str, name: str) -> LoadedResource | None:
        """Return a resource with its file and lines; None if it does not exist."""
        return self._sources.get((kind, namespace, name))

    def namespaces_with(self, kind: type[Resource], name: str) -> list[str]:
        """Return the namespaces with a resource of this kind and name."""
        return sorted(namespace for namespace, names in self._by_kind.get(kind, {}).items() if name in names)

    def places_of(self, kind: type[Resource]) -> list[tuple[str, str]]:
        """Return namespace and name of every resource of a kind."""
        return sorted((namespace, name) for other, namespace, name in self._sources if other is kind)

    def is_unread(self, kind: str, name: str) -> bool:
        """Return whether a resource exists but could not be read, which is reported at the resource itself."""
        return (kind, name) in self._unread

    def add(self, item: Rendered) -> None:
        """Record a rendered resource, for resources that attach to its workloads."""
        if item.workloads:
            self._items.setdefault((item.namespace, item.name), item)
        for workload in item.workloads:
            self._workloads.setdefault((workload.namespace, workload.name), (item, workload))

    def add_passed_through(self, item: Rendered) -> None:
        """Record the workloads of an object of another API, created unchanged and no part of the fleet."""
        self.add(item)
        self._passed_through |= {(workload.namespace, workload.name) for workload in item.workloads}

    def is_passed_through(self, namespace: str, name: str) -> bool:
        """Return whether a workload is that of an object of another API."""
        return (namespace, name) in self._passed_through

    def lose(self, source: LoadedResource) -> None:
        """Record a resource that failed to render, which is reported at the resource itself."""
        self._lost.add((source.resource.metadata.namespace or self._default_namespace, source.name))

    def workload(self, namespace: str, name: str) -> tuple[Rendered, Workload] | None:
        """Return a workload that was rendered so far, with its resource; None without one."""
        return self._workloads.get((namespace, name))

    def item(self, namespace: str, name: str) -> Rendered | None:
        """Return the rendered resource of this name, if it has any workloads."""
        return self._items.get((namespace, name))

    def workload_names(self, namespace: str) -> list[str]:
        """Return the names of the workloads of a namespace that were rendered so far."""
        return sorted(name for other, name in self._workloads if other == namespace)

    def passed_through(self, namespace: str) -> list[Workload]:
        """Return the workloads of objects of other APIs in a namespace, by name."""
        return [self._workloads[place][1] for place in sorted(self._passed_through) if place[0] == namespace]

    def namespaces_with_workload(self, name: str) -> list[str]:
        """Return the namespaces with a workload of this name that was rendered so far."""
        return sorted(namespace for namespace, other in self._workloads if other == name)

    def is_lost(self, namespace: str, name: str, except_kind: str) -> bool:
        """Return whether a resource that may define this workload could not be read or rendered.

        Workload names start with the name of their resource. The namespace of an unreadable resource is unknown.

        Args:
            namespace: Namespace of the workload.
            name: Name of the workload.
            except_kind: A kind without workloads.
        """
        unread = {other for kind, other in self._unread if kind != except_kind}
        lost = {other for lost_in, other in self._lost if lost_in == namespace}
        return any(other and (name == other or name.startswith(f"{other}-")) for other in unread | lost)
