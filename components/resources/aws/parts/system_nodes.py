"""The untainted node group for CoreDNS and the controllers of a cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
from pulumi_aws import ec2, eks

from ....clouds.aws.facts.eks import limits, system_ami_type
from ....clouds.aws.nodes.autoscaler import Bounds, discovery_tags
from ....clouds.aws.nodes.launch import SYSTEM_DISK_GIB, Disk, data_device
from ....fleet.instances import instance
from .common import named, replaceable_name
from .node_groups import block_devices, metadata_options, tag_auto_scaling_group, tag_specifications


@dataclass(frozen=True, slots=True)
class SystemNodes:
    """The system nodes of a cluster.

    Attributes:
        count: Number of nodes; with ``most``, the minimum.
        most: Maximum number of nodes for the autoscaler; None for a fixed number.
        cluster: Name of the cluster.
        release: AMI release; empty for the newest of EKS.
        force_update: Whether updates proceed when a disruption budget blocks the eviction of pods.
        kms_key: ARN of the KMS key of the disks; empty for the account's default key.
        hops: Hop limit of the instance metadata service.
    """

    types: Sequence[str]
    count: int
    image: str
    most: int | None
    version: str
    cluster: str
    release: str = ""
    force_update: bool = False
    kms_key: str = ""
    hops: int = 1

    @property
    def bounds(self) -> Bounds | None:
        """Bounds for the autoscaler; None for a fixed number."""
        return None if self.most is None else Bounds(self.count, self.most)


def system_node_group(
    name: str,
    nodes: SystemNodes,
    cluster: pulumi.Input[str],
    role_arn: pulumi.Input[str],
    subnet_ids: pulumi.Input[list[str]],
    tags: Mapping[str, str],
    opts: pulumi.ResourceOptions,
) -> eks.NodeGroup:
    """Create the node group. ``system_problems`` must have found none."""
    first = instance(nodes.types[0])
    if first is None:
        raise ValueError(nodes.types[0])
    template = ec2.LaunchTemplate(
        name,
        description=f"System nodes of {nodes.cluster}",
        update_default_version=True,
        block_device_mappings=block_devices(Disk(data_device(nodes.image), SYSTEM_DISK_GIB, kms_key=nodes.kms_key)),
        metadata_options=metadata_options(nodes.hops),
        tag_specifications=tag_specifications(named(name, tags)),
        tags=named(name, tags),
        opts=pulumi.ResourceOptions(parent=opts.parent),
    )
    image = system_ami_type(first, nodes.image)
    # A digest of what forces a replacement is part of the name, so that the new nodes exist before the old ones are
    # deleted. "scaled" is included because a change of who scales the nodes must replace them: EKS ignores the new
    # sizes (see ignore_changes).
    scaled = "scaled" if nodes.bounds else "fixed"
    group = eks.NodeGroup(
        name,
        cluster_name=cluster,
        node_group_name=replaceable_name(
            "system", image, *nodes.types, scaled, role_arn, pulumi.Output.json_dumps(subnet_ids)
        ),
        node_role_arn=role_arn,
        subnet_ids=subnet_ids,
        ami_type=image,
        version=nodes.version,
        release_version=nodes.release or None,
        force_update_version=nodes.force_update or None,
        capacity_type="ON_DEMAND",
        instance_types=list(nodes.types),
        # Three equal sizes leave nothing to the autoscaler, which discovers every managed group. A scaled group gets
        # sizes only once, with which no later edit of them conflicts (see nodes/sizes.py).
        scaling_config=eks.NodeGroupScalingConfigArgs(
            min_size=0 if nodes.bounds else nodes.count,
            desired_size=nodes.count,
            max_size=limits().nodes_per_group if nodes.bounds else nodes.count,
        ),
        update_config=eks.NodeGroupUpdateConfigArgs(max_unavailable=1),
        launch_template=eks.NodeGroupLaunchTemplateArgs(id=template.id, version=template.latest_version.apply(str)),
        tags=named(name, tags),
        opts=pulumi.ResourceOptions.merge(
            opts,
            pulumi.ResourceOptions(
                ignore_changes=["scalingConfig"] if nodes.bounds else None,
                # The provider deletes a resource first if the program states its name
                # (pulumi/pulumi-terraform-bridge, nameRequiresDeleteBeforeReplace). Nothing works without CoreDNS in
                # the meantime.
                delete_before_replace=False,
            ),
        ),
    )
    if nodes.bounds:
        tag_auto_scaling_group(name, group, discovery_tags(nodes.cluster), opts.parent)
    return group
