"""How the Cluster Autoscaler finds a node group, knows it without nodes (aws-gpu spec 9), and what sizes it keeps."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from ....fleet.instances import instance
from ....fleet.nodes.groups import NodeGroupDemand, offered_by

_AUTOSCALER = "k8s.io/cluster-autoscaler"
_TEMPLATE = f"{_AUTOSCALER}/node-template"
_HANDED_OVER = "inference-platform/autoscaled"
"""EKS puts the autoscaler's own two tags on every managed node group (EKS user guide, managed node groups), also on
those that it must leave alone: only this third one tells which groups are its own."""


EXPANDER = "priority,least-waste"
"""How the autoscaler chooses among groups that pending pods fit: the one with the highest priority and, of equal
ones, the one that leaves the least unused. Without priorities it ignores which nodes pods prefer
(kubernetes/autoscaler 55c37cd5, cluster-autoscaler/FAQ.md, "What are Expanders?")."""
_PRIORITY_STEP = 10
"""So that there is room for priorities of your own in between."""
_LOWEST = 1
_ANY = ".*"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The fewest and the most nodes that the autoscaler keeps, and which groups it tries first.

    Attributes:
        level: How many groups come after this one, one under another, in the order of all models; 0 for the last, and
            for those that no model compares.
    """

    minimum: int
    maximum: int
    level: int = 0

    def values(self, name: Any) -> dict[str, Any]:  # noqa: ANN401  a name or an output
        """Return the bounds as the chart has them in ``autoscalingGroups``, and the priority where there is one.

        Args:
            name: Name of the Auto Scaling group, or the promise of one.
        """
        first = {"priority": _PRIORITY_STEP * (self.level + 1)} if self.level else {}
        return {"name": name, "minSize": self.minimum, "maxSize": self.maximum, **first}


def chart_groups(bounds: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return bounds without priorities, for ``autoscalingGroups`` of the chart."""
    return [{key: value for key, value in each.items() if key != "priority"} for each in bounds]


def expander_priorities(bounds: Iterable[Mapping[str, Any]]) -> str:
    """Return which groups come first, as YAML for ``expanderPriorities`` of the chart: patterns of names by priority.

    All other groups come last: a group that no pattern matches would not be used while another can be. Names that EKS
    gives have letters, digits, - and _ alone, which mean themselves in patterns (kubernetes/autoscaler,
    cluster-autoscaler/expander/priority).
    """
    found: dict[int, list[str]] = {_LOWEST: [_ANY]}
    for each in bounds:
        if "priority" in each:
            found.setdefault(int(each["priority"]), []).append(f"^{each['name']}$")
    text: str = yaml.safe_dump(found)
    return text


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
