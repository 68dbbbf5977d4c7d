"""Kthena: ModelServing (``workload.serving.volcano.sh``, Kthena spec 1.2)."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....contract import rules
from ....contract.base import ApiModel, Int32, Int64, NaturalInt32, Rule
from ....contract.meta import Resource
from ....contract.schema.embedded import META, Embedded, JsonObject, ref
from ..rules import model_serving
from .values import IntOrString, LabelSelector, PodSpec, RoleName

_Conditions = Annotated[list[JsonObject], Embedded({"type": "array", "items": ref(META + "Condition")})]


MAX_ROLES = 4


class TemplateMetadata(ApiModel):
    """Labels and annotations of the pods."""

    labels: dict[str, str] | None = None
    """Labels."""
    annotations: dict[str, str] | None = None
    """Annotations."""


class PodTemplateSpec(ApiModel):
    """A pod template."""

    metadata: TemplateMetadata | None = None
    """Its labels and annotations."""
    spec: PodSpec | None = None
    """Spec of the pod (core/v1 PodSpec, in wire form)."""


class Role(ApiModel):
    """``replicas`` instances, each of one entry pod and ``workerReplicas`` workers."""

    name: RoleName
    """Name of the role, at most 12 letters, digits and inner '-'."""
    replicas: NaturalInt32 = 1
    """Instances in each serving group."""
    entry_template: PodTemplateSpec
    """Template of the entry pod, which receives requests."""
    worker_replicas: NaturalInt32
    """Workers of each entry pod."""
    worker_template: PodTemplateSpec | None = None
    """Template of the workers."""


class GangPolicy(ApiModel):
    """Instances of each role that must be scheduled at once."""

    # Each key is the name of a role.
    min_role_replicas: dict[str, Int32] | None = Field(default=None, max_length=MAX_ROLES)
    """Instances by role. Default: all of them."""

    rules: ClassVar[tuple[Rule, ...]] = (model_serving.LEAST_STAYS,)


class NetworkTopology(ApiModel):
    """How close to each other the pods of a group must be (Volcano)."""

    mode: Literal["hard", "soft"] = "hard"
    """hard or soft."""
    highest_tier_allowed: Int64 = 1
    """Highest tier of Volcano's network topology that a group may span."""


class ServingGroup(ApiModel):
    """The roles that serve together."""

    restart_grace_period_seconds: Int64 = 0
    """Seconds in which a failed pod may recover; only with realization operator."""
    gang_policy: GangPolicy | None = None
    """Instances that must be scheduled at once; needs Volcano."""
    network_topology: NetworkTopology | None = None
    """How close to each other the pods of a group must be; needs Volcano."""
    roles: list[Role] = Field(min_length=1, max_length=MAX_ROLES)
    """One to four roles with unique names."""

    rules: ClassVar[tuple[Rule, ...]] = model_serving.GROUP_CEL


class RollingUpdateConfiguration(ApiModel):
    """Bounds of a rollout."""

    max_unavailable: IntOrString = 1
    """Groups that may be unavailable, as a number or a percentage such as 25%."""
    max_surge: IntOrString = 0
    """Extra groups, as a number or percentage."""
    partition: NaturalInt32 | None = None
    """Only groups from this ordinal on are updated. Default: all."""

    rules: ClassVar[tuple[Rule, ...]] = model_serving.ROLLOUT_CEL


class RolloutStrategy(ApiModel):
    """How serving groups are updated."""

    type: Literal["ServingGroupRollingUpdate"] = "ServingGroupRollingUpdate"
    """ServingGroupRollingUpdate, the only supported type."""
    rolling_update_configuration: RollingUpdateConfiguration | None = None
    """How many groups may be unavailable or extra during an update."""


class TopologySpreadConstraint(ApiModel):
    """How serving groups are spread over nodes."""

    max_skew: Int32 | None = None
    """Largest difference between two domains."""
    topology_key: str | None = None
    """Label of the nodes whose values are the domains."""
    when_unsatisfiable: str | None = None
    """DoNotSchedule or ScheduleAnyway."""
    label_selector: LabelSelector | None = None
    """The pods to count (meta/v1 LabelSelector, in wire form)."""


class ModelServingSpec(ApiModel):
    """``replicas`` serving groups."""

    replicas: NaturalInt32 = 1
    """Number of serving groups, unless an autoscaler sets it."""
    scheduler_name: str
    """volcano, the only one that Kthena supports. Default: volcano."""
    template: ServingGroup
    """The roles of a serving group."""
    rollout_strategy: RolloutStrategy | None = None
    """How changes of the pods are rolled out. Default: one group at a time is unavailable."""
    recovery_policy: Literal["ServingGroupRecreate", "RoleRecreate", "None"] = "RoleRecreate"
    """What is recreated after a failure: RoleRecreate, ServingGroupRecreate or None."""
    topology_spread_constraints: list[TopologySpreadConstraint] | None = None
    """How serving groups are spread over nodes."""

    rules: ClassVar[tuple[Rule, ...]] = model_serving.SPEC_CEL


class ModelServingStatus(ApiModel):
    """Observed state."""

    observed_generation: Int64 | None = None
    replicas: Int32 | None = None
    current_replicas: Int32 | None = None
    updated_replicas: Int32 | None = None
    available_replicas: Int32 | None = None
    conditions: _Conditions | None = None


class ModelServing(Resource):
    """Serving groups: pods in roles that serve together."""

    api_version: Literal["workload.serving.volcano.sh/v1alpha1"]
    kind: Literal["ModelServing"]
    spec: ModelServingSpec
    status: ModelServingStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME, *model_serving.WHOLE)
