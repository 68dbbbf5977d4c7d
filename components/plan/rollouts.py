"""How a controller rolls out a new pod template: how many replicas at a time."""

from dataclasses import dataclass

from ..fleet.controllers import TemplateChange, stateful_set
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
        course = shape.course(body, replicas, before, room)
    else:
        course = stateful_set(TemplateChange(before=before or replicas, after=replicas, room=room))
    return Rollout(course.restarted, course.short, course.extra, course.waves, course.stuck, course.left)
