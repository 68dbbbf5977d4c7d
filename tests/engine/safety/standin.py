"""A stand-in for an API server, in memory: what the engine's order and choice of requests depend on, and no more.

It answers in place of the connections of a client. Apply, list, get and delete behave as the real one does for one
field manager: uids, preconditions, objects that need their namespace and go with it, fields that cannot change, and
claims that stay while something mounts them. ``tests/engine`` runs the same engine against a real API server.
"""

import itertools
import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from workbench.cluster.gateway import NAMESPACE, gateway_objects
from workbench.engine.apply.objects import MANAGER

Json = dict[str, Any]
CLUSTER_SCOPED = {
    "Namespace": "namespaces",
    "Node": "nodes",
    "PriorityClass": "priorityclasses",
    "CustomResourceDefinition": "customresourcedefinitions",
}
NAMESPACED = {
    "ConfigMap": "configmaps",
    "Deployment": "deployments",
    "HorizontalPodAutoscaler": "horizontalpodautoscalers",
    "LeaderWorkerSet": "leaderworkersets",
    "NetworkPolicy": "networkpolicies",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "Pod": "pods",
    "Secret": "secrets",
    "Service": "services",
    "ServiceAccount": "serviceaccounts",
    "StatefulSet": "statefulsets",
}
for _definition in gateway_objects():  # what the simulated cluster brings for a gateway
    if "names" in _definition.get("spec", {}):
        _kinds = CLUSTER_SCOPED if _definition["spec"]["scope"] == "Cluster" else NAMESPACED
        _kinds[_definition["spec"]["names"]["kind"]] = _definition["spec"]["names"]["plural"]
REFUSED = "refused"
"""An object of this name is not accepted."""
FIXED = {"Deployment": "selector", "PersistentVolumeClaim": "storageClassName"}


class Key(NamedTuple):
    """Where an object is."""

    plural: str
    namespace: str
    name: str


class StandIn:
    """All objects, and every deletion that was asked for."""

    def __init__(self) -> None:
        self.objects: dict[Key, Json] = {}
        self.deleted: list[Key] = []
        """Objects that went, with those that went with their namespace."""
        self.applied: list[Key] = []
        self.server = "stand-in"
        self._uids = itertools.count(1)
        self._lock = threading.RLock()
        for name in ("kube-system", "default", NAMESPACE):
            self._store(Key("namespaces", "", name), {"kind": "Namespace", "metadata": {"name": name}})

    def __call__(self, *_: object) -> "StandIn":
        """Stand for a transport that is made."""
        return self

    def close(self) -> None:
        """Nothing is open."""

    def named(self, plural: str) -> set[str]:
        """The objects of a kind, as ``namespace/name``."""
        return {f"{key.namespace}/{key.name}" for key in self.objects if key.plural == plural}

    def create(self, key: Key, body: Json, manager: str) -> None:
        """Make an object as somebody else would."""
        self._store(key, body)["metadata"]["managedFields"] = [{"manager": manager, "operation": "Update"}]

    def send(
        self, method: str, path: str, params: Mapping[str, str] | None, body: Any, *_: object
    ) -> tuple[int, bytes]:
        """Answer one request."""
        with self._lock:
            status, answer = self._answer(method, path.strip("/").split("/"), json.loads(json.dumps(body)))
        return status, json.dumps(answer).encode()

    def _answer(self, method: str, parts: list[str], body: Any) -> tuple[int, Json]:
        rest = parts[2:] if parts[0] == "api" else parts[3:]
        if not rest:
            return 200, {"resources": list(_discovery())}
        namespace = ""
        if rest[0] == "namespaces" and len(rest) > 2:
            namespace, rest = rest[1], rest[2:]
        if len(rest) == 1:
            items = [found for key, found in self.objects.items() if key.plural == rest[0]]
            return 200, {"items": [one for one in items if namespace in ("", one["metadata"].get("namespace"))]}
        key = Key(rest[0], namespace, rest[1])
        if method == "PATCH":
            return self._apply(key, body)
        if key not in self.objects:
            return _refusal(404, f"{key.plural} {key.name!r} not found")
        return self._delete(key, body or {}) if method == "DELETE" else (200, self.objects[key])

    def _apply(self, key: Key, body: Json) -> tuple[int, Json]:
        if key.namespace and Key("namespaces", "", key.namespace) not in self.objects:
            return _refusal(404, f'namespaces "{key.namespace}" not found')
        if key.name == REFUSED:
            return _refusal(422, "not accepted", "metadata.name")
        before = self.objects.get(key)
        if before and "kind" not in body:  # a merge patch of the managed fields
            before["metadata"] |= body["metadata"]
            return 200, before
        fixed = FIXED.get(body["kind"])
        if before and fixed and before["spec"].get(fixed) != body["spec"].get(fixed):
            return _refusal(422, "field is immutable", f"spec.{fixed}")
        self.applied.append(key)
        return (200 if before else 201), self._store(key, body, before)

    def _store(self, key: Key, body: Json, before: Json | None = None) -> Json:
        was: Json = before["metadata"] if before else {"uid": f"uid-{next(self._uids)}"}
        meta = {
            **body["metadata"],
            "resourceVersion": "1",
            **{name: was[name] for name in ("uid", "deletionTimestamp") if name in was},
        }
        others = [entry for entry in was.get("managedFields", ()) if entry["manager"] != MANAGER]
        fields = [*others, {"manager": MANAGER, "operation": "Apply"}]
        if key.namespace:
            meta["namespace"] = key.namespace
        established = {"conditions": [{"type": "Established", "status": "True"}]}
        self.objects[key] = {**body, "metadata": {**meta, "managedFields": fields}, "status": established}
        self._settle()
        return self.objects[key]

    def _delete(self, key: Key, body: Json) -> tuple[int, Json]:
        found = self.objects[key]
        wanted = (body.get("preconditions") or {}).get("uid", found["metadata"]["uid"])
        if wanted != found["metadata"]["uid"]:
            return _refusal(409, "the uid differs")
        if self._mounted(key):
            found["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
            found["metadata"]["finalizers"] = ["kubernetes.io/pvc-protection"]
            return 200, found
        self._remove(key)
        return 200, {"kind": "Status", "status": "Success"}

    def _remove(self, key: Key) -> None:
        del self.objects[key]
        self.deleted.append(key)
        if key.plural == "pods":
            self.deleted.pop()
        if key.plural == "namespaces":
            for inside in [other for other in self.objects if other.namespace == key.name]:
                if inside in self.objects:
                    self._remove(inside)
        self._settle()

    def _mounted(self, key: Key) -> bool:
        """Whether a pod that runs mounts a claim."""
        return key.plural == "persistentvolumeclaims" and any(
            other.namespace == key.namespace and "nodeName" in pod["spec"] and key.name in mounts(pod["spec"])
            for other, pod in self.objects.items()
            if other.plural == "pods"
        )

    def _settle(self) -> None:
        """Do what controllers do: one pod for each Deployment, and claims go that no pod mounts."""
        pods = {Key("pods", *key[1:]): value for key, value in self.objects.items() if key.plural == "deployments"}
        for key in [key for key in self.objects if key.plural == "pods" and key not in pods]:
            del self.objects[key]
        for key, deployment in pods.items():
            self._run(key, deployment["spec"].get("template", {}).get("spec", {}))
        for key, found in list(self.objects.items()):
            if key in self.objects and "deletionTimestamp" in found["metadata"] and not self._mounted(key):
                self._remove(key)

    def _run(self, key: Key, spec: Json) -> None:
        """Make or change the pod of a Deployment; it is scheduled if its claims are there to stay."""
        before = self.objects.get(key)
        if before is None or before["spec"].get("volumes") != spec.get("volumes"):
            owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": key.name, "controller": True}
            meta = {"name": key.name, "namespace": key.namespace, "ownerReferences": [owner]}
            uid = f"uid-{next(self._uids)}"
            before = self.objects[key] = {"kind": "Pod", "metadata": {**meta, "uid": uid}, "spec": {**spec}}
        claims = [Key("persistentvolumeclaims", key.namespace, name) for name in mounts(spec)]
        if all(claim in self.objects and not _going(self.objects[claim]) for claim in claims):
            before["spec"]["nodeName"] = "node"


def _going(found: Json) -> bool:
    return "deletionTimestamp" in found["metadata"]


def mounts(pod: Json) -> set[str]:
    """The claims that a pod mounts."""
    volumes = pod.get("volumes") or []
    return {volume["persistentVolumeClaim"]["claimName"] for volume in volumes if "persistentVolumeClaim" in volume}


def _discovery() -> Iterator[Json]:
    for namespaced, kinds in ((False, CLUSTER_SCOPED), (True, NAMESPACED)):
        for kind, plural in kinds.items():
            yield {"kind": kind, "name": plural, "namespaced": namespaced}


def _refusal(status: int, message: str, *fields: str) -> tuple[int, Json]:
    causes = [{"field": field, "message": message} for field in fields]
    return status, {"reason": str(status), "message": message, "details": {"causes": causes}}
