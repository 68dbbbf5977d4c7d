"""Kthena's kinds as types, one module per kind or pair of kinds."""

from .autoscaling import AutoscalingPolicy as AutoscalingPolicy
from .autoscaling import AutoscalingPolicyBinding as AutoscalingPolicyBinding
from .model_booster import ModelBooster as ModelBooster
from .model_serving import ModelServing as ModelServing
from .networking import ModelRoute as ModelRoute
from .networking import ModelServer as ModelServer
