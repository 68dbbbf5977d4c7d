"""Managed node groups that existed before a stack, and that it imports and owns under their own names."""

from collections.abc import Mapping

import pulumi
from pulumi_aws import eks

from ....clouds.aws.nodes.owned import API_EFFECTS, OwnedGroup
from ..args import AwsTimeoutArgs
from .waiting import node_group_option


def owned_node_group(
    name: str,
    cluster: str,
    group: OwnedGroup,
    tags: Mapping[str, str],
    parent: pulumi.Resource,
    timeouts: AwsTimeoutArgs,
) -> eks.NodeGroup:
    """Import a node group with exactly the properties that it has.

    Computed properties without a setting are left out, so that the provider keeps them: version, image release and
    node repair.

    Args:
        name: Logical name.
        cluster: Name of the cluster.
        group: The group.
        tags: Tags of the stack.
        parent: The component.
        timeouts: Its argument of this name.
    """
    fixed = group.fixed
    minimum, maximum, desired = fixed.size
    template = None
    if fixed.launch_template_id:
        template = eks.NodeGroupLaunchTemplateArgs(id=fixed.launch_template_id, version=group.launch_template_version)
    access = None
    if fixed.ssh_key or fixed.ssh_security_groups:
        access = eks.NodeGroupRemoteAccessArgs(
            ec2_ssh_key=fixed.ssh_key or None, source_security_group_ids=list(fixed.ssh_security_groups) or None
        )
    taints = [
        eks.NodeGroupTaintArgs(key=taint["key"], value=taint["value"] or None, effect=API_EFFECTS[taint["effect"]])
        for taint in group.taints
    ]
    return eks.NodeGroup(
        name,
        cluster_name=cluster,
        node_group_name=group.name,
        node_role_arn=fixed.node_role_arn,
        subnet_ids=list(fixed.subnets),
        ami_type=fixed.ami_type or None,
        capacity_type=fixed.capacity_type,
        disk_size=fixed.disk_gib,
        instance_types=list(fixed.instance_types) or None,
        launch_template=template,
        remote_access=access,
        scaling_config=eks.NodeGroupScalingConfigArgs(min_size=minimum, max_size=maximum, desired_size=desired),
        update_config=eks.NodeGroupUpdateConfigArgs(**group.update) if group.update else None,
        labels=dict(group.labels) or None,
        taints=taints or None,
        tags={**tags, **group.tags} or None,
        version=group.version or None,
        release_version=group.release or None,
        opts=pulumi.ResourceOptions(
            parent=parent,
            # In state already after `pulumi import`; from then on it makes the engine reject a replacement.
            import_=f"{cluster}:{group.name}",
            # All of it: an update of one size would also send the desired size of the adoption (nodes/sizes.py).
            ignore_changes=["scalingConfig"],
            retain_on_delete=group.retain or None,
            custom_timeouts=node_group_option(max(1, maximum), group.nodes_at_once(maximum), timeouts),
        ),
    )
