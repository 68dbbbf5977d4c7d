"""The kinds of Kthena, as the API server registers them."""

from ...api.kinds import Kind
from .names import NETWORKING_API, WORKLOAD_API
from .types import (
    AutoscalingPolicy,
    AutoscalingPolicyBinding,
    ModelBooster,
    ModelRoute,
    ModelServer,
    ModelServing,
)

MODEL_BOOSTER = Kind(WORKLOAD_API, "ModelBooster", ModelBooster, "modelboosters", namespaced=True)
MODEL_SERVING = Kind(WORKLOAD_API, "ModelServing", ModelServing, "modelservings", namespaced=True)
POLICY = Kind(WORKLOAD_API, "AutoscalingPolicy", AutoscalingPolicy, "autoscalingpolicies", namespaced=True)
BINDING = Kind(
    WORKLOAD_API, "AutoscalingPolicyBinding", AutoscalingPolicyBinding, "autoscalingpolicybindings", namespaced=True
)
MODEL_SERVER = Kind(NETWORKING_API, "ModelServer", ModelServer, "modelservers", namespaced=True)
MODEL_ROUTE = Kind(NETWORKING_API, "ModelRoute", ModelRoute, "modelroutes", namespaced=True)
