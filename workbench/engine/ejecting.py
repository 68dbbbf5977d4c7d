"""Ending the ownership of a stack without touching what runs: plain manifests, neutral field managers, no state."""

import http
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolkit.kube import KubeError, NoSuchKindError

from .apply.objects import MANAGER, look_up
from .program.graph import ResourceGraph, object_id
from .program.resources import CHARTS, KUBERNETES_PROVIDER, urn_name
from .state import State
from .targets import Targets
from .values import reveal

KUBECTL = "kubectl"
"""The field manager of `kubectl apply --server-side`, which can then apply the manifests without conflicts."""
_FIRST = ("apiVersion", "kind", "metadata", "name", "namespace", "image", "command", "args", "replicas", "selector")
"""Keys that come first; all others are in alphabetical order."""
_PULUMI = "pulumi-kubernetes"
_MERGE = "application/merge-patch+json"
_TRIES = 5


@dataclass(slots=True)
class PlainObjects:
    """The objects of a stack as plain manifests.

    Attributes:
        bodies: The manifests in order of registration, each with the URN of its provider.
        left: Resources without a manifest, each with the reason.
    """

    bodies: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def plain_objects(graph: ResourceGraph) -> PlainObjects:
    """Return the manifests of a recorded program; values of Secrets are never among them."""
    plain = PlainObjects()
    for node in graph.nodes.values():
        registration = node.registration
        title = f"{registration.type} {urn_name(node.urn)}"
        if registration.type.startswith(CHARTS):
            plain.left.append(f"{title}: a Helm release, which Helm goes on managing")
        elif not registration.custom or registration.is_provider:
            continue
        elif not registration.is_object:
            plain.left.append(f"{title}: not a Kubernetes object")
        elif node.inputs.get("kind") == "Secret":
            plain.left.append(f"Secret {object_id(node.inputs)}: its values are not written")
        elif node.pending:
            plain.left.append(f"{title}: {node.pending}")
        else:
            plain.bodies.append((registration.provider, in_usual_order(reveal(dict(node.inputs)))))
    return plain


def in_usual_order(value: Any) -> Any:  # noqa: ANN401  JSON in, JSON out
    """Return a manifest with its keys in the order in which people write them; Pulumi's protocol keeps none."""
    if isinstance(value, list):
        return [in_usual_order(item) for item in value]
    if not isinstance(value, dict):
        return value
    keys = sorted(value, key=lambda key: (_FIRST.index(key) if key in _FIRST else len(_FIRST), key))
    return {key: in_usual_order(value[key]) for key in keys}


@contextmanager
def connected(graph: ResourceGraph, bodies: Iterable[tuple[str, dict[str, Any]]], folder: Path) -> Iterator[Targets]:
    """Connect to the clusters of objects.

    Raises:
        WorkbenchError: one of them cannot be reached.
    """
    with Targets(folder) as targets:
        for urn, node in graph.nodes.items():
            if node.registration.type == KUBERNETES_PROVIDER:
                targets.add(urn, node.inputs)
        for provider in dict.fromkeys(provider for provider, _ in bodies):
            targets.connect(provider)
        yield targets


def neutral_managers(targets: Targets, bodies: Iterable[tuple[str, dict[str, Any]]]) -> int:
    """Give the fields of the stack's objects to kubectl's field manager; return the number of changed objects.

    The objects themselves, their generations and pods stay as they are.
    """
    return sum(_hand_over(targets.connect(provider).kube, body) for provider, body in bodies)


def _hand_over(kube: Any, body: Mapping[str, Any]) -> bool:  # noqa: ANN401
    for tries_left in reversed(range(_TRIES)):
        try:
            live = look_up(kube, body)
        except NoSuchKindError:
            return False
        entries = live["metadata"].get("managedFields") or [] if live else []
        renamed = [_renamed(entry, entries) for entry in entries]
        if live is None or renamed == entries:
            return False
        metadata = {"managedFields": renamed, "resourceVersion": live["metadata"]["resourceVersion"]}
        try:
            kube.request("PATCH", kube.path_of(live), body={"metadata": metadata}, content_type=_MERGE)
        except KubeError as error:
            if error.status != http.HTTPStatus.CONFLICT or not tries_left:
                raise
        else:
            return True
    return False


def _renamed(entry: Mapping[str, Any], entries: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return an entry with kubectl as its manager if it is the stack's, unless kubectl has one already."""
    manager = str(entry.get("manager", ""))
    is_own = manager == MANAGER or manager.startswith(_PULUMI)
    taken = any(
        (other.get("manager"), other.get("operation")) == (KUBECTL, entry.get("operation")) for other in entries
    )
    return {**entry, "manager": KUBECTL} if is_own and not entry.get("subresource") and not taken else entry


def forget_state(folder: Path, stack: str) -> int:
    """Remove all resources of a stack from the state of the local engine; return their number."""
    with State(folder, stack) as state:
        rows = state.rows()
        state.forget(rows)
    return len(rows)
