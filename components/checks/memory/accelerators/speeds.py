"""Memory bandwidth and compute of accelerators and processors: ``speeds.yaml``."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ....contract.tables import load_table
from ....fleet.instances import Instance


@dataclass(frozen=True, slots=True)
class DeviceSpeed:
    """Bandwidth and compute per second.

    Attributes:
        bandwidth: Bytes of memory read.
        flops: 16-bit operations; for processors, 32-bit operations.
        flops8: 8-bit operations; the same as ``flops`` without hardware support.
        nvlink: Bytes over NVLink, in both directions; 0 without.
    """

    bandwidth: float
    flops: float
    flops8: float
    nvlink: float = 0.0

    def times(self, factor: float) -> "DeviceSpeed":
        """Return the speed of several devices, or of a fraction of one."""
        return DeviceSpeed(self.bandwidth * factor, self.flops * factor, self.flops8 * factor, self.nvlink * factor)


def accelerator_speed(node: Instance) -> DeviceSpeed | None:
    """Return the speed of one accelerator of an instance type; None if unknown."""
    memory = float(node.accelerator_memory_gib or 0)
    rows = [row for row in _speeds()["devices"] if row["name"] == node.accelerator]
    row = next((row for row in rows if int(memory) <= row["gib"]), None)
    if row is None or not memory:
        return None
    part = 1.0 if int(memory) == row["gib"] else memory / row["gib"]
    flops, flops8 = row["tflops"] * 1e12, row.get("fp8", row["tflops"]) * 1e12
    return DeviceSpeed(row["bandwidth"] * 1e9, flops, flops8, row.get("nvlink", 0) * 1e9).times(part)


def processor_speed(node: Instance) -> DeviceSpeed | None:
    """Return the speed of one vCPU of an instance type; None if unknown."""
    row = next((row for row in _speeds()["processors"] if node.family in row["families"]), None)
    if row is None:
        return None
    flops = row["gflops"] * 1e9
    return DeviceSpeed(row["bandwidth"] * 1e9, flops, flops)


@functools.cache
def _speeds() -> Mapping[str, Any]:
    speeds: dict[str, Any] = load_table(__package__, "speeds.yaml")
    return speeds
