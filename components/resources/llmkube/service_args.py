"""Parts of an InferenceService as arguments: what surrounds the engine."""

from typing import Any, Required, TypedDict


class EndpointArgs(TypedDict, total=False):
    """The Service in front of the pods."""

    port: int
    """Its port. Default: 8080."""
    path: str
    """Path that clients call. Default: /v1/chat/completions."""
    type: str
    """ClusterIP, NodePort or LoadBalancer. Default: ClusterIP."""


class PodResourcesArgs(TypedDict, total=False):
    """Resources of one pod."""

    gpu: int
    """GPUs, 0 to 8."""
    cpu: str
    """CPU, as a quantity."""
    memory: str
    """Memory, as a quantity."""
    gpu_memory: str
    """GPU memory that a pod needs, as a quantity; checked against the instance type."""
    host_memory: str
    """Host memory, as a quantity; takes precedence over memory."""


class AutoscalingMetricArgs(TypedDict, total=False):
    """One metric to scale on."""

    type: Required[str]
    """Pods or Resource."""
    name: Required[str]
    """Name of the metric, or cpu or memory."""
    target_average_value: str
    """Target mean over the pods, as a quantity; for type Pods."""
    target_average_utilization: int
    """Target mean as a percentage of what the pods request; for type Resource."""


class AutoscalingArgs(TypedDict, total=False):
    """Bounds of the replicas, and what to scale on."""

    min_replicas: int
    """Lower bound, 1 to 10. Default: 1."""
    max_replicas: Required[int]
    """Upper bound, 1 to 100."""
    metrics: list[AutoscalingMetricArgs]
    """What to scale on. Default: the runtime's concurrent requests, if it exports them."""


class ProbeOverridesArgs(TypedDict, total=False):
    """Probes of the container, each replacing that of the runtime as a whole (core/v1 Probe, in wire form)."""

    startup: dict[str, Any]
    """When the server has started."""
    liveness: dict[str, Any]
    """When to restart the container."""
    readiness: dict[str, Any]
    """When it accepts requests."""
