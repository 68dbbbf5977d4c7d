"""What a destroy of the Pulumi CLI may leave: what a killed run had begun to create is not in the state."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import WorkbenchError
from ..kube import Kube, KubeError

_KUBERNETES = "kubernetes:"
_NOT_OBJECTS = ("kubernetes:helm.sh/",)
_CREATING = "creating"
_KEPT = ("external", "retainOnDelete")
"""Marks of resources that a destroy leaves as it found them."""


class Remains:
    """The resources of a state before it is destroyed.

    Nothing says of a creation that was cut off whether it took place. In a cluster one can look; of everything else
    only the name is known.
    """

    def __init__(self, exported: Mapping[str, Any], cluster: tuple[Path, str] | None) -> None:
        """Take the state, as ``pulumi stack export`` prints it, and the cluster of its objects."""
        deployment = exported.get("deployment") or {}
        self._cluster = cluster
        begun = [each for each in deployment.get("pending_operations") or () if each.get("type") == _CREATING]
        self._begun = [each["resource"] for each in begun]
        self._known = deployment.get("resources") or []

    def left(self) -> list[str]:
        """Return a line for each resource that is still there, or may be."""
        begun = [each for each in self._begun if not _is_object(each)]
        return [*(str(each.get("urn")) for each in begun), *self._objects_left()]

    def _objects_left(self) -> Iterator[str]:
        objects = {_name(each): each["inputs"] for each in (*self._begun, *self._known) if _is_object(each)}
        if not objects or not self._cluster:
            return
        kubeconfig, context = self._cluster
        try:
            with Kube.from_kubeconfig(kubeconfig, context or None) as kube:
                yield from (name for name, value in objects.items() if _exists(kube, value))
        except WorkbenchError:
            return  # there is no kubeconfig any more: the cluster is gone, and everything in it
        except KubeError:
            yield from (_name(each) for each in self._begun if _is_object(each))


def _is_object(resource: Mapping[str, Any]) -> bool:
    """Say whether a resource is an object in a cluster that a destroy deletes: a patch leaves what it patched."""
    token = str(resource.get("type"))
    named = (resource.get("inputs") or {}).get("metadata")
    is_one = token.startswith(_KUBERNETES) and not token.startswith(_NOT_OBJECTS) and not token.endswith("Patch")
    return is_one and isinstance(named, dict) and not any(map(resource.get, _KEPT))


def _name(resource: Mapping[str, Any]) -> str:
    inputs = resource["inputs"]
    metadata = inputs["metadata"]
    namespace = metadata.get("namespace")
    return f"{inputs.get('kind')} {f'{namespace}/' if namespace else ''}{metadata.get('name')}"


def _exists(kube: Kube, value: Mapping[str, Any]) -> bool:
    """Say whether an object is there; a kind that is gone takes its objects along."""
    metadata = value["metadata"]
    try:
        kube.get(value["apiVersion"], value["kind"], metadata["name"], metadata.get("namespace"))
    except KubeError as error:
        if error.unreachable:
            raise
        return False
    return True
