"""llm-d's Workload Variant Autoscaler: replicas for a service level (``llmd.ai/v1alpha1``)."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...resources.llmd import VariantAutoscaling as VariantAutoscaling
    from ...resources.llmd import VariantAutoscalingArgs as VariantAutoscalingArgs
else:
    from ...contract.lazy import lazy_exports

    __getattr__ = lazy_exports(__name__, dict.fromkeys(("VariantAutoscaling",), "..resources.llmd"))
