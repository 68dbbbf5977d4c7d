"""Recommended configurations of a runtime, as arguments."""

from typing import Any, Required, TypedDict

from ....serving.autoscaling_args import MetricSpecArgs, ScalingBehaviorArgs


class RequirementsArgs(TypedDict, total=False):
    """What the container of the model asks for, by resource such as cpu or memory."""

    limits: dict[str, Any]
    """Limits, as quantities."""
    requests: dict[str, Any]
    """Requests, as quantities."""


class HpaTriggerArgs(TypedDict, total=False):
    """What a HorizontalPodAutoscaler scales on."""

    metrics: list[MetricSpecArgs]
    """Its metrics."""
    behavior: ScalingBehaviorArgs
    """How it moves up and down."""


class ScaleTriggerArgs(TypedDict, total=False):
    """What makes a Playground scale."""

    hpa: Required[HpaTriggerArgs]
    """What its HorizontalPodAutoscaler scales on."""


class RecommendedConfigArgs(TypedDict, total=False):
    """A named set of engine arguments and resources."""

    name: Required[str]
    """Name of the configuration, such as default."""
    args: list[str]
    """Engine arguments; {{ .ModelPath }} and the like stand for what a model brings."""
    resources: RequirementsArgs
    """What the container asks for."""
    shared_memory_size: str
    """Size of /dev/shm."""
    scale_trigger: ScaleTriggerArgs
    """What Playgrounds scale on that have bounds and no metrics of their own."""
