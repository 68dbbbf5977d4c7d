"""The component of llm-d's VariantAutoscaling."""

from .args import VariantAutoscalingArgs
from .variant_autoscaling import VariantAutoscaling

__all__ = ["VariantAutoscaling", "VariantAutoscalingArgs"]
