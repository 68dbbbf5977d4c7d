"""What the simulated cluster can do: schedule, run, serve, bind, scale, deny and clean up as a real one does."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.waiting import Json, eventually, gone
from toolkit.kube import Kube, KubeError


@pytest.fixture(scope="module")
def node(kube: Kube) -> Iterator[str]:
    """A simulated machine with eight GPUs, as the local stack makes them."""
    name = "gpu-1"
    resources = {"cpu": "192", "memory": "2Ti", "pods": "110", "nvidia.com/gpu": "8"}
    kube.apply(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "annotations": {"kwok.x-k8s.io/node": "fake"},
                "labels": {"node.kubernetes.io/instance-type": "p5.48xlarge"},
            },
            "spec": {"taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}]},
            "status": {"capacity": resources, "allocatable": resources},
        },
        manager="test",
    )
    yield name
    kube.delete("v1", "Node", name)


def deployment(namespace: str, name: str = "model", replicas: int = 2, gpus: int = 2, **pod: Any) -> Json:
    container = {
        "name": "server",
        "image": "vllm/vllm-openai",
        "ports": [{"containerPort": 8080}],
        "resources": {"limits": {"nvidia.com/gpu": str(gpus)}},
        "readinessProbe": {"httpGet": {"path": "/health", "port": 8080}},
    }
    template = {
        "initContainers": [{"name": "loader", "image": "loader"}],
        "containers": [container],
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "nodeSelector": {"node.kubernetes.io/instance-type": "p5.48xlarge"},
        **pod,
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": template},
        },
    }


def ready_replicas(kube: Kube, namespace: str, name: str = "model") -> int:
    return int(kube.get("apps/v1", "Deployment", name, namespace).get("status", {}).get("readyReplicas", 0))


def pods(kube: Kube, namespace: str) -> list[Json]:
    return list(kube.list("v1", "Pod", namespace))


def conditions(obj: Json) -> dict[str, str]:
    return {each["type"]: each["status"] for each in obj.get("status", {}).get("conditions", [])}


def test_a_node_becomes_ready_with_its_own_numbers(kube: Kube, node: str) -> None:
    found = eventually(
        lambda: (at := kube.get("v1", "Node", node)) and conditions(at).get("Ready") == "True" and at, "node Ready"
    )
    assert found["status"]["allocatable"]["nvidia.com/gpu"] == "8"
    assert {"address": "127.0.0.1", "type": "InternalIP"} in found["status"]["addresses"]
    lease = eventually(
        lambda: not gone(kube, "coordination.k8s.io/v1", "Lease", node, "kube-node-lease"), "node lease"
    )
    assert lease


def test_a_deployment_runs_and_its_service_has_endpoints(kube: Kube, node: str, namespace: str) -> None:
    kube.apply(deployment(namespace), manager="test")
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "model", "namespace": namespace},
        "spec": {"selector": {"app": "model"}, "ports": [{"port": 80, "targetPort": 8080}]},
    }
    kube.apply(service, manager="test")
    eventually(lambda: ready_replicas(kube, namespace) == 2, "two ready replicas")
    for pod in pods(kube, namespace):
        assert pod["status"]["phase"] == "Running"
        assert pod["spec"]["nodeName"] == node
        assert {"Ready", "Initialized", "ContainersReady", "PodScheduled"} <= conditions(pod).keys()
        assert set(conditions(pod).values()) == {"True"}
        assert pod["status"]["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0

    def addresses() -> list[str]:
        slices = kube.list("discovery.k8s.io/v1", "EndpointSlice", namespace)
        ends = [end for found in slices for end in found.get("endpoints") or () if end["conditions"]["ready"]]
        return sorted(address for end in ends for address in end["addresses"])

    expected = sorted(pod["status"]["podIP"] for pod in pods(kube, namespace))
    eventually(lambda: addresses() == expected, "endpoints of both pods")


def test_scaling_ends_the_surplus_pods(kube: Kube, node: str, namespace: str) -> None:
    kube.apply(deployment(namespace, replicas=3), manager="test")
    eventually(lambda: ready_replicas(kube, namespace) == 3, "three ready replicas")
    kube.apply(deployment(namespace, replicas=1), manager="test")
    eventually(lambda: len(pods(kube, namespace)) == 1, "one pod left")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"gpus": 16}, "Insufficient nvidia.com/gpu"),
        ({"tolerations": []}, "untolerated taint"),
        ({"nodeSelector": {"node.kubernetes.io/instance-type": "g6.xlarge"}}, "didn't match Pod's node"),
    ],
    ids=["gpus", "taint", "selector"],
)
def test_the_scheduler_is_the_real_one(
    kube: Kube, node: str, namespace: str, change: dict[str, Any], why: str
) -> None:
    kube.apply(deployment(namespace, replicas=1, **change), manager="test")

    def message() -> str:
        scheduled = [
            each.get("message", "")
            for pod in pods(kube, namespace)
            for each in pod.get("status", {}).get("conditions", [])
            if each["type"] == "PodScheduled"
        ]
        return scheduled[0] if scheduled else ""

    # A node that is not Ready yet, or that another test has not deleted yet, is a reason, too.
    eventually(lambda: why in message(), f"the reason {why}")


def test_a_grouped_workload_runs(kube: Kube, node: str, namespace: str) -> None:
    """StatefulSets start their pods one after the other: each must become Ready."""
    made = deployment(namespace)
    made["kind"] = "StatefulSet"
    made["spec"]["serviceName"] = "model"
    kube.apply(made, manager="test")
    eventually(
        lambda: kube.get("apps/v1", "StatefulSet", "model", namespace).get("status", {}).get("readyReplicas") == 2,
        "both pods of the set",
    )
    assert {pod["metadata"]["name"] for pod in pods(kube, namespace)} == {"model-0", "model-1"}


def test_a_job_completes(kube: Kube, node: str, namespace: str) -> None:
    template = deployment(namespace)["spec"]["template"]
    template["spec"]["restartPolicy"] = "Never"
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "load", "namespace": namespace},
        "spec": {"template": template},
    }
    kube.apply(job, manager="test")
    eventually(
        lambda: conditions(kube.get("batch/v1", "Job", "load", namespace)).get("Complete") == "True", "job complete"
    )


@pytest.mark.parametrize("mode", ["ReadWriteOnce", "ReadWriteMany"])
def test_a_claim_is_bound_and_its_volume_goes_with_it(kube: Kube, node: str, namespace: str, mode: str) -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "cache", "namespace": namespace},
        "spec": {"accessModes": [mode], "resources": {"requests": {"storage": "500Gi"}}},
    }
    kube.apply(claim, manager="test")
    volumes = [{"name": "cache", "persistentVolumeClaim": {"claimName": "cache"}}]
    kube.apply(deployment(namespace, replicas=1, volumes=volumes), manager="test")
    eventually(lambda: ready_replicas(kube, namespace) == 1, "a pod with the claim")
    bound = kube.get("v1", "PersistentVolumeClaim", "cache", namespace)
    assert bound["status"]["phase"] == "Bound"
    volume = bound["spec"]["volumeName"]
    kube.delete("apps/v1", "Deployment", "model", namespace)
    kube.delete("v1", "PersistentVolumeClaim", "cache", namespace)
    eventually(lambda: gone(kube, "v1", "PersistentVolumeClaim", "cache", namespace), "claim gone")
    eventually(lambda: gone(kube, "v1", "PersistentVolume", volume), "volume gone")


def test_an_autoscaler_is_taken_and_looked_at(kube: Kube, node: str, namespace: str) -> None:
    kube.apply(deployment(namespace, replicas=1), manager="test")
    autoscaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "model", "namespace": namespace},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "model"},
            "minReplicas": 1,
            "maxReplicas": 3,
            "metrics": [
                {
                    "type": "Resource",
                    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
                }
            ],
        },
    }
    kube.apply(autoscaler, manager="test")

    def able() -> bool:
        found = kube.get("autoscaling/v2", "HorizontalPodAutoscaler", "model", namespace)
        return conditions(found).get("AbleToScale") == "True"

    eventually(able, "the controller reads the scale of its target")


def test_foreground_deletion_ends_with_the_last_pod(kube: Kube, node: str, namespace: str) -> None:
    kube.apply(deployment(namespace, terminationGracePeriodSeconds=120), manager="test")
    eventually(lambda: ready_replicas(kube, namespace) == 2, "two ready replicas")
    path = kube.path("apps/v1", "Deployment", "model", namespace)
    kube.request("DELETE", path, body={"propagationPolicy": "Foreground"})
    eventually(lambda: gone(kube, "apps/v1", "Deployment", "model", namespace), "deployment gone")
    assert pods(kube, namespace) == []
    assert list(kube.list("apps/v1", "ReplicaSet", namespace)) == []


def test_a_namespace_is_deleted_with_everything_in_it(kube: Kube, node: str) -> None:
    name = "whole"
    kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, manager="test")
    eventually(lambda: not gone(kube, "v1", "ServiceAccount", "default", name), "default service account")
    kube.apply(deployment(name), manager="test")
    eventually(lambda: ready_replicas(kube, name) == 2, "two ready replicas")
    kube.delete("v1", "Namespace", name)
    eventually(lambda: gone(kube, "v1", "Namespace", name), "namespace gone")


def test_who_schedules(kube: Kube, namespace: str, node: str) -> None:
    """Volcano's scheduler has a stand-in, so that gangs run; a scheduler that nobody plays leaves its pods alone."""
    for name in ("default-scheduler", "volcano", "somebody-else"):
        kube.apply(deployment(namespace, name, replicas=1, schedulerName=name), manager="test")

    def places() -> dict[str, str | None]:
        found = kube.list("v1", "Pod", namespace)
        return {pod["metadata"]["labels"]["app"]: pod["spec"].get("nodeName") for pod in found}

    expected = {"default-scheduler": node, "volcano": node, "somebody-else": None}
    eventually(lambda: places() == expected, "places")


def test_privileged_containers_run_unless_their_namespace_forbids_them(kube: Kube, namespace: str) -> None:
    container = {"name": "server", "image": "vllm/vllm-openai", "securityContext": {"privileged": True}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": namespace}}
    kube.create({**pod, "spec": {"containers": [container]}}, dry_run=True)
    labels = {"pod-security.kubernetes.io/enforce": "baseline"}
    kube.apply(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": labels}}, manager="test"
    )
    with pytest.raises(KubeError, match="privileged"):
        kube.create({**pod, "spec": {"containers": [container]}}, dry_run=True)
