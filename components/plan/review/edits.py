"""What an edit of a workload does to its replicas: restart them, or only change their number."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...fleet.objects import Object
from ...fleet.shapes import WorkloadShape, shape_of
from ..rollouts import Rollout, rollout_of, scaling_of, set_rollout_of, update_of
from .differences import Path, differences


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """The changed fields of a workload.

    Attributes:
        old: The workload before the edit.
        body: The workload after it.
        changed: Its changed fields, after admission.
        revision: Those that replace pods as the strategy of the workload says.
        annotations: Those that replace pods one at a time, whatever the strategy says.
    """

    old: Object
    body: Object
    changed: tuple[Path, ...]
    revision: tuple[Path, ...]
    annotations: tuple[Path, ...]

    @classmethod
    def of(cls, old: Object, new: Object) -> "Edit":
        """Compare a workload before and after."""
        shape = shape_of(new)
        before, after = (shape.completed(body) if shape else body for body in (old, new))
        changed = tuple(difference.path for difference in differences(before, after))
        fields = [tuple(field.split(".")) for field in shape.restarted_by] if shape else [("spec",)]
        return cls(
            old=old,
            body=new,
            changed=changed,
            revision=tuple(path for path in changed if any(path[: len(field)] == field for field in fields)),
            annotations=tuple(_annotations(old, new, shape)) if shape else (),
        )

    @property
    def restarting(self) -> tuple[Path, ...]:
        """The changed fields that replace pods."""
        return self.revision + self.annotations

    def rollout(self, after: int, before: int, room: int | None = None) -> Rollout:
        """Return the effect on the replicas.

        Args:
            after: The replicas after the edit.
            before: Those before.
            room: Replicas that have room at the same time; None if all have.
        """
        if self.revision:
            return rollout_of(self.body, after, before, room)
        if self.annotations:
            return set_rollout_of(self.body, after, before, room)
        return scaling_of(self.body, self.old, after, before, room)


def _annotations(old: Object, new: Object, shape: WorkloadShape) -> Iterator[Path]:
    before, after = (body["metadata"].get("annotations") or {} for body in (old, new))
    for name in shape.set_annotations:
        if before.get(name) != after.get(name):
            yield "metadata", "annotations", name


def released(old: Object, new: Object) -> str:
    """Say which pods a strategy kept at an earlier template before an edit, and no longer does; empty if none.

    Manifests tell the template that was applied last, not the one of each pod.
    """
    before, after = update_of(old), update_of(new)
    if after.is_manual or after.is_paused:
        return ""
    if before.is_paused:
        reason = "the rollout is resumed"
    elif before.is_manual:
        reason = "the strategy is no longer OnDelete"
    elif before.partition > after.partition:
        reason = f"the partition falls from {before.partition} to {after.partition}"
    else:
        return ""
    return f"{reason}: pods that still have an earlier template restart"
