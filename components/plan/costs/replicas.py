"""How many replicas and pods there are: at rest, at least and at most."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

from ...fleet.demand import PodDemand
from ...fleet.instances import accelerator_resources
from ...fleet.nodes.groups import groups_of
from ...fleet.nodes.policy import NodePolicy
from ...fleet.objects import Key
from ...fleet.rendered import Fleet
from ...fleet.workloads import Workload
from .bill import NOTHING, Amounts


class Counts(NamedTuple):
    """Whole numbers at rest, at least and at most."""

    now: int
    least: int
    most: int

    @property
    def amounts(self) -> Amounts:
        """The numbers as amounts."""
        return Amounts(Decimal(self.now), Decimal(self.least), Decimal(self.most))


def minimums(fleet: Fleet) -> Mapping[Key, int]:
    """Return the lower bound of what is scaled, by the workload."""
    return {scaler.target: scaler.minimum for _, scaler in fleet.autoscalers}


def replicas_of(workload: Workload, least: Mapping[Key, int]) -> Counts:
    """Return how many replicas a workload has.

    Args:
        workload: The workload.
        least: The lower bounds of autoscalers.
    """
    now = workload.replicas
    bound = least.get((workload.kind, workload.namespace, workload.name), now)
    return Counts(now, min(now, bound), max(now, workload.most or now))


def pods_of(demand: PodDemand, replicas: Counts) -> Counts:
    """Return how many pods of a kind there are, without those of an update."""
    least = demand.per_replica * replicas.least if replicas.least < replicas.now else demand.pods
    return Counts(demand.pods, min(least, demand.pods), max(demand.pods, demand.max_pods or 0))


def accelerators_of(workloads: Iterable[Workload], least: Mapping[Key, int]) -> Amounts:
    """Return how many accelerators the pods of workloads have."""
    total = NOTHING
    for workload in workloads:
        replicas = replicas_of(workload, least)
        for demand in workload.pods:
            each = sum((demand.requests.get(key, Decimal(0)) for key in accelerator_resources()), Decimal(0))
            total += pods_of(demand, replicas).amounts.times(each)
    return total


def nodes_of(fleet: Fleet, policy: NodePolicy) -> Mapping[str, Counts]:
    """Return how many nodes of each group are enough for the models that prefer them, by the name of the group.

    That is less than node autoscalers may add for a while: during updates, and where the scheduler spreads pods.
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
    # First fit may take fewer nodes for more pods.
    return {
        name: Counts(nodes, min(nodes, low.get(name, 0)), max(nodes, high.get(name, 0)))
        for name, nodes in now.items()
    }
