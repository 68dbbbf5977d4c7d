"""On which accelerators the pods of a workload may run."""

from dataclasses import dataclass

from ....fleet.instances import Instance, accelerator_resources, instance
from ....fleet.workloads import Workload
from ..accelerators.devices import GIB

_COUNTED = frozenset({"nvidia.com/gpu", "amd.com/gpu"})
"""Accelerators whose memory engines use as their own data says."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the pods of one replica may run.

    Attributes:
        per_pod: Accelerators of a pod that has some.
        total: Accelerators of a replica.
        types: The instance types, in order of preference.
        is_open: Whether it may run on nodes of other types as well, which nothing names.
    """

    per_pod: int
    total: int
    types: tuple[str, ...]
    is_open: bool = False

    @property
    def pods(self) -> int:
        """Pods of a replica that have accelerators."""
        return -(-self.total // self.per_pod)


def placement_of(workload: Workload) -> Placement | str:
    """Return where the pods of a workload may run; in words what is not known of it."""
    counts = [
        (key, int(amount), demand)
        for demand in workload.pods
        for key, amount in demand.requests.items()
        if key in accelerator_resources() and amount > 0
    ]
    if not counts:
        return "its pods request no accelerator"
    other = next((key for key, _, _ in counts if key not in _COUNTED), "")
    if other:
        return f"nothing is known of the memory that servers need on {other}"
    choices = [choice for _, _, demand in counts for choice in (demand.choices or (None,))]
    types = [name for each in choices if each for name in (each.instance_type, *each.alternatives) if name]
    if not types:
        return "the instance type of its nodes is not known"
    return Placement(
        per_pod=max(amount for _, amount, _ in counts),
        total=sum(amount * demand.per_replica for _, amount, demand in counts),
        types=tuple(dict.fromkeys(types)),
        is_open=any(each is None or each.instance_type is None for each in choices),
    )


def device_of(instance_type: str) -> Instance | str:
    """Return the node of a type; in words why its accelerators are not known."""
    node = instance(instance_type)
    if node is None:
        return f"the instance type {instance_type} is not known"
    if not node.accelerators:
        return f"{instance_type} has no accelerators"
    if node.accelerator_memory_gib is None:
        return f"the memory of the accelerators of {instance_type} is not known"
    return node


def memory_bytes(node: Instance) -> int:
    """Return the memory of one accelerator."""
    return int((node.accelerator_memory_gib or 0) * GIB)
