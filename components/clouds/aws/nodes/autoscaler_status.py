"""Node groups that the Cluster Autoscaler reports as short of nodes.

Sources: kubernetes/autoscaler, cluster-autoscaler/clusterstate/api/types.go (the status in its ConfigMap),
cloudprovider/aws/aws_cloud_provider.go (if EC2 launches no instance, the group is reported as out of resources).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

STATUS = "cluster-autoscaler-status"
"""Name of the ConfigMap, in the namespace of the autoscaler; its key is ``status``."""
_NO_INSTANCES = "placeholder-cannot-be-fulfilled"
_BACKOFF = "Backoff"


@dataclass(frozen=True, slots=True)
class Shortage:
    """A group that has fewer nodes than it should have.

    Attributes:
        group: Name of the Auto Scaling group.
        ready: Nodes that are ready.
        wanted: The target size, at least the minimum.
        error: Code and message of a failed scale-up; empty while nodes start.
        no_instances: Whether EC2 launched no instances for it.
    """

    group: str
    ready: int
    wanted: int
    error: str = ""
    no_instances: bool = False

    def __str__(self) -> str:
        """Return a message with the next step."""
        text = f"{self.group}: {self.ready} of {self.wanted} nodes are ready"
        if not self.error:
            return f"{text}; they are being launched, or start"
        if not self.no_instances:
            return f"{text}; the Cluster Autoscaler adds none for now: {self.error}"
        return (
            f"{text}; EC2 launches no more: {self.error}. The autoscaler tries again; until then pods stay Pending. "
            "The reason, such as insufficient capacity or a quota: aws autoscaling describe-scaling-activities "
            f"--max-items 5 --auto-scaling-group-name {self.group}. Ways out: more zones or spotTypes under "
            "gpuNodes.types, a reservation, or another flavor of the model"
        )


def shortages(status: str) -> list[Shortage]:
    """Return the groups that lack nodes, by name.

    Args:
        status: The status of the autoscaler, as YAML (since version 1.30).

    Raises:
        ValueError: The text is not such a status.
    """
    try:
        read: Any = yaml.safe_load(status)
    except yaml.YAMLError:
        read = None
    known = isinstance(read, Mapping) and "autoscalerStatus" in read
    groups = (read.get("nodeGroups") or []) if known else None
    if not known or not isinstance(groups, list):
        raise ValueError("is no status of a Cluster Autoscaler from version 1.30 on")
    unready = []
    for group in groups:
        if not isinstance(group, Mapping):
            continue
        health, scale_up = group.get("health") or {}, group.get("scaleUp") or {}
        ready = ((health.get("nodeCounts") or {}).get("registered") or {}).get("ready", 0)
        target = max(health.get("cloudProviderTarget", 0), health.get("minSize", 0))
        failed = scale_up.get("status") == _BACKOFF
        if ready >= target and not failed:
            continue
        backoff = scale_up.get("backoffInfo") or {}
        code = str(backoff.get("errorCode", ""))
        error = ": ".join(filter(None, (code, str(backoff.get("errorMessage", ""))))) or "it gives no reason"
        # After a failed scale-up, the autoscaler lowers its target by the nodes that did not launch.
        target = max(target, ready + 1) if failed else target
        unready.append(
            Shortage(str(group.get("name", "")), ready, target, error if failed else "", code == _NO_INSTANCES)
        )
    return sorted(unready, key=lambda shortage: shortage.group)
