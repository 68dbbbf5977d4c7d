"""What an autoscaler scales on, as arguments: the types of autoscaling/v2, for whatever family has autoscalers."""

from typing import Any, Required, TypedDict


class MetricTargetArgs(TypedDict, total=False):
    """Target of a metric."""

    type: Required[str]
    """Utilization, Value or AverageValue."""
    average_utilization: int
    """Mean over the pods, as a percentage of what they request."""
    average_value: str
    """Mean over the pods, as a quantity such as 10 or 500m."""
    value: str
    """The metric itself, as a quantity."""


class MetricIdentifierArgs(TypedDict, total=False):
    """A metric by its name, and by the labels of its series."""

    name: Required[str]
    """Name of the metric."""
    selector: dict[str, Any]
    """Label selector of the series (meta/v1 LabelSelector, in wire form). Default: all of them."""


class ResourceMetricArgs(TypedDict, total=False):
    """CPU or memory of the pods."""

    name: Required[str]
    """cpu or memory."""
    target: Required[MetricTargetArgs]
    """Its target."""


class ContainerResourceMetricArgs(TypedDict, total=False):
    """CPU or memory of one container of the pods."""

    name: Required[str]
    """cpu or memory."""
    container: Required[str]
    """Name of the container."""
    target: Required[MetricTargetArgs]
    """Its target."""


class PodsMetricArgs(TypedDict, total=False):
    """A metric that each pod has, such as its queue."""

    metric: Required[MetricIdentifierArgs]
    """The metric."""
    target: Required[MetricTargetArgs]
    """Target of its mean over the pods."""


class DescribedObjectArgs(TypedDict, total=False):
    """The object that a metric describes."""

    api_version: str
    """API version of the object."""
    kind: Required[str]
    """Kind of the object."""
    name: Required[str]
    """Name of the object, in the namespace of the autoscaler."""


class ObjectMetricArgs(TypedDict, total=False):
    """A metric of one object."""

    described_object: Required[DescribedObjectArgs]
    """The object."""
    metric: Required[MetricIdentifierArgs]
    """The metric."""
    target: Required[MetricTargetArgs]
    """Its target."""


class ExternalMetricArgs(TypedDict, total=False):
    """A metric that does not belong to an object in the cluster."""

    metric: Required[MetricIdentifierArgs]
    """The metric."""
    target: Required[MetricTargetArgs]
    """Its target."""


class MetricSpecArgs(TypedDict, total=False):
    """One metric of an autoscaler: its type, and the key of that type."""

    type: Required[str]
    """Resource, ContainerResource, Pods, Object or External."""
    resource: ResourceMetricArgs
    """CPU or memory of the pods."""
    container_resource: ContainerResourceMetricArgs
    """CPU or memory of one container of the pods."""
    pods: PodsMetricArgs
    """A metric that each pod has."""
    object: ObjectMetricArgs
    """A metric of one object."""
    external: ExternalMetricArgs
    """A metric that does not belong to an object in the cluster."""


class ScalingPolicyArgs(TypedDict, total=False):
    """How much may change within a time."""

    type: Required[str]
    """Pods or Percent."""
    value: Required[int]
    """Number or percentage of pods."""
    period_seconds: Required[int]
    """The time, 1 to 1800 seconds."""


class ScalingRulesArgs(TypedDict, total=False):
    """Scaling behavior in one direction."""

    stabilization_window_seconds: int
    """Stabilization window in seconds, 0 to 3600."""
    select_policy: str
    """Max, Min or Disabled. Default: Max, the policy that allows the largest change."""
    policies: list[ScalingPolicyArgs]
    """How much may change."""
    tolerance: str
    """Deviation from the target that is tolerated, as a quantity such as 50m. Default: that of the cluster."""


class ScalingBehaviorArgs(TypedDict, total=False):
    """Scaling behavior of an autoscaler."""

    scale_up: ScalingRulesArgs
    """How replicas are added. Default: that of Kubernetes."""
    scale_down: ScalingRulesArgs
    """How replicas are removed. Default: that of Kubernetes."""
