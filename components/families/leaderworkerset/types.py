"""LeaderWorkerSet ``leaderworkerset.x-k8s.io/v1`` (specs: LeaderWorkerSet v0.10.0)."""

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from ...contract.base import (
    INT64_MAX,
    ApiModel,
    Int32,
    Int64,
    NaturalInt32,
    PositiveInt32,
    Rule,
    ScaleReplicas,
    whole_float_to_int,
)
from ...contract.meta import Resource
from ...contract.schema.embedded import INT_OR_STRING, ClaimRetention, Conditions, PodTemplate, VolumeClaims
from . import rules

IntOrString = Annotated[
    Annotated[int, Field(ge=-INT64_MAX - 1, le=INT64_MAX)] | str,
    BeforeValidator(whole_float_to_int),
    WithJsonSchema({"anyOf": INT_OR_STRING, "x-kubernetes-int-or-string": True}),
]


class SubGroupPolicy(ApiModel):
    """How a group is divided into subgroups."""

    sub_group_policy_type: Literal["LeaderWorker", "LeaderExcluded"] = "LeaderWorker"
    """LeaderWorker or LeaderExcluded."""
    sub_group_size: PositiveInt32
    """Pods of a subgroup."""


class LeaderWorkerTemplate(ApiModel):
    """The pods of one group: a leader and ``size - 1`` workers."""

    leader_template: PodTemplate | None = None
    """Pod template of the leader. Default: the worker template."""
    worker_template: PodTemplate
    """Pod template of the workers."""
    size: PositiveInt32 = 1
    """Pods of one replica, including the leader."""
    restart_policy: Literal["Default", "RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None"] = (
        "RecreateGroupOnPodRestart"
    )
    """Default, RecreateGroupOnPodRestart, RecreateGroupAfterStart or None."""
    sub_group_policy: SubGroupPolicy | None = None
    """How a group is divided into subgroups. Default: not at all."""
    volume_claim_templates: VolumeClaims | None = None
    """Volume claim templates; each pod gets its own claims."""
    persistent_volume_claim_retention_policy: ClaimRetention | None = None
    """Retention policy of these claims, in wire form: whenDeleted and whenScaled, each Delete or Retain."""

    rules: ClassVar[tuple[Rule, ...]] = (rules.SUBGROUPS, rules.LEADER_EXCLUDED)


class RolloutBounds(ApiModel):
    """How many groups may be unavailable or extra during a rollout."""

    max_unavailable: IntOrString = 1
    """Groups that may be unavailable, as a number or a percentage such as 25%."""
    max_surge: IntOrString = 0
    """Extra groups, as a number or percentage."""

    rules: ClassVar[tuple[Rule, ...]] = (rules.MAX_UNAVAILABLE, rules.MAX_SURGE)


class RollingUpdateConfiguration(RolloutBounds):
    """The bounds of a rollout and its partition, which the controller requires."""

    partition: NaturalInt32 = 0
    """Groups with a lower index keep the previous template."""


class RolloutStrategy(ApiModel):
    """How template changes are rolled out to the groups."""

    type: Literal["RollingUpdate"] = "RollingUpdate"
    """RollingUpdate."""
    rolling_update_configuration: RollingUpdateConfiguration | None = None
    """How many groups may be unavailable or extra during a rollout. Default: one unavailable."""


class NetworkConfig(ApiModel):
    """Which headless Service provides the DNS names of a group's pods."""

    subdomain_policy: Literal["Shared", "UniquePerReplica"]
    """Shared: one headless Service for all groups. UniquePerReplica: one for each group."""


class LeaderWorkerSetSpec(ApiModel):
    """``replicas`` groups of pods."""

    replicas: Annotated[ScaleReplicas, Field(le=1_000_000)] = 1
    """Groups of pods."""
    leader_worker_template: LeaderWorkerTemplate
    """The pods of a group."""
    rollout_strategy: RolloutStrategy | None = None
    """How a change of the template rolls out to the groups."""
    startup_policy: Literal["LeaderCreated", "LeaderReady"] = "LeaderCreated"
    """Whether workers are created with their leader, or when it is ready."""
    network_config: NetworkConfig | None = None
    """Which headless Service provides the DNS names of the pods. Default: one for all groups."""

    rules: ClassVar[tuple[Rule, ...]] = (rules.ROLLOUT_MOVES, rules.PODS_FIT)


class LeaderWorkerSetStatus(ApiModel):
    """Observed state."""

    conditions: Conditions | None = None
    ready_replicas: Int32 | None = None
    updated_replicas: Int32 | None = None
    replicas: Int32 | None = None
    hpa_pod_selector: str | None = None
    observed_generation: Int64 | None = None


class LeaderWorkerSet(Resource):
    """Groups of pods that are created, restarted and deleted together."""

    api_version: Literal["leaderworkerset.x-k8s.io/v1"]
    kind: Literal["LeaderWorkerSet"]
    spec: LeaderWorkerSetSpec
    status: LeaderWorkerSetStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.LWS_NAME,)
