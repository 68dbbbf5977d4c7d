"""The golden case, written down from llmaz spec 2.10 and table 3 by hand."""

from typing import Any

from components.fleet.words import WorkloadChoice
from tests.fleets import GPU, endpoint_of, fleet_of, objects, open_model, playground, workload_of

TOKEN = {"secretKeyRef": {"name": "modelhub-secret", "key": "HF_TOKEN", "optional": True}}
HEALTH = {"httpGet": {"path": "/health", "port": 8080}}
RESOURCES = {"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": 1}
ARGS = "--model /workspace/models/models--facebook--opt-125m --served-model-name opt-125m --host 0.0.0.0 --port 8080"
GOLDEN: dict[str, Any] = {
    "apiVersion": "leaderworkerset.x-k8s.io/v1",
    "kind": "LeaderWorkerSet",
    "metadata": {"name": "opt-125m", "namespace": "default"},
    "spec": {
        "replicas": 1,
        "startupPolicy": "LeaderReady",
        "rolloutStrategy": {"type": "RollingUpdate"},
        "leaderWorkerTemplate": {
            "size": 1,
            "workerTemplate": {
                "metadata": {"labels": {"llmaz.io/model-name": "opt-125m", "llmaz.io/model-family-name": "opt"}},
                "spec": {
                    "schedulerName": "default-scheduler",
                    # Ours: engines never call the API server (docs/deviations.md).
                    "automountServiceAccountToken": False,
                    "terminationGracePeriodSeconds": 130,
                    "initContainers": [
                        {
                            "name": "model-loader",
                            "image": "inftyai/model-loader:v0.0.10",
                            "env": [
                                {"name": "MODEL_SOURCE_TYPE", "value": "modelhub"},
                                {"name": "MODEL_ID", "value": "facebook/opt-125m"},
                                {"name": "MODEL_HUB_NAME", "value": "Huggingface"},
                                {"name": "REVISION", "value": "main"},
                                {"name": "HUGGING_FACE_HUB_TOKEN", "valueFrom": TOKEN},
                                {"name": "HF_TOKEN", "valueFrom": TOKEN},
                            ],
                            "volumeMounts": [{"name": "model-volume", "mountPath": "/workspace/models/"}],
                        }
                    ],
                    "containers": [
                        {
                            "name": "model-runner",
                            "image": "vllm/vllm-openai:v0.7.3",
                            "command": ["python3", "-m", "vllm.entrypoints.openai.api_server"],
                            "args": ARGS.split(),
                            "resources": {"requests": RESOURCES, "limits": RESOURCES},
                            "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
                            "startupProbe": {**HEALTH, "periodSeconds": 10, "failureThreshold": 30},
                            "livenessProbe": {
                                **HEALTH,
                                "initialDelaySeconds": 15,
                                "periodSeconds": 10,
                                "failureThreshold": 3,
                            },
                            "readinessProbe": {
                                **HEALTH,
                                "initialDelaySeconds": 5,
                                "periodSeconds": 5,
                                "failureThreshold": 3,
                            },
                            "volumeMounts": [
                                {"name": "dshm", "mountPath": "/dev/shm"},
                                {"name": "model-volume", "mountPath": "/workspace/models/", "readOnly": True},
                            ],
                        }
                    ],
                    "volumes": [
                        {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "2Gi"}},
                        {"name": "model-volume", "emptyDir": {}},
                    ],
                },
            },
        },
    },
}
SAMPLE = (open_model("opt-125m", "facebook/opt-125m", [GPU], family="opt"), playground("opt-125m", "opt-125m"))


def test_a_playground_with_defaults_becomes_the_golden_leader_worker_set() -> None:
    made = objects(*SAMPLE, workload=WorkloadChoice.LWS)
    assert set(made) == {"LeaderWorkerSet", "Service"}
    runner = made["LeaderWorkerSet"]["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]
    hook = runner.pop("lifecycle")
    assert made["LeaderWorkerSet"] == GOLDEN
    assert hook["preStop"]["exec"]["command"][:2] == ["/bin/sh", "-c"]


def test_its_hook_waits_for_both_gauges_on_the_serving_port() -> None:
    made = objects(*SAMPLE, workload=WorkloadChoice.LWS)
    runner = made["LeaderWorkerSet"]["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]
    script = runner["lifecycle"]["preStop"]["exec"]["command"][2]
    assert "http://localhost:8080/metrics" in script
    assert "8000" not in script
    for gauge in ("vllm:num_requests_running", "vllm:num_requests_waiting"):
        assert gauge in script


def test_its_service_selects_the_leaders() -> None:
    assert objects(*SAMPLE, workload=WorkloadChoice.LWS)["Service"] == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "opt-125m-lb", "namespace": "default"},
        "spec": {
            "ports": [{"name": "http", "port": 8080, "protocol": "TCP", "targetPort": 8080}],
            "selector": {
                "leaderworkerset.sigs.k8s.io/name": "opt-125m",
                "leaderworkerset.sigs.k8s.io/worker-index": "0",
            },
        },
    }


def test_what_is_told_about_it() -> None:
    (item,) = fleet_of(*SAMPLE, workload=WorkloadChoice.LWS).rendered
    assert (workload_of(item).kind, workload_of(item).name, item.namespace, item.model) == (
        "LeaderWorkerSet",
        "opt-125m",
        "default",
        "opt-125m",
    )
    assert endpoint_of(item).url == "http://opt-125m-lb.default.svc.cluster.local:8080/v1"
    assert item.needs == {"leaderworkerset"}


def test_by_default_its_one_pod_is_a_deployment_that_its_service_selects() -> None:
    made = objects(*SAMPLE)
    assert set(made) == {"Deployment", "Service"}
    spec = made["Deployment"]["spec"]
    selector = spec["selector"]["matchLabels"]
    labels = spec["template"]["metadata"]["labels"]
    assert made["Service"]["spec"]["selector"] == selector
    assert selector.items() <= labels.items()
    assert labels["llmaz.io/model-name"] == "opt-125m"
    golden = GOLDEN["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    spec["template"]["spec"]["containers"][0].pop("lifecycle")
    assert spec["template"]["spec"] == golden
