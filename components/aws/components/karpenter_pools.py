"""Karpenter's pools for flavors, or for the models of a fleet.

KarpenterPools
├── ec2.SecurityGroup + rules         <name>-efa, where a group has EFA
└── per group
    ├── EC2NodeClass                  <name>-<group>-class
    └── NodePool                      <name>-<group>
"""

from collections.abc import Sequence
from typing import Self

import pulumi

from ...serving.objects import KubernetesObject, kubernetes_object, token
from ..nodes.karpenter import node_class, node_pool
from ..nodes.plan import NodeGroupPlan
from ..words import Provisioner
from .node_args import KarpenterPoolsArgs
from .node_planning import planned_groups
from .parts.efa import efa_security_group


class KarpenterPools(pulumi.ComponentResource):
    """Tells Karpenter which nodes the models need; it launches them when pods are Pending.

    Deleting a pool drains its nodes: destroy waits until Karpenter has removed them, so Karpenter must still be
    running. Make this component depend on Karpenter's installation.
    """

    names: pulumi.Output[list[str]]
    """Names of the pools."""

    def __init__(self, name: str, args: KarpenterPoolsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Plan the pools, check them and register them.

        Raises:
            InvalidArguments: something is wrong with the arguments, or with the nodes; every problem is listed.
        """
        args, groups = planned_groups(name, args, KarpenterPoolsArgs, Provisioner.KARPENTER)
        self.register(name, groups, args, opts)

    @classmethod
    def of(
        cls,
        name: str,
        groups: Sequence[NodeGroupPlan],
        args: KarpenterPoolsArgs,
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
        args: KarpenterPoolsArgs,
        opts: pulumi.ResourceOptions | None,
    ) -> None:
        """Register the component, and a NodePool with its EC2NodeClass per group."""
        pulumi.ComponentResource.__init__(self, token("KarpenterPools"), name, {}, opts)
        tags = args.get("tags", {})
        members: list[pulumi.Input[str]] = [args["cluster_security_group_id"]]
        with_efa = list(members)
        if any(plan.interfaces for plan in groups):
            with_efa.append(efa_security_group(f"{name}-efa", args["vpc_id"], tags, self))
        self.pools: dict[str, KubernetesObject] = {}
        for plan in groups:
            value = node_class(
                plan,
                [args["subnets"][zone] for zone in plan.zones],
                with_efa if plan.interfaces else members,
                args["node_role_name"],
                tags,
            )
            ec2_class = kubernetes_object(value, f"{name}-{plan.name}-class", pulumi.ResourceOptions(parent=self))
            self.pools[plan.name] = kubernetes_object(
                node_pool(plan), f"{name}-{plan.name}", pulumi.ResourceOptions(parent=self, depends_on=[ec2_class])
            )
        self.names = pulumi.Output.from_input(list(self.pools))
        self.register_outputs({"names": self.names})
