"""Kthena: ModelBooster, ModelServing, AutoscalingPolicy, AutoscalingPolicyBinding, ModelServer and ModelRoute."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .components import AutoscalingPolicy as AutoscalingPolicy
    from .components import AutoscalingPolicyArgs as AutoscalingPolicyArgs
    from .components import AutoscalingPolicyBinding as AutoscalingPolicyBinding
    from .components import AutoscalingPolicyBindingArgs as AutoscalingPolicyBindingArgs
    from .components import ModelBooster as ModelBooster
    from .components import ModelBoosterArgs as ModelBoosterArgs
    from .components import ModelRoute as ModelRoute
    from .components import ModelRouteArgs as ModelRouteArgs
    from .components import ModelServer as ModelServer
    from .components import ModelServerArgs as ModelServerArgs
    from .components import ModelServing as ModelServing
    from .components import ModelServingArgs as ModelServingArgs
else:
    from ...lazy import offered

    _COMPONENTS = (
        "AutoscalingPolicy",
        "AutoscalingPolicyBinding",
        "ModelBooster",
        "ModelRoute",
        "ModelServer",
        "ModelServing",
    )
    __getattr__ = offered(__name__, dict.fromkeys(_COMPONENTS, "components"))
