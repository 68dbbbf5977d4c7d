"""Parts of a ModelServing as arguments: its roles, and how they start, change and recover."""

from typing import Any, Required, TypedDict


class TemplateMetadataArgs(TypedDict, total=False):
    """Labels and annotations of pods."""

    labels: dict[str, str]
    """Labels."""
    annotations: dict[str, str]
    """Annotations."""


class PodTemplateSpecArgs(TypedDict, total=False):
    """A pod."""

    metadata: TemplateMetadataArgs
    """Its labels and annotations."""
    spec: dict[str, Any]
    """What runs in it (core/v1 PodSpec, in wire form)."""


class RoleArgs(TypedDict, total=False):
    """Equal instances of one entry pod and its workers."""

    name: Required[str]
    """Name of the role, at most 12 letters, digits and inner '-'."""
    replicas: int
    """Instances in each serving group. Default: 1."""
    entry_template: Required[PodTemplateSpecArgs]
    """The pod that takes requests."""
    worker_replicas: Required[int]
    """Workers beside it."""
    worker_template: PodTemplateSpecArgs
    """The pod of a worker."""


class GangPolicyArgs(TypedDict, total=False):
    """What must find room at once."""

    min_role_replicas: dict[str, int]
    """Instances by role. Default: all of them."""


class NetworkTopologyArgs(TypedDict, total=False):
    """How near to each other the pods of a group must be."""

    mode: str
    """hard or soft. Default: hard."""
    highest_tier_allowed: int
    """Highest tier of Volcano's network topology that a group may span. Default: 1."""


class ServingGroupArgs(TypedDict, total=False):
    """The roles that serve together."""

    restart_grace_period_seconds: int
    """How long a failed pod may recover by itself; only with realization operator. Default: 0."""
    gang_policy: GangPolicyArgs
    """What must find room at once; needs Volcano."""
    network_topology: NetworkTopologyArgs
    """How near to each other the pods of a group must be; needs Volcano."""
    roles: Required[list[RoleArgs]]
    """One to four roles, each with a name of its own."""


class RollingUpdateConfigurationArgs(TypedDict, total=False):
    """How many groups may be unavailable or extra during a rollout."""

    max_unavailable: Any
    """Groups that may be unavailable, as a number or a percentage such as 25%. Default: 1."""
    max_surge: Any
    """Extra groups, as a number or percentage. Default: 0."""
    partition: int
    """Only groups from this ordinal on are updated. Default: all."""


class ServingRolloutStrategyArgs(TypedDict, total=False):
    """How a change of the pods rolls out."""

    type: str
    """ServingGroupRollingUpdate, the only one there is."""
    rolling_update_configuration: RollingUpdateConfigurationArgs
    """How many groups may be unavailable or extra during the rollout."""


class TopologySpreadConstraintArgs(TypedDict, total=False):
    """How groups are spread."""

    max_skew: int
    """Largest difference between two domains."""
    topology_key: str
    """Label of the nodes whose values are the domains."""
    when_unsatisfiable: str
    """DoNotSchedule or ScheduleAnyway."""
    label_selector: dict[str, Any]
    """The pods that are counted (meta/v1 LabelSelector, in wire form)."""
