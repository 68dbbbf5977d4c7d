"""Parts of an InferenceService as arguments: what surrounds the engine."""

from typing import Any, Required, TypedDict


class EndpointArgs(TypedDict, total=False):
    """The Service in front of the pods."""

    port: int
    """Its port. Default: 8080."""
    path: str
    """What clients call. Default: /v1/chat/completions."""
    type: str
    """ClusterIP, NodePort or LoadBalancer. Default: ClusterIP."""


class PodResourcesArgs(TypedDict, total=False):
    """What one pod asks for."""

    gpu: int
    """GPUs, 0 to 8."""
    cpu: str
    """CPU, as a quantity."""
    memory: str
    """Memory, as a quantity."""
    gpu_memory: str
    """Memory that a pod needs of its GPUs, as a quantity; held against what the nodes have."""
    host_memory: str
    """Memory of the node, as a quantity; wins over memory."""


class AutoscalingMetricArgs(TypedDict, total=False):
    """One metric to scale on."""

    type: Required[str]
    """Pods or Resource."""
    name: Required[str]
    """Name of the metric, or cpu or memory."""
    target_average_value: str
    """Mean over the pods that it is held at, as a quantity."""
    target_average_utilization: int
    """The same in per cent of what the pods request; for type Resource."""


class AutoscalingArgs(TypedDict, total=False):
    """Bounds of the replicas, and what moves them between these."""

    min_replicas: int
    """Lower bound, 1 to 10. Default: 1."""
    max_replicas: Required[int]
    """Upper bound, 1 to 100."""
    metrics: list[AutoscalingMetricArgs]
    """What to scale on. Default: the runtime's requests at a time, where it tells them."""


class ProbeOverridesArgs(TypedDict, total=False):
    """Probes of the container, each as a whole instead of the runtime's (core/v1 Probe, in wire form)."""

    startup: dict[str, Any]
    """When the server has started."""
    liveness: dict[str, Any]
    """Whether it must be restarted."""
    readiness: dict[str, Any]
    """Whether it takes requests."""
