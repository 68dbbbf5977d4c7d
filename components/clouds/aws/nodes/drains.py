"""Pods that EKS does not give the time to terminate when it replaces their nodes."""

from collections.abc import Iterator

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem, Severity
from ....fleet.nodes.availability import runs_on
from ....fleet.rendered import Fleet
from ..facts.waits import node_steps
from .plan import NodeEnvironment, NodeGroupPlan

_GRACE = "terminationGracePeriodSeconds"


def check_drains(fleet: Fleet, groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment) -> Iterator[Problem]:
    """Report pods on managed node groups whose grace period is longer than the drain of a node."""
    limit = node_steps().drain
    for item, workload in fleet.workloads:
        grace = max(int(template["spec"].get(_GRACE) or 0) for template in workload.templates)
        if grace <= limit:
            continue
        managed = (group for group in groups if group.longest_update)
        names = [group.name for group in managed if runs_on(workload, group.demand, environment.nodes)]
        if not names or environment.force_update:
            continue
        reason = (
            f"pods of {workload.kind} {workload.name} may take {grace} s to terminate ({_GRACE}), but when EKS "
            f"replaces the nodes of {', '.join(names)}, it fails with PodEvictionFailure if a pod takes longer than "
            f"{limit} s; lower it to {limit}, or terminate nodes anyway with "
            f"{environment.place.path('forceUpdate')}: true"
        )
        yield item.source.problem("", reason, Severity.WARNING, rule=RuleId.UPDATE_DRAIN)
