"""Tags, size bounds and priorities with which the Cluster Autoscaler scales node groups (aws-gpu spec 9)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from ....fleet.instances import instance
from ....fleet.nodes.groups import NodeGroupDemand, offered_by

_AUTOSCALER = "k8s.io/cluster-autoscaler"
_TEMPLATE = f"{_AUTOSCALER}/node-template"
_HANDED_OVER = "inference-platform/autoscaled"
"""EKS puts the autoscaler's two discovery tags on every managed node group (EKS user guide, managed node groups),
including those that must not be scaled. This third tag marks the groups that the autoscaler owns."""


EXPANDER = "priority,least-waste"
"""Selects among groups that pending pods fit: the highest priority first, then the least unused resources. Without
priorities the autoscaler ignores node preferences of pods (kubernetes/autoscaler 55c37cd5,
cluster-autoscaler/FAQ.md, "What are Expanders?")."""
_PRIORITY_STEP = 10
"""Leaves room for the user's own priorities in between."""
_LOWEST = 1
_ANY = ".*"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Minimum and maximum size of a group that the autoscaler enforces, and its priority.

    Attributes:
        level: Length of the longest chain of groups that models prefer less than this one; 0 for the last group, and
            for groups that no model compares.
    """

    minimum: int
    maximum: int
    level: int = 0

    def values(self, name: Any) -> dict[str, Any]:  # noqa: ANN401  a name or an output
        """Return an entry of the chart's ``autoscalingGroups``, with the priority if there is one.

        Args:
            name: Name of the Auto Scaling group, or an output.
        """
        first = {"priority": _PRIORITY_STEP * (self.level + 1)} if self.level else {}
        return {"name": name, "minSize": self.minimum, "maxSize": self.maximum, **first}


def chart_groups(bounds: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return bounds without priorities, for ``autoscalingGroups`` of the chart."""
    return [{key: value for key, value in entry.items() if key != "priority"} for entry in bounds]


def expander_priorities(bounds: Iterable[Mapping[str, Any]]) -> str:
    """Return name patterns by priority, as YAML for ``expanderPriorities`` of the chart.

    The lowest priority matches every group, because the expander does not use a group that no pattern matches while
    another one fits. Names are not escaped: those that EKS assigns consist of letters, digits, - and _
    (kubernetes/autoscaler, cluster-autoscaler/expander/priority).
    """
    patterns: dict[int, list[str]] = {_LOWEST: [_ANY]}
    for entry in bounds:
        if "priority" in entry:
            patterns.setdefault(int(entry["priority"]), []).append(f"^{entry['name']}$")
    text: str = yaml.safe_dump(patterns)
    return text


def discovery_keys(cluster: str) -> list[str]:
    """Return the keys of the tags that a group must have, all of them, for the autoscaler to discover it."""
    return [f"{_AUTOSCALER}/enabled", f"{_AUTOSCALER}/{cluster}", _HANDED_OVER]


def discovery_tags(cluster: str) -> dict[str, str]:
    """Return the tags of a group that the autoscaler owns; its IAM policy requires the value of the second."""
    return dict(zip(discovery_keys(cluster), ("true", "owned", "true"), strict=True))


def tag_name(key: str) -> str:
    """Return the part of a tag resource's name that is unique within a group."""
    return key.removeprefix(f"{_AUTOSCALER}/")


def resource_tag(resource: str) -> str:
    """Return the key of the tag with the amount of a resource on each node of a group."""
    return f"{_TEMPLATE}/resources/{resource}"


def autoscaler_tags(group: NodeGroupDemand, labels: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the tags that describe the nodes of an empty group to the Cluster Autoscaler (aws-gpu spec 9).

    Args:
        group: The group.
        labels: All labels of its nodes, if there are more than the pods select.
    """
    node = instance(group.instance_type)
    offered = offered_by(group.instance_type, efa=group.efa)
    extended = {key: str(amount) for key, amount in offered.items() if "/" in key} if node else {}
    return {
        **{f"{_TEMPLATE}/label/{key}": value for key, value in (labels or group.labels).items()},
        **{f"{_TEMPLATE}/taint/{t['key']}": f"{t['value']}:{t['effect']}" for t in group.taints},
        **{resource_tag(key): amount for key, amount in extended.items()},
    }
