"""The node groups of a stack as Karpenter's pools.

KarpenterPools
├── ec2.SecurityGroup + rules         <name>-efa, where a group has EFA
└── per group of the plan
    ├── EC2NodeClass                  <name>-<group>-class
    └── NodePool                      <name>-<group>
"""

from collections.abc import Mapping, Sequence
from typing import Required, TypedDict

import pulumi

from ...serving.objects import KubernetesObject, kubernetes_object, token
from ..nodes.karpenter import node_class, node_pool
from ..nodes.plan import NodeGroupPlan
from .parts.efa import efa_security_group


class KarpenterPoolsArgs(TypedDict, total=False):
    """Arguments of KarpenterPools."""

    groups: Required[Sequence[NodeGroupPlan]]
    """What to make: ``components.planning.node_plan.node_plan``, with provisioner karpenter."""
    vpc_id: Required[pulumi.Input[str]]
    """The cluster's VPC; for the security group of EFA."""
    subnets: Required[Mapping[str, pulumi.Input[str]]]
    """Private subnet per availability zone. Every zone of every group must be there."""
    cluster_security_group_id: Required[pulumi.Input[str]]
    """The cluster's own security group."""
    node_role_name: Required[pulumi.Input[str]]
    """Role of the nodes: KarpenterAccess.node_role_name."""
    ami_release: str
    """Release of the images, such as v20260714, or latest. Default: the one this package was checked with."""
    tags: Mapping[str, str]
    """Tags of instances, volumes and interfaces."""


class KarpenterPools(pulumi.ComponentResource):
    """Tells Karpenter which nodes the models need; it makes them when pods wait for them.

    Nodes go with their pool: destroy waits until Karpenter has taken them away, so it must still run then. Make
    this component depend on Karpenter's installation.
    """

    names: pulumi.Output[list[str]]
    """Names of the pools."""

    def __init__(self, name: str, args: KarpenterPoolsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Register a NodePool and its EC2NodeClass per group."""
        super().__init__(token("KarpenterPools"), name, {}, opts)
        tags = args.get("tags", {})
        groups: list[pulumi.Input[str]] = [args["cluster_security_group_id"]]
        with_efa = list(groups)
        if any(plan.interfaces for plan in args["groups"]):
            with_efa.append(efa_security_group(f"{name}-efa", args["vpc_id"], tags, self).id)
        self.pools: dict[str, KubernetesObject] = {}
        for plan in args["groups"]:
            value = node_class(
                plan,
                [args["subnets"][zone] for zone in plan.zones],
                with_efa if plan.interfaces else groups,
                args["node_role_name"],
                tags,
                args.get("ami_release", ""),
            )
            made = kubernetes_object(value, f"{name}-{plan.name}-class", pulumi.ResourceOptions(parent=self))
            self.pools[plan.name] = kubernetes_object(
                node_pool(plan), f"{name}-{plan.name}", pulumi.ResourceOptions(parent=self, depends_on=[made])
            )
        self.names = pulumi.Output.from_input(list(self.pools))
        self.register_outputs({"names": self.names})
