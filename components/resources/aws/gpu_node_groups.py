"""Managed node groups for flavors, or for the models of a fleet.

GpuNodeGroups
├── ec2.SecurityGroup + rules   <name>-efa, if a group has EFA
├── eks.NodeGroup               <name>-owned-<group>, per existing group that is owned
└── per group
    ├── ec2.PlacementGroup      <name>-<group>, on request
    ├── ec2.LaunchTemplate      <name>-<group>
    ├── eks.NodeGroup           <name>-<group>
    ├── autoscaling.Tag         <name>-<group>-<tag>, per tag for the Cluster Autoscaler
    └── autoscaling.Schedule    <name>-<group>-begin, for a Capacity Block

An instance type with Capacity Blocks has one group per block; its name ends with the block's ID.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, Self

import pulumi
from pulumi_aws import autoscaling, ec2, eks

from ...clouds.aws.facts.eks import limits
from ...clouds.aws.facts.updates import rolling_fields
from ...clouds.aws.nodes.autoscaler import discovery_tags
from ...clouds.aws.nodes.launch import Interface
from ...clouds.aws.nodes.owned import OwnedGroup
from ...clouds.aws.nodes.plan import NodeGroupPlan, created, of_blocks
from ...clouds.aws.nodes.replacement import owned_suffix
from ...clouds.aws.nodes.sizes import CapacityBlock
from ...clouds.aws.nodes.user_data import ClusterAddress, user_data
from ...clouds.aws.words import Provisioner
from ...fleet.nodes.policy import Capacity
from ..serving.objects import token
from .args import GpuNodeGroupsArgs
from .cluster_checks import SERVICE_CIDR
from .node_planning import planned_groups
from .parts.common import named, replaceable_name
from .parts.node_groups import (
    auto_scaling_group,
    block_devices,
    bounds_of,
    efa_security_group,
    metadata_options,
    placement_group,
    tag_auto_scaling_group,
    tag_specifications,
)
from .parts.owned_groups import owned_node_group
from .parts.waiting import node_group_option, waiting

_KEEP = -1
"""Value with which a scheduled action leaves a size unchanged."""
_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
_FIXED_WHILE_RUNNING = ("amiType", "launchTemplate", "nodeGroupName", "releaseVersion", "version")
"""Properties that must not change while a Capacity Block runs. EKS requires a desired size of 0 during updates of
such a group (EKS user guide, "Create a managed node group with Capacity Blocks for ML"), and a replacement would
terminate its nodes."""


class GpuNodeGroups(pulumi.ComponentResource):
    """Creates one managed node group per distinct node requirement of flavors or models.

    Groups start empty. From then on the Cluster Autoscaler owns their desired, minimum and maximum size, and no
    update changes them. Existing groups that a type owns are imported as they are. Does not install the autoscaler or
    device plugins, and does not create reservations, but uses existing ones.
    """

    names: pulumi.Output[list[str]]
    """Names of the node groups."""
    bounds: pulumi.Output[list[dict[str, Any]]]
    """Bounds of each group: name of its Auto Scaling group, minSize, maxSize and, if a model prefers it to another,
    priority. EKS does not enforce them: pass them to ClusterAutoscaler or, with enforce-node-group-min-size, to the
    chart of another autoscaler as autoscalingGroups."""

    def __init__(self, name: str, args: GpuNodeGroupsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Plan, check and create the groups.

        Raises:
            InvalidArguments: arguments or nodes are invalid; every problem is listed.
        """
        args, groups, environment = planned_groups(name, args, GpuNodeGroupsArgs, Provisioner.MANAGED)
        self.register(name, groups, args, opts, environment.owned_groups)

    @classmethod
    def of(
        cls,
        name: str,
        groups: Sequence[NodeGroupPlan],
        args: GpuNodeGroupsArgs,
        opts: pulumi.ResourceOptions | None = None,
        owned: Sequence[OwnedGroup] = (),
    ) -> Self:
        """Create the component from checked plans; of the arguments, only those about the cluster are used."""
        component = cls.__new__(cls)
        component.register(name, groups, args, opts, owned)
        return component

    def register(
        self,
        name: str,
        groups: Sequence[NodeGroupPlan],
        args: GpuNodeGroupsArgs,
        opts: pulumi.ResourceOptions | None,
        owned: Sequence[OwnedGroup] = (),
    ) -> None:
        pulumi.ComponentResource.__init__(
            self, token("GpuNodeGroups"), name, {}, waiting(opts, args.get("timeouts", {}))
        )
        self._name, self._args = name, args
        self._tags = args.get("tags", {})
        groups = created(groups)
        with_efa = any(group.interfaces for group in groups)
        self._efa_group = efa_security_group(f"{name}-efa", args["vpc_id"], self._tags, self) if with_efa else None
        self.groups: dict[str, eks.NodeGroup] = {
            part.name: self._group(part) for group in groups for part in of_blocks(group)
        }
        cluster = args["cluster_plain_name"]
        self.owned = [
            owned_node_group(
                f"{name}-{owned_suffix(group.name)}",
                cluster,
                group=group,
                tags=self._tags,
                parent=self,
                timeouts=args.get("timeouts", {}),
            )
            for group in owned
        ]
        self.names = pulumi.Output.all(*(group.node_group_name for group in (*self.groups.values(), *self.owned)))
        self.bounded = [
            bounds_of(self.groups[group.name], group.bounds) for group in groups if group.bounds is not None
        ]
        self.bounds = pulumi.Output.from_input(self.bounded)
        self.register_outputs({"names": self.names, "bounds": self.bounds})

    def _child(self, **options: Any) -> pulumi.ResourceOptions:  # noqa: ANN401  resource options
        return pulumi.ResourceOptions(parent=self, **options)

    def _group(self, plan: NodeGroupPlan) -> eks.NodeGroup:
        name = f"{self._name}-{plan.name}"
        template = self._launch_template(name, plan)
        subnets = [self._args["subnets"][zone] for zone in plan.zones]
        role = self._args["node_role_arn"]
        group = eks.NodeGroup(
            name,
            cluster_name=self._args["cluster_name"],
            node_group_name=replaceable_name(plan.name, plan.id, role, *subnets),
            node_role_arn=role,
            subnet_ids=subnets,
            ami_type=plan.ami_type,
            version=None if plan.ami_id else self._args["version"],
            release_version=plan.release or None,
            force_update_version=plan.force_update or None,
            capacity_type=plan.capacity_type,
            instance_types=None if plan.demand.capacity == Capacity.CAPACITY_BLOCK else list(plan.instance_types),
            scaling_config=eks.NodeGroupScalingConfigArgs(
                min_size=0, desired_size=0, max_size=limits().nodes_per_group
            ),
            update_config=eks.NodeGroupUpdateConfigArgs(
                max_unavailable=plan.max_unavailable, update_strategy=plan.update_strategy
            ),
            node_repair_config=eks.NodeGroupNodeRepairConfigArgs(enabled=self._args.get("node_repair", False)),
            labels=dict(plan.labels),
            taints=[eks.NodeGroupTaintArgs(**taint) for taint in plan.taints],
            launch_template=eks.NodeGroupLaunchTemplateArgs(
                id=template.id, version=template.latest_version.apply(str)
            ),
            tags=named(name, self._tags),
            opts=self._child(
                # All of it: an update of one size would also send the desired size of the creation (nodes/sizes.py).
                ignore_changes=["scalingConfig", *(_FIXED_WHILE_RUNNING if _runs(plan) else ())],
                # A second group would need the reserved instances twice.
                delete_before_replace=plan.reserved,
                aliases=self._former_aliases(plan),
                custom_timeouts=node_group_option(plan.maximum, plan.max_unavailable, self._args.get("timeouts", {})),
            ),
        )
        if plan.autoscaled:
            discovery = discovery_tags(self._args["cluster_plain_name"])
            tag_auto_scaling_group(name, group, {**discovery, **plan.tags}, self)
        for block in plan.blocks:
            self._schedule(name, plan, block, group)
        return group

    def _launch_template(self, name: str, plan: NodeGroupPlan) -> ec2.LaunchTemplate:
        tags = named(name, self._tags)
        block = plan.demand.capacity == Capacity.CAPACITY_BLOCK
        return ec2.LaunchTemplate(
            name,
            description=f"Nodes {plan.name} of {self._args['cluster_plain_name']}",
            update_default_version=True,
            image_id=plan.ami_id,
            instance_type=plan.node.name if block else None,
            user_data=self._user_data(plan),
            block_device_mappings=block_devices(plan.disk),
            metadata_options=metadata_options(self._args.get("imds_hop_limit", 1)),
            network_interfaces=[self._interface(interface) for interface in plan.interfaces] or None,
            capacity_reservation_specification=_reservation(plan),
            instance_market_options={"market_type": str(Capacity.CAPACITY_BLOCK)} if block else None,
            placement={"group_name": placement_group(name, self._tags, self).name} if plan.placement_group else None,
            tag_specifications=tag_specifications(tags),
            tags=tags,
            opts=self._child(
                ignore_changes=list(rolling_fields(_TEMPLATE)) if _runs(plan) else None,
                aliases=self._former_aliases(plan),
            ),
        )

    def _former_aliases(self, plan: NodeGroupPlan, suffix: str = "") -> list[pulumi.Alias] | None:
        """Return the alias of a Capacity Block's resource in stacks of earlier releases."""
        return [pulumi.Alias(name=f"{self._name}-{plan.former}{suffix}")] if plan.former else None

    def _user_data(self, plan: NodeGroupPlan) -> pulumi.Input[str]:
        if not plan.ami_id:
            return user_data(plan.start, plan.image)
        args = self._args
        facts = (args["cluster_name"], args.get("endpoint", ""), args.get("certificate_authority", ""))
        cidr = args.get("service_cidr", SERVICE_CIDR)
        return pulumi.Output.all(*facts).apply(
            lambda known: user_data(plan.start, plan.image, ClusterAddress(known[0], known[1], known[2], cidr))
        )

    def _interface(self, interface: Interface) -> ec2.LaunchTemplateNetworkInterfaceArgsDict:
        groups = [self._args["cluster_security_group_id"]]
        if self._efa_group is not None:
            groups.append(self._efa_group)
        return {
            "network_card_index": interface.card,
            "device_index": interface.device,
            "interface_type": interface.type,
            "security_groups": groups,
            "delete_on_termination": "true",
        }

    def _schedule(self, name: str, plan: NodeGroupPlan, block: CapacityBlock, group: eks.NodeGroup) -> None:
        """Create the scheduled action that scales a group up for its Capacity Block."""
        filling = block.filling
        if filling is None:
            return
        # A change creates another action, because an update would send the start time that the provider last read,
        # which is in the past (pulumi/pulumi-aws, issue 2473). The old action is deleted first, since two actions
        # must not be due at the same time (Auto Scaling user guide, "Scheduled scaling", Limitations).
        facts = repr((block.reservation.starts, filling.ends, filling.nodes))
        autoscaling.Schedule(
            f"{name}-begin",
            scheduled_action_name=f"{name}-begin-{hashlib.sha256(facts.encode()).hexdigest()[:6]}",
            autoscaling_group_name=auto_scaling_group(group),
            recurrence=filling.recurrence,
            start_time=f"{filling.starts:%Y-%m-%dT%H:%M:%SZ}" if filling.starts else None,
            end_time=f"{filling.ends:%Y-%m-%dT%H:%M:%SZ}",
            min_size=_KEEP,
            desired_capacity=filling.nodes,
            max_size=_KEEP,
            # AWS advances the start time of a started action with each recurrence.
            opts=self._child(
                ignore_changes=["startTime"], delete_before_replace=True, aliases=self._former_aliases(plan, "-begin")
            ),
        )


def _runs(plan: NodeGroupPlan) -> bool:
    """Return whether a Capacity Block of a group has started."""
    return any(block.running for block in plan.blocks)


def _reservation(plan: NodeGroupPlan) -> ec2.LaunchTemplateCapacityReservationSpecificationArgs | None:
    if plan.reservation is None:
        return None
    id_ = plan.reservation.id
    by_group = id_.startswith("arn:")
    return ec2.LaunchTemplateCapacityReservationSpecificationArgs(
        capacity_reservation_target=ec2.LaunchTemplateCapacityReservationSpecificationCapacityReservationTargetArgs(
            capacity_reservation_id=None if by_group else id_,
            capacity_reservation_resource_group_arn=id_ if by_group else None,
        )
    )
