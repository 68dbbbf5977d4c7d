"""Settings of Karpenter's node pools, shared by programs and stacks."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ....clouds.aws.nodes.pool_rules import Budget, Disruption, GeneralPool
from ....plan.section import Flag, Section

_Reason = Literal["Underutilized", "Empty", "Drifted", "Unhealthy"]
_Capacity = Literal["on-demand", "spot"]
_MOST_VCPUS = 1_000_000
"""Far above the quotas of any account. Kubernetes silently caps larger amounts."""
_CRON = r"^(|@(annually|yearly|monthly|weekly|daily|midnight|hourly)|(\S+ ){4}\S+)$"


class BudgetSettings(Section):
    """Limit on the nodes of a pool that Karpenter disrupts at once; the smallest active budget applies."""

    nodes: str = Field(pattern=r"^((100|[0-9]{1,2})%|[0-9]+)$")
    """Number of nodes, or a percentage such as 10%, in quotes; 0 blocks disruption."""
    schedule: str = Field(default="", pattern=_CRON)
    """Cron schedule in UTC at which the budget becomes active. Default: always active."""
    duration: str = Field(default="", pattern=r"^(|[0-9]+h|[0-9]+m|[0-9]+h[0-9]+m)$")
    """How long the budget is active after each start of the schedule, such as 10h. Required with schedule."""
    reasons: list[_Reason] = Field(default_factory=list)
    """Disruption reasons that the budget limits: Underutilized, Empty, Drifted, Unhealthy. Default: all."""

    @model_validator(mode="after")
    def _both_or_none(self) -> "BudgetSettings":
        if bool(self.schedule) != bool(self.duration):
            raise ValueError("must have both schedule and duration, or neither")
        return self

    def budget(self) -> Budget:
        return Budget(self.nodes, self.schedule, self.duration, tuple(self.reasons))


class DisruptionSettings(Section):
    """When Karpenter disrupts nodes."""

    consolidation_policy: Literal["WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"] = "WhenEmpty"
    """Which nodes Karpenter consolidates: WhenEmpty, WhenEmptyOrUnderutilized or Balanced. All but WhenEmpty evict
    serving pods."""
    consolidate_after: str = Field(default="10m", pattern=r"^(([0-9]+(s|m|h))+|Never)$")
    """How long a node must be empty or underutilized before consolidation, such as 10m, or Never."""
    budgets: list[BudgetSettings] = Field(default_factory=lambda: [BudgetSettings(nodes="1")], max_length=50)
    """Limits on the nodes of a pool that Karpenter disrupts at once. Default: one node."""
    spot_to_spot: Flag = False
    """Whether Karpenter replaces spot nodes with cheaper spot nodes. Requires at least 15 instance types to choose
    from."""

    def disruption(self) -> Disruption:
        budgets = tuple(budget.budget() for budget in self.budgets)
        return Disruption(self.consolidation_policy, self.consolidate_after, budgets, self.spot_to_spot)


class GeneralPoolSettings(Section):
    """A pool of nodes without accelerators, for pods that require no instance type."""

    capacity: list[_Capacity] = Field(default_factory=lambda: list[_Capacity](("on-demand",)), min_length=1)
    """Purchase options of the nodes: on-demand, spot or both. With both, Karpenter tries spot first."""
    categories: list[Annotated[str, Field(pattern=r"^[a-z]+$")]] = Field(
        default_factory=lambda: ["c", "m", "r"], min_length=1
    )
    """Categories of instance families, such as c, m and r."""
    arch: Literal["amd64", "arm64"] = "amd64"
    """CPU architecture of the nodes: amd64 or arm64."""
    max_vcpus: int = Field(default=64, ge=2, le=_MOST_VCPUS)
    """Maximum total vCPUs of the pool."""

    def pool(self) -> GeneralPool:
        return GeneralPool(tuple(self.capacity), tuple(self.categories), self.arch, self.max_vcpus)
