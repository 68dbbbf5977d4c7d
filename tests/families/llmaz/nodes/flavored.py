"""Flavors, and models that have them."""

from typing import Any

from tests.fleets import (
    playground,
    runtime,
)

OWN = runtime(
    recommendedConfigs=[{"name": "default", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}}]
)
SPEC: dict[str, Any] = {"backendRuntimeConfig": {"backendName": "own"}}
ONE_GPU = {"nvidia.com/gpu": 1}
TYPE = "node.kubernetes.io/instance-type"


def flavor(name: str, limits: Any = None, selector: Any = None, **params: str) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name}
    if limits:
        found["limits"] = limits
    if selector:
        found["nodeSelector"] = selector
    if params:
        found["params"] = {key.replace("_", "-"): value for key, value in params.items()}
    return found


def terms(*selectors: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {"matchExpressions": [{"key": k, "operator": "In", "values": [v]} for k, v in labels.items()]}
        for labels in selectors
    ]


def claim(*names: str) -> dict[str, Any]:
    return {"modelClaim": {"modelName": "m", "inferenceFlavors": list(names)}, **SPEC}


def gpu_playground(name: str, model: str, replicas: int) -> dict[str, Any]:
    resources = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}}
    return playground(name, model, replicas=replicas, backendRuntimeConfig={"resources": resources})
