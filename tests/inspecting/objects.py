"""Objects as a server returns them."""

import itertools
from typing import Any

from components.fleet.objects import Object, copied

_NUMBERS = itertools.count(1)
REGION, TYPE = "topology.kubernetes.io/region", "node.kubernetes.io/instance-type"


def live(body: Object, owner: Object | None = None, **status: Any) -> Object:
    """Return an object with what the server adds."""
    made: Object = copied(body)
    made["metadata"] |= {
        "uid": f"uid-{next(_NUMBERS)}",
        "resourceVersion": "7",
        "generation": 1,
        "creationTimestamp": "2026-11-01T10:00:00Z",
        "managedFields": [
            {"manager": "kubectl", "operation": "Apply", "time": "2026-11-01T10:00:00Z", "fieldsV1": {"f:spec": {}}}
        ],
    }
    if owner:
        reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"]}
        made["metadata"]["ownerReferences"] = [
            {**reference, "uid": owner["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}
        ]
    if status:
        made["status"] = status
    return made


def container(**more: Any) -> Object:
    usual: Object = {
        "name": "server",
        "image": "vllm/vllm-openai:v0.9.0",
        "args": ["--model", "Qwen/Qwen2.5-7B-Instruct", "--max-model-len", "8192"],
        "resources": {"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}},
    }
    return {**usual, **more}


def pod_template(name: str, *containers: Object) -> Object:
    return {"metadata": {"labels": {"app": name}}, "spec": {"containers": [*containers] or [container()]}}


def an_object(api_version: str, kind: str, name: str, namespace: str = "models", **spec: Any) -> Object:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **({"spec": spec} if spec else {})}


def deployment(name: str, *containers: Object, kind: str = "Deployment", replicas: int = 1, **more: Any) -> Object:
    template = pod_template(name, *containers)
    selector = {"matchLabels": {"app": name}}
    return an_object("apps/v1", kind, name, replicas=replicas, selector=selector, template=template, **more)


def group(name: str, *containers: Object, size: int = 2, replicas: int = 1) -> Object:
    template = {"size": size, "workerTemplate": pod_template(name, *containers)}
    return an_object(
        "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", name, replicas=replicas, leaderWorkerTemplate=template
    )


def node(
    name: str, instance_type: str, *, region: str = "us-east-1", gpus: int = 1, labels: dict[str, str] | None = None
) -> Object:
    made = an_object("v1", "Node", name, "")
    made["metadata"]["labels"] = {TYPE: instance_type, REGION: region, **(labels or {})}
    made["status"] = {"allocatable": {"nvidia.com/gpu": str(gpus)}}
    return made


def pod(owner: Object, name: str, node_name: str, *containers: Object, ready: bool = True) -> Object:
    made = an_object("v1", "Pod", name, nodeName=node_name, containers=[*containers] or [container()])
    status = "True" if ready else "False"
    return live(made, owner, conditions=[{"type": "Ready", "status": status}])


def hpa(target: Object, metric: str = "vllm:num_requests_waiting", name: str = "") -> Object:
    reference = {"apiVersion": target["apiVersion"], "kind": target["kind"], "name": target["metadata"]["name"]}
    target_value = {"type": "AverageValue", "averageValue": "5"}
    return an_object(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        name or target["metadata"]["name"],
        minReplicas=1,
        maxReplicas=4,
        scaleTargetRef=reference,
        metrics=[{"type": "Pods", "pods": {"metric": {"name": metric}, "target": target_value}}],
    )


def service(name: str, app: str, port: int = 8000) -> Object:
    return an_object("v1", "Service", name, selector={"app": app}, ports=[{"port": port}])
