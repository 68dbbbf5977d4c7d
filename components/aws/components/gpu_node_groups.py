"""Managed node groups for flavors, or for the models of a fleet.

GpuNodeGroups
├── ec2.SecurityGroup + rules   <name>-efa, where a group has EFA
└── per group
    ├── ec2.PlacementGroup      <name>-<group>, on request
    ├── ec2.LaunchTemplate      <name>-<group>
    ├── eks.NodeGroup           <name>-<group>
    ├── autoscaling.Tag         <name>-<group>-<n>, one per tag of the autoscaler
    └── autoscaling.Schedule    <name>-<group>-begin and -end, for a Capacity Block to come
"""

from collections.abc import Sequence
from typing import Any, Self

import pulumi
from pulumi_aws import autoscaling, ec2, eks

from ...nodes.policy import Capacity
from ...serving.objects import token
from ..nodes.launch import Interface
from ..nodes.plan import NodeGroupPlan, SizeChange
from ..nodes.user_data import ClusterAddress, user_data
from ..words import Provisioner
from .cluster_args import SERVICE_CIDR
from .node_args import GpuNodeGroupsArgs
from .node_planning import planned_groups
from .parts.efa import efa_security_group
from .parts.launch_template import block_devices, metadata_options, tag_specifications
from .parts.roles import named

_DISCOVERY = "k8s.io/cluster-autoscaler"


class GpuNodeGroups(pulumi.ComponentResource):
    """Creates one managed node group per distinct need of flavors or models.

    After creation the Cluster Autoscaler owns the size; later updates do not change it. Does not install the
    autoscaler or device plugins, and does not create reservations: it uses existing ones.
    """

    names: pulumi.Output[list[str]]
    """Names of the node groups."""

    def __init__(self, name: str, args: GpuNodeGroupsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Plan the groups, check them and register them.

        Raises:
            InvalidArguments: something is wrong with the arguments, or with the nodes; every problem is listed.
        """
        args, groups = planned_groups(name, args, GpuNodeGroupsArgs, Provisioner.MANAGED)
        self.register(name, groups, args, opts)

    @classmethod
    def of(
        cls,
        name: str,
        groups: Sequence[NodeGroupPlan],
        args: GpuNodeGroupsArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> Self:
        """Create the component from groups that were planned and checked before; of the rest the cluster counts."""
        component = cls.__new__(cls)
        component.register(name, groups, args, opts)
        return component

    def register(
        self,
        name: str,
        groups: Sequence[NodeGroupPlan],
        args: GpuNodeGroupsArgs,
        opts: pulumi.ResourceOptions | None,
    ) -> None:
        """Register the component and every group."""
        pulumi.ComponentResource.__init__(self, token("GpuNodeGroups"), name, {}, opts)
        self._name, self._args = name, args
        self._tags = args.get("tags", {})
        with_efa = any(group.interfaces for group in groups)
        self._efa_group = efa_security_group(f"{name}-efa", args["vpc_id"], self._tags, self) if with_efa else None
        self.groups: dict[str, eks.NodeGroup] = {group.name: self._group(group) for group in groups}
        self.names = pulumi.Output.all(*(group.node_group_name for group in self.groups.values()))
        self.register_outputs({"names": self.names})

    def _child(self, **options: Any) -> pulumi.ResourceOptions:  # noqa: ANN401  resource options
        return pulumi.ResourceOptions(parent=self, **options)

    def _group(self, plan: NodeGroupPlan) -> eks.NodeGroup:
        name = f"{self._name}-{plan.name}"
        template = self._launch_template(name, plan)
        group = eks.NodeGroup(
            name,
            cluster_name=self._args["cluster_name"],
            node_group_name=plan.id,
            node_role_arn=self._args["node_role_arn"],
            subnet_ids=[self._args["subnets"][zone] for zone in plan.zones],
            ami_type=plan.ami_type,
            version=None if plan.ami_id else self._args["version"],
            release_version=plan.release or None,
            force_update_version=plan.force_update or None,
            capacity_type=plan.capacity_type,
            instance_types=None if plan.demand.capacity == Capacity.CAPACITY_BLOCK else list(plan.instance_types),
            scaling_config=eks.NodeGroupScalingConfigArgs(
                min_size=plan.minimum, desired_size=plan.desired, max_size=plan.maximum
            ),
            update_config=eks.NodeGroupUpdateConfigArgs(max_unavailable=1, update_strategy=plan.update_strategy),
            node_repair_config=eks.NodeGroupNodeRepairConfigArgs(enabled=self._args.get("node_repair", False)),
            labels=dict(plan.labels),
            taints=[eks.NodeGroupTaintArgs(**taint) for taint in plan.taints],
            launch_template=eks.NodeGroupLaunchTemplateArgs(
                id=template.id, version=template.latest_version.apply(str)
            ),
            tags=named(name, self._tags),
            opts=self._child(
                ignore_changes=["scalingConfig.desiredSize"],
                # A new group beside the old one would need the reserved instances twice.
                delete_before_replace=plan.reserved,
            ),
        )
        self._tell_autoscaler(name, plan, group)
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
            placement={"group_name": self._placement_group(name).name} if plan.placement_group else None,
            tag_specifications=tag_specifications(tags),
            tags=tags,
            opts=self._child(),
        )

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

    def _placement_group(self, name: str) -> ec2.PlacementGroup:
        return ec2.PlacementGroup(
            name, strategy=ec2.PlacementStrategy.CLUSTER, tags=named(name, self._tags), opts=self._child()
        )

    def _tell_autoscaler(self, name: str, plan: NodeGroupPlan, group: eks.NodeGroup) -> None:
        """Tag and schedule the Auto Scaling group, to which EKS hands no tags on (aws-gpu spec 7, 9)."""
        scaled = group.resources.apply(_auto_scaling_group)
        found = {f"{_DISCOVERY}/enabled": "true", f"{_DISCOVERY}/{self._args['cluster_plain_name']}": "owned"}
        for key, value in {**found, **plan.tags}.items():
            autoscaling.Tag(
                f"{name}-{key.removeprefix(f'{_DISCOVERY}/')}",
                autoscaling_group_name=scaled,
                tag={"key": key, "value": value, "propagate_at_launch": False},
                opts=self._child(),
            )
        for change in plan.schedule:
            self._schedule(f"{name}-{change.name}", change, scaled)

    def _schedule(self, name: str, change: SizeChange, scaled: pulumi.Output[str]) -> None:
        autoscaling.Schedule(
            name,
            scheduled_action_name=name,
            autoscaling_group_name=scaled,
            start_time=f"{change.at:%Y-%m-%dT%H:%M:%SZ}",
            min_size=change.minimum,
            desired_capacity=change.desired,
            max_size=change.maximum,
            opts=self._child(),
        )


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


def _auto_scaling_group(resources: Sequence[Any]) -> str:
    """Return the name of the one Auto Scaling group behind a node group."""
    name: str = resources[0].autoscaling_groups[0].name
    return name
