"""The Auto Scaling groups behind node groups: their tags, and what the autoscaler is told about them."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
from pulumi_aws import autoscaling, eks

from ....clouds.aws.nodes.autoscaler import Bounds, tag_name


def auto_scaling_group(group: eks.NodeGroup) -> pulumi.Output[str]:
    """Return the name of the one Auto Scaling group behind a node group."""
    return group.resources.apply(_name)


def _name(resources: Sequence[Any]) -> str:
    name: str = resources[0].autoscaling_groups[0].name
    return name


def bounds_of(group: eks.NodeGroup, bounds: Bounds) -> dict[str, Any]:
    """Return what the autoscaler must know of a group, as :meth:`.Bounds.values`."""
    return bounds.values(auto_scaling_group(group))


def tag_group(name: str, group: eks.NodeGroup, tags: Mapping[str, str], parent: pulumi.Resource | None) -> None:
    """Register tags of the Auto Scaling group; EKS hands none on (aws-gpu spec 7)."""
    scaled = auto_scaling_group(group)
    for key, value in tags.items():
        autoscaling.Tag(
            f"{name}-{tag_name(key)}",
            autoscaling_group_name=scaled,
            tag={"key": key, "value": value, "propagate_at_launch": False},
            opts=pulumi.ResourceOptions(parent=parent),
        )
