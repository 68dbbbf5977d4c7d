"""What an environment says about Karpenter's pools, and which of Karpenter's features that takes."""

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
"""Features that are off unless Karpenter is installed with them (aws/karpenter-provider-aws v1.15.1,
charts/karpenter/values.yaml, settings.featureGates)."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How many nodes of a pool Karpenter may take away at once, always or at times.

    Attributes:
        nodes: A number, or a share such as ``10%``.
        schedule: When it begins to count, as a cron line in UTC; empty for always.
        duration: How long it counts from then on.
        reasons: Why nodes are taken away; empty for any reason.
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
    """When Karpenter takes nodes away by itself.

    Nodes go when they are empty, unless something else is asked for: loading a model again costs more than a few.

    Attributes:
        policy: One of ``CONSOLIDATION``.
        after: How long a node must be so, or ``Never``.
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
        capacity: How its nodes may be bought; Karpenter takes spot before on-demand.
        categories: Letters of instance families, such as ``m``.
        arch: Architecture of its nodes.
        max_vcpus: What it may grow to.
    """

    capacity: tuple[str, ...] = ("on-demand",)
    categories: tuple[str, ...] = ("c", "m", "r")
    arch: str = "amd64"
    max_vcpus: int = 64


@dataclass(frozen=True, slots=True)
class PoolRules:
    """What an environment says about Karpenter's pools alone.

    Attributes:
        given: Keys that are set, in camelCase; nobody else than Karpenter has a use for them.
        general: A pool for pods that name no instance type; None where there is none.
    """

    disruption: Disruption = field(default_factory=Disruption)
    general: GeneralPool | None = None
    given: tuple[str, ...] = ()

    @property
    def swaps_spot(self) -> bool:
        """Whether there is a pool whose spot nodes may be swapped; of the others only empty nodes go."""
        general = self.general is not None and "spot" in self.general.capacity
        return general or self.disruption.policy != WHEN_EMPTY


def features(groups: Iterable["NodeGroupPlan"], rules: PoolRules, *, node_repair: bool) -> tuple[str, ...]:
    """Return the features that Karpenter must be installed with."""
    wanted = {
        NODE_REPAIR: node_repair,
        SPOT_TO_SPOT: rules.disruption.spot_to_spot,
        STATIC_CAPACITY: any(group.minimum for group in groups),
    }
    return tuple(name for name, asked in wanted.items() if asked)
