"""Kthena: AutoscalingPolicy and AutoscalingPolicyBinding (``workload.serving.volcano.sh``, Kthena spec 1.3)."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....contract import rules
from ....contract.base import ApiModel, Int32, NaturalInt32, Rule
from ....contract.meta import Resource
from ....contract.schema.embedded import Quantity
from ..rules import policies
from .values import Duration, LocalObjectReference, MostReplicas, ObjectReference, Percentage, Replicas


class AutoscalingPolicyMetric(ApiModel):
    """A metric, and its value for each replica."""

    metric_name: str
    target_value: Quantity

    rules: ClassVar[tuple[Rule, ...]] = policies.METRIC_CEL


class AutoscalingPolicyStablePolicy(ApiModel):
    """How fast replicas may change: at most ``instances`` or ``percent`` of them per ``period``."""

    instances: NaturalInt32 = 1
    percent: Percentage = 100
    period: Duration = "15s"
    select_policy: Literal["Or", "And"] = "Or"
    stabilization_window: Duration | None = None

    rules: ClassVar[tuple[Rule, ...]] = policies.STABLE_CEL


class AutoscalingPolicyPanicPolicy(ApiModel):
    """How fast replicas may grow once the load has jumped."""

    percent: Percentage = 1000
    period: Duration
    panic_threshold_percent: Annotated[Int32, Field(ge=110, le=1000)] = 200
    panic_mode_hold: Duration = "60s"

    rules: ClassVar[tuple[Rule, ...]] = policies.PANIC_CEL


class AutoscalingPolicyScaleUpPolicy(ApiModel):
    """Growing, usually and in a panic."""

    stable_policy: AutoscalingPolicyStablePolicy | None = None
    panic_policy: AutoscalingPolicyPanicPolicy | None = None


class AutoscalingPolicyBehavior(ApiModel):
    """How replicas grow and shrink."""

    scale_up: AutoscalingPolicyScaleUpPolicy | None = None
    scale_down: AutoscalingPolicyStablePolicy | None = None


class AutoscalingPolicySpec(ApiModel):
    """What to scale on, and how fast."""

    tolerance_percent: Annotated[NaturalInt32, Field(le=100)] = 10
    metrics: list[AutoscalingPolicyMetric] = Field(
        min_length=1,
        json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["metricName"]},
    )
    behavior: AutoscalingPolicyBehavior | None = None


class AutoscalingPolicyStatus(ApiModel):
    """Nothing is observed."""


class AutoscalingPolicy(Resource):
    """What to scale on, for the bindings that name it."""

    api_version: Literal["workload.serving.volcano.sh/v1alpha1"]
    kind: Literal["AutoscalingPolicy"]
    spec: AutoscalingPolicySpec
    status: AutoscalingPolicyStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME, *policies.WHOLE_POLICY)


class MetricEndpoint(ApiModel):
    """Where a pod tells its metrics."""

    uri: str = "/metrics"
    port: Int32 = 8100


class ScalingTarget(ApiModel):
    """What is measured and scaled."""

    target_ref: ObjectReference
    additional_match_labels: dict[str, str] | None = None
    metric_endpoint: MetricEndpoint | None = None

    rules: ClassVar[tuple[Rule, ...]] = policies.TARGET_CEL


class ScalingConfiguration(ApiModel):
    """One target and its bounds."""

    target: ScalingTarget
    min_replicas: Replicas
    max_replicas: MostReplicas

    rules: ClassVar[tuple[Rule, ...]] = policies.BOUNDS_CEL


class OptimizerParam(ApiModel):
    """One of several targets, its bounds and what a replica costs."""

    target: ScalingTarget
    cost: NaturalInt32 = 0
    min_replicas: Replicas
    max_replicas: MostReplicas

    rules: ClassVar[tuple[Rule, ...]] = policies.BOUNDS_CEL


class OptimizerConfiguration(ApiModel):
    """Several targets that share a load, the cheapest first."""

    params: list[OptimizerParam] = Field(min_length=1)
    cost_expansion_rate_percent: NaturalInt32 = 200


class AutoscalingPolicyBindingSpec(ApiModel):
    """A policy, and what it scales."""

    policy_ref: LocalObjectReference
    optimizer_configuration: OptimizerConfiguration | None = None
    scaling_configuration: ScalingConfiguration | None = None

    rules: ClassVar[tuple[Rule, ...]] = policies.BINDING_CEL


class AutoscalingPolicyBindingStatus(ApiModel):
    """Nothing is observed."""


class AutoscalingPolicyBinding(Resource):
    """Binds a policy to one target, or to several that share a load."""

    api_version: Literal["workload.serving.volcano.sh/v1alpha1"]
    kind: Literal["AutoscalingPolicyBinding"]
    spec: AutoscalingPolicyBindingSpec
    status: AutoscalingPolicyBindingStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME, *policies.WHOLE_BINDING)
