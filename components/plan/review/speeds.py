"""Speed of a model on another GPU type: the ratio of the published figures.

A decode step reads the weights and the cache from memory, and a prompt is computed, so that the speed of a GPU is
bounded by its memory bandwidth and by its operations per second. What an engine gets of both depends on the model,
the batch and the engine: the ratio says in which direction and how far a bound moves, and not what is measured.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ...checks.memory.accelerators.speeds import DeviceSpeed, accelerator_speed
from ...fleet.instances import Instance, instance
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
    return tuple(_changes(_own(before, base), _own(after, head), base, head))


def _own(model: ServedModel, snapshot: Snapshot) -> list[WorkloadState]:
    return [each for each in snapshot.workloads if each.title in model.workloads]


def _changes(
    olds: list[WorkloadState], news: list[WorkloadState], base: Snapshot, head: Snapshot
) -> Iterator[SpeedChange]:
    titles = {old.title: old for old in olds}
    alone = olds[0] if len(olds) == len(news) == 1 else None
    for new in news:
        old = titles.get(new.title, alone)
        was, will = (_node(old, base) if old else None), _node(new, head)
        if old is None or was is None or will is None:
            continue
        if (was.accelerator, was.accelerator_memory_gib) != (will.accelerator, will.accelerator_memory_gib):
            names = f"{old.accelerators} x {was.accelerator}", f"{new.accelerators} x {will.accelerator}"
            yield _compared(new.title, names, accelerator_speed(was), accelerator_speed(will))


def _node(workload: WorkloadState, snapshot: Snapshot) -> Instance | None:
    """Return the instance type that a workload prefers; None without GPUs or if unknown."""
    group = next((each for each in snapshot.groups if each.name == workload.group), None)
    found = instance(group.instance_type) if group and workload.accelerators else None
    return found if found and found.accelerator else None


def _compared(title: str, names: tuple[str, str], was: DeviceSpeed | None, will: DeviceSpeed | None) -> SpeedChange:
    if was is None or will is None:
        return SpeedChange(title, *names)
    return SpeedChange(
        title,
        *names,
        round(will.bandwidth / was.bandwidth, 2),
        round(will.flops / was.flops, 2),
        (round(was.bandwidth / 1e9), round(will.bandwidth / 1e9)),
        (round(was.flops / 1e12), round(will.flops / 1e12)),
    )
