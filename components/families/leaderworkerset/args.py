"""Parts of a LeaderWorkerSet as arguments, for components whose pods come in groups."""

from typing import Any, Required, TypedDict


class RollingUpdateArgs(TypedDict, total=False):
    """How many groups may be unavailable or extra during a rollout."""

    partition: int
    """Only groups from this ordinal on are updated. Default: all."""
    max_unavailable: Any
    """Groups that may be unavailable, as a number or a percentage such as 25%. Default: 1."""
    max_surge: Any
    """Extra groups, as a number or percentage. Default: 0."""


class RolloutStrategyArgs(TypedDict, total=False):
    """How a change of the pods rolls out."""

    type: str
    """RollingUpdate."""
    rolling_update_configuration: RollingUpdateArgs
    """How many groups may be unavailable or extra during the rollout."""


class SubGroupPolicyArgs(TypedDict, total=False):
    """How a group is divided into subgroups."""

    sub_group_policy_type: str
    """LeaderWorker or LeaderExcluded. Default: LeaderWorker."""
    sub_group_size: Required[int]
    """Pods of a subgroup."""
