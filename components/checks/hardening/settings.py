"""Settings of hardening; everything is off by default."""

from typing import NamedTuple

from .words import PodSecurity, Priority

CLASS_PREFIX = "inference-"
"""Start of the names of the PriorityClasses."""


class Hardening(NamedTuple):
    """Settings of hardening.

    Attributes:
        pod_security: Profile that pods meet as far as their images allow.
        disruption_budgets: Whether a drain may evict only one replica at a time.
        topology_spread: Whether replicas are spread over zones if there is room.
        priority: Default priority of all models; None for the default of each family.
        new_replicas_first: Whether updates start a new replica before they stop an old one.
    """

    pod_security: PodSecurity = PodSecurity.NONE
    disruption_budgets: bool = False
    topology_spread: bool = False
    priority: Priority | None = None
    new_replicas_first: bool = False

    @property
    def class_name(self) -> str | None:
        """PriorityClass of pods that do not set one: empty for no class, None for the default of each family."""
        if self.priority is None:
            return None
        return "" if self.priority is Priority.NONE else CLASS_PREFIX + self.priority
