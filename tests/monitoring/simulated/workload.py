"""Pods for the metrics to be about: a Deployment, or a LeaderWorkerSet, on a simulated node."""

from collections.abc import Mapping
from typing import Any

from components.fleet.shapes import pod_templates, shape_of
from tests.monitoring.programs.daemon import eventually
from toolkit.kube import Kube

Json = dict[str, Any]
MANAGER = "test"


def deployment(namespace: str, name: str = "chat", image: str = "vllm/vllm-openai") -> Json:
    """A model server on one GPU. Without replicas: they belong to the autoscaler."""
    container = {
        "name": "server",
        "image": image,
        "ports": [{"name": "http", "containerPort": 8000}],
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
    }
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def autoscaler(target: Mapping[str, Any], *metrics: Json, maximum: int = 3) -> Json:
    """An autoscaler of a Deployment that follows its metrics at once in both directions."""
    metadata = target["metadata"]
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": metadata["name"]},
            "minReplicas": 1,
            "maxReplicas": maximum,
            "metrics": list(metrics),
            "behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}},
        },
    }


def pods_metric(name: str, average: str) -> Json:
    """A metric per pod, of which the average over the pods is held at a value."""
    target = {"type": "AverageValue", "averageValue": average}
    return {"type": "Pods", "pods": {"metric": {"name": name}, "target": target}}


def external_metric(name: str, average: str, **labels: str) -> Json:
    """A metric of something else, of which the share per pod is held at a value."""
    target = {"type": "AverageValue", "averageValue": average}
    return {
        "type": "External",
        "external": {"metric": {"name": name, "selector": {"matchLabels": labels}}, "target": target},
    }


def without_waiting(hpa: Mapping[str, Any]) -> Json:
    """The autoscaler with its metrics, targets and bounds, but no stabilization windows and no limits of pace.

    What a test looks at is whether the metrics arrive and what they lead to; ten minutes of waiting say nothing more.
    """
    behavior = {direction: {"stabilizationWindowSeconds": 0} for direction in ("scaleUp", "scaleDown")}
    return {**hpa, "spec": {**hpa["spec"], "behavior": behavior}}


def fitting_node(target: Mapping[str, Any], name: str = "metrics-node", pods: int = 16) -> Json:
    """A simulated node on which that many pods of the target run: their labels, their resources, no taints."""
    specs = [template.body["spec"] for template in pod_templates(dict(target))]
    limits = [container.get("resources", {}).get("limits", {}) for spec in specs for container in spec["containers"]]
    extended = {resource for limit in limits for resource in limit if "/" in resource}
    counts = {resource: sum(int(limit.get(resource, 0)) for limit in limits) * pods for resource in extended}
    resources = {"cpu": "1k", "memory": "16Ti", "ephemeral-storage": "64Ti", "pods": "110"}
    resources.update({resource: str(count) for resource, count in counts.items()})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": specs[0].get("nodeSelector", {}),
        },
        "status": {"capacity": resources, "allocatable": resources},
    }


def apply_namespace(kube: Kube, name: str) -> None:
    """Make a namespace in which pods can be created."""
    kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, manager=MANAGER)
    eventually(lambda: kube.list("v1", "ServiceAccount", name), f"a service account in {name}")


def running_pods(kube: Kube, target: Mapping[str, Any]) -> list[Json]:
    """The pods of a workload that take requests, run and are not about to end: of groups the leaders."""
    shape = shape_of(target)
    assert shape is not None
    labels, _ = shape.labels_of(dict(target))
    selector = ",".join(f"{key}={value}" for key, value in labels.items())
    found = kube.list("v1", "Pod", target["metadata"]["namespace"], labels=selector)
    return [
        pod
        for pod in found
        if pod.get("status", {}).get("phase") == "Running" and not pod["metadata"].get("deletionTimestamp")
    ]
