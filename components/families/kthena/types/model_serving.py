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
    """A pod."""

    metadata: TemplateMetadata | None = None
    """Its labels and annotations."""
    spec: PodSpec | None = None
    """What runs in it (core/v1 PodSpec, in wire form)."""


class Role(ApiModel):
    """``replicas`` instances, each of one entry pod and ``workerReplicas`` workers."""

    name: RoleName
    """Name of the role, at most 12 letters, digits and inner '-'."""
    replicas: NaturalInt32 = 1
    """Instances in each serving group."""
    entry_template: PodTemplateSpec
    """The pod that takes requests."""
    worker_replicas: NaturalInt32
    """Workers beside it."""
    worker_template: PodTemplateSpec | None = None
    """The pod of a worker."""


class GangPolicy(ApiModel):
    """How many instances of each role must find room at once."""

    # Each key is one of the roles, so that there are no more of them.
    min_role_replicas: dict[str, Int32] | None = Field(default=None, max_length=MAX_ROLES)
    """Instances by role. Default: all of them."""

    rules: ClassVar[tuple[Rule, ...]] = (model_serving.LEAST_STAYS,)


class NetworkTopology(ApiModel):
    """How near to each other the pods of a group must be (Volcano)."""

    mode: Literal["hard", "soft"] = "hard"
    """hard or soft."""
    highest_tier_allowed: Int64 = 1
    """Highest tier of Volcano's network topology that a group may span."""


class ServingGroup(ApiModel):
    """The roles that serve together."""

    restart_grace_period_seconds: Int64 = 0
    """How long a failed pod may recover by itself; only with realization operator."""
    gang_policy: GangPolicy | None = None
    """What must find room at once; needs Volcano."""
    network_topology: NetworkTopology | None = None
    """How near to each other the pods of a group must be; needs Volcano."""
    roles: list[Role] = Field(min_length=1, max_length=MAX_ROLES)
    """One to four roles, each with a name of its own."""

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
    """How a change reaches the groups."""

    type: Literal["ServingGroupRollingUpdate"] = "ServingGroupRollingUpdate"
    """ServingGroupRollingUpdate, the only one there is."""
    rolling_update_configuration: RollingUpdateConfiguration | None = None
    """How many groups may be unavailable or extra during the rollout."""


class TopologySpreadConstraint(ApiModel):
    """How groups are spread."""

    max_skew: Int32 | None = None
    """Largest difference between two domains."""
    topology_key: str | None = None
    """Label of the nodes whose values are the domains."""
    when_unsatisfiable: str | None = None
    """DoNotSchedule or ScheduleAnyway."""
    label_selector: LabelSelector | None = None
    """The pods that are counted (meta/v1 LabelSelector, in wire form)."""


class ModelServingSpec(ApiModel):
    """``replicas`` serving groups."""

    replicas: NaturalInt32 = 1
    """Serving groups, if there is no autoscaler."""
    scheduler_name: str
    """volcano, the only one that Kthena takes. Default: volcano."""
    template: ServingGroup
    """The roles of a serving group."""
    rollout_strategy: RolloutStrategy | None = None
    """How a change of the pods rolls out. Default: one group at a time is unavailable."""
    recovery_policy: Literal["ServingGroupRecreate", "RoleRecreate", "None"] = "RoleRecreate"
    """What is made anew after a failure: RoleRecreate, ServingGroupRecreate or None."""
    topology_spread_constraints: list[TopologySpreadConstraint] | None = None
    """How groups are spread."""

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
