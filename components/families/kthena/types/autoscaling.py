"""Kthena: AutoscalingPolicy and AutoscalingPolicyBinding (``workload.serving.volcano.sh``, Kthena spec 1.3)."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....contract import rules
from ....contract.base import ApiModel, Int32, NaturalInt32, Rule
from ....contract.meta import Resource
from ....contract.schema.embedded import Quantity
from ..rules import policies
from .values import Duration, LocalObjectReference, MaxReplicas, ObjectReference, Percentage, Replicas


class AutoscalingPolicyMetric(ApiModel):
    """A metric and its target."""

    metric_name: str
    """Name of the metric, such as kthena:num_requests_waiting or vllm:num_requests_waiting."""
    target_value: Quantity
    """Target value per replica, as a quantity above 0."""

    rules: ClassVar[tuple[Rule, ...]] = policies.METRIC_CEL


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


class AutoscalingPolicySpec(ApiModel):
    """Metrics to scale on, and limits of scaling."""

    tolerance_percent: Annotated[NaturalInt32, Field(le=100)] = 10
    """Tolerated deviation from the target, 0 to 100 percent."""
    metrics: list[AutoscalingPolicyMetric] = Field(
        min_length=1,
        json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["metricName"]},
    )
    """Metrics to scale on; the one that recommends the most replicas counts."""
    behavior: AutoscalingPolicyBehavior | None = None
    """How replicas are added and removed."""


class AutoscalingPolicyStatus(ApiModel):
    """Upstream's status has no fields."""


class AutoscalingPolicy(Resource):
    """Metrics to scale on and limits of scaling, for the bindings that refer to it."""

    api_version: Literal["workload.serving.volcano.sh/v1alpha1"]
    kind: Literal["AutoscalingPolicy"]
    spec: AutoscalingPolicySpec
    status: AutoscalingPolicyStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME, *policies.WHOLE_POLICY)


class MetricEndpoint(ApiModel):
    """Where pods serve their metrics."""

    uri: str = "/metrics"
    """Path of the metrics."""
    port: Int32 = 8100
    """Port of the metrics."""


class ScalingTarget(ApiModel):
    """The ModelServing to measure and scale."""

    target_ref: ObjectReference
    """The ModelServing."""
    additional_match_labels: dict[str, str] | None = None
    """Further labels of the pods to measure."""
    metric_endpoint: MetricEndpoint | None = None
    """Where pods serve their metrics."""

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


class AutoscalingPolicyBindingSpec(ApiModel):
    """A policy and its targets."""

    policy_ref: LocalObjectReference
    optimizer_configuration: OptimizerConfiguration | None = None
    """Several targets that share a load, the cheapest first."""
    scaling_configuration: ScalingConfiguration | None = None
    """A target and its bounds."""

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
