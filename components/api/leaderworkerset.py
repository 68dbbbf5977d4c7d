"""LeaderWorkerSet ``leaderworkerset.x-k8s.io/v1`` (specs: LeaderWorkerSet v0.10.0)."""

from typing import Literal

from .base import ApiModel, Int32
from .meta import JsonObject, Resource

IntOrString = int | str


class SubGroupPolicy(ApiModel):
    """How a group is cut into subgroups."""

    sub_group_policy_type: Literal["LeaderWorker", "LeaderExcluded"] | None = None
    sub_group_size: Int32 | None = None


class LeaderWorkerTemplate(ApiModel):
    """The pods of one group: a leader and ``size - 1`` workers."""

    leader_template: JsonObject | None = None
    worker_template: JsonObject
    size: Int32 = 1
    restart_policy: Literal[
        "Default", "RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None"
    ] = "RecreateGroupOnPodRestart"
    sub_group_policy: SubGroupPolicy | None = None
    volume_claim_templates: list[JsonObject] | None = None
    persistent_volume_claim_retention_policy: JsonObject | None = None


class RollingUpdateConfiguration(ApiModel):
    """How many groups may be missing or extra during a rollout."""

    partition: Int32 | None = None
    max_unavailable: IntOrString = 1
    max_surge: IntOrString = 0


class RolloutStrategy(ApiModel):
    """How a template change reaches the groups."""

    type: Literal["RollingUpdate"] = "RollingUpdate"
    rolling_update_configuration: RollingUpdateConfiguration | None = None


class NetworkConfig(ApiModel):
    """Which headless Service carries a group's names."""

    subdomain_policy: Literal["Shared", "UniquePerReplica"]


class LeaderWorkerSetSpec(ApiModel):
    """``replicas`` groups of pods."""

    replicas: Int32 = 1
    leader_worker_template: LeaderWorkerTemplate
    rollout_strategy: RolloutStrategy | None = None
    startup_policy: Literal["LeaderCreated", "LeaderReady"] = "LeaderCreated"
    network_config: NetworkConfig | None = None


class LeaderWorkerSet(Resource):
    """Groups of pods that live and die together."""

    api_version: Literal["leaderworkerset.x-k8s.io/v1"]
    kind: Literal["LeaderWorkerSet"]
    spec: LeaderWorkerSetSpec
