"""The components of Kthena, one per kind."""

from .args import (
    AutoscalingPolicyArgs,
    AutoscalingPolicyBindingArgs,
    ModelBoosterArgs,
    ModelRouteArgs,
    ModelServerArgs,
    ModelServingArgs,
)
from .autoscaling_policy import AutoscalingPolicy
from .autoscaling_policy_binding import AutoscalingPolicyBinding
from .model_booster import ModelBooster
from .model_route import ModelRoute
from .model_server import ModelServer
from .model_serving import ModelServing

__all__ = [
    "AutoscalingPolicy",
    "AutoscalingPolicyArgs",
    "AutoscalingPolicyBinding",
    "AutoscalingPolicyBindingArgs",
    "ModelBooster",
    "ModelBoosterArgs",
    "ModelRoute",
    "ModelRouteArgs",
    "ModelServer",
    "ModelServerArgs",
    "ModelServing",
    "ModelServingArgs",
]
