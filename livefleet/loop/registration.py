"""Register prometheus-adapter in the cluster: its RBAC objects and the metrics APIs that it serves."""

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolkit.errors import UserError
from toolkit.kube import Kube, KubeError
from toolkit.waiting import wait_until

from ..fleet import Object

NAMESPACE, NAME = "kube-system", "workbench-prometheus-adapter"
HOST = f"{NAME}.{NAMESPACE}.svc"
"""The name in the adapter's certificate, which the API server verifies."""
CUSTOM, EXTERNAL = "custom.metrics.k8s.io", "external.metrics.k8s.io"
_SERVED: Mapping[str, tuple[str, Sequence[str]]] = {
    "rules": (CUSTOM, ("v1beta1", "v1beta2")),
    "externalRules": (EXTERNAL, ("v1beta1",)),
}
"""Group and versions that the adapter serves for each kind of rule."""
_MANAGER = "workbench"
_RBAC, _REGISTRATION = "rbac.authorization.k8s.io", "apiregistration.k8s.io/v1"
_ROLE = "workbench:prometheus-adapter"
_LABELS = {"app.kubernetes.io/managed-by": "workbench"}
_AVAILABLE_SECONDS = 30.0


def grant(kube: Kube) -> None:
    """Create the adapter's RBAC objects, without which it does not start."""
    for obj in _rights():
        kube.apply(obj, manager=_MANAGER)


def register(kube: Kube, config: Mapping[str, Any], port: int, certificate: Path, *, restarted: bool = False) -> None:
    """Register the APIs of the adapter's rules, and unregister those that it no longer serves.

    Args:
        kube: A client with all rights.
        config: The adapter's config.
        port: The adapter's port on loopback.
        certificate: The adapter's certificate.
        restarted: Whether the adapter was restarted, so that its APIs are deleted and created again.
    """
    ca_bundle = base64.b64encode(certificate.read_bytes()).decode()
    services: list[Object] = [
        {
            "apiVersion": _REGISTRATION,
            "kind": "APIService",
            "metadata": {"name": f"{version}.{group}", "labels": _LABELS},
            "spec": {
                "group": group,
                "version": version,
                "service": {"name": NAME, "namespace": NAMESPACE, "port": port},
                "caBundle": ca_bundle,
                "groupPriorityMinimum": 100,
                "versionPriority": 100,
            },
        }
        for rules, (group, versions) in _SERVED.items()
        if rules in config
        for version in versions
    ]
    # The API server checks a new APIService at once, but one that was unavailable only every 30 s in the end
    # (kube-aggregator, pkg/controllers/status).
    unchanged = {service["metadata"]["name"] for service in services if not restarted}
    _delete(kube, [name for name in _registered(kube) if name not in unchanged])
    for obj in (_service(), *services):
        kube.apply(obj, manager=_MANAGER)


def await_available(kube: Kube) -> None:
    """Return when the API server reaches the adapter.

    Raises:
        UserError: it does not within 30 s; the message has the API server's reasons.
    """
    reasons: dict[str, str] = {}

    def unavailable_reason(service: Object) -> str:
        conditions: Sequence[Object] = service.get("status", {}).get("conditions", ())
        available = next((condition for condition in conditions if condition["type"] == "Available"), {})
        if available.get("status") != "True":
            return str(available.get("message", "its status is not reported yet"))
        try:
            # The API server routes by its cache, which may be older than the object: only a request shows that it
            # works.
            kube.request("GET", f"/apis/{service['spec']['group']}/{service['spec']['version']}")
        except KubeError as error:
            return error.message
        return ""

    def all_available() -> bool:
        for service in kube.list(_REGISTRATION, "APIService", labels=_selector()):
            reasons[service["metadata"]["name"]] = unavailable_reason(service)
        return not any(reasons.values())

    if not wait_until(all_available, _AVAILABLE_SECONDS):
        problems = "; ".join(f"{name}: {reason}" for name, reason in sorted(reasons.items()) if reason)
        raise UserError(
            f"the cluster does not reach prometheus-adapter after {_AVAILABLE_SECONDS:.0f} s: {problems}; run "
            "`workbench cluster start`, which brings a cluster of an older version up to date"
        )


def withdraw(kube: Kube) -> bool:
    """Unregister the APIs; return whether there were any.

    Kubernetes does not delete a namespace while a registered API has no server.
    """
    names = _registered(kube)
    _delete(kube, names)
    for obj in (_service(), *reversed(_rights())):
        metadata = obj["metadata"]
        kube.delete(obj["apiVersion"], obj["kind"], metadata["name"], metadata.get("namespace"))
    return bool(names)


def _rights() -> list[Object]:
    """Return the adapter's RBAC objects: it reads the objects that metrics describe, and delegates authentication.

    The chart's templates bind the same roles, and also let it read services and config maps.
    """
    name = {"metadata": {"name": _ROLE}}
    rules = [{"apiGroups": [""], "resources": ["namespaces", "pods"], "verbs": ["get", "list", "watch"]}]
    return [
        {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", **name, "rules": rules},
        _binding("ClusterRoleBinding", _ROLE, ("ClusterRole", _ROLE)),
        _binding("ClusterRoleBinding", f"{_ROLE}:auth-delegator", ("ClusterRole", "system:auth-delegator")),
        _binding("RoleBinding", f"{_ROLE}:auth-reader", ("Role", "extension-apiserver-authentication-reader")),
    ]


def _binding(kind: str, name: str, role: tuple[str, str]) -> Object:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": kind,
        "metadata": {"name": name, **({"namespace": NAMESPACE} if kind == "RoleBinding" else {})},
        "roleRef": {"apiGroup": _RBAC, "kind": role[0], "name": role[1]},
        "subjects": [{"apiGroup": _RBAC, "kind": "Group", "name": _ROLE}],
    }


def _service() -> Object:
    """Return the Service of the APIs."""
    # An ExternalName Service may lead to the loopback interface, whose addresses EndpointSlices must not contain.
    metadata = {"name": NAME, "namespace": NAMESPACE, "labels": _LABELS}
    spec = {"type": "ExternalName", "externalName": "localhost"}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def _registered(kube: Kube) -> list[str]:
    services = kube.list(_REGISTRATION, "APIService", labels=_selector())
    return sorted(service["metadata"]["name"] for service in services)


def _selector() -> str:
    return ",".join(f"{key}={value}" for key, value in _LABELS.items())


def _delete(kube: Kube, names: Sequence[str]) -> None:
    for name in names:
        kube.delete(_REGISTRATION, "APIService", name)
