"""Recommended configurations of a runtime, as arguments."""

from typing import Any, Required, TypedDict

from ..serving.autoscaling_args import MetricSpecArgs, ScalingBehaviorArgs


class RequirementsArgs(TypedDict, total=False):
    """Resources of the model's container, such as cpu or memory."""

    limits: dict[str, Any]
    """Limits, as quantities."""
    requests: dict[str, Any]
    """Requests, as quantities."""


class HpaTriggerArgs(TypedDict, total=False):
    """What a HorizontalPodAutoscaler scales on."""

    metrics: list[MetricSpecArgs]
    """Its metrics."""
    behavior: ScalingBehaviorArgs
    """Its scaling behavior."""


class ScaleTriggerArgs(TypedDict, total=False):
    """What a Playground scales on."""

    hpa: Required[HpaTriggerArgs]
    """What its HorizontalPodAutoscaler scales on."""


class RecommendedConfigArgs(TypedDict, total=False):
    """A named set of engine arguments and resources."""

    name: Required[str]
    """Name of the configuration, such as default."""
    args: list[str]
    """Engine arguments; {{ .ModelPath }} and other placeholders are filled in from the model."""
    resources: RequirementsArgs
    """Resources of the container."""
    shared_memory_size: str
    """Size of /dev/shm."""
    scale_trigger: ScaleTriggerArgs
    """What Playgrounds with bounds but without metrics scale on."""
