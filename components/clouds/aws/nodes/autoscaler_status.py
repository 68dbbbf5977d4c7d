"""What the Cluster Autoscaler says about nodes that it cannot have, in words.

Source: kubernetes/autoscaler, cluster-autoscaler/clusterstate/api/types.go (the status that it keeps in a ConfigMap),
cloudprovider/aws/aws_cloud_provider.go (a node of which EC2 launched no instance is reported as one of a group that
is out of resources).
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
        wanted: Nodes that the autoscaler asked for, or keeps.
        error: Why it adds none for now: its code and message; empty while nodes start.
    """

    group: str
    ready: int
    wanted: int
    error: str = ""
    no_instances: bool = False

    def __str__(self) -> str:
        """Return it as a sentence with the next step."""
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
    """Return the groups without all their nodes, by name.

    Args:
        status: The status of the autoscaler, as YAML (since version 1.30).

    Raises:
        ValueError: it is not such a status.
    """
    try:
        read: Any = yaml.safe_load(status)
    except yaml.YAMLError:
        read = None
    known = isinstance(read, Mapping) and "autoscalerStatus" in read
    groups = (read.get("nodeGroups") or []) if known else None
    if not known or not isinstance(groups, list):
        raise ValueError("is no status of a Cluster Autoscaler from version 1.30 on")
    found = (_shortage(group) for group in groups if isinstance(group, Mapping))
    return sorted(filter(None, found), key=lambda each: each.group)


def _shortage(group: Mapping[str, Any]) -> Shortage | None:
    health, growth = group.get("health") or {}, group.get("scaleUp") or {}
    ready = ((health.get("nodeCounts") or {}).get("registered") or {}).get("ready", 0)
    wanted = max(health.get("cloudProviderTarget", 0), health.get("minSize", 0))
    failed = growth.get("status") == _BACKOFF
    if ready >= wanted and not failed:
        return None
    why = growth.get("backoffInfo") or {}
    code = str(why.get("errorCode", ""))
    error = ": ".join(filter(None, (code, str(why.get("errorMessage", ""))))) or "it gives no reason"
    # After a failure the autoscaler takes the nodes that did not come off what it asks for.
    wanted = max(wanted, ready + 1) if failed else wanted
    return Shortage(str(group.get("name", "")), ready, wanted, error if failed else "", code == _NO_INSTANCES)
