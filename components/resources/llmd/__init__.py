"""The component of llm-d's kind."""

from .variant_autoscaling import VariantAutoscaling, VariantAutoscalingArgs

__all__ = ["VariantAutoscaling", "VariantAutoscalingArgs"]
