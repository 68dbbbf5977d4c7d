"""Names that the controller has compiled in (WVA spec 4, 5)."""

GROUP = "llmd.ai"
API = f"{GROUP}/v1alpha1"
OPERATOR = "wva"
"""What is installed for realization ``operator``."""
ACCELERATOR_LABEL = "inference.optimization/acceleratorName"
"""Label of a VariantAutoscaling: the accelerator that its workload runs on."""
NAMESPACE = "inferno-autoscaler-system"
COSTS = "accelerator-unit-costs"
CLASSES = "service-classes-config"
SETTINGS = "inferno-autoscaler-variantautoscaling-config"


def autoscaler_name(workload: str) -> str:
    """Return the name of the autoscaler of a workload: one that the workload brings itself has the workload's own."""
    return f"{workload}-va"
