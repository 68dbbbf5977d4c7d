"""llm-d's Workload Variant Autoscaler: replicas for a service level (``llmd.ai/v1alpha1``)."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .components import VariantAutoscaling as VariantAutoscaling
    from .components import VariantAutoscalingArgs as VariantAutoscalingArgs
else:
    from ...lazy import offered

    __getattr__ = offered(__name__, dict.fromkeys(("VariantAutoscaling",), "components"))
