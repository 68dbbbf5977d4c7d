"""What is wrong with a manifest and with a component's arguments, for the test that every way in says the same."""

from dataclasses import dataclass, field
from typing import Any

A10G = {"name": "a10g", "limits": {"nvidia.com/gpu": 1}, "params": {"INSTANCE-TYPE": "g5.2xlarge"}}
GGUF = "https://example.com/m.gguf"
G6 = {"node.kubernetes.io/instance-type": "g6.4xlarge"}


def queue(name: str, average: str = "4") -> dict[str, Any]:
    """A metric of pods."""
    return pods_metric(name, {"type": "AverageValue", "averageValue": average})


def queue_args(name: str, average: str = "4") -> dict[str, Any]:
    """The same as an argument of a component."""
    return pods_metric(name, {"type": "AverageValue", "average_value": average})


def pods_metric(name: str, target: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Pods", "pods": {"metric": {"name": name}, "target": target}}


def elastic(*metrics: dict[str, Any], least: int = 1) -> dict[str, Any]:
    """Replica bounds of a Playground with metrics to scale on."""
    bounds: dict[str, Any] = {"minReplicas": least, "maxReplicas": 3}
    return {"elasticConfig": bounds | ({"scaleTrigger": {"hpa": {"metrics": list(metrics)}}} if metrics else {})}


def scaled(*metrics: dict[str, Any], least: int = 1) -> dict[str, Any]:
    """The same as arguments of a component."""
    return {"min_replicas": least, "max_replicas": 3} | ({"metrics": list(metrics)} if metrics else {})


def backend(**config: Any) -> dict[str, Any]:
    """The backend of a Playground."""
    return {"backendRuntimeConfig": config}


def pods(**container: Any) -> dict[str, Any]:
    """A pod template with one container."""
    runner = {"name": "model-runner", "image": "vllm/vllm-openai:v0.20.0", "args": ["--model", "m"]} | container
    return {"spec": {"containers": [runner]}}


@dataclass(frozen=True)
class Fault:
    """What is wrong, in a manifest and in the arguments of a component."""

    path: str
    reason: str
    spec: dict[str, Any] = field(default_factory=dict)
    args: dict[str, Any] = field(default_factory=dict)
    flavor: dict[str, Any] = field(default_factory=dict)
    model: dict[str, Any] = field(default_factory=dict)


QUEUE = "vllm:num_requests_waiting"
HPA = "spec.elasticConfig.scaleTrigger.hpa"
PLAYGROUNDS = [
    Fault(
        f"{HPA}.metrics[0].pods.metric.name",
        "did you mean 'vllm:num_requests_waiting'",
        elastic(queue("vllm:num_request_waiting")),
        scaled(queue_args("vllm:num_request_waiting")),
    ),
    Fault(
        f"{HPA}.metrics[0].pods.target.averageValue",
        "above 0",
        elastic(queue(QUEUE, "0")),
        scaled(queue_args(QUEUE, "0")),
    ),
    Fault("spec.elasticConfig", "nothing to scale on", elastic(), scaled()),
    Fault(
        "spec.elasticConfig.minReplicas",
        "must be at least 1",
        elastic(queue(QUEUE), least=0),
        scaled(queue_args(QUEUE), least=0),
    ),
    Fault(
        "spec.modelClaim.modelName",
        "2 nvidia.com/gpu, but g5.2xlarge has only 1",
        flavor={"limits": {"nvidia.com/gpu": 2}},
    ),
    Fault("spec.modelClaim.modelName", "did you mean", flavor={"params": {"INSTANCE-TYPE": "g5.3xlarge"}}),
    Fault("spec.modelClaim.modelName", "TP must be a whole number", flavor={"params": {"TP": "two"}}),
    Fault(
        "spec.modelClaim.modelName",
        "= 4",
        flavor={"params": {"INSTANCE-TYPE": "g5.2xlarge", "TP": "4"}},
    ),
    Fault(
        "spec.modelClaim.inferenceFlavors[0]",
        "no flavor of OpenModel",
        {"modelClaim": {"modelName": "m", "inferenceFlavors": ["h100"]}},
        {"inference_flavors": ["h100"]},
    ),
    Fault(
        "spec.backendRuntimeConfig.backendName",
        "no BackendRuntime named 'vlm'",
        backend(backendName="vlm"),
        {"backend_name": "vlm"},
    ),
    Fault(
        "spec.backendRuntimeConfig.configName",
        "no recommended configuration",
        backend(configName="fast"),
        {"config_name": "fast"},
    ),
    Fault(
        "spec.backendRuntimeConfig.args[0]",
        "does not support",
        backend(version="v0.7.3", args=["--async-scheduling"]),
        {"backend_version": "v0.7.3", "args": ["--async-scheduling"]},
    ),
    Fault(
        "spec.backendRuntimeConfig.args[1]",
        "must be",
        backend(args=["--max-model-len", "long"]),
        {"args": ["--max-model-len", "long"]},
    ),
    Fault(
        "spec.modelClaim.modelName",
        "cpu",
        backend(resources={"requests": {"cpu": "96"}}),
        {"requests": {"cpu": "96"}},
    ),
]
SERVICES = [
    Fault(
        "spec.workloadTemplate.workerTemplate.spec.containers[0].args[2]",
        "--tensor-parallel-size",
        {"workloadTemplate": {"workerTemplate": pods(args=["--model", "m", "--tensor-parallel-size"])}},
        {"worker_template": pods(args=["--model", "m", "--tensor-parallel-size"])},
    ),
    Fault(
        "spec.workloadTemplate.leaderTemplate.spec.containers",
        "model-runner",
        {"workloadTemplate": {"size": 1, "leaderTemplate": pods(name="leader"), "workerTemplate": pods()}},
        {"size": 1, "leader_template": pods(name="leader"), "worker_template": pods()},
    ),
    Fault(
        "spec.modelClaims.models",
        "2 nvidia.com/gpu, but g5.2xlarge has only 1",
        flavor={"limits": {"nvidia.com/gpu": 2}},
    ),
    Fault(
        "spec.workloadTemplate.size",
        "PP 2 of the flavor",
        flavor={"params": {"INSTANCE-TYPE": "g5.2xlarge", "PP": "2"}},
    ),
]
INFERENCE_SERVICES = [
    Fault("spec.modelRef", "metal", model={"hardware": {"accelerator": "metal"}}),
    Fault("spec.modelRef", "make them match", model={"hardware": {"accelerator": "cuda", "gpu": {"vendor": "amd"}}}),
    Fault("spec.image", "is required with runtime generic", {"runtime": "generic"}, {"runtime": "generic"}),
    Fault(
        "spec.endpoint.path",
        "starts with '/'",
        {"endpoint": {"port": 8080, "path": "v1"}},
        {"endpoint": {"port": 8080, "path": "v1"}},
    ),
    Fault("spec.resources.cpu", "must be a quantity", {"resources": {"cpu": "many"}}, {"resources": {"cpu": "many"}}),
    Fault(
        "spec.nodeSelector",
        "is not a known instance type",
        {"nodeSelector": {"node.kubernetes.io/instance-type": "g6.5xlarge"}},
        {"node_selector": {"node.kubernetes.io/instance-type": "g6.5xlarge"}},
    ),
    Fault(
        "spec.nodeSelector",
        "but g6.4xlarge has only 1",
        {"nodeSelector": G6},
        {"node_selector": G6},
        model={"hardware": {"accelerator": "cuda", "gpu": {"count": 2}}},
    ),
    Fault(
        "spec.replicas",
        "0 stops the service",
        {"replicas": 0, "autoscaling": {"maxReplicas": 2}},
        {"replicas": 0, "autoscaling": {"max_replicas": 2}},
    ),
    Fault(
        "spec.autoscaling.maxReplicas",
        "at least minReplicas",
        {"autoscaling": {"minReplicas": 3, "maxReplicas": 2}},
        {"autoscaling": {"min_replicas": 3, "max_replicas": 2}},
    ),
    Fault(
        "spec.autoscaling.metrics[0].name",
        "does not export 'llamacpp:requests_defered'",
        {
            "autoscaling": {
                "maxReplicas": 2,
                "metrics": [{"type": "Pods", "name": "llamacpp:requests_defered", "targetAverageValue": "2"}],
            }
        },
        {
            "autoscaling": {
                "max_replicas": 2,
                "metrics": [{"type": "Pods", "name": "llamacpp:requests_defered", "target_average_value": "2"}],
            }
        },
    ),
    Fault(
        "spec.autoscaling.metrics[0].targetAverageValue",
        "is required for type Pods",
        {"autoscaling": {"maxReplicas": 2, "metrics": [{"type": "Pods", "name": "q"}]}},
        {"autoscaling": {"max_replicas": 2, "metrics": [{"type": "Pods", "name": "q"}]}},
    ),
    Fault(
        "spec.extraArgs[0]",
        "llama.cpp does not accept",
        {"extraArgs": ["--ctx-size=4096"]},
        {"extra_args": ["--ctx-size=4096"]},
    ),
    Fault("spec.podLabels[a,b]", "must be a label", {"podLabels": {"a,b": "c"}}, {"pod_labels": {"a,b": "c"}}),
]
CASES = [
    *(("Playground", fault) for fault in PLAYGROUNDS),
    *(("Service", fault) for fault in SERVICES),
    *(("InferenceService", fault) for fault in INFERENCE_SERVICES),
]
