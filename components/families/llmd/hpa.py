"""The autoscaler of a variant, whatever it follows."""

from collections.abc import Sequence

from ...fleet.objects import HPA, Object, new_object
from .names import autoscaler_name
from .variant import Variant


def hpa_of(variant: Variant, least: int, most: int, metrics: Sequence[Object]) -> Object:
    """Return the autoscaler of a workload.

    Args:
        variant: What is scaled.
        least: Replicas that there are at least.
        most: Replicas that there are at most.
        metrics: What it follows.
    """
    workload = variant.workload
    spec: Object = {
        "scaleTargetRef": workload.shape.target(workload.name),
        "minReplicas": least,
        "maxReplicas": most,
        "behavior": _behavior(workload.size),
        "metrics": [*metrics],
    }
    return new_object("autoscaling/v2", HPA, autoscaler_name(workload.name), variant.namespace, spec)


def _behavior(pods: int) -> Object:
    """Return how fast it goes (WVA spec 10).

    Up without delay: what it follows says how much there is to do, and starting replicas do not drive it up. Down
    slowly: it follows what was measured a minute ago, and a replica that went too early takes minutes to start again.
    Upstream's samples wait for nothing, as their models are emulated; its later chart has 240 s, and 10 replicas in
    150 s. A group of several pods is several nodes and weights that are loaded again: one at a time.
    """
    down = {"value": 10, "periodSeconds": 150} if pods == 1 else {"value": 1, "periodSeconds": 60}
    return {
        "scaleUp": {
            "stabilizationWindowSeconds": 0,
            "policies": [{"type": "Pods", "value": 10, "periodSeconds": 15}],
        },
        "scaleDown": {"stabilizationWindowSeconds": 300, "policies": [{"type": "Pods", **down}]},
    }
