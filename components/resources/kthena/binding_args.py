"""What a policy scales, as arguments of an AutoscalingPolicyBinding."""

from typing import Required, TypedDict


class ObjectReferenceArgs(TypedDict, total=False):
    """A reference to an object in the namespace of the binding."""

    api_version: str
    """API version of the object. Default: that of ModelServing."""
    field_path: str
    """Part of the object; without effect."""
    kind: str
    """Kind of the object. Default: ModelServing."""
    name: str
    """Name of the object; a ModelBooster's are named after it and the backend."""
    namespace: str
    """Namespace of the object; must be that of the binding."""
    resource_version: str
    """Version of the object; without effect."""
    uid: str
    """Identity of the object; without effect."""


class MetricEndpointArgs(TypedDict, total=False):
    """Where a pod tells its metrics."""

    uri: str
    """Path of the metrics. Default: /metrics."""
    port: int
    """Port of the metrics. Default: 8100."""


class ScalingTargetArgs(TypedDict, total=False):
    """What is measured and scaled."""

    target_ref: Required[ObjectReferenceArgs]
    """The ModelServing."""
    additional_match_labels: dict[str, str]
    """Further labels of the pods that are measured."""
    metric_endpoint: MetricEndpointArgs
    """Where a pod tells its metrics."""


class ScalingConfigurationArgs(TypedDict, total=False):
    """One target and its bounds."""

    target: Required[ScalingTargetArgs]
    """What is measured and scaled."""
    min_replicas: Required[int]
    """Lower bound, 0 to 1000000."""
    max_replicas: Required[int]
    """Upper bound, 1 to 1000000."""


class OptimizerParamArgs(TypedDict, total=False):
    """One of several targets that share a load."""

    target: Required[ScalingTargetArgs]
    """What is measured and scaled."""
    cost: int
    """What a replica costs, in any unit. Default: the price of its nodes, in US cents per hour."""
    min_replicas: Required[int]
    """Lower bound, 0 to 1000000."""
    max_replicas: Required[int]
    """Upper bound, 1 to 1000000."""


class OptimizerConfigurationArgs(TypedDict, total=False):
    """Several targets that share a load, the cheapest first."""

    params: Required[list[OptimizerParamArgs]]
    """The targets."""
    cost_expansion_rate_percent: int
    """How fast the blocks grow in which replicas are taken from one target before the next. Default: 200."""
