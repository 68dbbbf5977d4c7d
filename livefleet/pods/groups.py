"""How pods of LeaderWorkerSets belong together, by the labels and annotations of their controller."""

from collections.abc import Mapping
from typing import Any

from components.fleet.objects import LWS_LABEL

Object = dict[str, Any]


def leader_of(pod: Mapping[str, Any], pods: Mapping[str, Object]) -> Mapping[str, Any]:
    """Return the leader of a worker, if it exists; otherwise the pod itself.

    Args:
        pod: The pod.
        pods: All pods by ``namespace/name``.
    """
    meta = pod["metadata"]
    name = (meta.get("annotations") or {}).get(f"{LWS_LABEL}/leader-name")
    return pods.get(f"{meta['namespace']}/{name}", pod) if name else pod


def replica_of(pod: Mapping[str, Any]) -> str:
    """Return the id of a pod's replica within its workload: the index of its group, or the uid of a single pod."""
    labels = pod["metadata"].get("labels") or {}
    return str(labels.get(f"{LWS_LABEL}/group-index") or pod["metadata"]["uid"])


def set_of(pod: Mapping[str, Any]) -> str:
    """Return the name of the LeaderWorkerSet that a pod belongs to; empty for other pods."""
    return str((pod["metadata"].get("labels") or {}).get(f"{LWS_LABEL}/name") or "")
