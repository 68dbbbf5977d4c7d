"""Services written by hand, and autoscalers."""

from typing import Any

from tests.fleets import (
    objects,
    open_model,
    runner,
)

MODEL = open_model()
CPU = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
}
PODS = {
    "type": "Pods",
    "pods": {"metric": {"name": "waiting"}, "target": {"type": "AverageValue", "averageValue": "5"}},
}
QUEUE = {
    "type": "External",
    "external": {"metric": {"name": "queue"}, "target": {"type": "Value", "value": "5"}},
}
HPA = {"hpa": {"metrics": [CPU], "behavior": {"scaleDown": {"stabilizationWindowSeconds": 300}}}}
LWS = "leaderworkerset.sigs.k8s.io"


def template(**spec: Any) -> dict[str, Any]:
    return {"spec": {"containers": [runner()], **spec}}


def two(**fields: Any) -> dict[str, Any]:
    return {"size": 2, "leaderTemplate": template(), "workerTemplate": template(), **fields}


def lws(*documents: dict[str, Any], **options: Any) -> dict[str, Any]:
    spec: dict[str, Any] = objects(*documents, **options)["LeaderWorkerSet"]["spec"]
    return spec
