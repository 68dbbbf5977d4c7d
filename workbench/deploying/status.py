"""What a cluster says about the models of a stack: ready pods of their workloads, and ready nodes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.fleet.shapes import shape_named
from toolkit.kube import Kube, KubeError, MalformedObject

from ..errors import WorkbenchError

_INSTANCE_TYPE = "node.kubernetes.io/instance-type"


@dataclass(frozen=True, slots=True)
class Readiness:
    """Replicas of a model.

    Attributes:
        ready: Ready replicas; None if no controller reports a status.
    """

    ready: int | None
    desired: int

    @property
    def complete(self) -> bool:
        return self.ready is not None and self.ready >= self.desired

    def __str__(self) -> str:
        return f"accepted ({self.desired})" if self.ready is None else f"{self.ready}/{self.desired}"


@dataclass(slots=True)
class ClusterStatus:
    """Ready pods by workload and ready nodes by instance type; empty if the cluster is unreachable."""

    pods: dict[tuple[str, str, str], tuple[int | None, int]] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)
    unread: list[MalformedObject] = field(default_factory=list)
    """Objects whose fields have other types than those of their kind; they are not counted."""
    reachable: bool = False

    @classmethod
    def read(cls, kubeconfig: str, models: Mapping[str, Any]) -> "ClusterStatus":
        status = cls()
        try:
            with Kube.from_kubeconfig(Path(kubeconfig)) as kube:
                for kind in sorted({kind for model in models.values() for kind, _ in parts_of(model)}):
                    status._count_pods(kube, kind)
                for node in kube.list("v1", "Node", unread=status.unread):
                    status._count_node(node)
        except (KubeError, WorkbenchError):
            return status
        status.reachable = True
        return status

    def readiness(self, model: Mapping[str, Any]) -> Readiness | None:
        """Return the replicas of all workloads of a model; None if the cluster has none of them."""
        namespace = str(model.get("namespace"))
        found = [self.pods.get((kind, namespace, part)) for kind, part in parts_of(model)]
        counts = [count for count in found if count]
        if not counts:
            return None
        ready = [count for count, _ in counts if count is not None]
        return Readiness(sum(ready) if ready else None, sum(count for _, count in counts))

    def _count_pods(self, kube: Kube, kind: str) -> None:
        shape = shape_named(kind)
        if shape is None:
            return
        for workload in kube.list(shape.api_version, kind, unread=self.unread):
            meta, status = workload["metadata"], workload.get("status", {})
            # Without its controller, as in the simulated cluster, a workload is accepted but has no status.
            reported = not shape.requires or status
            ready = status.get("readyReplicas", 0) if reported else None
            place = kind, meta.get("namespace", ""), meta["name"]
            self.pods[place] = ready, workload.get("spec", {}).get("replicas", 1)

    def _count_node(self, node: Mapping[str, Any]) -> None:
        if node.get("spec", {}).get("unschedulable"):
            return  # the live fleet cordons nodes that it holds in reserve
        conditions = node.get("status", {}).get("conditions") or ()
        if any(c["type"] == "Ready" and c["status"] == "True" for c in conditions):
            instance_type = node["metadata"].get("labels", {}).get(_INSTANCE_TYPE, "")
            self.nodes[instance_type] = self.nodes.get(instance_type, 0) + 1


def parts_of(model: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return kind and name of the objects of a model; the name of its workload may be that of no object."""
    default_kind = str(model.get("workloadKind"))
    # If a resource has workloads of several kinds, a part has the form kind/name.
    parts = [str(part).rpartition("/") for part in model.get("parts") or ()]
    return [(kind or default_kind, name) for kind, _, name in parts] or [(default_kind, str(model.get("workload")))]
