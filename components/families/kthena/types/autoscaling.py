"""Kthena: AutoscalingPolicy and AutoscalingPolicyBinding (``workload.serving.volcano.sh``, Kthena spec 1.3)."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ....contract import rules
from ....contract.base import ApiModel, Int32, Int64, NaturalInt32, Rule
from ....contract.meta import Resource
from ....contract.releases import Span
from ....contract.schema.embedded import META, Embedded, JsonObject, Quantity, Time, ref
from ..rules import policies
from .values import Duration, LabelSelector, LocalObjectReference, MaxReplicas, ObjectReference, Percentage, Replicas

_Conditions = Annotated[
    list[JsonObject],
    Embedded(
        {
            "type": "array",
            "items": ref(META + "Condition"),
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
        }
    ),
]


def _by(name: str) -> dict[str, Any]:
    """Return the keywords of a list whose items have different names."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [name]}


_BINDINGS = "v0.4.0"
"""The last release with bindings; since then a policy names its targets itself."""


class AutoscalingPolicyMetric(ApiModel):
    """A metric and its target."""

    metric_name: Annotated[str | None, Span(until=_BINDINGS, required=True)] = None
    """Name of the metric, such as kthena:num_requests_waiting or vllm:num_requests_waiting."""
    name: Annotated[Annotated[str, Field(min_length=1)] | None, Span(since="v1.0.0", required=True)] = None
    """The same, in place of metric_name; the key of its source in metric_sources."""
    target_value: Quantity
    """Target value per replica, as a quantity above 0."""

    rules: ClassVar[tuple[Rule, ...]] = policies.METRIC_CEL

    @property
    def key(self) -> str:
        """The name, in either form."""
        return self.name if self.name is not None else self.metric_name or ""


class AutoscalingPolicyStablePolicy(ApiModel):
    """How fast replicas may change: at most ``instances`` or ``percent`` of them per ``period``."""

    instances: NaturalInt32 = 1
    """Replicas that may be added or removed."""
    percent: Percentage = 100
    """The same as a percentage of the replicas, 0 to 1000."""
    period: Duration = "15s"
    """The period, up to 30m."""
    select_policy: Literal["Or", "And"] = "Or"
    """Or takes the larger of instances and percent, And the smaller."""
    stabilization_window: Duration | None = None
    """Window over which the safest recommendation counts, up to 30m. Default: none."""

    rules: ClassVar[tuple[Rule, ...]] = policies.STABLE_CEL


class AutoscalingPolicyPanicPolicy(ApiModel):
    """How fast replicas may be added after a sudden rise of the load."""

    percent: Percentage = 1000
    """Percentage of the replicas that may be added, 0 to 1000."""
    period: Duration
    """The period, up to 30m."""
    panic_threshold_percent: Annotated[Int32, Field(ge=110, le=1000)] = 200
    """Recommendation, as a percentage of the replicas, at which panic mode begins; 110 to 1000."""
    panic_mode_hold: Duration = "60s"
    """How long panic mode lasts, in which no replicas are removed; up to 30m."""

    rules: ClassVar[tuple[Rule, ...]] = policies.PANIC_CEL


class AutoscalingPolicyScaleUpPolicy(ApiModel):
    """How replicas are added, normally and in panic mode."""

    stable_policy: AutoscalingPolicyStablePolicy | None = None
    """Limits in normal mode."""
    panic_policy: AutoscalingPolicyPanicPolicy | None = None
    """Limits in panic mode; only with realization operator."""


class AutoscalingPolicyBehavior(ApiModel):
    """How replicas are added and removed."""

    scale_up: AutoscalingPolicyScaleUpPolicy | None = None
    """How replicas are added."""
    scale_down: AutoscalingPolicyStablePolicy | None = None
    """How replicas are removed."""


class MetricEndpoint(ApiModel):
    """Where pods serve their metrics."""

    uri: str = "/metrics"
    """Path of the metrics."""
    port: Int32 = 8100
    """Port of the metrics."""
    label_selector: Annotated[LabelSelector | None, Span(since="v0.2.0")] = None
    """Which entry pods of the target to measure (meta/v1 LabelSelector, in wire form). Default: all."""


class PodMetricSource(MetricEndpoint):
    """A metric that the pods of a target serve."""

    name: str | None = None
    """Its name there. Default: the key of the source."""


class PrometheusAuth(ApiModel):
    """Upstream's authentication has no fields."""


class PrometheusMetricSource(ApiModel):
    """A metric of a Prometheus server; only with realization operator."""

    server_url: Annotated[
        str, Field(min_length=1, json_schema_extra={"format": "uri", "pattern": policies.SERVER_URL})
    ] = Field(alias="serverURL")
    """Address of the server, such as http://prometheus.monitoring.svc:9090."""
    query: Annotated[str, Field(min_length=1)]
    """Query whose result is one number."""
    auth: PrometheusAuth | None = None
    """Upstream reserves it for later."""


class MetricSource(ApiModel):
    """Where a metric comes from: either pod or prometheus."""

    pod: PodMetricSource | None = None
    """The pods of the target."""
    prometheus: PrometheusMetricSource | None = None
    """A Prometheus server; only with realization operator."""

    rules: ClassVar[tuple[Rule, ...]] = policies.SOURCE_CEL


class SubTarget(ApiModel):
    """A part of a ModelServing; only with realization operator."""

    kind: str | None = None
    """Role."""
    name: str | None = None
    """Name of the role."""


class ScalingTarget(ApiModel):
    """The ModelServing to measure and scale."""

    target_ref: ObjectReference
    """The ModelServing."""
    additional_match_labels: Annotated[dict[str, str] | None, Span(until="v0.1.0")] = None
    """Further labels of the pods to measure."""
    sub_targets: Annotated[SubTarget | None, Span("v0.2.0", _BINDINGS)] = None
    """The role to scale instead of the whole ModelServing; only with realization operator."""
    metric_endpoint: Annotated[MetricEndpoint | None, Span(until=_BINDINGS)] = None
    """Where pods serve their metrics."""
    metric_sources: Annotated[dict[str, MetricSource] | None, Span(since="v1.0.0")] = None
    """Where the metrics come from, by the name of each. Default: the pods."""

    rules: ClassVar[tuple[Rule, ...]] = policies.TARGET_CEL


class ScalingConfiguration(ApiModel):
    """A target and its bounds."""

    target: ScalingTarget
    """The ModelServing to measure and scale."""
    min_replicas: Replicas
    """Lower bound, 0 to 1000000."""
    max_replicas: MaxReplicas
    """Upper bound, 1 to 1000000."""

    rules: ClassVar[tuple[Rule, ...]] = policies.BOUNDS_CEL


class OptimizerParam(ApiModel):
    """One of several targets, with its bounds and the cost of a replica."""

    target: ScalingTarget
    """The ModelServing to measure and scale."""
    cost: NaturalInt32 = 0
    """Cost of a replica, in any unit. Default: the price of its nodes, in US cents per hour."""
    min_replicas: Replicas
    """Lower bound, 0 to 1000000."""
    max_replicas: MaxReplicas
    """Upper bound, 1 to 1000000."""

    rules: ClassVar[tuple[Rule, ...]] = policies.BOUNDS_CEL


class OptimizerConfiguration(ApiModel):
    """Several targets that share a load, the cheapest first."""

    params: list[OptimizerParam] = Field(min_length=1)
    """The targets."""
    cost_expansion_rate_percent: NaturalInt32 = 200
    """Growth rate, in percent, of the blocks of replicas that one target gets before the next."""


class RoleScaling(ApiModel):
    """How one role is scaled."""

    min_replicas: Replicas
    """Lower bound of its instances, 0 to 1000000."""
    max_replicas: MaxReplicas
    """Upper bound of its instances, 1 to 1000000."""
    metrics: Annotated[list[AutoscalingPolicyMetric], Field(min_length=1, json_schema_extra=_by("name"))] | None = (
        None
    )
    """Metrics to scale on. Default: those of the policy."""
    metric_sources: dict[str, MetricSource] | None = None
    """Where the metrics come from, by the name of each."""

    rules: ClassVar[tuple[Rule, ...]] = policies.BOUNDS_CEL

    @property
    def is_fixed(self) -> bool:
        """Whether the role keeps its size."""
        return self.min_replicas == self.max_replicas


class RatioConstraint(ApiModel):
    """The range of the ratio of two roles' instances."""

    numerator_role: str
    """Name of a role."""
    denominator_role: str
    """Name of the other role."""
    min_ratio: Quantity
    """Lower bound of the ratio."""
    max_ratio: Quantity
    """Upper bound of the ratio."""

    rules: ClassVar[tuple[Rule, ...]] = policies.RATIO_CEL


class DisaggregatedTarget(ApiModel):
    """Roles of one ModelServing, scaled each on its own; only with realization operator."""

    target_ref: ObjectReference
    """The ModelServing."""
    roles: Annotated[dict[str, RoleScaling], Field(min_length=1, max_length=2)]
    """How each role is scaled, by its name."""
    ratio_constraint: RatioConstraint | None = None
    """The range of the ratio of the two roles. Default: any."""

    rules: ClassVar[tuple[Rule, ...]] = policies.ROLES_CEL


class AutoscalingPolicySpec(ApiModel):
    """Metrics to scale on, limits of scaling, and since v1.0.0 what is scaled."""

    tolerance_percent: Annotated[NaturalInt32, Field(le=100)] = 10
    """Tolerated deviation from the target, 0 to 100 percent."""
    metrics: Annotated[
        list[AutoscalingPolicyMetric] | None,
        Span(until=_BINDINGS, required=True, minItems=1, **_by("metricName")),
        Span(since="v1.0.0", **_by("name")),
    ] = None
    """Metrics to scale on; the one that recommends the most replicas counts."""
    behavior: AutoscalingPolicyBehavior | None = None
    """How replicas are added and removed."""
    homogeneous_target: Annotated[ScalingConfiguration | None, Span(since="v1.0.0")] = None
    """The ModelServing to scale, and its bounds."""
    heterogeneous_target: Annotated[OptimizerConfiguration | None, Span(since="v1.0.0")] = None
    """Several ModelServings that share a load, the cheapest first."""
    disaggregated_target: Annotated[DisaggregatedTarget | None, Span(since="v1.0.0")] = None
    """Roles of one ModelServing, scaled each on its own; only with realization operator."""

    rules: ClassVar[tuple[Rule, ...]] = policies.POLICY_CEL

    @property
    def has_target(self) -> bool:
        """Whether the policy names its targets itself."""
        return any((self.homogeneous_target, self.heterogeneous_target, self.disaggregated_target))


class TargetStatus(ApiModel):
    """Observed state of a target or role."""

    name: str | None = None
    current_replicas: Int32
    desired_replicas: Int32
    mode: str | None = None
    last_scale_time: Time | None = None


class RatioStatus(ApiModel):
    """Observed ratio of two roles."""

    numerator_role: str
    denominator_role: str
    current_ratio: str | None = None


class RolesStatus(ApiModel):
    """Observed state of the roles of a ModelServing."""

    roles: list[TargetStatus]
    ratio_status: RatioStatus | None = None
    ratio_adjusted: bool | None = None


class AutoscalingPolicyStatus(ApiModel):
    """Observed state; upstream's status has no fields until v1.0.0."""

    observed_generation: Annotated[Int64 | None, Span(since="v1.0.0")] = None
    conditions: Annotated[_Conditions | None, Span(since="v1.0.0")] = None
    homogeneous_status: Annotated[TargetStatus | None, Span(since="v1.0.0")] = None
    heterogeneous_status: Annotated[list[TargetStatus] | None, Span(since="v1.0.0")] = None
    disaggregated_status: Annotated[RolesStatus | None, Span(since="v1.0.0")] = None


class AutoscalingPolicy(Resource):
    """Metrics to scale on and limits of scaling, for the bindings that refer to it or the targets that it names."""

    api_version: Literal["workload.serving.volcano.sh/v1alpha1"]
    kind: Literal["AutoscalingPolicy"]
    spec: AutoscalingPolicySpec
    status: AutoscalingPolicyStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME, *policies.WHOLE_POLICY)


class AutoscalingPolicyBindingSpec(ApiModel):
    """A policy and its targets."""

    policy_ref: LocalObjectReference
    """The AutoscalingPolicy that applies to the targets."""
    optimizer_configuration: Annotated[OptimizerConfiguration | None, Span(until="v0.1.0")] = None
    """Several targets that share a load, the cheapest first."""
    scaling_configuration: Annotated[ScalingConfiguration | None, Span(until="v0.1.0")] = None
    """A target and its bounds."""
    heterogeneous_target: Annotated[OptimizerConfiguration | None, Span("v0.2.0", _BINDINGS)] = None
    """The same as optimizer_configuration, in its place."""
    homogeneous_target: Annotated[ScalingConfiguration | None, Span("v0.2.0", _BINDINGS)] = None
    """The same as scaling_configuration, in its place."""

    rules: ClassVar[tuple[Rule, ...]] = policies.BINDING_CEL


class AutoscalingPolicyBindingStatus(ApiModel):
    """Upstream's status has no fields."""


class AutoscalingPolicyBinding(Resource):
    """Binds a policy to one target, or to several that share a load."""

    api_version: Literal["workload.serving.volcano.sh/v1alpha1"]
    kind: Literal["AutoscalingPolicyBinding"]
    spec: AutoscalingPolicyBindingSpec
    status: AutoscalingPolicyBindingStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME, *policies.WHOLE_BINDING)
