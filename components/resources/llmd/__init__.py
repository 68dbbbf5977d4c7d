"""The component of llm-d's kind."""

from .args import VariantAutoscalingArgs
from .variant_autoscaling import VariantAutoscaling

__all__ = ["VariantAutoscaling", "VariantAutoscalingArgs"]
