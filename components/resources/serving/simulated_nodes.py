"""Nodes without machines, for clusters in which kwok simulates the kubelet.

SimulatedNodes
└── core/v1 Node   <name>-<group>-<index>
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, Self, cast

import pulumi

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, field_path
from ...contract.quantity import format_quantity
from ...families import flavors, objects
from ...fleet.demand import REGION_LABEL, ZONE_LABEL
from ...fleet.instances import instance, instances_beside
from ...fleet.nodes.fit import flavor_requests, misfits
from ...fleet.nodes.groups import NodeGroupDemand, allocatable, flavor_groups
from ...fleet.options import Options
from ...fleet.origins import Argument
from ...plan.environment import Environment
from ...plan.plan import plan
from .args import FlavorArgs, SimulatedNodesArgs
from .arguments import checked_args, checked_plan, flavors_or_manifests, raise_errors, report
from .objects import KubernetesObject, kubernetes_object, token
from .rendering_options import read_options
from .typed_args import wire

_STEP = 8
_WAVE = 16
"""Most nodes that a resource depends on."""
_REGION, _ZONES = "local-1", "abc"
"""Default region, and suffixes of its zones."""
_KWOK = {"kwok.x-k8s.io/node": "fake"}


class SimulatedNodes(pulumi.ComponentResource):
    """Creates the Node objects for which a cloud would create node groups.

    Capacity comes from the table of instance types; labels and taints from the placement of the pods. Does not create
    machines: the nodes become ready only if kwok manages nodes annotated as fake.
    """

    nodes: pulumi.Output[int]
    """Number of nodes."""

    def __init__(self, name: str, args: SimulatedNodesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create the nodes of every group.

        Raises:
            InvalidArguments: flavors or models are invalid; every problem is listed.
        """
        args = checked_args(name, args, SimulatedNodesArgs)
        used = ("namespace", "service_levels", "instance_types")
        values = {key: value for key, value in args.items() if key in used and value is not None}
        options, types, wrong = read_options({"namespace": "default", **values})
        if wrong:
            raise_errors(
                Problem(file=name, path=field_path(fault.path), reason=fault.reason, rule=RuleId.SETTINGS)
                for fault in wrong
            )
        with instances_beside(types):
            self.register(name, _groups(name, args, options), opts)

    @classmethod
    def of(cls, name: str, groups: Iterable[NodeGroupDemand], opts: pulumi.ResourceOptions | None = None) -> Self:
        """Create the component from planned groups."""
        component = cls.__new__(cls)
        component.register(name, groups, opts)
        return component

    def register(self, name: str, groups: Iterable[NodeGroupDemand], opts: pulumi.ResourceOptions | None) -> None:
        pulumi.ComponentResource.__init__(self, token("SimulatedNodes"), name, {}, opts)
        created = {group.name: self._create(f"{name}-{group.name}", group) for group in groups}
        self.last_of_group = {group: nodes[-_WAVE:] for group, nodes in created.items()}
        """The nodes that pods of a group have to depend on: the others are among their dependencies."""
        self.nodes = pulumi.Output.from_input(sum(map(len, created.values())))
        self.register_outputs({"nodes": self.nodes})

    def _create(self, name: str, group: NodeGroupDemand) -> list[KubernetesObject]:
        """Create the nodes of a group as a tree, so that pods depend on all of them through the last few.

        A dependency of each pod on each node would be a million in a group of a thousand. A smaller group loses its
        last nodes. So a node depends on earlier ones only: every dependency between pods and nodes that are deleted
        together leads through nodes that are deleted, too.
        """
        count = simulated_count(group)
        nodes: list[KubernetesObject] = []
        for index in range(count):
            first = count - _WAVE * (count - index + 1)
            before = nodes[max(first, 0) : max(first + _WAVE, 0)]
            options = pulumi.ResourceOptions(parent=self, depends_on=before)
            nodes.append(kubernetes_object(node_object(group, index), f"{name}-{index}", options))
        return nodes


def _groups(name: str, args: SimulatedNodesArgs, options: Options) -> Sequence[NodeGroupDemand]:
    """Return the groups that arguments describe; logs warnings.

    Raises:
        InvalidArguments: flavors or models are invalid; every problem is listed.
    """
    contradictions = [
        Problem(file=name, path=path, reason=reason, rule=RuleId.SETTINGS)
        for path, reason in flavors_or_manifests(args)
    ]
    if contradictions:
        raise_errors(contradictions)
    raw_flavors = args.get("flavors")
    if raw_flavors:
        demands, problems = flavors(wire(raw_flavors, list[FlavorArgs]), Argument(name, "flavors"), {})
        report([*problems, *misfits(flavor_requests(demands))])
        return flavor_groups(demands)
    manifests = cast("list[Any]", args.get("manifests", []))  # plain: checked before
    return checked_plan(plan(objects(manifests), Environment(options=options))).groups


def simulated_count(group: NodeGroupDemand) -> int:
    """Return the number of nodes to simulate, a multiple of eight.

    No autoscaler runs in the simulated cluster, so up to eight nodes that it might add exist from the start. An edit
    of replicas then usually changes the workload only.
    """
    required = max(group.nodes, min(group.max_nodes, group.nodes + _STEP), 1)
    return math.ceil(required / _STEP) * _STEP


def node_object(group: NodeGroupDemand, index: int) -> dict[str, Any]:
    """Return one node of a group as a manifest.

    Raises:
        ValueError: the group's instance type is not in the catalog.
    """
    facts = instance(group.instance_type)
    if facts is None:
        raise ValueError(f"unknown instance type {group.instance_type!r}; add it to components/fleet/nodes")
    offered = {key: format_quantity(amount) for key, amount in allocatable(facts, efa=group.efa).items()}
    name = f"{group.name}-{index}"
    labels = {"kubernetes.io/arch": facts.arch, "kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
    node: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": dict(_KWOK),
            "labels": {**labels, **_topology(group, index), **group.labels},
        },
        "status": {"capacity": offered, "allocatable": offered},
    }
    if group.taints:
        node["spec"] = {"taints": [dict(taint) for taint in group.taints]}
    return node


def _topology(group: NodeGroupDemand, index: int) -> dict[str, str]:
    """Return the region and zone labels of a node; nodes are spread over zones unless the group names one."""
    zone = group.labels.get(ZONE_LABEL)
    region = group.labels.get(REGION_LABEL) or (zone[:-1] if zone else _REGION)
    return {REGION_LABEL: region, ZONE_LABEL: zone or f"{region}{_ZONES[index % len(_ZONES)]}"}
