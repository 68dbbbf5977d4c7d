"""Nodes that exist on paper only, for clusters in which kwok plays the kubelet.

SimulatedNodes
└── core/v1 Node   <name>-<group>-<index>, as many as the models need
"""

import math
from collections.abc import Iterable
from typing import Any, Required, Self, TypedDict

import pulumi

from ..api.quantity import format_quantity
from ..families import objects
from ..fleet.options import Options
from ..nodes.groups import NodeGroupDemand, allocatable
from ..nodes.instances import instance
from ..plan.environment import Environment
from ..plan.plan import plan
from .arguments import checked_plan, plain
from .objects import KubernetesObject, kubernetes_object, token

_STEP = 8
_KWOK = {"kwok.x-k8s.io/node": "fake"}


class SimulatedNodesArgs(TypedDict, total=False):
    """Arguments of SimulatedNodes."""

    manifests: Required[list[dict[str, Any]]]
    """The models for which nodes are played, in wire form."""
    namespace: str
    """Namespace of resources that name none. Default: default."""


class SimulatedNodes(pulumi.ComponentResource):
    """Registers Node objects for the same demand that makes node groups in a cloud.

    Capacity comes from the instance types' facts, labels and taints from the function that places the pods.
    Does not make machines: the nodes become ready only where kwok manages nodes annotated as fake.
    """

    nodes: pulumi.Output[int]
    """How many nodes there are."""

    def __init__(self, name: str, args: SimulatedNodesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Register the nodes of every group.

        Raises:
            InvalidArguments: something is wrong with the models; every problem is listed.
        """
        options = Options(namespace=args.get("namespace", "default"))
        planned = checked_plan(plan(objects(plain(args["manifests"])), Environment(options=options)))
        self.register(name, planned.groups, opts)

    @classmethod
    def of(cls, name: str, groups: Iterable[NodeGroupDemand], opts: pulumi.ResourceOptions | None = None) -> Self:
        """Create the component from what was planned before."""
        component = cls.__new__(cls)
        component.register(name, groups, opts)
        return component

    def register(self, name: str, groups: Iterable[NodeGroupDemand], opts: pulumi.ResourceOptions | None) -> None:
        """Register the component and the nodes of every group."""
        pulumi.ComponentResource.__init__(self, token("SimulatedNodes"), name, {}, opts)
        self._name = name
        self.of_group: dict[str, list[KubernetesObject]] = {
            group.name: [self._node(group, index) for index in range(simulated(group))] for group in groups
        }
        self.nodes = pulumi.Output.from_input(sum(map(len, self.of_group.values())))
        self.register_outputs({"nodes": self.nodes})

    def _node(self, group: NodeGroupDemand, index: int) -> KubernetesObject:
        return kubernetes_object(
            node_object(group, index), f"{self._name}-{group.name}-{index}", pulumi.ResourceOptions(parent=self)
        )


def simulated(group: NodeGroupDemand) -> int:
    """Return how many nodes to play: all that the group may grow to, within reason, in steps of eight.

    No autoscaler runs here, so the nodes that it would add are there from the start; a change of replicas then
    changes the workload alone.
    """
    wanted = max(group.nodes, min(group.max_nodes, group.nodes + _STEP), 1)
    return math.ceil(wanted / _STEP) * _STEP


def node_object(group: NodeGroupDemand, index: int) -> dict[str, Any]:
    """Return one node of a group as a Kubernetes object.

    Raises:
        ValueError: the group's instance type is not in the catalog.
    """
    facts = instance(group.instance_type)
    if facts is None:
        raise ValueError(f"unknown instance type {group.instance_type!r}; add it to components/nodes")
    offered = {key: format_quantity(amount) for key, amount in allocatable(facts).items()}
    name = f"{group.name}-{index}"
    labels = {"kubernetes.io/arch": facts.arch, "kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
    node: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "annotations": dict(_KWOK), "labels": {**labels, **group.labels}},
        "status": {"capacity": offered, "allocatable": offered},
    }
    if group.taints:
        node["spec"] = {"taints": [dict(taint) for taint in group.taints]}
    return node
