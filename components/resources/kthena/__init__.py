"""The components of Kthena, one per kind."""

from .autoscaling_policy import AutoscalingPolicy, AutoscalingPolicyArgs
from .autoscaling_policy_binding import AutoscalingPolicyBinding, AutoscalingPolicyBindingArgs
from .model_booster import ModelBooster, ModelBoosterArgs
from .model_route import ModelRoute, ModelRouteArgs
from .model_server import ModelServer, ModelServerArgs
from .model_serving import ModelServing, ModelServingArgs

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
