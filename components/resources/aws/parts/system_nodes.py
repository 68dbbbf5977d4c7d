"""The untainted node group on which CoreDNS and the controllers of a cluster run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pulumi
from pulumi_aws import ec2, eks

from ....clouds.aws.facts.eks import limits, system_ami_type
from ....clouds.aws.nodes.autoscaler import Bounds, discovery_tags
from ....clouds.aws.nodes.launch import SYSTEM_DISK_GIB, Disk, data_device
from ....clouds.aws.words import NodeImage
from ....fleet.instances import instance
from ....fleet.nodes.fit import nearest_types
from .auto_scaling_groups import tag_group
from .launch_template import block_devices, metadata_options, tag_specifications
from .roles import named, replaceable_name

DEFAULT_TYPES = ("m7i.large",)
_ON_DEMAND = "ON_DEMAND"


@dataclass(frozen=True, slots=True)
class SystemNodes:
    """How many system nodes of which types.

    Attributes:
        count: How many there are, or how many at least where ``most`` is set.
        most: How many the autoscaler may make of them; None where nobody scales them.
        label: Name of the cluster.
        release: Release of the image; empty for EKS's newest.
        force_update: Whether updates replace nodes whose pods a disruption budget keeps.
    """

    types: Sequence[str]
    count: int
    image: str
    most: int | None
    version: str
    label: str
    release: str = ""
    force_update: bool = False
    kms_key: str = ""
    """ARN of the key of their disks; empty for the account's own."""

    @property
    def bounds(self) -> Bounds | None:
        """What the autoscaler keeps; None where it leaves the nodes alone."""
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
    """Register the group; ``problems`` has been asked before."""
    first = instance(nodes.types[0])
    if first is None:
        raise ValueError(nodes.types[0])
    template = _template(name, nodes, tags, opts.parent)
    image = system_ami_type(first, nodes.image)
    group = eks.NodeGroup(
        name,
        cluster_name=cluster,
        node_group_name=_replaceable(nodes, image, role_arn, subnet_ids),
        node_role_arn=role_arn,
        subnet_ids=subnet_ids,
        ami_type=image,
        version=nodes.version,
        release_version=nodes.release or None,
        force_update_version=nodes.force_update or None,
        capacity_type=_ON_DEMAND,
        instance_types=list(nodes.types),
        scaling_config=_scaling(nodes),
        update_config=eks.NodeGroupUpdateConfigArgs(max_unavailable=1),
        launch_template=eks.NodeGroupLaunchTemplateArgs(id=template.id, version=template.latest_version.apply(str)),
        tags=named(name, tags),
        opts=pulumi.ResourceOptions.merge(
            opts,
            pulumi.ResourceOptions(
                ignore_changes=["scalingConfig"] if nodes.bounds else None,
                # Without it the provider has the old group deleted first, as it does for every resource whose name
                # the program states (pulumi/pulumi-terraform-bridge, nameRequiresDeleteBeforeReplace); without
                # CoreDNS nothing works meanwhile.
                delete_before_replace=False,
            ),
        ),
    )
    if nodes.bounds:
        tag_group(name, group, discovery_tags(nodes.label), opts.parent)
    return group


def _replaceable(
    nodes: SystemNodes, image: str, role_arn: pulumi.Input[str], subnet_ids: pulumi.Input[list[str]]
) -> pulumi.Output[str]:
    """Return a name under which a replacement is there before the old nodes go: without CoreDNS nothing works.

    Who scales the nodes is a part of it, because EKS is not told of another maximum.
    """
    scaled = "scaled" if nodes.bounds else "fixed"
    return replaceable_name("system", image, *nodes.types, scaled, role_arn, pulumi.Output.json_dumps(subnet_ids))


def _scaling(nodes: SystemNodes) -> eks.NodeGroupScalingConfigArgs:
    """Return sizes that no edit can bring into conflict.

    A fixed size leaves nothing to the autoscaler, which finds every managed group. Of a scaled group EKS is told once
    (see nodes/sizes.py).
    """
    most = limits().nodes_per_group if nodes.bounds else nodes.count
    return eks.NodeGroupScalingConfigArgs(
        min_size=0 if nodes.bounds else nodes.count, desired_size=nodes.count, max_size=most
    )


def _template(
    name: str, nodes: SystemNodes, tags: Mapping[str, str], parent: pulumi.Resource | None
) -> ec2.LaunchTemplate:
    return ec2.LaunchTemplate(
        name,
        description=f"System nodes of {nodes.label}",
        update_default_version=True,
        block_device_mappings=block_devices(Disk(data_device(nodes.image), SYSTEM_DISK_GIB, kms_key=nodes.kms_key)),
        metadata_options=metadata_options(),
        tag_specifications=tag_specifications(named(name, tags)),
        tags=named(name, tags),
        opts=pulumi.ResourceOptions(parent=parent),
    )


def problems(types: Sequence[str], count: int, image: str, most: int | None) -> Iterator[tuple[str, str]]:
    """Return what is wrong, by argument of the Cluster."""
    if image not in list(NodeImage):
        yield "image", f"must be one of {', '.join(NodeImage)}, found {image!r}"
    for name in types:
        if instance(name) is None:
            yield "system_instance_types", f"unknown instance type {name!r}{nearest_types(name)}"
    known = [node for node in map(instance, types) if node]
    if len({node.arch for node in known}) > 1:
        archs = ", ".join(f"{node.name} is {node.arch}" for node in known)
        yield "system_instance_types", f"mixed architectures in one group: {archs}"
    if any(node.accelerators for node in known):
        yield (
            "system_instance_types",
            "system pods do not need accelerators; use general-purpose types, such as m7i.large",
        )
    if not types:
        yield "system_instance_types", "name at least one, such as m7i.large"
    if count < 1:
        yield "system_nodes", f"must be at least 1, found {count}"
    if count > limits().nodes_per_group:
        yield "system_nodes", f"must be at most {limits().nodes_per_group}, found {count}"
    if most is not None and not count <= most <= limits().nodes_per_group:
        yield (
            "system_nodes_max",
            f"must be from the usual number ({count}) to {limits().nodes_per_group}, found {most}",
        )
