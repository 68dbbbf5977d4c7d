"""What resources refer to, by kind, namespace and name."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from ..contract.load import LoadedResource
from ..contract.meta import Resource
from ..contract.problems import Problem, errors
from .rendered import Rendered
from .workloads import Workload

R = TypeVar("R", bound=Resource)


class Library:
    """Every resource that was read."""

    def __init__(
        self, resources: Iterable[LoadedResource], default_namespace: str, unread: Iterable[Problem] = ()
    ) -> None:
        """Sort the resources by kind.

        Args:
            resources: What was read.
            default_namespace: Namespace of namespaced resources that name none.
            unread: Problems of reading: what could not be read must not be called missing.
        """
        self._unread = frozenset((problem.kind, problem.name) for problem in errors(unread))
        self._lost: set[tuple[str, str]] = set()
        self._default_namespace = default_namespace
        self._by_kind: dict[type[Resource], dict[str, dict[str, Resource]]] = {}
        self._sources: dict[tuple[type[Resource], str, str], LoadedResource] = {}
        self._items: dict[tuple[str, str], Rendered] = {}
        self._workloads: dict[tuple[str, str], tuple[Rendered, Workload]] = {}
        for source in resources:
            namespace = (source.resource.metadata.namespace or default_namespace) if source.kind.namespaced else ""
            there = self._by_kind.setdefault(type(source.resource), {}).setdefault(namespace, {})
            there[source.name] = source.resource
            self._sources[type(source.resource), namespace, source.name] = source

    def all(self, kind: type[R], namespace: str = "") -> Mapping[str, R]:
        """Return the resources of a kind in a namespace, by name; cluster-scoped ones are in the empty namespace."""
        found: Mapping[str, R] = self._by_kind.get(kind, {}).get(namespace, {})  # type: ignore[assignment]
        return found

    def source(self, kind: type[Resource], namespace: str, name: str) -> LoadedResource | None:
        """Return a resource with its place, for messages about its fields; None if there is none."""
        return self._sources.get((kind, namespace, name))

    def namespaces_with(self, kind: type[Resource], name: str) -> list[str]:
        """Return the namespaces that have a resource of a kind and name."""
        return sorted(namespace for namespace, there in self._by_kind.get(kind, {}).items() if name in there)

    def places_of(self, kind: type[Resource]) -> list[tuple[str, str]]:
        """Return namespace and name of every resource of a kind."""
        return sorted((namespace, name) for each, namespace, name in self._sources if each is kind)

    def is_unread(self, kind: str, name: str) -> bool:
        """Tell whether a resource exists but could not be read; that is reported at the resource itself."""
        return (kind, name) in self._unread

    def add(self, item: Rendered) -> None:
        """Take what a resource has become, for those that are attached to its workloads."""
        if item.workloads:
            self._items.setdefault((item.namespace, item.name), item)
        for workload in item.workloads:
            self._workloads.setdefault((workload.namespace, workload.name), (item, workload))

    def lose(self, source: LoadedResource) -> None:
        """Take a resource that became nothing because it is wrong; that is reported at the resource itself."""
        self._lost.add((source.resource.metadata.namespace or self._default_namespace, source.name))

    def workload(self, namespace: str, name: str) -> tuple[Rendered, Workload] | None:
        """Return a workload of what was rendered so far, with its resource; None if there is none."""
        return self._workloads.get((namespace, name))

    def item(self, namespace: str, name: str) -> Rendered | None:
        """Return what the resource of a name has become, if it has become workloads of any names."""
        return self._items.get((namespace, name))

    def workload_names(self, namespace: str) -> list[str]:
        """Return the names of the workloads in a namespace, of what was rendered so far."""
        return sorted(name for there, name in self._workloads if there == namespace)

    def namespaces_with_workload(self, name: str) -> list[str]:
        """Return the namespaces that have a workload of a name, of what was rendered so far."""
        return sorted(namespace for namespace, other in self._workloads if other == name)

    def is_lost(self, namespace: str, name: str, except_kind: str) -> bool:
        """Tell whether what could have become a workload of this name could not be read, or rendered.

        The names of workloads begin with that of their resource. Of what could not be read the namespace is not
        known.

        Args:
            namespace: Namespace of the workload.
            name: Its name.
            except_kind: A kind that becomes no workload.
        """
        unread = {other for kind, other in self._unread if kind != except_kind}
        lost = {other for there, other in self._lost if there == namespace}
        return any(other and (name == other or name.startswith(f"{other}-")) for other in unread | lost)
