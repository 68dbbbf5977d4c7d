"""Undoing what others changed of the objects of a stack, whichever engine deployed it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from components.fleet.objects import Object
from components.plan.review.differences import is_within, parse_path
from toolkit.kube import Kube, KubeError, NoSuchKindError
from toolkit.kube.managed_fields import Fields, union

from ..engine.apply.accounts import without_account
from ..engine.apply.objects import MANAGER, look_up
from ..engine.apply.ownership import is_former, take_over
from ..engine.program.graph import ResourceGraph
from ..engine.program.resources import KUBERNETES_PROVIDER
from ..engine.targets import Targets
from ..engine.values import reveal
from ..inspecting.writers import writers_of
from .drift import OWN_METADATA, differences_of, is_bookkeeping, planner_of
from .reading import ObjectDrift, key_of, scalers_of, server_view


@dataclass(frozen=True, slots=True)
class DriftedObject:
    """An object that is not as its stack declares it.

    Attributes:
        drift: The fields that differ.
        provider: URN of the Kubernetes provider.
        body: The declared object.
        live: The object as the server returned it.
        scaled: Whether others set the number of replicas.
    """

    drift: ObjectDrift
    provider: str
    body: Object
    live: Object
    scaled: bool


class Restoration:
    """Compares the objects of a recorded program with the cluster, and applies those that differ.

    Args:
        graph: The program.
        folder: The project folder.
        kubeconfig: Kubeconfig of the command line.
    """

    def __init__(self, graph: ResourceGraph, folder: Path, kubeconfig: str = "") -> None:
        self._graph = graph
        self._targets = Targets(folder, kubeconfig)
        for urn, node in graph.nodes.items():
            if node.registration.type == KUBERNETES_PROVIDER:
                self._targets.add(urn, node.inputs)

    def __enter__(self) -> "Restoration":
        return self

    def __exit__(self, *_: object) -> None:
        self._targets.__exit__()

    def drifted(self) -> list[DriftedObject]:
        """Return the objects that exist and differ; those that do not exist are left to the engine."""
        nodes = [node for node in self._graph.nodes.values() if node.registration.is_object and not node.pending]
        bodies = [reveal(dict(node.inputs)) for node in nodes]
        scalers = scalers_of(bodies)
        found = []
        for node, body in zip(nodes, bodies, strict=True):
            provider, ignored = node.registration.provider, node.registration.ignore_changes
            kube = self._targets.connect(provider).kube
            live = _live(kube, body)
            if live is None:
                continue
            key = key_of(body)
            fields = differences_of(body, live, server_view(kube, body, live), scalers.get(key[1:], ""))
            kept = [parse_path(path) for path in ignored]
            drift = tuple(
                field for field in fields if not field.owner and not is_within(parse_path(field.path), kept)
            )
            if drift:
                scaled = key[1:] in scalers or "spec.replicas" in ignored
                found.append(DriftedObject(ObjectDrift(*key, fields=drift), provider, body, live, scaled))
        return found

    def restore(self, objects: Sequence[DriftedObject]) -> list[ObjectDrift]:
        """Apply objects, and remove what others added to them; return those that the API server refuses.

        An object is refused if it differs in a field that cannot change in place: the engine then replaces it.
        """
        refused = []
        for each in objects:
            kube = self._targets.connect(each.provider).kube
            try:
                restore_object(kube, each.body, each.live, scaled=each.scaled)
            except KubeError as error:
                if error.unreachable:
                    raise
                refused.append(replace(each.drift, unread=error.message))
        return refused


def restore_object(kube: Kube, body: Object, live: Object, *, scaled: bool) -> None:
    """Make an object what its stack declares, and remove what others added to it.

    Raises:
        KubeError: the API server refuses the object.
    """
    manager = planner_of(live) or MANAGER
    # What others added becomes the manager's own, so that its next apply, which leaves it out, removes it.
    take_over(kube, live, manager, is_former, kept=kept_fields(live, scaled=scaled))
    kube.apply(without_account(body, live), manager=manager)


def kept_fields(live: Object, *, scaled: bool) -> Fields:
    """Return the fields of others that a plan does not decide about: notes of kubectl, finalizers, replicas."""
    kept: Fields = {}
    for entry in filter(is_former, live["metadata"].get("managedFields") or ()):
        fields = entry.get("fieldsV1") or {}
        kept = union(kept, _notes_in(fields))
        for key, below in (fields.get("f:metadata") or {}).items():
            if key.removeprefix("f:") not in OWN_METADATA:
                kept = union(kept, {"f:metadata": {key: below}})
        if scaled and "f:replicas" in (fields.get("f:spec") or {}):
            kept = union(kept, {"f:spec": {"f:replicas": {}}})
    return kept


def _notes_in(fields: Fields) -> Fields:
    """Return the annotations with notes of kubectl in a set of fields; without that of a restart, pods restart."""
    notes: Fields = {}
    for key, below in fields.items():
        if key == "f:annotations":
            kept = {name: value for name, value in below.items() if is_bookkeeping(name.removeprefix("f:"))}
        else:
            kept = _notes_in(below)
        notes |= {key: kept} if kept else {}
    return notes


def _live(kube: Kube, body: Object) -> dict[str, Any] | None:
    try:
        return look_up(kube, body)
    except NoSuchKindError:
        return None


def drift_lines(objects: Sequence[DriftedObject]) -> Iterator[str]:
    """Yield each field that a restoration changes, and what would change it again."""
    from .command import field_text

    for each in objects:
        for field in each.drift.fields:
            yield f"{each.drift.title}: {field_text(field)}"
        yield from (f"{each.drift.title}: {writer.warning}" for writer in writers_of(each.live))
