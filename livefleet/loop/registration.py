"""What the cluster is told of prometheus-adapter: its rights, and the metrics APIs that it serves."""

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
"""The name in the certificate by which the API server knows the adapter."""
CUSTOM, EXTERNAL = "custom.metrics.k8s.io", "external.metrics.k8s.io"
_SERVED: Mapping[str, tuple[str, Sequence[str]]] = {
    "rules": (CUSTOM, ("v1beta1", "v1beta2")),
    "externalRules": (EXTERNAL, ("v1beta1",)),
}
"""Group and versions that the adapter serves for each kind of rule."""
_MANAGER = "workbench"
_RBAC, _REGISTRATION = "rbac.authorization.k8s.io", "apiregistration.k8s.io/v1"
_ROLE = "workbench:prometheus-adapter"
_OURS = {"app.kubernetes.io/managed-by": "workbench"}
_AVAILABLE_SECONDS = 30.0


def grant(kube: Kube) -> None:
    """Give the adapter its rights, which it needs to start."""
    for obj in _rights():
        kube.apply(obj, manager=_MANAGER)


def register(kube: Kube, config: Mapping[str, Any], port: int, certificate: Path, *, anew: bool = False) -> None:
    """Serve the APIs that the adapter's rules call for, and withdraw those that it has no more.

    Args:
        kube: a client with every right.
        config: the adapter's config.
        port: where the adapter listens on loopback.
        certificate: by which it is known.
        anew: that it was away: the API server asks for one that it missed every 30 s at last, and for a new one at
            once (kube-aggregator, pkg/controllers/status).
    """
    services = _api_services(config, port, certificate)
    kept = {each["metadata"]["name"] for each in services if not anew}
    _delete(kube, [each for each in _registered(kube) if each not in kept])
    for obj in (_service(), *services):
        kube.apply(obj, manager=_MANAGER)


def await_available(kube: Kube) -> None:
    """Return when the API server reaches the adapter.

    Raises:
        UserError: it does not; the message is the API server's.
    """
    reasons: dict[str, str] = {}

    def all_available() -> bool:
        for service in kube.list(_REGISTRATION, "APIService", labels=_selector()):
            reasons[service["metadata"]["name"]] = _unavailable(kube, service)
        return not any(reasons.values())

    if not wait_until(all_available, _AVAILABLE_SECONDS):
        shown = "; ".join(f"{name}: {why}" for name, why in sorted(reasons.items()) if why)
        raise UserError(
            f"the cluster does not reach prometheus-adapter after {_AVAILABLE_SECONDS:.0f} s: {shown}; run "
            "`workbench cluster start`, which brings a cluster of an older version up to date"
        )


def _unavailable(kube: Kube, service: Object) -> str:
    """Return why an API does not answer; empty where it does."""
    conditions: Sequence[Object] = service.get("status", {}).get("conditions", ())
    found = next((each for each in conditions if each["type"] == "Available"), {})
    if found.get("status") != "True":
        return str(found.get("message", "nobody has asked it yet"))
    try:
        # The API server goes by what it has seen of the object, which may be older than the object.
        kube.request("GET", f"/apis/{service['spec']['group']}/{service['spec']['version']}")
    except KubeError as error:
        return error.message
    return ""


def withdraw(kube: Kube) -> bool:
    """Take the APIs out of the cluster, and say whether some were there.

    An API that nobody serves keeps every namespace from being deleted.
    """
    names = _registered(kube)
    _delete(kube, names)
    for obj in (_service(), *reversed(_rights())):
        metadata = obj["metadata"]
        kube.delete(obj["apiVersion"], obj["kind"], metadata["name"], metadata.get("namespace"))
    return bool(names)


def _rights() -> list[Object]:
    """What the adapter may do: read the objects that metrics are of, and ask the API server who somebody is.

    The templates of its chart bind the same roles, and let it read services and config maps, too.
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
    """Return what the APIs name as their server.

    The API server goes to the name of an ExternalName service, which may be the loopback interface; addresses of
    loopback in an EndpointSlice are refused by validation.
    """
    metadata = {"name": NAME, "namespace": NAMESPACE, "labels": _OURS}
    spec = {"type": "ExternalName", "externalName": "localhost"}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def _api_services(config: Mapping[str, Any], port: int, certificate: Path) -> list[Object]:
    bundle = base64.b64encode(certificate.read_bytes()).decode()
    return [
        {
            "apiVersion": _REGISTRATION,
            "kind": "APIService",
            "metadata": {"name": f"{version}.{group}", "labels": _OURS},
            "spec": {
                "group": group,
                "version": version,
                "service": {"name": NAME, "namespace": NAMESPACE, "port": port},
                "caBundle": bundle,
                "groupPriorityMinimum": 100,
                "versionPriority": 100,
            },
        }
        for rules, (group, versions) in _SERVED.items()
        if rules in config
        for version in versions
    ]


def _registered(kube: Kube) -> list[str]:
    found = kube.list(_REGISTRATION, "APIService", labels=_selector())
    return sorted(each["metadata"]["name"] for each in found)


def _selector() -> str:
    return ",".join(f"{key}={value}" for key, value in _OURS.items())


def _delete(kube: Kube, names: Sequence[str]) -> None:
    for name in names:
        kube.delete(_REGISTRATION, "APIService", name)
