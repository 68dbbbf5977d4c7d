"""Manifests for tests of conversions, in the form of v0.1.0 unless they say otherwise."""

from typing import Any

Object = dict[str, Any]
WORKLOAD = "workload.serving.volcano.sh/v1alpha1"
LEADER = ("modelserving.volcano.sh/role", "leader")
METRICS = [{"metricName": "vllm:num_requests_waiting", "targetValue": 5}]
IMAGE = "vllm/vllm-openai:v0.20.0"
BOOSTER: Object = {
    "name": "b",
    "type": "vLLM",
    "modelURI": "hf://org/name",
    "workers": [{"type": "server", "image": IMAGE, "replicas": 1, "pods": 1}],
}


def made(kind: str, name: str, spec: Object) -> Object:
    return {"apiVersion": WORKLOAD, "kind": kind, "metadata": {"name": name}, "spec": spec}


def booster(name: str, *backends: Object, form: str = "backends") -> Object:
    return made("ModelBooster", name, {form: list(backends) if form == "backends" else backends[0]})


def serving(name: str, **template: Any) -> Object:
    pod = {"containers": [{"name": "engine", "image": IMAGE, "args": ["--model", "org/name"]}]}
    role = {"name": "leader", "replicas": 1, "workerReplicas": 0, "entryTemplate": {"spec": pod}}
    return made("ModelServing", name, {"schedulerName": "volcano", "template": {**template, "roles": [role]}})


def policy(name: str) -> Object:
    return made("AutoscalingPolicy", name, {"metrics": [dict(METRICS[0])]})


def binding(name: str, policy_name: str, target: str, **fields: Any) -> Object:
    reference = {"kind": "ModelServing", "name": target}
    scaled = {"target": {"targetRef": reference, **fields}, "minReplicas": 1, "maxReplicas": 3}
    return made(
        "AutoscalingPolicyBinding", name, {"policyRef": {"name": policy_name}, "scalingConfiguration": scaled}
    )
