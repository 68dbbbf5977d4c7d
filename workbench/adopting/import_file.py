"""The file for ``pulumi import``: the state of a stack that has imported everything already.

Kubernetes objects have both inputs and outputs, so that the CLI stores them as they are (pulumi/pulumi #23984). It
would otherwise read the inputs of each object from the cluster, with every default, and show their removal in the
next preview; for fields such as a Service's address even a replacement.
"""

import hashlib
import importlib.metadata
import json
from collections.abc import Callable, Mapping
from typing import Any

from components.fleet.objects import Object
from components.plan.others import as_written

from ..engine.program.graph import Node, ResourceGraph, object_id
from ..engine.program.resources import KUBERNETES, PROVIDERS, urn_name
from ..engine.values import reveal
from ..errors import WorkbenchError

_MANAGER = "pulumi-kubernetes-"
"""Prefix of the field managers of the Kubernetes provider, which appends a random suffix."""

Lookup = Callable[[str, str, str, str], Object | None]


def import_text(graph: ResourceGraph, lookup: Lookup) -> str:
    """Return the import file of a recorded program.

    Args:
        graph: All resources that the program registers; those without an import id are left to the first `up`.
        lookup: Returns an object by API version, kind, namespace and name.
    """
    needed = _with_parents(graph)
    resources = [_resource(graph, graph.nodes[urn], lookup) for urn in graph.nodes if urn in needed]
    return json.dumps({"resources": resources}, indent=2) + "\n"


def created_on_cloud(graph: ResourceGraph) -> list[str]:
    """Return the resources of a cloud that a recorded program creates, each with its type."""
    return [
        f"{node.registration.name} ({node.registration.type})"
        for node in graph.nodes.values()
        if node.registration.custom
        and not node.registration.is_provider
        and not node.registration.import_id
        and node.registration.package != KUBERNETES
    ]


def _with_parents(graph: ResourceGraph) -> frozenset[str]:
    """Return the URNs of imported objects, and of what these belong to."""
    needed: set[str] = set()
    queue = [urn for urn, node in graph.nodes.items() if node.registration.import_id]
    while queue:
        urn = queue.pop()
        if urn in graph.nodes and urn not in needed:
            needed.add(urn)
            registration = graph.nodes[urn].registration
            queue += [registration.parent, registration.provider]
    return frozenset(needed)


def _resource(graph: ResourceGraph, node: Node, lookup: Lookup) -> dict[str, Any]:
    registration = node.registration
    resource: dict[str, Any] = {
        "type": registration.type,
        "name": _unique(node.urn),
        "logicalName": registration.name,
        **({"parent": _unique(registration.parent)} if registration.parent in graph.nodes else {}),
    }
    inputs = reveal(dict(node.inputs))
    if registration.is_provider:
        return {**resource, "version": _version(registration.type.removeprefix(PROVIDERS)), "inputs": inputs}
    if not registration.custom:
        return {**resource, "component": True}
    own = {"provider": _unique(registration.provider), "version": _version(registration.package)}
    if not registration.is_object:
        # The CLI reads it with the provider, for which a property that only the cloud sets is no difference.
        return {**resource, "id": registration.import_id, **own}
    metadata = inputs["metadata"]
    live = lookup(inputs["apiVersion"], inputs["kind"], metadata.get("namespace") or "", metadata["name"])
    if live is None or not live["metadata"].get("uid"):
        raise WorkbenchError(
            f"{inputs['kind']}/{metadata['name']} cannot be imported: it is no longer in the cluster; adopt again"
        )
    return {
        **resource,
        "id": object_id(inputs),
        **own,
        "inputs": inputs,
        "outputs": _outputs(inputs, live),
    }


def _version(package: str) -> str:
    """Return the version of a provider plugin, which is that of the installed SDK."""
    return importlib.metadata.version(f"pulumi-{package}")


def _outputs(inputs: Mapping[str, Any], live: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outputs as the provider stores them (pulumi-kubernetes v4.32.0, checkpointObject)."""
    known = as_written(dict(live))
    status = {"status": live["status"]} if live.get("status") else {}
    identity = json.dumps([inputs["apiVersion"], inputs["kind"], inputs["metadata"]], sort_keys=True)
    digest = hashlib.sha256(identity.encode()).hexdigest()[:8]
    return {
        **known,
        **status,
        "metadata": {**known["metadata"], "uid": live["metadata"]["uid"]},
        "__inputs": dict(inputs),
        "__initialApiVersion": inputs["apiVersion"],
        "__fieldManager": f"{_MANAGER}{digest}",
    }


def _unique(urn: str) -> str:
    """Return the name of a resource within the file: logical names repeat between types."""
    return f"{urn_name(urn)} {hashlib.sha256(urn.encode()).hexdigest()[:6]}"
