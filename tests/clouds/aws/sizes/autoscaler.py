"""The Cluster Autoscaler: which groups it finds, which sizes it keeps, and what it does when pods come and go.

kubernetes/autoscaler: cloudprovider/aws/auto_scaling_groups.go (explicit groups keep the bounds that they are given;
others are found by all tags of the discovery, with those of the Auto Scaling group), core/scaleup/orchestrator (up to
the minimum on request; nothing is added at the maximum), core/scaledown (nothing below the minimum).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.clouds.aws.sizes.account import Account, Group

USUAL_TAGS = ("k8s.io/cluster-autoscaler/enabled", "k8s.io/cluster-autoscaler/{cluster}")


@dataclass
class Autoscaler:
    """What the chart's values say.

    Attributes:
        told: Bounds by Auto Scaling group.
        tags: Keys that a group must have to be found.
    """

    told: dict[str, tuple[int, int]] = field(default_factory=dict)
    tags: Sequence[str] = ()
    fills: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Autoscaler":
        groups = values.get("autoscalingGroups", [])
        # Without a cluster to discover groups of, there are those that are named (deployment.yaml of its chart).
        discovery = values.get("autoDiscovery", {})
        usual = [tag.format(cluster=discovery["clusterName"]) for tag in USUAL_TAGS] if discovery else ()
        tags = discovery.get("tags") or usual
        fills = values["extraArgs"].get("enforce-node-group-min-size", False)
        return cls({each["name"]: (each["minSize"], each["maxSize"]) for each in groups}, tags, fills)

    def bounds(self, group: Group) -> tuple[int, int] | None:
        """Return the sizes that it keeps, None for a group that it does not know."""
        if group.scaled in self.told:
            return self.told[group.scaled]
        found = bool(self.tags) and all(tag in group.tags for tag in self.tags)
        return (group.sizes["minSize"], group.sizes["maxSize"]) if found else None

    def look(self, account: Account, wanted: Mapping[str, int]) -> None:
        """Bring groups to what their pods need; of the others no more than is busy is known to be needed.

        Args:
            account: Where the groups are.
            wanted: Nodes for running and pending pods, by name of the group.
        """
        account.settle()
        for group in account.groups.values():
            if group.status != "ACTIVE":
                continue
            bounds = self.bounds(group)
            needed = wanted.get(group.name, 0)
            if bounds:
                least, most = bounds
                up = min(max(needed, least if self.fills else 0), most)
                down = max(needed, least, 0)
                if up > group.sizes["desiredSize"]:
                    account.set_desired(group, up)
                elif down < group.sizes["desiredSize"]:
                    account.set_desired(group, down)
            group.busy = min(group.nodes, needed)
