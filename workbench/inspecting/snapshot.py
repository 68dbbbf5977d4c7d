"""What was read from a cluster: objects as the server returned them, their owners, and what could not be read."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from components.contract.problems import Problem
from components.fleet.objects import Object

Identity = tuple[str, str, str, str]
"""API group, kind, namespace (empty for cluster-scoped objects) and name."""


class Missing(NamedTuple):
    """Something that could not be read.

    Attributes:
        verb: The RBAC verb that the request needs.
        group: The API group; empty for the core group.
        resource: The plural of the kind.
        namespace: The namespace; empty for all namespaces, and for cluster-scoped kinds.
        reason: The answer of the server.
        tells: What cannot be reported without it.
        denied: Whether the right is missing; otherwise the server failed to answer.
    """

    verb: str
    group: str
    resource: str
    namespace: str
    reason: str
    tells: str
    denied: bool = True

    @property
    def title(self) -> str:
        """The right, such as ``list deployments.apps in namespace models``."""
        name = f"{self.resource}.{self.group}" if self.group else self.resource
        return f"{self.verb} {name}" + (f" in namespace {self.namespace}" if self.namespace else "")


@dataclass(frozen=True, slots=True)
class ClusterSnapshot:
    """The objects of a cluster, or of files.

    Attributes:
        objects: Every object in wire form, with its apiVersion and kind, unchanged otherwise (``managedFields``
            included); sorted by group, kind, namespace and name.
        missing: What could not be read.
        absent: The kinds that the server does not serve, as ``Kind.group``.
        definitions: The CustomResourceDefinitions of the families' kinds that the server has.
        server_version: Version of the server, such as ``v1.36.3``; empty for files.
        source: Address of the server, or the files.
        namespaces: The namespaces that were read; empty for all.
        api_groups: The API groups that the server serves; empty if unknown, and for files.
        unread: The objects that the server returned with fields of other types than those of their kind.
    """

    objects: tuple[Object, ...] = ()
    missing: tuple[Missing, ...] = ()
    absent: tuple[str, ...] = ()
    definitions: tuple[Object, ...] = ()
    server_version: str = ""
    source: str = ""
    namespaces: tuple[str, ...] = ()
    api_groups: frozenset[str] = frozenset()
    unread: tuple[Problem, ...] = ()
    _index: dict[Identity, Object] = field(default_factory=dict, init=False, repr=False, compare=False)
    _kinds: dict[tuple[str, str], list[Object]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _uids: dict[str, Object] = field(default_factory=dict, init=False, repr=False, compare=False)
    _owned: dict[Identity, list[Object]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Sort and index the objects."""
        ordered = {identity_of(body): body for body in sorted(self.objects, key=identity_of)}
        object.__setattr__(self, "objects", tuple(ordered.values()))
        self._index.update(ordered)
        for (group, kind, _, _), body in ordered.items():
            self._kinds.setdefault((group, kind), []).append(body)
            uid = body["metadata"].get("uid")
            if uid:
                self._uids[uid] = body
        for body in self.objects:
            owner = self.owner(body)
            if owner is not None:
                self._owned.setdefault(identity_of(owner), []).append(body)

    @property
    def nodes(self) -> tuple[Object, ...]:
        """The nodes of the cluster."""
        return self.of_kind("", "Node")

    def of_kind(self, group: str, kind: str, namespace: str | None = None) -> tuple[Object, ...]:
        """Return the objects of a kind, of all namespaces unless one is given; empty for the core group."""
        bodies = self._kinds.get((group, kind), ())
        return tuple(
            body for body in bodies if namespace is None or (body["metadata"].get("namespace") or "") == namespace
        )

    def find(self, group: str, kind: str, namespace: str, name: str) -> Object | None:
        """Return an object; None if it was not read."""
        return self._index.get((group, kind, namespace, name))

    def owner(self, body: Object) -> Object | None:
        """Return the object that owns another one; None if it has no owner, or the owner was not read."""
        reference = owner_reference(body)
        if reference is None:
            return None
        uid = reference.get("uid")
        if uid in self._uids:
            return self._uids[uid]
        group = str(reference.get("apiVersion", "")).rpartition("/")[0]
        kind, name = str(reference.get("kind", "")), str(reference.get("name", ""))
        # An owner is in the namespace of what it owns, or cluster-scoped. Files may lack uids.
        for namespace in dict.fromkeys((body["metadata"].get("namespace") or "", "")):
            found = self._index.get((group, kind, namespace, name))
            if found is not None and found is not body and not (uid and found["metadata"].get("uid")):
                return found
        return None

    def owners(self, body: Object) -> Iterator[Object]:
        """Yield the owner of an object, the owner of that, and so on, as far as they were read."""
        seen = {identity_of(body)}
        current = self.owner(body)
        while current is not None and identity_of(current) not in seen:
            seen.add(identity_of(current))
            yield current
            current = self.owner(current)

    def root(self, body: Object) -> Object:
        """Return the last of an object's owners; the object itself if it has none."""
        *_, last = body, *self.owners(body)
        return last

    def owned(self, body: Object) -> tuple[Object, ...]:
        """Return the objects that an object owns directly."""
        return tuple(self._owned.get(identity_of(body), ()))

    def all_owned(self, body: Object) -> Iterator[Object]:
        """Yield the objects that an object owns, directly or through others."""
        seen = {identity_of(body)}
        queue = [*self.owned(body)]
        while queue:
            current = queue.pop(0)
            if identity_of(current) not in seen:
                seen.add(identity_of(current))
                yield current
                queue += self.owned(current)


Snapshot = ClusterSnapshot
"""Short for annotations; the class of this name in ``components.plan.review`` is a revision of a plan."""


def group_of(body: Object) -> str:
    """Return the API group of an object; empty for the core group."""
    return str(body["apiVersion"]).rpartition("/")[0]


def identity_of(body: Object) -> Identity:
    """Return the identity of an object, which is the same in all versions of its API."""
    metadata = body["metadata"]
    return group_of(body), str(body["kind"]), metadata.get("namespace") or "", str(metadata["name"])


def owner_reference(body: Object) -> Object | None:
    """Return the reference to the controller of an object, otherwise to its first owner; None without one."""
    references: list[Object] = [
        reference for reference in body["metadata"].get("ownerReferences") or () if isinstance(reference, dict)
    ]
    return next((each for each in references if each.get("controller")), next(iter(references), None))


def is_readable(value: object) -> bool:
    """Return whether a value is an object with apiVersion, kind and name."""
    if not isinstance(value, dict) or not isinstance(value.get("metadata"), dict):
        return False
    texts = (value.get("apiVersion"), value.get("kind"), value["metadata"].get("name"))
    return all(isinstance(text, str) and text for text in texts)


def without_duplicates(bodies: Iterable[Object]) -> tuple[Object, ...]:
    """Return objects without repeated ones; the last one of each counts."""
    return tuple({identity_of(body): body for body in bodies}.values())
