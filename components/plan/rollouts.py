"""How a controller rolls out a new pod template: how many replicas at a time."""

from dataclasses import dataclass

from ..fleet.controllers import Course, TemplateChange, scaled, stateful_set
from ..fleet.objects import Object
from ..fleet.shapes import PodUpdate, shape_of

_DEFAULT = PodUpdate()
"""For unknown kinds: one replica after the other."""


@dataclass(frozen=True, slots=True)
class Rollout:
    """The effect of an update on replicas.

    Attributes:
        replicas: Replicas that restart.
        short: Maximum number of replicas that are missing at once.
        extra: Maximum number of additional replicas.
        waves: Number of successive steps in which replicas start.
        stuck: Whether the update never ends, because a new replica finds no room.
        left: Additional replicas that stay after the update.
    """

    replicas: int
    short: int
    extra: int
    waves: int
    stuck: bool = False
    left: int = 0


def update_of(body: Object) -> PodUpdate:
    """Return how the controller of a workload replaces its pods."""
    shape = shape_of(body)
    return shape.update_of(body) if shape else _DEFAULT


def rollout_of(body: Object, replicas: int, before: int | None = None, room: int | None = None) -> Rollout:
    """Return the effect of an update, as the controller of the workload does it.

    Args:
        body: The workload after the update.
        replicas: Its replicas after the update.
        before: Its replicas before; None for the same number.
        room: Replicas that have room at the same time; None if all have.
    """
    shape = shape_of(body)
    if shape:
        return _rollout(shape.course(body, replicas, before, room))
    return _rollout(stateful_set(TemplateChange(before=before or replicas, after=replicas, room=room)))


def set_rollout_of(body: Object, replicas: int, before: int, room: int | None = None) -> Rollout:
    """Return the effect of new pods in the StatefulSet that a controller creates; see ``rollout_of``."""
    shape = shape_of(body)
    return _rollout(shape.set_course(body, replicas, before, room)) if shape else Rollout(0, 0, 0, 0)


def scaling_of(body: Object, old: Object, replicas: int, before: int, room: int | None = None) -> Rollout:
    """Return the effect of an edit that replaces no pods of an old workload; see ``rollout_of``."""
    shape = shape_of(body)
    if shape:
        return _rollout(shape.scaling(body, old, replicas, before, room))
    return _rollout(scaled(TemplateChange(before=before, after=replicas, room=room)))


def _rollout(course: Course) -> Rollout:
    return Rollout(
        replicas=course.restarted,
        short=course.short,
        extra=course.extra,
        waves=course.waves,
        stuck=course.stuck,
        left=course.left,
    )
