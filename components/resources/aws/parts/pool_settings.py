"""What a program or a stack says about Karpenter's pools, checked."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ....clouds.aws.nodes.pools.rules import Budget, Disruption, GeneralPool
from ....plan.section import Flag, Section

_Reason = Literal["Underutilized", "Empty", "Drifted", "Unhealthy"]
_Capacity = Literal["on-demand", "spot"]
_MOST_VCPUS = 1_000_000
"""Far above the quotas of any account; Kubernetes would cap larger amounts without a word."""
_CRON = r"^(|@(annually|yearly|monthly|weekly|daily|midnight|hourly)|(\S+ ){4}\S+)$"


class BudgetSettings(Section):
    """How many nodes of a pool Karpenter may take away at once; of several that count, the smallest does."""

    nodes: str = Field(pattern=r"^((100|[0-9]{1,2})%|[0-9]+)$")
    """A number, or a share such as 10%, in quotes. With 0, none."""
    schedule: str = Field(default="", pattern=_CRON)
    """When it begins to count, as a cron line in UTC. Default: it always counts."""
    duration: str = Field(default="", pattern=r"^(|[0-9]+h|[0-9]+m|[0-9]+h[0-9]+m)$")
    """How long it counts from then on, such as 10h."""
    reasons: list[_Reason] = Field(default_factory=list)
    """Why nodes are taken away: Underutilized, Empty, Drifted, Unhealthy. Default: for any reason."""

    @model_validator(mode="after")
    def _both_or_none(self) -> "BudgetSettings":
        if bool(self.schedule) != bool(self.duration):
            raise ValueError("must have both schedule and duration, or neither")
        return self

    def budget(self) -> Budget:
        """Return what planning works with."""
        return Budget(self.nodes, self.schedule, self.duration, tuple(self.reasons))


class DisruptionSettings(Section):
    """When Karpenter takes nodes away by itself."""

    consolidation_policy: Literal["WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"] = "WhenEmpty"
    """Which nodes it takes away. All but WhenEmpty end pods that serve."""
    consolidate_after: str = Field(default="10m", pattern=r"^(([0-9]+(s|m|h))+|Never)$")
    """How long a node must be empty or underutilized, or Never."""
    budgets: list[BudgetSettings] = Field(default_factory=lambda: [BudgetSettings(nodes="1")], max_length=50)
    """How many nodes of a pool it takes away at once. Default: one."""
    spot_to_spot: Flag = False
    """Whether it replaces spot nodes by cheaper spot nodes. Karpenter asks for at least 15 instance types to choose
    from."""

    def disruption(self) -> Disruption:
        """Return what planning works with."""
        budgets = tuple(budget.budget() for budget in self.budgets)
        return Disruption(self.consolidation_policy, self.consolidate_after, budgets, self.spot_to_spot)


class GeneralPoolSettings(Section):
    """A pool of nodes without accelerators, for pods that name no instance type."""

    capacity: list[_Capacity] = Field(default_factory=lambda: list[_Capacity](("on-demand",)), min_length=1)
    """Purchase options of its nodes: on-demand, spot or both, where spot is tried first."""
    categories: list[Annotated[str, Field(pattern=r"^[a-z]+$")]] = Field(
        default_factory=lambda: ["c", "m", "r"], min_length=1
    )
    """Categories of instance families: c, m and r are general purpose."""
    arch: Literal["amd64", "arm64"] = "amd64"
    """Architecture of its nodes."""
    max_vcpus: int = Field(default=64, ge=2, le=_MOST_VCPUS)
    """vCPUs that it may grow to."""

    def pool(self) -> GeneralPool:
        """Return what planning works with."""
        return GeneralPool(tuple(self.capacity), tuple(self.categories), self.arch, self.max_vcpus)
