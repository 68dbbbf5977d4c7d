"""What a binding scales, and within which bounds: its fields as they are written, before anything is looked up."""

from dataclasses import dataclass

from ..types import AutoscalingPolicyBinding
from ..types.autoscaling import OptimizerParam, ScalingConfiguration, ScalingTarget

SCALING = "spec.scalingConfiguration"
OPTIMIZER = "spec.optimizerConfiguration"


@dataclass(frozen=True, slots=True)
class Aim:
    """One target of a binding.

    Attributes:
        path: The field that holds target and bounds.
        asked: That field.
    """

    path: str
    asked: ScalingConfiguration | OptimizerParam

    @property
    def target(self) -> ScalingTarget:
        """What is measured and scaled."""
        return self.asked.target

    @property
    def name(self) -> str:
        """Name of the ModelServing."""
        return self.target.target_ref.name or ""

    @property
    def name_path(self) -> str:
        """The field with that name."""
        return f"{self.path}.target.targetRef.name"

    @property
    def is_priced(self) -> bool:
        """Whether somebody says what a replica costs."""
        return "cost" in self.asked.model_fields_set


def aims_of(binding: AutoscalingPolicyBinding) -> tuple[Aim, ...]:
    """Return what a binding scales: one target, or several that share a load."""
    spec = binding.spec
    if spec.scaling_configuration is not None:
        return (Aim(SCALING, spec.scaling_configuration),)
    params = spec.optimizer_configuration.params if spec.optimizer_configuration else []
    return tuple(Aim(f"{OPTIMIZER}.params[{position}]", param) for position, param in enumerate(params))
