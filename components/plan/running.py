"""What runs in a cluster without a manifest of a family: workloads and autoscalers that plans check beside manifests.

A Deployment or StatefulSet that was applied by hand or by Helm is a workload like any other: memory, arguments,
metrics and prerequisites are checked by the same functions. Its resource is the object itself
(:mod:`.running_objects`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..contract.findings.ids import RuleId
from ..contract.load import LoadedResource, OtherObject
from ..contract.problems import Problem
from ..fleet.demand import NodeChoice, PodDemand
from ..fleet.objects import Object
from ..fleet.rendered import Fleet, Rendered
from ..fleet.workloads import Workload
from ..fleet.written import pod_demands

ResourceKey = tuple[str, str, str]
"""Kind, namespace and name of a resource."""


@dataclass(frozen=True, slots=True)
class RunningFleet:
    """What runs beside the manifests of a plan.

    Attributes:
        items: Workloads, and autoscalers of them or of resources among the manifests.
        problems: Problems of these objects.
        nodes: The nodes on which the pods of a resource run, the usual ones first. They are used for pods whose
            resource selects no instance type.
        could_run: Returns the nodes on which pods with a spec could run; used for pods that run nowhere yet.
        config_maps: ConfigMaps, which servers may mount.
    """

    items: tuple[Rendered, ...] = ()
    problems: tuple[Problem, ...] = ()
    nodes: Mapping[ResourceKey, tuple[NodeChoice, ...]] = field(default_factory=dict)
    could_run: Callable[[Object], tuple[NodeChoice, ...]] | None = None
    config_maps: tuple[OtherObject, ...] = ()

    @property
    def sources(self) -> tuple[LoadedResource, ...]:
        """The objects."""
        return tuple(item.source for item in self.items)


NOTHING_RUNS = RunningFleet()


def with_nodes(fleet: Fleet, running: RunningFleet) -> Fleet:
    """Let pods without an instance type run on the nodes that are known for their resource."""
    if running is NOTHING_RUNS:
        return fleet
    return replace(fleet, rendered=tuple(_on_nodes(item, running) for item in fleet.rendered))


def without_answered(fleet: Fleet, running: RunningFleet) -> tuple[Problem, ...]:
    """Return the problems of a fleet without those about instance types that are known from the nodes."""
    if running is NOTHING_RUNS:
        return fleet.problems
    known = {
        (item.kind, item.namespace, item.name)
        for item in fleet.rendered
        if item.pods and all(_has_type(demand) for demand in item.pods)
    }
    return tuple(
        problem
        for problem in fleet.problems
        if problem.rule != RuleId.NODES_TYPE_UNNAMED or (problem.kind, problem.namespace, problem.name) not in known
    )


def unclaimed(items: Sequence[Rendered], running: Sequence[Rendered]) -> list[Rendered]:
    """Return what runs without the autoscalers that a resource among the manifests describes.

    Args:
        items: What the manifests are rendered to.
        running: What runs.
    """
    targets = {scaler.target for item in items for scaler in item.autoscalers}
    return [item for item in running if not any(scaler.target in targets for scaler in item.autoscalers)]


def _on_nodes(item: Rendered, running: RunningFleet) -> Rendered:
    if not item.workloads:
        return item
    observed = running.nodes.get((item.kind, item.namespace, item.name), ())
    return replace(item, workloads=tuple(_placed(workload, item, observed, running) for workload in item.workloads))


def _placed(workload: Workload, item: Rendered, observed: tuple[NodeChoice, ...], running: RunningFleet) -> Workload:
    choices = observed or (running.could_run(workload.front["spec"]) if running.could_run else ())
    if not choices:
        return workload
    # A family describes no demand for pods without an instance type.
    pods = workload.pods or pod_demands(workload.body, workload.shape, item.source)
    return replace(
        workload,
        pods=tuple(demand if _has_type(demand) else replace(demand, choices=choices) for demand in pods),
    )


def _has_type(demand: PodDemand) -> bool:
    return any(choice.instance_type for choice in demand.choices)
