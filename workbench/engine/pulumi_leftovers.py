"""Resources that an interrupted run of the Pulumi CLI may leave behind.

The engine keeps interrupted creations in the pending operations of the state through every later ``up`` and
``destroy`` (pkg/backend/journal.go of Pulumi 3.260), because it cannot know whether they succeeded.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolkit.kube import Kube, KubeError, MalformedObjectError

from ..errors import WorkbenchError

_KUBERNETES = "kubernetes:"
_NOT_OBJECTS = ("kubernetes:helm.sh/",)
_PROVIDERS = "pulumi:providers:"
_CREATING = "creating"
_KEPT = ("external", "retainOnDelete")
"""Properties of resources that a destroy does not delete."""


def begun_in(exported: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the resources whose creation was interrupted.

    Args:
        exported: The output of ``pulumi stack export``.
    """
    deployment = exported.get("deployment") or {}
    pending = deployment.get("pending_operations") or ()
    return [operation["resource"] for operation in pending if operation.get("type") == _CREATING]


def retained_in(exported: Mapping[str, Any]) -> list[str]:
    """Return the cloud resources in a state that a destroy keeps, each with its costs and how to delete it."""
    from components.fleet.cloud_providers import removal

    resources = (exported.get("deployment") or {}).get("resources") or []
    kept = {
        str(resource.get("urn")).split("::", 3)[-1]: removal(str(resource.get("type")), str(resource.get("id")))
        for resource in resources
        if resource.get("retainOnDelete")
    }
    return [f"{name}: {how}" for name, how in kept.items() if how]


class Leftovers:
    """Resources that may remain after a destroy, or after a successful ``up`` that did not adopt them.

    Whether an interrupted creation succeeded can be looked up for Kubernetes objects only. Components and providers
    exist only in the state.

    Args:
        exported: The output of ``pulumi stack export``.
        cluster: Kubeconfig and context of the cluster.
    """

    def __init__(self, exported: Mapping[str, Any], cluster: tuple[Path, str] | None) -> None:
        self._cluster = cluster
        resources = (exported.get("deployment") or {}).get("resources") or []
        self._begun = [resource for resource in begun_in(exported) if _is_deleted(resource)]
        self._known = [resource for resource in resources if _is_deleted(resource)]

    def left(self) -> list[str]:
        """Return all resources that may still exist."""
        return [*self.unseen(), *self.seen()]

    def unseen(self) -> list[str]:
        """Return the URNs of interrupted creations outside of the cluster, which cannot be looked up."""
        return sorted({str(resource.get("urn")) for resource in self._begun if not _is_object(resource)})

    def seen(self) -> list[str]:
        """Return the objects that are in the cluster; if it is unreachable, those whose creation was interrupted."""
        return self._objects_left([*self._begun, *self._known])

    def unclaimed(self) -> list[str]:
        """Return the objects of interrupted creations that are in the cluster, but not in the state."""
        claimed = {resource.get("urn") for resource in self._known}
        return self._objects_left([resource for resource in self._begun if resource.get("urn") not in claimed])

    def _objects_left(self, resources: list[dict[str, Any]]) -> list[str]:
        objects = {_name(resource): resource["inputs"] for resource in resources if _is_object(resource)}
        if not objects or not self._cluster:
            return []
        kubeconfig, context = self._cluster
        try:
            with Kube.from_kubeconfig(kubeconfig, context or None) as kube:
                return [name for name, value in objects.items() if _exists(kube, value)]
        except WorkbenchError:
            return []  # the kubeconfig was deleted with the cluster and its objects
        except KubeError:
            begun = {_name(resource) for resource in self._begun if _is_object(resource)}
            return [name for name in objects if name in begun]


def _is_deleted(resource: Mapping[str, Any]) -> bool:
    """Whether a destroy deletes the resource; it keeps patched objects."""
    token = str(resource.get("type"))
    is_real = resource.get("custom", True) and not token.startswith(_PROVIDERS)
    is_patch = token.startswith(_KUBERNETES) and token.endswith("Patch")
    return bool(is_real) and not is_patch and not any(map(resource.get, _KEPT))


def _is_object(resource: Mapping[str, Any]) -> bool:
    """Whether a resource is an object in a cluster."""
    token = str(resource.get("type"))
    metadata = (resource.get("inputs") or {}).get("metadata")
    in_cluster = token.startswith(_KUBERNETES) and not token.startswith(_NOT_OBJECTS)
    return in_cluster and isinstance(metadata, dict) and bool(metadata.get("name"))


def _name(resource: Mapping[str, Any]) -> str:
    inputs = resource["inputs"]
    metadata = inputs["metadata"]
    namespace = metadata.get("namespace")
    return f"{inputs.get('kind')} {f'{namespace}/' if namespace else ''}{metadata.get('name')}"


def _exists(kube: Kube, value: Mapping[str, Any]) -> bool:
    """Whether an object exists; without its kind it does not."""
    metadata = value["metadata"]
    try:
        kube.get(value["apiVersion"], value["kind"], metadata["name"], metadata.get("namespace"))
    except MalformedObjectError:
        return True
    except KubeError as error:
        if error.unreachable:
            raise
        return False
    return True
