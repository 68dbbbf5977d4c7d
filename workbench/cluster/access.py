"""Setup of a new cluster: RBAC of the simulators, a storage class, the gateway's kinds; and health checks."""

import ssl

from toolkit.kube import Kube
from toolkit.ports import LOOPBACK

from .gateway import NAMESPACE, gateway_objects
from .members import Layout
from .pki import ADMIN

_MANAGER = "workbench"
_WATCH = ["get", "list", "watch"]
_KWOK_RULES: list[dict[str, list[str]]] = [
    {"apiGroups": [""], "resources": ["nodes"], "verbs": _WATCH},
    {"apiGroups": [""], "resources": ["nodes/status", "pods/status"], "verbs": ["patch", "update"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": [*_WATCH, "delete", "patch", "update"]},
    {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch", "update"]},
    {
        "apiGroups": [""],
        "resources": ["persistentvolumes"],
        "verbs": [*_WATCH, "create", "delete", "patch", "update"],
    },
    {"apiGroups": [""], "resources": ["persistentvolumeclaims"], "verbs": [*_WATCH, "patch"]},
    {
        "apiGroups": [""],
        "resources": ["persistentvolumes/status", "persistentvolumeclaims/status"],
        "verbs": ["patch", "update"],
    },
    {
        "apiGroups": ["coordination.k8s.io"],
        "resources": ["leases"],
        "verbs": [*_WATCH, "create", "patch", "update"],
    },
]
"""The minimal rules for simulating nodes with their pods and volumes."""
_FLEET_RULES: list[dict[str, list[str]]] = [
    {"apiGroups": [""], "resources": ["nodes"], "verbs": [*_WATCH, "create", "delete", "patch"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": [*_WATCH, "delete"]},
    {"apiGroups": [""], "resources": ["pods/status"], "verbs": ["patch"]},
    {"apiGroups": [""], "resources": ["events"], "verbs": _WATCH},
    {"apiGroups": ["apps"], "resources": ["deployments", "replicasets", "statefulsets"], "verbs": _WATCH},
    {"apiGroups": ["autoscaling"], "resources": ["horizontalpodautoscalers"], "verbs": _WATCH},
    {"apiGroups": ["leaderworkerset.x-k8s.io"], "resources": ["leaderworkersets"], "verbs": _WATCH},
]
"""Rules of the live fleet's pod process (``livefleet/pods``): it ends and readies pods, holds nodes in reserve, and
reports what the scheduler preempts."""
_CHANGE = [*_WATCH, "create", "delete", "patch", "update"]
_LWS_RULES: list[dict[str, list[str]]] = [
    {"apiGroups": [""], "resources": ["nodes"], "verbs": _WATCH},
    {"apiGroups": [""], "resources": ["pods", "services"], "verbs": _CHANGE},
    {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch", "update"]},
    {"apiGroups": ["apps"], "resources": ["controllerrevisions", "statefulsets"], "verbs": _CHANGE},
    {"apiGroups": ["leaderworkerset.x-k8s.io"], "resources": ["leaderworkersets"], "verbs": _WATCH},
    {
        "apiGroups": ["leaderworkerset.x-k8s.io"],
        "resources": ["leaderworkersets/status"],
        "verbs": ["patch", "update"],
    },
]
"""The rules of the controller of LeaderWorkerSets (``livefleet/groups``): those of its release (kubernetes-sigs/lws
v0.9.0, ``config/rbac/role.yaml``) that its reconcilers of sets and pods use."""
_DOOR_RULES: list[dict[str, list[str]]] = [
    {"apiGroups": [""], "resources": ["services"], "verbs": _WATCH},
    {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": _WATCH},
]
_DOOR_SECRETS: list[dict[str, list[str]]] = [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]
"""The rules of the gateway process (``livefleet/door``); those for Secrets only in the gateway's namespace."""
_RBAC = "rbac.authorization.k8s.io"
_STORAGE_CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {
        "name": "kwok-volume",
        "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
    },
    "provisioner": "kwok.x-k8s.io/volume",
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "Immediate",
}
"""The storage class of kwok's volume stages (kwok, kustomize/stage/volume/fast/storage-class.yaml)."""


def grant(kube: Kube) -> None:
    """Create the RBAC objects of the simulators, the default storage class, and the kinds of the gateway."""
    roles = {"kwok": _KWOK_RULES, "fleet": _FLEET_RULES, "lws-controller": _LWS_RULES, "door": _DOOR_RULES}
    for name, rules in roles.items():
        _bind(kube, f"workbench:{name}", rules)
    kube.apply(_STORAGE_CLASS, manager=_MANAGER)
    for obj in gateway_objects():
        kube.apply(obj, manager=_MANAGER)
    _bind(kube, "workbench:door", _DOOR_SECRETS, NAMESPACE)


def _bind(kube: Kube, name: str, rules: list[dict[str, list[str]]], namespace: str = "") -> None:
    """Bind a role to the group of the same name, in one namespace or in the whole cluster."""
    scope = "" if namespace else "Cluster"
    role = {"kind": f"{scope}Role", "rules": rules}
    binding = {
        "kind": f"{scope}RoleBinding",
        "roleRef": {"apiGroup": _RBAC, "kind": f"{scope}Role", "name": name},
        "subjects": [{"apiGroup": _RBAC, "kind": "Group", "name": name}],
    }
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    for obj in (role, binding):
        kube.apply({"apiVersion": f"{_RBAC}/v1", "metadata": metadata, **obj}, manager=_MANAGER)


def admin(layout: Layout) -> Kube:
    """Return a client with cluster-admin rights."""
    return Kube.from_kubeconfig(layout.kubeconfig(ADMIN.file))


def release_nodes(kube: Kube) -> None:
    """Delete the node leases, so that a new kwok process acquires them immediately.

    Every kwok process has a new identity, and would wait up to 40 s for the leases of the previous one to expire
    (kwok v0.8.0, pkg/kwok/controllers/node_lease_controller.go, ``tryAcquireOrRenew``).
    """
    kube.request("DELETE", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases")


def serves(layout: Layout, member: str, path: str) -> bool:
    """Whether the health endpoint of a member responds with success."""
    context = ssl.create_default_context(cafile=str(layout.pki.authority))
    context.load_cert_chain(layout.pki.certificate(ADMIN.file), layout.pki.key(ADMIN.file))
    with Kube(f"https://{LOOPBACK}:{layout.ports[member]}", context) as kube:
        return kube.succeeds(path)


def has_default_service_account(kube: Kube) -> bool:
    """Whether the default namespace has its service account, without which admission rejects pods."""
    return kube.succeeds("/api/v1/namespaces/default/serviceaccounts/default")
