"""Parts of a LeaderWorkerSet as arguments, for components whose pods come in groups."""

from typing import Any, Required, TypedDict


class RollingUpdateArgs(TypedDict, total=False):
    """How many groups may be missing or extra during a rollout."""

    partition: int
    """Groups from this ordinal on are updated. Default: all of them."""
    max_unavailable: Any
    """Groups that may be missing, as a number or in per cent such as 25%. Default: 1."""
    max_surge: Any
    """Groups that may be extra, likewise. Default: 0."""


class RolloutStrategyArgs(TypedDict, total=False):
    """How a change of the pods reaches the groups."""

    type: str
    """RollingUpdate."""
    rolling_update_configuration: RollingUpdateArgs
    """How many groups may be missing or extra meanwhile."""


class SubGroupPolicyArgs(TypedDict, total=False):
    """How a group is cut into subgroups."""

    sub_group_policy_type: str
    """LeaderWorker or LeaderExcluded. Default: LeaderWorker."""
    sub_group_size: Required[int]
    """Pods of a subgroup."""
