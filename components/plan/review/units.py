"""Workloads whose operator replaces their replicas in units, such as the roles of a group that serves together."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..rollouts import Rollout
from .differences import differences
from .snapshot import Snapshot, WorkloadState

_TEMPLATE = ("spec", "leaderWorkerTemplate")
"""The field with the pods of a workload that an operator creates one by one."""


@dataclass(frozen=True, slots=True)
class Units:
    """The workloads of both revisions, by the resource whose edit replaces them."""

    before: Mapping[str, Sequence[WorkloadState]] = field(default_factory=dict)
    after: Mapping[str, Sequence[WorkloadState]] = field(default_factory=dict)

    @classmethod
    def of(cls, base: Snapshot, head: Snapshot) -> "Units":
        return cls(_by_resource(base), _by_resource(head))

    def members(self, workload: WorkloadState) -> Sequence[WorkloadState]:
        """Return the workloads that are replaced together with one, including itself."""
        unit = workload.unit
        if unit is None:
            return (workload,)
        return [
            other
            for other in self.after.get(unit.of, ())
            if other.unit is not None and other.unit.revision == unit.revision
        ]

    def causes(self, workload: WorkloadState) -> Iterator[str]:
        """Yield the changes of other workloads that replace the units of one."""
        if workload.unit is None or not self._is_whole(workload):
            return
        before = {other.title: other for other in self.before.get(workload.unit.of, ())}
        after = {other.title: other for other in self.after.get(workload.unit.of, ())}
        for title in sorted({*before, *after} - {workload.title}):
            if title not in after:
                yield f"{title} is removed"
            elif title not in before:
                yield f"{title} is added"
            elif any(d.path[:2] == _TEMPLATE for d in differences(dict(before[title].body), dict(after[title].body))):
                yield f"the pods of {title} change"

    def _is_whole(self, workload: WorkloadState) -> bool:
        """Whether all workloads of the resource are replaced together."""
        unit = workload.unit
        return unit is not None and len(self.members(workload)) == len(self.after.get(unit.of, ()))


def _by_resource(snapshot: Snapshot) -> dict[str, list[WorkloadState]]:
    found: dict[str, list[WorkloadState]] = {}
    for workload in snapshot.workloads:
        if workload.unit:
            found.setdefault(workload.unit.of, []).append(workload)
    return found


def is_replaced(old: WorkloadState, new: WorkloadState) -> bool | None:
    """Whether the units of a workload are replaced; None if its kind decides."""
    if old.unit is None or new.unit is None:
        return None
    return old.unit.revision != new.unit.revision


def unit_rollout(workload: WorkloadState, before: int) -> Rollout:
    """Return the effect of an update on a workload with units: old replicas always terminate first.

    Units that are added have the new template when they are created, and start together.
    """
    unit = workload.unit
    if unit is None or not unit.replicas:
        return Rollout(0, 0, 0, 0)
    units = max(0, math.ceil(min(before, workload.replicas[0]) / unit.replicas) - unit.partition)
    if not units:
        return Rollout(0, 0, 0, 0)
    together = units if unit.unavailable is None else min(units, unit.unavailable)
    each = unit.replicas if unit.at_once is None else min(unit.replicas, unit.at_once)
    waves = math.ceil(units / together) * math.ceil(unit.replicas / each)
    return Rollout(units * unit.replicas, together * each, 0, waves)
