"""Kthena: ModelServing (``workload.serving.volcano.sh``, Kthena spec 1.2)."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....contract import rules
from ....contract.base import INT32_MAX, ApiModel, Int32, Int64, NaturalInt32, Rule
from ....contract.meta import Resource
from ....contract.releases import Span
from ....contract.schema.embedded import META, Embedded, JsonObject, ref
from ..rules import model_serving
from .values import AnyObject, IntOrString, LabelSelector, PodSpec, RoleName

_Conditions = Annotated[list[JsonObject], Embedded({"type": "array", "items": ref(META + "Condition")})]


_NATURAL_INT32 = {"type": "integer", "format": "int32", "minimum": 0, "maximum": INT32_MAX}
MAX_ROLES = 4
MAX_TIER_NAME = 253
"""Maximum length of a HyperNode tier's name, since v0.3.0."""


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
    max_unavailable: Annotated[IntOrString | None, Span(since="v1.0.0")] = None
    """Instances that may be unavailable during a RoleRollingUpdate, as a number or a percentage. Default: all of
    them."""

    rules: ClassVar[tuple[Rule, ...]] = model_serving.ROLE_CEL


class GangPolicy(ApiModel):
    """Instances of each role that must be scheduled at once."""

    # Each key is the name of a role.
    min_role_replicas: dict[str, Int32] | None = Field(default=None, max_length=MAX_ROLES)
    """Instances by role. Default: all of them."""

    rules: ClassVar[tuple[Rule, ...]] = (model_serving.LEAST_STAYS, model_serving.LEAST_UNCHANGED)


class TopologyPolicy(ApiModel):
    """How close to each other pods must be (Volcano's NetworkTopologySpec)."""

    mode: Literal["hard", "soft"] = "hard"
    """hard or soft."""
    highest_tier_allowed: Annotated[Int64 | None, Span(until="v0.2.0"), Span(since="v0.3.0", minimum=0)] = None
    """Highest tier of Volcano's network topology that the pods may span."""
    highest_tier_name: Annotated[str | None, Span(until="v0.2.0"), Span(since="v0.3.0", maxLength=MAX_TIER_NAME)] = (
        None
    )
    """The same by the name of the tier."""


class NetworkTopology(ApiModel):
    """How close to each other the pods of a group must be (Volcano)."""

    mode: Annotated[Literal["hard", "soft"], Span(until="v0.1.0")] = "hard"
    """hard or soft."""
    highest_tier_allowed: Annotated[Int64, Span(until="v0.1.0")] = 1
    """Highest tier of Volcano's network topology that a group may span."""
    group_policy: Annotated[TopologyPolicy | None, Span(since="v0.2.0")] = None
    """How close to each other all pods of a serving group must be; in place of mode and highest_tier_allowed."""
    role_policy: Annotated[TopologyPolicy | None, Span(since="v0.2.0")] = None
    """How close to each other the pods of one role instance must be."""

    @property
    def group(self) -> TopologyPolicy | None:
        """The policy of the whole group, in either form; None if only roles have one."""
        if self.model_fields_set & {"group_policy", "role_policy"}:
            return self.group_policy
        return TopologyPolicy.model_validate({"mode": self.mode, "highestTierAllowed": self.highest_tier_allowed})


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
    max_surge: Annotated[IntOrString, Span(until="v0.2.0")] = 0
    """Extra groups, as a number or percentage."""
    partition: Annotated[
        IntOrString | None,
        Span(until="v0.3.0", **_NATURAL_INT32, anyOf=None, **{"x-kubernetes-int-or-string": None}),
        Span(since="v0.4.0"),
    ] = None
    """Only groups from this ordinal on are updated, as a number or a percentage, rounded up. Default: all."""

    rules: ClassVar[tuple[Rule, ...]] = model_serving.ROLLOUT_CEL


class RolloutStrategy(ApiModel):
    """How serving groups are updated."""

    type: Annotated[
        Literal["ServingGroupRollingUpdate", "RoleRollingUpdate"],
        Span(until="v0.3.0", enum=["ServingGroupRollingUpdate"]),
        Span(since="v0.4.0"),
    ] = "ServingGroupRollingUpdate"
    """ServingGroupRollingUpdate, or RoleRollingUpdate for one role instance at a time."""
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


class PluginScope(ApiModel):
    """The pods that a plugin changes."""

    roles: list[str] | None = None
    """Names of roles. Default: all."""
    target: str | None = None
    """Entry, Worker or All. Default: All."""


class PluginSpec(ApiModel):
    """A plugin of Kthena's controller, which changes pods before they are created."""

    name: str
    """Name of the plugin, such as demo-pod-tweaks."""
    type: Literal["BuiltIn"] = "BuiltIn"
    """BuiltIn, the only supported type."""
    config: AnyObject | None = None
    """Settings of the plugin."""
    scope: PluginScope | None = None
    """The pods that it changes. Default: all."""


class ModelServingSpec(ApiModel):
    """``replicas`` serving groups."""

    replicas: NaturalInt32 = 1
    """Number of serving groups, unless an autoscaler sets it."""
    scheduler_name: Annotated[
        str | None, Span(until="v0.1.0", required=True), Span(since="v0.2.0", default="volcano")
    ] = None
    """Scheduler of the pods, until v0.1.0 always volcano. Default: volcano."""
    plugins: Annotated[list[PluginSpec] | None, Span(since="v0.3.0")] = None
    """Plugins of Kthena's controller, in the order in which they change pods."""
    template: ServingGroup
    """The roles of a serving group."""
    rollout_strategy: RolloutStrategy | None = None
    """How changes of the pods are rolled out. Default: one group at a time is unavailable."""
    recovery_policy: Literal["ServingGroupRecreate", "RoleRecreate", "None"] = "RoleRecreate"
    """What is recreated after a failure: RoleRecreate, ServingGroupRecreate or None."""
    topology_spread_constraints: Annotated[list[TopologySpreadConstraint] | None, Span(until="v0.1.0")] = None
    """How serving groups are spread over nodes."""

    rules: ClassVar[tuple[Rule, ...]] = model_serving.SPEC_CEL


class ModelServingStatus(ApiModel):
    """Observed state."""

    observed_generation: Int64 | None = None
    replicas: Int32 | None = None
    current_replicas: Int32 | None = None
    updated_replicas: Int32 | None = None
    available_replicas: Int32 | None = None
    current_revision: Annotated[str | None, Span(since="v0.3.0")] = None
    update_revision: Annotated[str | None, Span(since="v0.3.0")] = None
    label_selector: Annotated[str | None, Span(since="v0.3.0")] = None
    conditions: _Conditions | None = None


class ModelServing(Resource):
    """Serving groups: pods in roles that serve together."""

    api_version: Literal["workload.serving.volcano.sh/v1alpha1"]
    kind: Literal["ModelServing"]
    spec: ModelServingSpec
    status: ModelServingStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME, *model_serving.WHOLE)
