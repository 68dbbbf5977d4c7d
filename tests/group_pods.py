"""The pods and the Service that the controller creates for a LeaderWorkerSet, where it does not run.

Behavior of v0.10.0: leaders and workers are pods of StatefulSets (``pkg/controllers/leaderworkerset_controller.go``,
``pod_controller.go``), its admission adds the labels of the group and the variables, these before all others
(``pkg/webhooks/pod_webhook.go``, ``pkg/utils/pod/pod_utils.go``), and all pods of a set have one headless Service
(``pkg/utils/controller/controller_utils.go``). Sets with subgroups or exclusive topologies are not supported.
"""

import copy
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from components.fleet.shapes import LEADER_WORKER_SET

Object = dict[str, Any]
LABEL = "leaderworkerset.sigs.k8s.io"
API, KIND = LEADER_WORKER_SET.api_version, LEADER_WORKER_SET.kind


def pods_of(group_set: Mapping[str, Any]) -> Iterator[Object]:
    """Yield the pods of a LeaderWorkerSet, each leader before its workers."""
    spec = group_set["spec"]
    template = spec["leaderWorkerTemplate"]
    size = template.get("size", 1)
    for index in range(spec.get("replicas", 1)):
        leader = f"{group_set['metadata']['name']}-{index}"
        leader_template = template.get("leaderTemplate") or template["workerTemplate"]
        yield _pod(group_set, leader_template, index, 0, leader)
        for worker in range(1, size):
            yield _pod(group_set, template["workerTemplate"], index, worker, f"{leader}-{worker}")


def service_of(group_set: Mapping[str, Any]) -> Object:
    """Return the headless Service that gives the pods their names."""
    name, namespace = group_set["metadata"]["name"], group_set["metadata"]["namespace"]
    labels = {f"{LABEL}/name": name}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace, "labels": labels, **_owned(group_set)},
        "spec": {"clusterIP": "None", "selector": labels, "publishNotReadyAddresses": True},
    }


def _pod(group_set: Mapping[str, Any], template: Object, group: int, worker: int, name: str) -> Object:
    owner, namespace = group_set["metadata"]["name"], group_set["metadata"]["namespace"]
    metadata = template.get("metadata") or {}
    key = hashlib.sha1(f"{namespace}/{owner}-{group}".encode(), usedforsecurity=False).hexdigest()
    labels = {
        **(metadata.get("labels") or {}),
        f"{LABEL}/name": owner,
        f"{LABEL}/group-index": str(group),
        f"{LABEL}/worker-index": str(worker),
        f"{LABEL}/group-key": key,
    }
    size = group_set["spec"]["leaderWorkerTemplate"].get("size", 1)
    annotations = {**(metadata.get("annotations") or {}), f"{LABEL}/size": str(size)}
    if worker:
        annotations[f"{LABEL}/leader-name"] = f"{owner}-{group}"
    spec = copy.deepcopy(template["spec"])
    spec |= {"hostname": name, "subdomain": owner}
    injected = {
        "LWS_LEADER_ADDRESS": f"{owner}-{group}.{owner}.{namespace}",
        "LWS_GROUP_SIZE": str(size),
        "LWS_WORKER_INDEX": str(worker),
    }
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        own = [entry for entry in container.get("env") or () if entry["name"] not in injected]
        container["env"] = [*({"name": key, "value": value} for key, value in injected.items()), *own]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": labels,
            "annotations": annotations,
            **_owned(group_set),
        },
        "spec": spec,
    }


def _owned(group_set: Mapping[str, Any]) -> Object:
    """Return the owner reference to the set; empty for a set that the API server has not stored."""
    metadata = group_set["metadata"]
    if "uid" not in metadata:
        return {}
    owner = {"apiVersion": API, "kind": KIND, "name": metadata["name"], "uid": metadata["uid"]}
    return {"ownerReferences": [{**owner, "controller": True}]}
