"""What runs in a cluster without a manifest of a family: workloads and autoscalers that plans check beside manifests.

A Deployment or StatefulSet that somebody applied by hand or by Helm is a workload like any other: memory, arguments,
metrics and prerequisites are checked by the same functions. Its resource is the object itself
(:mod:`.running_objects`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..contract.findings.ids import RuleId
from ..contract.load import LoadedResource
from ..contract.problems import Problem
from ..fleet.demand import NodeChoice
from ..fleet.rendered import Fleet, Rendered
from ..fleet.written import pod_demands

ResourceKey = tuple[str, str, str]
"""Kind, namespace and name of a resource."""


@dataclass(frozen=True, slots=True)
class Running:
    """What runs beside the manifests of a plan.

    Attributes:
        items: Workloads, and autoscalers of them or of resources among the manifests.
        problems: Problems of these objects.
        nodes: The nodes on which the pods of a resource run or could run, the usual ones first. They are used for
            pods whose resource selects no instance type.
    """

    items: tuple[Rendered, ...] = ()
    problems: tuple[Problem, ...] = ()
    nodes: Mapping[ResourceKey, tuple[NodeChoice, ...]] = field(default_factory=dict)

    @property
    def sources(self) -> tuple[LoadedResource, ...]:
        """The objects."""
        return tuple(item.source for item in self.items)


NOTHING_RUNS = Running()


def with_nodes(fleet: Fleet, running: Running) -> Fleet:
    """Let pods without an instance type run on the nodes that are known for their resource."""
    if not running.nodes:
        return fleet
    return replace(fleet, rendered=tuple(_on_nodes(item, running) for item in fleet.rendered))


def without_answered(problems: Iterable[Problem], running: Running) -> list[Problem]:
    """Return problems without those about instance types that are known from the nodes."""
    return [
        problem
        for problem in problems
        if problem.rule != RuleId.NODES_TYPE_UNNAMED
        or (problem.kind, problem.namespace, problem.name) not in running.nodes
    ]


def unclaimed(items: Sequence[Rendered], running: Sequence[Rendered]) -> list[Rendered]:
    """Return what runs without the autoscalers that a resource among the manifests describes.

    Args:
        items: What the manifests are rendered to.
        running: What runs.
    """
    targets = {scaler.target for item in items for scaler in item.autoscalers}
    return [item for item in running if not any(scaler.target in targets for scaler in item.autoscalers)]


def _on_nodes(item: Rendered, running: Running) -> Rendered:
    choices = running.nodes.get((item.kind, item.namespace, item.name))
    if not choices:
        return item
    workloads = tuple(
        replace(
            workload,
            pods=tuple(
                demand if any(choice.instance_type for choice in demand.choices) else replace(demand, choices=choices)
                # A family describes no demand for pods without an instance type.
                for demand in workload.pods or pod_demands(workload.body, workload.shape, item.source)
            ),
        )
        for workload in item.workloads
    )
    return replace(item, workloads=workloads)
