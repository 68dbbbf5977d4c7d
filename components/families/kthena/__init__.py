"""Kthena: ModelBooster, ModelServing, AutoscalingPolicy, AutoscalingPolicyBinding, ModelServer and ModelRoute."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...resources.kthena import AutoscalingPolicy as AutoscalingPolicy
    from ...resources.kthena import AutoscalingPolicyArgs as AutoscalingPolicyArgs
    from ...resources.kthena import AutoscalingPolicyBinding as AutoscalingPolicyBinding
    from ...resources.kthena import AutoscalingPolicyBindingArgs as AutoscalingPolicyBindingArgs
    from ...resources.kthena import ModelBooster as ModelBooster
    from ...resources.kthena import ModelBoosterArgs as ModelBoosterArgs
    from ...resources.kthena import ModelRoute as ModelRoute
    from ...resources.kthena import ModelRouteArgs as ModelRouteArgs
    from ...resources.kthena import ModelServer as ModelServer
    from ...resources.kthena import ModelServerArgs as ModelServerArgs
    from ...resources.kthena import ModelServing as ModelServing
    from ...resources.kthena import ModelServingArgs as ModelServingArgs
else:
    from ...contract.lazy import lazy_exports

    _COMPONENTS = (
        "AutoscalingPolicy",
        "AutoscalingPolicyBinding",
        "ModelBooster",
        "ModelRoute",
        "ModelServer",
        "ModelServing",
    )
    __getattr__ = lazy_exports(__name__, dict.fromkeys(_COMPONENTS, "..resources.kthena"))
