"""Speed of a model on another GPU type: the ratio of the published figures.

Decoding is bound by memory bandwidth, prefill by operations per second. What an engine achieves of both depends on
the model, the batch and the engine: the ratio shows how far a bound moves, not what would be measured.
"""

from dataclasses import dataclass

from ...checks.memory.accelerators.speeds import DeviceSpeed, accelerator_speed
from ...fleet.instances import Instance
from .snapshot import ServedModel, Snapshot, WorkloadState

SOURCE = "components/checks/memory/accelerators/speeds.yaml"


@dataclass(frozen=True, slots=True)
class SpeedChange:
    """A change of the GPU type of a workload; ratios compare one GPU with one GPU.

    Attributes:
        title: The workload.
        before: GPUs of one replica, such as ``1 x L40S``.
        after: The same after the change.
        bandwidth: Ratio of the memory bandwidth, after to before; None if unknown.
        compute: Ratio of 16-bit operations per second, likewise.
        gigabytes: Bandwidth before and after, in GB/s.
        teraflops: 16-bit TFLOPS before and after.
    """

    title: str
    before: str
    after: str
    bandwidth: float | None = None
    compute: float | None = None
    gigabytes: tuple[int, int] | None = None
    teraflops: tuple[int, int] | None = None


def speed_changes(
    before: ServedModel | None, after: ServedModel | None, base: Snapshot | None, head: Snapshot
) -> tuple[SpeedChange, ...]:
    """Return the changes of GPU type of a model's workloads, by their preferred instance types."""
    if before is None or after is None or base is None:
        return ()
    olds = [workload for workload in base.workloads if workload.title in before.workloads]
    news = [workload for workload in head.workloads if workload.title in after.workloads]
    changes = []
    titles = {old.title: old for old in olds}
    # A workload may be renamed if it is the only one of its model.
    alone = olds[0] if len(olds) == len(news) == 1 else None
    for new in news:
        old = titles.get(new.title, alone)
        old_node, new_node = (_node(old, base) if old else None), _node(new, head)
        if old is None or old_node is None or new_node is None:
            continue
        same_size = old_node.accelerator_memory_gib == new_node.accelerator_memory_gib
        if old_node.accelerator != new_node.accelerator or not same_size:
            names = f"{old.accelerators} x {old_node.accelerator}", f"{new.accelerators} x {new_node.accelerator}"
            changes.append(_compared(new.title, names, accelerator_speed(old_node), accelerator_speed(new_node)))
    return tuple(changes)


def _node(workload: WorkloadState, snapshot: Snapshot) -> Instance | None:
    """Return the instance type that a workload prefers; None without GPUs or if unknown."""
    group = next((candidate for candidate in snapshot.groups if candidate.name == workload.group), None)
    node = group.node if group and workload.accelerators else None
    return node if node and node.accelerator else None


def _compared(title: str, names: tuple[str, str], old: DeviceSpeed | None, new: DeviceSpeed | None) -> SpeedChange:
    if old is None or new is None:
        return SpeedChange(title, *names)
    return SpeedChange(
        title,
        *names,
        round(new.bandwidth / old.bandwidth, 2),
        round(new.flops / old.flops, 2),
        (round(old.bandwidth / 1e9), round(new.bandwidth / 1e9)),
        (round(old.flops / 1e12), round(new.flops / 1e12)),
    )
