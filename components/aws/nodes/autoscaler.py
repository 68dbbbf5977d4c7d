"""How the Cluster Autoscaler finds a node group, knows it without nodes (aws-gpu spec 9), and what sizes it keeps."""

from collections.abc import Mapping
from dataclasses import dataclass

from ...nodes.groups import NodeGroupDemand, offered_by
from ...nodes.instances import instance

_AUTOSCALER = "k8s.io/cluster-autoscaler"
_TEMPLATE = f"{_AUTOSCALER}/node-template"
_HANDED_OVER = "inference-platform/autoscaled"
"""EKS puts the autoscaler's own two tags on every managed node group (EKS user guide, managed node groups), also on
those that it must leave alone: only this third one tells which groups are its own."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The fewest and the most nodes that the autoscaler keeps."""

    minimum: int
    maximum: int


def discovery_keys(cluster: str) -> list[str]:
    """Return the keys of the tags that a group must have, all of them, for the autoscaler to find it."""
    return [f"{_AUTOSCALER}/enabled", f"{_AUTOSCALER}/{cluster}", _HANDED_OVER]


def discovery_tags(cluster: str) -> dict[str, str]:
    """Return the tags that hand a group over to the autoscaler; its permissions ask for the value of the second."""
    return dict(zip(discovery_keys(cluster), ("true", "owned", "true"), strict=True))


def tag_name(key: str) -> str:
    """Return the part of a resource's name that tells the tags of a group apart."""
    return key.removeprefix(f"{_AUTOSCALER}/")


def autoscaler_tags(group: NodeGroupDemand, labels: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the tags by which the Cluster Autoscaler knows a group without nodes (aws-gpu spec 9).

    Args:
        group: The group.
        labels: All labels that its nodes will carry, where they are more than the pods ask for.
    """
    node = instance(group.instance_type)
    offered = offered_by(group.instance_type, efa=group.efa)
    extended = {key: str(amount) for key, amount in offered.items() if "/" in key} if node else {}
    return {
        **{f"{_TEMPLATE}/label/{key}": value for key, value in (labels or group.labels).items()},
        **{f"{_TEMPLATE}/taint/{t['key']}": f"{t['value']}:{t['effect']}" for t in group.taints},
        **{f"{_TEMPLATE}/resources/{key}": amount for key, amount in extended.items()},
    }
