"""Settings of Karpenter's pools, and the Karpenter features that they require."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ....fleet.objects import Object

if TYPE_CHECKING:
    from .plan import NodeGroupPlan

WHEN_EMPTY = "WhenEmpty"
CONSOLIDATION = (WHEN_EMPTY, "WhenEmptyOrUnderutilized", "Balanced")
REASONS = ("Underutilized", "Empty", "Drifted", "Unhealthy")
NODE_REPAIR, SPOT_TO_SPOT, STATIC_CAPACITY = "nodeRepair", "spotToSpotConsolidation", "staticCapacity"
FEATURES = (NODE_REPAIR, SPOT_TO_SPOT, STATIC_CAPACITY)
"""Feature gates that are off by default (aws/karpenter-provider-aws v1.15.1, charts/karpenter/values.yaml,
settings.featureGates)."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How many nodes of a pool Karpenter may disrupt at once, always or on a schedule.

    Attributes:
        nodes: A number, or a percentage such as ``10%``.
        schedule: Start of each active period, as a cron expression in UTC; empty for always.
        duration: Length of each active period.
        reasons: Disruption reasons that it applies to; empty for all.
    """

    nodes: str
    schedule: str = ""
    duration: str = ""
    reasons: tuple[str, ...] = ()

    def wire(self) -> Object:
        """Return it in the words of a NodePool."""
        known = {"nodes": self.nodes, "schedule": self.schedule, "duration": self.duration}
        reasons = {"reasons": list(self.reasons)} if self.reasons else {}
        return {**{key: value for key, value in known.items() if value}, **reasons}


@dataclass(frozen=True, slots=True)
class Disruption:
    """When Karpenter removes nodes voluntarily.

    By default it removes only empty nodes, because reloading a model costs more than consolidation saves.

    Attributes:
        policy: One of ``CONSOLIDATION``.
        after: How long a node must be empty or underutilized, or ``Never``.
        spot_to_spot: Whether spot nodes may be replaced by cheaper spot nodes.
    """

    policy: str = WHEN_EMPTY
    after: str = "10m"
    budgets: tuple[Budget, ...] = (Budget("1"),)
    spot_to_spot: bool = False

    def wire(self) -> Object:
        """Return it in the words of a NodePool."""
        return {
            "consolidationPolicy": self.policy,
            "consolidateAfter": self.after,
            "budgets": [budget.wire() for budget in self.budgets],
        }


@dataclass(frozen=True, slots=True)
class GeneralPool:
    """A pool for pods that name no instance type.

    Attributes:
        capacity: Allowed capacity types; Karpenter prefers spot to on-demand.
        categories: Letters of instance families, such as ``m``.
        arch: Architecture of its nodes.
        max_vcpus: Maximum vCPUs of all its nodes.
    """

    capacity: tuple[str, ...] = ("on-demand",)
    categories: tuple[str, ...] = ("c", "m", "r")
    arch: str = "amd64"
    max_vcpus: int = 64


@dataclass(frozen=True, slots=True)
class PoolRules:
    """Settings that apply only to Karpenter's pools.

    Attributes:
        general: The pool for pods that name no instance type, if any.
        given: Keys that the settings contain, in camelCase; they have no effect without Karpenter.
    """

    disruption: Disruption = field(default_factory=Disruption)
    general: GeneralPool | None = None
    given: tuple[str, ...] = ()

    @property
    def swaps_spot(self) -> bool:
        """Whether spot-to-spot consolidation can apply to a pool; other pools lose only empty nodes."""
        general = self.general is not None and "spot" in self.general.capacity
        return general or self.disruption.policy != WHEN_EMPTY


def features(groups: Iterable["NodeGroupPlan"], rules: PoolRules, *, node_repair: bool) -> tuple[str, ...]:
    """Return the feature gates that must be enabled in Karpenter."""
    required = {
        NODE_REPAIR: node_repair,
        SPOT_TO_SPOT: rules.disruption.spot_to_spot,
        STATIC_CAPACITY: any(group.minimum for group in groups),
    }
    return tuple(name for name, is_required in required.items() if is_required)
