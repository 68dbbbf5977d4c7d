"""Karpenter node pools for flavors, or for the models of a fleet.

KarpenterPools
├── ec2.SecurityGroup + rules         <name>-efa, if a group has EFA
├── per group
│   ├── ec2.PlacementGroup            <name>-<group>, on request
│   ├── EC2NodeClass                  <name>-<group>-class
│   ├── NodePool                      <name>-<group>
│   └── NodePool                      <name>-<group>-static, for min_nodes
└── EC2NodeClass, NodePool            <name>-general-class, <name>-general, on request
"""

from collections.abc import Mapping, Sequence
from typing import Self

import pulumi

from ...clouds.aws.nodes.karpenter import (
    Surroundings,
    general_class,
    general_pool,
    node_class,
    node_pool,
    static_pool,
)
from ...clouds.aws.nodes.plan import NodeEnvironment, NodeGroupPlan, created
from ...clouds.aws.nodes.replacement import class_suffix
from ...clouds.aws.words import Provisioner
from ...fleet.objects import Object
from ...fleet.timeouts import Timeouts, with_margin
from ..serving.objects import KubernetesObject, kubernetes_object, token
from ..serving.waiting import custom_timeouts
from .args import KarpenterPoolsArgs
from .node_planning import planned_groups
from .parts.node_groups import efa_security_group, placement_group
from .parts.waiting import overridden, waiting

_DRAIN_TIMEOUT = Timeouts(delete=30 * 60)
"""Pods may take minutes to terminate, as may instances with many GPUs; the provider's default is ten minutes."""
_NO_DRAINS: Mapping[str, int] = {}


class KarpenterPools(pulumi.ComponentResource):
    """Creates Karpenter node pools for the models; Karpenter launches nodes when pods are Pending.

    Deleting a pool drains its nodes: destroy waits until Karpenter has removed them, so Karpenter must still be
    running. Make this component depend on Karpenter's installation. ``min_nodes`` requires Karpenter's feature gate
    staticCapacity.
    """

    names: pulumi.Output[list[str]]
    """Names of the pools."""

    def __init__(self, name: str, args: KarpenterPoolsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Plan, check and create the pools.

        Raises:
            InvalidArguments: arguments or nodes are invalid; every problem is listed.
        """
        args, groups, environment = planned_groups(name, args, KarpenterPoolsArgs, Provisioner.KARPENTER)
        self.register(name, groups, environment, args, opts)

    @classmethod
    def of(
        cls,
        name: str,
        groups: Sequence[NodeGroupPlan],
        environment: NodeEnvironment,
        args: KarpenterPoolsArgs,
        opts: pulumi.ResourceOptions | None = None,
        drains: Mapping[str, int] = _NO_DRAINS,
        longest_grace: int = 0,
    ) -> Self:
        """Create the component from checked plans; of the arguments, only those about the cluster are used.

        Args:
            name: Logical name.
            groups: The planned groups.
            environment: Their environment.
            args: Arguments about the cluster.
            opts: The component's options.
            drains: Seconds until the pods of a group have moved elsewhere, at most, by the name of the group.
            longest_grace: Longest time that a pod of any group may take to terminate, in seconds.
        """
        component = cls.__new__(cls)
        component.register(name, groups, environment, args, opts, drains, longest_grace)
        return component

    def register(
        self,
        name: str,
        groups: Sequence[NodeGroupPlan],
        environment: NodeEnvironment,
        args: KarpenterPoolsArgs,
        opts: pulumi.ResourceOptions | None,
        drains: Mapping[str, int] = _NO_DRAINS,
        longest_grace: int = 0,
    ) -> None:
        """Create the component, and the NodePools with their EC2NodeClass per group."""
        pulumi.ComponentResource.__init__(
            self, token("KarpenterPools"), name, {}, waiting(opts, args.get("timeouts", {}))
        )
        self._name, self._args, self._environment, self._drains = name, args, environment, drains
        self._tags = args.get("tags", {})
        groups = created(groups)
        self._members: list[pulumi.Input[str]] = [args["cluster_security_group_id"]]
        self._with_efa = list(self._members)
        if any(plan.interfaces for plan in groups):
            self._with_efa.append(efa_security_group(f"{name}-efa", args["vpc_id"], self._tags, self))
        self.pools: dict[str, KubernetesObject] = {}
        for plan in groups:
            self._group(plan)
        if environment.pools.general:
            surroundings = self._surroundings(environment.zones, self._members)
            node_class_object = self._class(general_class(environment, surroundings))
            self._pool(general_pool(environment.pools.general, environment, longest_grace), node_class_object)
        self.names = pulumi.Output.from_input(list(self.pools))
        self.register_outputs({"names": self.names})

    def _group(self, plan: NodeGroupPlan) -> None:
        name = f"{self._name}-{plan.name}"
        close = placement_group(name, self._tags, self).name if plan.placement_group else None
        surroundings = self._surroundings(plan.zones, self._with_efa if plan.interfaces else self._members, close)
        node_class_object = self._class(node_class(plan, surroundings))
        disruption = self._environment.pools.disruption
        drain = self._drains.get(plan.name, 0)
        self._pool(node_pool(plan, disruption), node_class_object, drain)
        if plan.minimum:
            self._pool(static_pool(plan, disruption), node_class_object, drain)

    def _surroundings(
        self,
        zones: Sequence[str],
        security_groups: Sequence[pulumi.Input[str]],
        close: pulumi.Output[str] | None = None,
    ) -> Surroundings:
        args = self._args
        subnets = [args["subnets"][zone] for zone in zones]
        hops = args.get("imds_hop_limit", 1)
        return Surroundings(
            subnets=subnets,
            security_groups=security_groups,
            role=args["node_role_name"],
            tags=self._tags,
            hops=hops,
            placement_group=close,
        )

    def _class(self, value: Object) -> KubernetesObject:
        name = f"{self._name}-{class_suffix(str(value['metadata']['name']))}"
        return kubernetes_object(value, name, pulumi.ResourceOptions(parent=self))

    def _pool(self, value: Object, node_class_object: KubernetesObject, drain: int = 0) -> None:
        pool = value["metadata"]["name"]
        # Deletion waits for the nodes, which are dependents of the pool and have a finalizer.
        timeouts = _DRAIN_TIMEOUT.at_least(Timeouts(delete=with_margin(drain)))
        timeouts = overridden(timeouts, self._args.get("timeouts", {}), "node_groups")
        options = pulumi.ResourceOptions(
            parent=self, depends_on=[node_class_object], custom_timeouts=custom_timeouts(timeouts)
        )
        self.pools[pool] = kubernetes_object(value, f"{self._name}-{pool}", options)
