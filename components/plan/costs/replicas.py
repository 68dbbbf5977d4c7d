"""Numbers of replicas, pods and nodes at rest, at the minimum and at the maximum."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

from ...fleet.demand import PodDemand
from ...fleet.instances import is_accelerator
from ...fleet.nodes.groups import groups_of
from ...fleet.nodes.policy import NodePolicy
from ...fleet.objects import Key
from ...fleet.rendered import Fleet
from ...fleet.workloads import Workload
from .bill import NOTHING, Amounts


class Counts(NamedTuple):
    """Whole numbers at rest, at the minimum and at the maximum."""

    now: int
    least: int
    most: int

    @property
    def amounts(self) -> Amounts:
        return Amounts(Decimal(self.now), Decimal(self.least), Decimal(self.most))


def minimums(fleet: Fleet) -> Mapping[Key, int]:
    """Return the minimum replicas of autoscalers, by workload."""
    return {scaler.target: scaler.minimum for _, scaler in fleet.autoscalers}


def replicas_of(workload: Workload, least: Mapping[Key, int]) -> Counts:
    """Return the replicas of a workload, given the minimum replicas of autoscalers."""
    now = workload.replicas
    bound = least.get((workload.kind, workload.namespace, workload.name), now)
    return Counts(now, min(now, bound), max(now, workload.most or now))


def pods_of(demand: PodDemand, replicas: Counts) -> Counts:
    """Return the pods of a kind, without additional ones during updates."""
    least = demand.per_replica * replicas.least if replicas.least < replicas.now else demand.pods
    return Counts(demand.pods, min(least, demand.pods), max(demand.pods, demand.max_pods or 0))


def accelerators_of(workloads: Iterable[Workload], least: Mapping[Key, int]) -> Amounts:
    """Return the accelerators of all pods of workloads."""
    total = NOTHING
    for workload in workloads:
        replicas = replicas_of(workload, least)
        for demand in workload.pods:
            per_pod = sum((amount for key, amount in demand.requests.items() if is_accelerator(key)), Decimal(0))
            total += pods_of(demand, replicas).amounts.times(per_pod)
    return total


def nodes_of(fleet: Fleet, policy: NodePolicy) -> Mapping[str, Counts]:
    """Return the nodes that the models need, by name of their preferred node group.

    Node autoscalers may temporarily add more, during updates or if the scheduler spreads pods.
    """
    least = minimums(fleet)
    pods = [(p, pods_of(p, replicas_of(w, least))) for _, w in fleet.workloads for p in w.pods]
    counted: dict[tuple[int, ...], dict[str, int]] = {}

    def count(numbers: tuple[int, ...]) -> dict[str, int]:
        if numbers not in counted:
            demands = [replace(p, pods=number, max_pods=None) for (p, _), number in zip(pods, numbers, strict=True)]
            counted[numbers] = {group.name: group.nodes for group in groups_of(demands, policy)}
        return counted[numbers]

    now, low, high = (count(tuple(bounds[index] for _, bounds in pods)) for index in range(3))
    # First-fit packing may need fewer nodes for more pods.
    return {
        name: Counts(nodes, min(nodes, low.get(name, 0)), max(nodes, high.get(name, 0)))
        for name, nodes in now.items()
    }
