"""The kind of llm-d as types."""

from .variant_autoscaling import VariantAutoscaling as VariantAutoscaling
