"""Engines' limits on concurrent requests, by workload and accelerator."""

from collections.abc import Iterable, Sequence

from ...contract.quantity import GIB
from ...engines.memory.rows import Device
from ...engines.served.behavior import ConcurrencyLimit, concurrency_limit
from ...fleet.instances import Instance
from ...fleet.workloads import Workload
from .accelerators import known_accelerator, node_with


def limit_on(
    workloads: Iterable[Workload], accelerator: str, nodes: Sequence[Instance] = ()
) -> ConcurrencyLimit | None:
    """Return the lowest limit on concurrent requests among workloads; None without workloads.

    Args:
        workloads: The workloads that serve the model. Unknown limits are ignored if another is known.
        accelerator: Name of the accelerator, which the engine's default may depend on.
        nodes: Instance types that the workloads may run on, in order of preference.
    """
    device = device_named(accelerator, nodes)
    found = (concurrency_limit(workload.container, workload.server.line, device) for workload in workloads)
    return min(found, key=lambda limit: (limit.limit is None, limit.limit or 0), default=None)


def device_named(accelerator: str, nodes: Sequence[Instance] = ()) -> Device | None:
    """Return an accelerator and its memory, by name; None if its memory is unknown."""
    known = known_accelerator(accelerator)
    node = node_with(known, nodes) or (known.cheapest() if known else None)
    if node is None or node.accelerator_memory_gib is None:
        return None
    return Device(node.accelerator, int(node.accelerator_memory_gib * GIB))
