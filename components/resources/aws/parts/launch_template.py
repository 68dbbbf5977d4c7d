"""What every launch template of ours says: encrypted disks, IMDSv2, tags on what EC2 makes from it, its placement."""

from collections.abc import Mapping

import pulumi
from pulumi_aws import ec2

from ....clouds.aws.nodes.launch import Disk
from .roles import named


def block_devices(disk: Disk) -> list[ec2.LaunchTemplateBlockDeviceMappingArgs]:
    """Return one encrypted gp3 volume that goes with the instance."""
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
    """Return IMDSv2 alone; with one hop pods do not reach it, and with it the node's role (aws-gpu spec 7)."""
    return ec2.LaunchTemplateMetadataOptionsArgs(
        http_endpoint="enabled", http_tokens="required", http_put_response_hop_limit=hops
    )


def tag_specifications(tags: Mapping[str, str]) -> list[ec2.LaunchTemplateTagSpecificationArgs]:
    """Return the tags of what EC2 makes: node groups hand none on."""
    kinds = ("instance", "volume", "network-interface")
    return [ec2.LaunchTemplateTagSpecificationArgs(resource_type=kind, tags=dict(tags)) for kind in kinds]


def placement_group(name: str, tags: Mapping[str, str], parent: pulumi.Resource) -> ec2.PlacementGroup:
    """Register a group whose nodes are close together."""
    return ec2.PlacementGroup(
        name,
        strategy=ec2.PlacementStrategy.CLUSTER,
        tags=named(name, tags),
        opts=pulumi.ResourceOptions(parent=parent),
    )
