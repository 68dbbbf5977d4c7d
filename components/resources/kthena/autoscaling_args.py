"""What replicas follow, and how fast, as arguments: for policies of their own and for those of a ModelBooster."""

from typing import Required, TypedDict


class AutoscalingPolicyMetricArgs(TypedDict, total=False):
    """A metric to scale on."""

    metric_name: Required[str]
    """Name of the metric, such as kthena:num_requests_waiting or vllm:num_requests_waiting."""
    target_value: Required[str]
    """Its value for each replica, as a quantity above 0."""


class AutoscalingPolicyStablePolicyArgs(TypedDict, total=False):
    """How much may change within a period."""

    instances: int
    """Replicas that may be added or removed. Default: 1."""
    percent: int
    """The same as a percentage of the replicas, 0 to 1000. Default: 100."""
    period: str
    """The period, up to 30m. Default: 15s."""
    select_policy: str
    """Or takes the larger of instances and percent, And the smaller. Default: Or."""
    stabilization_window: str
    """How long the most careful recommendation counts, up to 30m. Default: none."""


class AutoscalingPolicyPanicPolicyArgs(TypedDict, total=False):
    """How much may be added within a period once the load has jumped."""

    percent: int
    """Percentage of the replicas that may be added, 0 to 1000. Default: 1000."""
    period: Required[str]
    """The period, up to 30m."""
    panic_threshold_percent: int
    """Recommendation, as a percentage of the replicas, from which the load has jumped; 110 to 1000. Default: 200."""
    panic_mode_hold: str
    """How long replicas are not removed after that, up to 30m. Default: 60s."""


class AutoscalingPolicyScaleUpPolicyArgs(TypedDict, total=False):
    """How replicas are added."""

    stable_policy: AutoscalingPolicyStablePolicyArgs
    """Usually."""
    panic_policy: AutoscalingPolicyPanicPolicyArgs
    """Once the load has jumped; only with realization operator."""


class AutoscalingPolicyBehaviorArgs(TypedDict, total=False):
    """How replicas are added and removed."""

    scale_up: AutoscalingPolicyScaleUpPolicyArgs
    """How replicas are added."""
    scale_down: AutoscalingPolicyStablePolicyArgs
    """How replicas are removed."""


class AutoscalingPolicySpecArgs(TypedDict, total=False):
    """What to scale on, and how fast."""

    tolerance_percent: int
    """Deviation from the target that is tolerated, 0 to 100 percent. Default: 10."""
    metrics: Required[list[AutoscalingPolicyMetricArgs]]
    """What to scale on; the metric that asks for most replicas counts."""
    behavior: AutoscalingPolicyBehaviorArgs
    """How replicas are added and removed."""
