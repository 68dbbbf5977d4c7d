"""The simplest InferenceService as exact objects, and the golden vectors of LLMKube spec 10."""

import pytest

from tests.families.llmkube.support import (
    EXISTS,
    HTTP,
    KEY,
    Object,
    gpu,
    isvc,
    model,
    objects,
    pod,
    problem,
    served,
)
from tests.fleets import endpoint_of, workload_of

PROBE = {"httpGet": {"path": "/health", "port": 8080}, "timeoutSeconds": 5}
SELECTOR = {"app": "svc.a", "inference.llmkube.dev/service": "svc.a"}
LABELS = {
    "app": "svc.a",
    "inference.llmkube.dev/model": "m1",
    "inference.llmkube.dev/service": "svc.a",
    "inference.llmkube.dev/runtime": "llamacpp",
}


DEPLOYMENT: Object = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "svc.a", "namespace": "ns", "labels": LABELS},
    "spec": {
        "replicas": 1,
        "progressDeadlineSeconds": 3600,
        "selector": {"matchLabels": SELECTOR},
        "template": {
            "metadata": {"labels": LABELS},
            "spec": {
                "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}, "fsGroup": 102},
                "initContainers": [
                    {
                        "name": "model-downloader",
                        "image": "docker.io/curlimages/curl:8.18.0",
                        "env": [
                            {"name": "MODEL_SOURCE", "value": HTTP},
                            {"name": "CACHE_DIR", "value": f"/models/{KEY}"},
                            {"name": "MODEL_PATH", "value": f"/models/{KEY}/m1.gguf"},
                        ],
                        "volumeMounts": [{"name": "model-cache", "mountPath": "/models"}],
                        "securityContext": {
                            "allowPrivilegeEscalation": False,
                            "readOnlyRootFilesystem": False,
                            "capabilities": {"drop": ["ALL"]},
                        },
                    }
                ],
                "containers": [
                    {
                        "name": "llama-server",
                        "image": "ghcr.io/ggml-org/llama.cpp:server",
                        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
                        "volumeMounts": [{"name": "model-cache", "mountPath": "/models", "readOnly": True}],
                        "startupProbe": {**PROBE, "periodSeconds": 10, "failureThreshold": 180},
                        "livenessProbe": {**PROBE, "periodSeconds": 15, "failureThreshold": 3},
                        "readinessProbe": {**PROBE, "periodSeconds": 10, "failureThreshold": 3},
                        "securityContext": {
                            "allowPrivilegeEscalation": False,
                            "capabilities": {"drop": ["ALL"]},
                        },
                    }
                ],
                "volumes": [{"name": "model-cache", "persistentVolumeClaim": {"claimName": "llmkube-model-cache"}}],
                "priorityClassName": "llmkube-normal",
                "terminationGracePeriodSeconds": 130,
                "automountServiceAccountToken": False,
            },
        },
    },
}
SERVICE: Object = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "svc-a", "namespace": "ns", "labels": SELECTOR},
    "spec": {
        "type": "ClusterIP",
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP", "targetPort": 8080}],
        "selector": SELECTOR,
    },
}


def test_the_simplest_service_is_what_the_operator_makes_of_it() -> None:
    """Written down from LLMKube spec 2, 3.3, 4.1, 4.4 and 4.6; the last five fields and the hook are ours."""
    made = objects(isvc("svc.a"), model())
    script = made["Deployment"]["spec"]["template"]["spec"]["initContainers"][0].pop("command")
    assert script[:2] == ["sh", "-c"]
    arguments = made["Deployment"]["spec"]["template"]["spec"]["containers"][0].pop("args")
    assert arguments[:2] == ["--model", f"/models/{KEY}/m1.gguf"]
    hook = made["Deployment"]["spec"]["template"]["spec"]["containers"][0].pop("lifecycle")
    assert '"http://localhost:8080/metrics"' in hook["preStop"]["exec"]["command"][2]
    assert made["Deployment"] == DEPLOYMENT
    assert made["Service"] == SERVICE


def test_what_is_told_about_it() -> None:
    item = served(isvc("svc.a"), model())
    assert (item.kind, item.name, item.namespace, item.model) == ("InferenceService", "svc.a", "ns", "m1")
    assert (workload_of(item).kind, workload_of(item).name, workload_of(item).replicas, item.needs) == (
        "Deployment",
        "svc.a",
        1,
        frozenset(),
    )
    assert endpoint_of(item).url == "http://svc-a.ns.svc.cluster.local:8080/v1"
    assert (endpoint_of(item).service, endpoint_of(item).port, endpoint_of(item).api) == ("svc-a", 8080, "openai")


class TestGoldenVectors:
    """LLMKube spec 10, as to objects; where we deviate it says so."""

    def test_a_many_gpus_by_the_model(self) -> None:
        split = {"strategy": "tensor", "layerSplit": ["0-19", "20-29", "30-39"]}
        resources = {"gpu": 1, "cpu": "2", "memory": "4Gi", "hostMemory": "48Gi"}
        made = objects(isvc("svc.a", resources=resources), model(hardware=gpu(3, layers=-1, sharding=split)))
        (runner,) = made["Deployment"]["spec"]["template"]["spec"]["containers"]
        assert runner["resources"] == {"limits": {"nvidia.com/gpu": 3}, "requests": {"cpu": "2", "memory": "48Gi"}}
        assert made["Deployment"]["spec"]["strategy"] == {"type": "Recreate"}
        assert made["Service"]["spec"]["ports"][0]["port"] == 8080
        # Deviation: the operator takes the image without CUDA.
        assert runner["image"] == "ghcr.io/ggml-org/llama.cpp:server-cuda"

    def test_b_without_gpu(self) -> None:
        tolerations = [{"key": "spot", "operator": "Exists"}]
        service = isvc(
            "svc.a",
            nodeSelector={"role": "cpu"},
            tolerations=tolerations,
            parallelSlots=2,
            containerPort=9000,
            endpoint={"port": 8080, "type": "NodePort", "path": "/x"},
            extraArgs=["--parallel", "8", "--rope-scaling", "none"],
        )
        made = objects(service, model())
        spec = made["Deployment"]["spec"]["template"]["spec"]
        (runner,) = spec["containers"]
        assert runner["readinessProbe"]["httpGet"]["port"] == 9000
        assert "strategy" not in made["Deployment"]["spec"]
        assert "resources" not in runner
        item = served(service, model())
        # Deviation: the operator shows /x, where llama.cpp has nothing.
        assert endpoint_of(item).url == "http://svc-a.ns.svc.cluster.local:8080/v1"
        assert made["Service"]["spec"]["type"] == "NodePort"
        # Deviations: the Service leads to where the container listens, and placement is kept without a GPU.
        (port,) = made["Service"]["spec"]["ports"]
        assert (port["port"], port["targetPort"]) == (8080, 9000)
        assert spec["nodeSelector"] == {"role": "cpu"}
        assert spec["tolerations"] == tolerations

    def test_c_no_init(self) -> None:
        spec = pod(isvc(skipModelInit=True, extraArgs=["-hf", "org/repo:Q4_K_M"]), model())
        assert "volumes" not in spec
        assert "initContainers" not in spec
        assert spec["containers"][0]["args"][:2] == ["--model", ""]

    @pytest.mark.parametrize("skip", [None, True])
    def test_d_a_claim(self, skip: bool | None) -> None:
        """Deviation: the operator drops the mount with skipModelInit."""
        fields: Object = {} if skip is None else {"skipModelInit": skip}
        spec = pod(isvc(**fields), model(source="pvc://claim/dir/m.gguf"))
        assert spec["volumes"] == [
            {"name": "model-source", "persistentVolumeClaim": {"claimName": "claim", "readOnly": True}}
        ]
        (runner,) = spec["containers"]
        assert runner["volumeMounts"] == [{"name": "model-source", "mountPath": "/model-source", "readOnly": True}]
        assert runner["args"][:2] == ["--model", "/model-source/dir/m.gguf"]
        assert "initContainers" not in spec

    def test_e_a_file_of_the_node(self) -> None:
        spec = pod(isvc(), model(source="file:///mnt/m.gguf"))
        (loader,) = spec["initContainers"]
        assert loader["volumeMounts"] == [
            {"name": "model-cache", "mountPath": "/models"},
            {"name": "host-model", "mountPath": "/host-model/model.gguf", "readOnly": True},
        ]
        assert {"name": "host-model", "hostPath": {"path": "/mnt/m.gguf", "type": "File"}} in spec["volumes"]
        assert spec["containers"][0]["args"][1] == "/models/696c7215e958c40d/m1.gguf"

    def test_f_vllm_that_fetches_by_itself(self) -> None:
        token = {"name": "hf", "key": "HF_TOKEN"}
        service = isvc(
            "svc.a",
            runtime="vllm",
            skipModelInit=True,
            vllmConfig={"hfTokenSecretRef": token},
            extraArgs=["--served-model-name", "x"],
            env=[{"name": "A", "value": "1"}],
        )
        made = objects(service, model(source="org/repo", hardware=gpu(2)))
        spec = made["Deployment"]["spec"]["template"]["spec"]
        (runner,) = spec["containers"]
        assert spec["enableServiceLinks"] is False
        assert runner["env"] == [
            {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": token}},
            {"name": "A", "value": "1"},
        ]
        assert runner["image"] == "vllm/vllm-openai:v0.20.0"
        # Deviations: the Service leads to the container's port, and two GPUs get a shared memory.
        (port,) = made["Service"]["spec"]["ports"]
        assert (port["port"], port["targetPort"]) == (8080, 8000)
        assert spec["volumes"] == [{"name": "dshm", "emptyDir": {"medium": "Memory"}}]
        assert runner["volumeMounts"] == [{"name": "dshm", "mountPath": "/dev/shm"}]

    def test_g_a_repository_without_skip_model_init_is_refused(self) -> None:
        """Deviation: the operator lets curl fail on the repository's name."""
        service = isvc(runtime="vllm", image="vllm/vllm-openai:v0.20.0")
        found = problem(service, model(source="org/repo"))
        assert found.path == "spec.skipModelInit"
        assert "skipModelInit: true" in found.reason

    def test_h_tgi_on_amd(self) -> None:
        """Deviation: AMD's resource and image; the operator asks for NVIDIA's. dtype is left out, it is refused."""
        service = isvc(runtime="tgi", tgiConfig={"quantize": "awq"})
        hardware = gpu(2, "rocm", vendor="amd")
        (runner,) = pod(service, model(source="org/repo", hardware=hardware))["containers"]
        assert runner["resources"] == {"limits": {"amd.com/gpu": 2}}
        assert runner["image"].endswith(":latest-rocm")

    def test_i_personaplex_on_intel(self) -> None:
        """Deviation: the toleration takes any value."""
        service = isvc(runtime="personaplex", image="example.com/moshi:1")
        made = objects(service, model(source="org/repo", hardware=gpu(1, "intel")))
        spec = made["Deployment"]["spec"]["template"]["spec"]
        (runner,) = spec["containers"]
        assert runner["resources"] == {"limits": {"gpu.intel.com/i915": 1}}
        assert spec["tolerations"] == [{**EXISTS, "key": "gpu.intel.com/i915"}]
        assert runner["startupProbe"]["tcpSocket"] == {"port": 8998}
        assert runner["command"] == ["/app/moshi/.venv/bin/python", "-m", "moshi.server"]

    def test_j_metrics_of_an_autoscaler(self) -> None:
        """Deviation: what has no target is refused, see below."""
        metrics = [
            {"type": "Pods", "name": "q", "targetAverageValue": "3"},
            {"type": "Resource", "name": "cpu", "targetAverageUtilization": 70},
        ]
        hpa = objects(isvc(autoscaling={"maxReplicas": 4, "metrics": metrics}), model())["HorizontalPodAutoscaler"]
        assert hpa["spec"]["metrics"] == [
            {
                "type": "Pods",
                "pods": {"metric": {"name": "q"}, "target": {"type": "AverageValue", "averageValue": "3"}},
            },
            {
                "type": "Resource",
                "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}},
            },
        ]
