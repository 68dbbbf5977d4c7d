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
    annotations: dict[str, str] | None = None


class PodTemplateSpec(ApiModel):
    """A pod."""

    metadata: TemplateMetadata | None = None
    spec: PodSpec | None = None


class Role(ApiModel):
    """``replicas`` instances, each of one entry pod and ``workerReplicas`` workers."""

    name: RoleName
    replicas: NaturalInt32 = 1
    entry_template: PodTemplateSpec
    worker_replicas: NaturalInt32
    worker_template: PodTemplateSpec | None = None


class GangPolicy(ApiModel):
    """How many instances of each role must find room at once."""

    # Each key is one of the roles, so that there are no more of them.
    min_role_replicas: dict[str, Int32] | None = Field(default=None, max_length=MAX_ROLES)

    rules: ClassVar[tuple[Rule, ...]] = (model_serving.LEAST_STAYS,)


class NetworkTopology(ApiModel):
    """How near to each other the pods of a group must be (Volcano)."""

    mode: Literal["hard", "soft"] = "hard"
    highest_tier_allowed: Int64 = 1


class ServingGroup(ApiModel):
    """The roles that serve together."""

    restart_grace_period_seconds: Int64 = 0
    gang_policy: GangPolicy | None = None
    network_topology: NetworkTopology | None = None
    roles: list[Role] = Field(min_length=1, max_length=MAX_ROLES)

    rules: ClassVar[tuple[Rule, ...]] = model_serving.GROUP_CEL


class RollingUpdateConfiguration(ApiModel):
    """Bounds of a rollout."""

    max_unavailable: IntOrString = 1
    max_surge: IntOrString = 0
    partition: NaturalInt32 | None = None

    rules: ClassVar[tuple[Rule, ...]] = model_serving.ROLLOUT_CEL


class RolloutStrategy(ApiModel):
    """How a change reaches the groups."""

    type: Literal["ServingGroupRollingUpdate"] = "ServingGroupRollingUpdate"
    rolling_update_configuration: RollingUpdateConfiguration | None = None


class TopologySpreadConstraint(ApiModel):
    """How groups are spread."""

    max_skew: Int32 | None = None
    topology_key: str | None = None
    when_unsatisfiable: str | None = None
    label_selector: LabelSelector | None = None


class ModelServingSpec(ApiModel):
    """``replicas`` serving groups."""

    replicas: NaturalInt32 = 1
    scheduler_name: str
    template: ServingGroup
    rollout_strategy: RolloutStrategy | None = None
    recovery_policy: Literal["ServingGroupRecreate", "RoleRecreate", "None"] = "RoleRecreate"
    topology_spread_constraints: list[TopologySpreadConstraint] | None = None

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
