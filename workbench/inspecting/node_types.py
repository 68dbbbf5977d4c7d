"""The instance types of nodes that no table of a cloud knows, by what the nodes report and their labels."""

import functools
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from components.contract.quantity import GIB
from components.contract.tables import load_table
from components.fleet.instances import Instance, instances

from .environment import ClusterNode

_NVIDIA, _MEMORY = "nvidia.com/gpu", "nvidia.com/gpu.memory"
_MIB_PER_GIB = 1024
_ALIKE = Decimal("0.1")
"""Drivers report a few percent less than the vendor's amount."""


def types_of(nodes: Iterable[ClusterNode]) -> Mapping[str, Instance]:
    """Return the types with NVIDIA's accelerators that no table knows, by name; without a price.

    Args:
        nodes: The nodes of the cluster.
    """
    types: dict[str, Instance] = {}
    for node in nodes:
        number = int(node.offered.get(_NVIDIA, 0))
        if not number or not node.instance_type or node.instance_type in instances() or node.instance_type in types:
            continue
        row = next((row for row in _rows() if re.search(row["value"], node.labels.get(row["label"], ""))), None)
        if row is None:
            continue
        cpu, memory = node.offered.get("cpu", Decimal(0)), node.offered.get("memory", Decimal(0))
        types[node.instance_type] = Instance(
            name=node.instance_type,
            family=node.instance_type,
            vcpu=int(cpu),
            memory_gib=memory / GIB,
            arch=node.labels.get("kubernetes.io/arch", "amd64"),
            allocatable_cpu=cpu,
            allocatable_memory=memory,
            accelerator=row["name"],
            manufacturer="NVIDIA",
            accelerators=number,
            accelerator_memory_gib=_memory(node, Decimal(str(row["gib"]))),
            accelerator_resource=_NVIDIA,
        )
    return types


def _memory(node: ClusterNode, usual: Decimal) -> Decimal:
    """Return the memory of one accelerator in GiB: the usual one, unless the node reports another amount."""
    text = node.labels.get(_MEMORY, "")
    reported = Decimal(text) / _MIB_PER_GIB if text.isascii() and text.isdecimal() else usual
    return usual if abs(reported - usual) <= usual * _ALIKE else reported


@functools.cache
def _rows() -> tuple[Mapping[str, Any], ...]:
    return tuple(load_table(__package__, "accelerators.yaml"))
