"""Parts of node groups: launch templates, placement groups, EFA security groups, and tags of Auto Scaling groups."""

from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi_aws import autoscaling, ec2, eks, vpc

from ....clouds.aws.nodes.autoscaler import Bounds, tag_name
from ....clouds.aws.nodes.launch import Disk
from .common import after, named

_ALL_PROTOCOLS = "-1"


def block_devices(disk: Disk) -> list[ec2.LaunchTemplateBlockDeviceMappingArgs]:
    """Return one encrypted gp3 volume that is deleted with the instance."""
    volume = ec2.LaunchTemplateBlockDeviceMappingEbsArgs(
        volume_size=disk.gib,
        volume_type="gp3",
        throughput=disk.throughput,
        iops=disk.iops,
        encrypted="true",
        kms_key_id=disk.kms_key or None,
        delete_on_termination="true",
    )
    return [ec2.LaunchTemplateBlockDeviceMappingArgs(device_name=disk.device, ebs=volume)]


def metadata_options(hops: int = 1) -> ec2.LaunchTemplateMetadataOptionsArgs:
    """Require IMDSv2. With a hop limit of 1, pods cannot reach it and use the node's role (aws-gpu spec 7)."""
    return ec2.LaunchTemplateMetadataOptionsArgs(
        http_endpoint="enabled", http_tokens="required", http_put_response_hop_limit=hops
    )


def tag_specifications(tags: Mapping[str, str]) -> list[ec2.LaunchTemplateTagSpecificationArgs]:
    """Tag what EC2 launches; node groups do not propagate their tags."""
    kinds = ("instance", "volume", "network-interface")
    return [ec2.LaunchTemplateTagSpecificationArgs(resource_type=kind, tags=dict(tags)) for kind in kinds]


def placement_group(name: str, tags: Mapping[str, str], parent: pulumi.Resource) -> ec2.PlacementGroup:
    """Create a cluster placement group."""
    return ec2.PlacementGroup(
        name,
        strategy=ec2.PlacementStrategy.CLUSTER,
        tags=named(name, tags),
        opts=pulumi.ResourceOptions(parent=parent),
    )


def efa_security_group(
    name: str, vpc_id: pulumi.Input[str], tags: Mapping[str, str], parent: pulumi.Resource
) -> pulumi.Output[str]:
    """Create a security group that allows all traffic among its members and no other; return its ID.

    EFA requires this in both directions, in addition to the cluster's security group (aws-gpu spec 8). Resources that
    use the ID are deleted before the rules.
    """
    group = ec2.SecurityGroup(
        name,
        description="EFA traffic among the nodes of a model",
        vpc_id=vpc_id,
        tags=named(name, tags),
        opts=pulumi.ResourceOptions(parent=parent),
    )
    rules = [
        rule(
            f"{name}-{suffix}",
            security_group_id=group.id,
            referenced_security_group_id=group.id,
            ip_protocol=_ALL_PROTOCOLS,
            tags=named(name, tags),
            opts=pulumi.ResourceOptions(parent=parent),
        )
        for rule, suffix in ((vpc.SecurityGroupIngressRule, "in"), (vpc.SecurityGroupEgressRule, "out"))
    ]
    (id_,) = after(rules, group.id)
    return id_


def auto_scaling_group(group: eks.NodeGroup) -> pulumi.Output[str]:
    """Return the name of the one Auto Scaling group of a node group."""

    def first_name(resources: Any) -> str:  # noqa: ANN401  the SDK's lists
        name: str = resources[0].autoscaling_groups[0].name
        return name

    return group.resources.apply(first_name)


def bounds_of(group: eks.NodeGroup, bounds: Bounds) -> dict[str, Any]:
    """Return the entry of a group for the Cluster Autoscaler, as :meth:`.Bounds.values`."""
    return bounds.values(auto_scaling_group(group))


def tag_auto_scaling_group(
    name: str, group: eks.NodeGroup, tags: Mapping[str, str], parent: pulumi.Resource | None
) -> None:
    """Tag the Auto Scaling group of a node group, to which EKS propagates no tags (aws-gpu spec 7)."""
    scaled = auto_scaling_group(group)
    for key, value in tags.items():
        autoscaling.Tag(
            f"{name}-{tag_name(key)}",
            autoscaling_group_name=scaled,
            tag={"key": key, "value": value, "propagate_at_launch": False},
            opts=pulumi.ResourceOptions(parent=parent),
        )
