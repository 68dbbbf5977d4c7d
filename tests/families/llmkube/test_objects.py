"""LLMKube spec 2, 3, 4 and 10: the objects of an InferenceService."""

from collections.abc import Callable
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest

from components.engines.registry import engine_of, engines
from components.families.llmkube.facts import llmkube
from components.fleet.options import ModelCache
from components.fleet.words import Edition
from components.metrics.chain import metric_chain
from tests.families.llmkube.support import (
    EXISTS,
    G5,
    GPUS,
    HTTP,
    KEY,
    Object,
    container,
    gpu,
    isvc,
    model,
    objects,
    pod,
    problem,
    served,
    shared,
)
from tests.fleets import endpoint_of, fleet_of, workload_of

# -- the whole


PROBE = {"httpGet": {"path": "/health", "port": 8080}, "timeoutSeconds": 5}
SELECTOR = {"app": "svc.a", "inference.llmkube.dev/service": "svc.a"}
LABELS = {
    "app": "svc.a",
    "inference.llmkube.dev/model": "m1",
    "inference.llmkube.dev/service": "svc.a",
    "inference.llmkube.dev/runtime": "llamacpp",
}


def test_the_simplest_service_is_what_the_operator_makes_of_it() -> None:
    """Written down from LLMKube spec 2, 3.3, 4.1, 4.4 and 4.6; the last four fields are ours."""
    made = objects(isvc("svc.a"), model())
    script = made["Deployment"]["spec"]["template"]["spec"]["initContainers"][0].pop("command")
    assert script[:2] == ["sh", "-c"]
    arguments = made["Deployment"]["spec"]["template"]["spec"]["containers"][0].pop("args")
    assert arguments[:2] == ["--model", f"/models/{KEY}/m1.gguf"]
    assert made["Deployment"] == {
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
                    "volumes": [
                        {"name": "model-cache", "persistentVolumeClaim": {"claimName": "llmkube-model-cache"}}
                    ],
                    "priorityClassName": "llmkube-normal",
                    "terminationGracePeriodSeconds": 130,
                },
            },
        },
    }
    assert made["Service"] == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "svc-a", "namespace": "ns", "labels": SELECTOR},
        "spec": {
            "type": "ClusterIP",
            "ports": [{"name": "http", "port": 8080, "protocol": "TCP", "targetPort": 8080}],
            "selector": SELECTOR,
        },
    }


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
        assert endpoint_of(item).url == "http://svc-a.ns.svc.cluster.local:8080/x"
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


# -- pods


@pytest.mark.parametrize(
    ("runtime", "name", "port", "probe"),
    [
        ("llamacpp", "llama-server", 8080, "httpGet"),
        ("vllm", "vllm", 8000, "httpGet"),
        ("tgi", "tgi", 80, "httpGet"),
        ("personaplex", "personaplex", 8998, "tcpSocket"),
        ("generic", "inference-server", 8080, "tcpSocket"),
    ],
)
def test_each_runtime_has_its_container_port_and_probes(runtime: str, name: str, port: int, probe: str) -> None:
    """The table of LLMKube spec 2."""
    source = {"llamacpp": HTTP}.get(runtime, "org/repo")
    skip: Object = {"skipModelInit": True} if runtime == "vllm" else {}
    made = objects(isvc(runtime=runtime, image="example.com/server:1", **skip), model(source=source))
    (runner,) = made["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert (runner["name"], runner["ports"][0]["containerPort"]) == (name, port)
    for part in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert runner[part][probe]["port"] == port
    assert made["Service"]["spec"]["ports"][0]["targetPort"] == port


@pytest.mark.parametrize(
    ("fields", "port"),
    [
        ({}, 8000),
        ({"endpoint": {}}, 8080),
        ({"endpoint": {"port": 9001}}, 9001),
        ({"endpoint": {"port": 9001}, "containerPort": 9002}, 9002),
        ({"containerPort": 9002}, 9002),
    ],
)
def test_the_container_listens_on_its_own_port_the_endpoints_or_the_runtimes(fields: Object, port: int) -> None:
    service = isvc(runtime="vllm", skipModelInit=True, image="vllm/vllm-openai:v0.20.0", **fields)
    made = objects(service, model(source="org/repo"))
    (runner,) = made["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert runner["ports"] == [{"name": "http", "containerPort": port, "protocol": "TCP"}]
    assert runner["args"][runner["args"].index("--port") + 1] == str(port)
    expected = fields.get("endpoint", {}).get("port", 8080)
    assert made["Service"]["spec"]["ports"] == [
        {"name": "http", "port": expected, "protocol": "TCP", "targetPort": port}
    ]


FIELDS: list[tuple[str, Any, Callable[[Object], Any], Any]] = [
    ("image", "example.com/x:1", lambda p: p["containers"][0]["image"], "example.com/x:1"),
    ("imagePullSecrets", [{"name": "a"}], lambda p: p["imagePullSecrets"], [{"name": "a"}]),
    ("command", ["/srv"], lambda p: p["containers"][0]["command"], ["/srv"]),
    ("env", [{"name": "A", "value": "1"}], lambda p: p["containers"][0]["env"], [{"name": "A", "value": "1"}]),
    ("runtimeClassName", "nvidia", lambda p: p["runtimeClassName"], "nvidia"),
    ("priority", "high", lambda p: p["priorityClassName"], "llmkube-high"),
    ("priority", "batch", lambda p: p["priorityClassName"], "llmkube-batch"),
    ("priorityClassName", "mine", lambda p: p["priorityClassName"], "mine"),
    ("podSecurityContext", {"fsGroup": 5}, lambda p: p["securityContext"], {"fsGroup": 5}),
    (
        "podSecurityContext",
        {"runAsUser": 5, "runAsGroup": 6},
        lambda p: {k: v for k, v in p["initContainers"][0]["securityContext"].items() if k.startswith("runAs")},
        {"runAsUser": 5, "runAsGroup": 6},
    ),
    ("securityContext", {"runAsUser": 5}, lambda p: p["containers"][0]["securityContext"], {"runAsUser": 5}),
    (
        "probeOverrides",
        {"liveness": {"exec": {"command": ["true"]}}},
        lambda p: [p["containers"][0][f"{n}Probe"] for n in ("liveness", "readiness")],
        [{"exec": {"command": ["true"]}}, {**PROBE, "periodSeconds": 10, "failureThreshold": 3}],
    ),
    ("resources", {"cpu": "2"}, lambda p: p["containers"][0]["resources"], {"requests": {"cpu": "2"}}),
    ("resources", {"memory": "4Gi"}, lambda p: p["containers"][0]["resources"], {"requests": {"memory": "4Gi"}}),
    ("nodeSelector", {"a": "b"}, lambda p: p["nodeSelector"], {"a": "b"}),
    ("tolerations", [{"operator": "Exists"}], lambda p: p["tolerations"], [{"operator": "Exists"}]),
]


@pytest.mark.parametrize(
    ("field", "value", "read", "expected"), FIELDS, ids=lambda v: v if isinstance(v, str) else ""
)
def test_each_field_reaches_the_pod(field: str, value: Any, read: Callable[[Object], Any], expected: Any) -> None:
    assert read(pod(isvc(**{field: value}), model())) == expected


def test_labels_and_annotations_of_the_user_are_on_pods_alone_and_never_replace_ours() -> None:
    service = isvc(podLabels={"team": "a", "app": "other"}, podAnnotations={"example.com/a": "b"})
    made = objects(service, model())["Deployment"]
    metadata = made["spec"]["template"]["metadata"]
    assert metadata["labels"] == {**LABELS, "app": "svc", "inference.llmkube.dev/service": "svc", "team": "a"}
    assert metadata["annotations"] == {"example.com/a": "b"}
    assert "team" not in made["metadata"]["labels"]
    assert "annotations" not in made["metadata"]
    assert problem(service, model(), severity="warning").path == "spec.podLabels[app]"


def test_the_last_variable_of_a_name_is_kept_and_the_others_are_told() -> None:
    """The API server would refuse the name twice."""
    env = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}, {"name": "A", "value": "3"}]
    assert container(isvc(env=env), model())["env"] == [env[1], env[2]]
    assert problem(isvc(env=env), model(), severity="warning").path == "spec.env[0]"


def test_a_low_port_leaves_the_right_to_listen_on_it() -> None:
    tgi = isvc(runtime="tgi", image="example.com/tgi:1")
    low = container(tgi, model(source="org/repo"))
    assert low["securityContext"]["capabilities"] == {"add": ["NET_BIND_SERVICE"], "drop": ["ALL"]}
    high = container(isvc(runtime="tgi", image="example.com/tgi:1", containerPort=8080), model(source="org/repo"))
    assert high["securityContext"]["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize(
    ("said", "needs", "requests"),
    [
        ({}, {"cpu": "1", "memory": "2Gi"}, {"cpu": "1", "memory": "2Gi"}),
        ({"cpu": "3"}, {"cpu": "1", "memory": "2Gi"}, {"cpu": "3", "memory": "2Gi"}),
        ({"hostMemory": "9Gi"}, {"memory": "2Gi"}, {"memory": "9Gi"}),
        ({"memory": "8Gi"}, {"memory": "2Gi"}, {"memory": "8Gi"}),
    ],
)
def test_the_models_own_needs_count_where_the_service_says_nothing(
    said: Object, needs: Object, requests: Object
) -> None:
    runner = container(isvc(resources=said), model(resources=needs))
    assert runner["resources"] == {"requests": requests}


# -- accelerators


@pytest.mark.parametrize(
    ("by_model", "by_service", "count"),
    [(3, 1, 3), (0, 2, 2), (None, 2, 2), (2, None, 2), (0, 0, 0), (None, None, 0)],
)
def test_the_models_number_of_gpus_goes_first(by_model: int | None, by_service: int | None, count: int) -> None:
    hardware: Object = {"hardware": {"gpu": {"count": by_model}}} if by_model is not None else {}
    resources: Object = {"resources": {"gpu": by_service}} if by_service is not None else {}
    made = objects(isvc(**resources), model(**hardware))["Deployment"]["spec"]
    (runner,) = made["template"]["spec"]["containers"]
    assert runner.get("resources", {}).get("limits", {}) == ({"nvidia.com/gpu": count} if count else {})
    assert made.get("strategy") == ({"type": "Recreate"} if count else None)
    assert made["template"]["spec"].get("tolerations") == ([EXISTS] if count else None)


@pytest.mark.parametrize(
    ("accelerator", "vendor", "resource", "tag"),
    [
        ("cuda", None, "nvidia.com/gpu", "server-cuda"),
        ("cpu", "nvidia", "nvidia.com/gpu", "server-cuda"),
        ("cpu", "amd", "amd.com/gpu", "server-rocm"),
        ("rocm", None, "amd.com/gpu", "server-rocm"),
        ("rocm", "amd", "amd.com/gpu", "server-rocm"),
        ("intel", None, "gpu.intel.com/i915", "server-intel"),
        ("cpu", "intel", "gpu.intel.com/i915", "server-intel"),
    ],
)
def test_accelerator_or_vendor_choose_resource_and_image(
    accelerator: str, vendor: str | None, resource: str, tag: str
) -> None:
    fields = {"vendor": vendor} if vendor else {}
    spec = pod(isvc(), model(hardware=gpu(1, accelerator, **fields)))
    (runner,) = spec["containers"]
    assert runner["resources"]["limits"] == {resource: 1}
    assert runner["image"] == f"ghcr.io/ggml-org/llama.cpp:{tag}"
    assert spec["tolerations"] == [{**EXISTS, "key": resource}]


@pytest.mark.parametrize(("runtime", "gpus", "has"), [("vllm", 1, False), ("vllm", 2, True), ("tgi", 2, True)])
def test_several_gpus_of_python_servers_share_memory(runtime: str, gpus: int, has: bool) -> None:
    service = isvc(runtime=runtime, skipModelInit=True, resources={"gpu": gpus}, nodeSelector=G5)
    spec = pod(service, model(source="org/repo"))
    assert ("volumes" in spec) is has


def test_llamacpp_needs_no_shared_memory() -> None:
    names = [volume["name"] for volume in pod(isvc(**GPUS), model())["volumes"]]
    assert names == ["model-cache"]


@pytest.mark.parametrize("edition", Edition)
@pytest.mark.parametrize("runtime", ["llamacpp", "vllm", "tgi"])
def test_default_images_hold_the_engine_and_current_ones_are_those_of_the_other_kinds(
    runtime: str, edition: Edition
) -> None:
    images = llmkube().runtimes[runtime].images[edition]
    for hardware, image in images.items():
        repository, _, tag = image.rpartition(":")
        engine = engine_of(repository)
        assert engine is not None, image
        assert engine.name == runtime
        assert hardware in ("cpu", *llmkube().resources)
        assert edition == Edition.UPSTREAM or tag not in ("latest", "server")
    plain = images.get("cpu", images["nvidia"])
    assert edition == Edition.UPSTREAM or plain == ":".join(engines()[runtime].current)


@pytest.mark.parametrize("name", ["critical", "high", "normal", "low", "batch"])
def test_priority_classes_are_those_of_the_operators_chart(name: str) -> None:
    """The table of LLMKube spec 4.7."""
    values = {"critical": 1000000, "high": 100000, "normal": 10000, "low": 1000, "batch": 100}
    fleet = fleet_of(isvc(priority=name), model())
    (body,) = [body for item in fleet.rendered if item.kind == "PriorityClass" for body in item.objects]
    kubernetes_validate.validate(body, "1.36", strict=True)
    assert (body["metadata"]["name"], body["value"], body["globalDefault"]) == (
        f"llmkube-{name}",
        values[name],
        False,
    )
    assert body["preemptionPolicy"] == ("Never" if name == "batch" else "PreemptLowerPriority")


# -- weights


class TestWeights:
    def test_the_environments_cache_takes_the_place_of_the_claim(self) -> None:
        fleet = fleet_of(isvc(), model(), cache=ModelCache(claim="weights"))
        assert ("PersistentVolumeClaim", "ns", "llmkube-model-cache") not in shared(fleet)
        spec = pod(isvc(), model(), cache=ModelCache(claim="weights"))
        assert spec["volumes"] == [{"name": "model-cache", "persistentVolumeClaim": {"claimName": "weights"}}]

    def test_a_folder_of_the_node_is_written_by_root_to_whom_it_belongs(self) -> None:
        spec = pod(isvc(), model(), cache=ModelCache(host_path="/var/models"))
        assert spec["volumes"][0]["hostPath"] == {"path": "/var/models", "type": "DirectoryOrCreate"}
        assert spec["initContainers"][0]["securityContext"]["runAsUser"] == 0

    @pytest.mark.parametrize(
        ("runtime", "name"), [("vllm", "HF_HOME"), ("tgi", "HUGGINGFACE_HUB_CACHE"), ("llamacpp", "LLAMA_CACHE")]
    )
    def test_what_the_server_fetches_by_itself_is_kept_in_the_environments_cache(
        self, runtime: str, name: str
    ) -> None:
        service = isvc(runtime=runtime, image="example.com/x:1", skipModelInit=True)
        spec = pod(service, model(source="org/repo"), cache=ModelCache(claim="weights"))
        (runner,) = spec["containers"]
        assert runner["volumeMounts"] == [{"name": "model-cache", "mountPath": "/models"}]
        assert next(e["value"] for e in runner["env"] if e["name"] == name).startswith("/models/")
        assert "volumes" not in pod(service, model(source="org/repo"))

    def test_a_claim_of_the_model_needs_no_cache(self) -> None:
        source = "pvc://claim/m.gguf"
        spec = pod(isvc(), model(source=source), cache=ModelCache(claim="weights"))
        assert [volume["name"] for volume in spec["volumes"]] == ["model-source"]

    def test_a_name_of_a_model_becomes_a_file_name(self) -> None:
        assert container(isvc(model="a.b-c"), model("a.b-c"))["args"][1] == f"/models/{KEY}/a.b-c.gguf"

    def test_a_checksum_reaches_the_loader_in_lower_case(self) -> None:
        (loader,) = pod(isvc(), model(sha256="AB" * 32))["initContainers"]
        assert loader["env"][-1] == {"name": "MODEL_SHA256", "value": "ab" * 32}

    @pytest.mark.parametrize("source", ["pvc://claim/m.gguf", "org/repo"])
    @pytest.mark.parametrize("field", [{"sha256": "0" * 64}, {"refreshPolicy": "OnChange"}])
    def test_what_nothing_here_fetches_is_not_verified_and_it_is_told(self, source: str, field: Object) -> None:
        service = isvc(skipModelInit=True, extraArgs=["-hf", "org/repo"] if source == "org/repo" else [])
        found = problem(service, model(source=source, **field), severity="warning")
        assert found.path == "spec.modelRef"
        assert next(iter(field)) in found.reason


# -- autoscaling


class TestAutoscaling:
    @pytest.mark.parametrize(
        ("runtime", "metric"),
        [
            ("llamacpp", "llamacpp:requests_processing"),
            ("vllm", "vllm:num_requests_running"),
            ("tgi", "tgi_queue_size"),
        ],
    )
    def test_the_default_metric_is_one_that_the_server_exports(self, runtime: str, metric: str) -> None:
        service = isvc(runtime=runtime, autoscaling={"maxReplicas": 3}, skipModelInit=True, **GPUS)
        item = served(service, model(source="org/repo"))
        (hpa,) = [body for body in item.objects if body["kind"] == "HorizontalPodAutoscaler"]
        assert hpa == {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {
                "name": "svc",
                "namespace": "ns",
                "labels": {"app": "svc", "inference.llmkube.dev/service": "svc"},
            },
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "svc"},
                "minReplicas": 1,
                "maxReplicas": 3,
                "metrics": [
                    {
                        "type": "Pods",
                        "pods": {
                            "metric": {"name": metric},
                            "target": {"type": "AverageValue", "averageValue": "2"},
                        },
                    }
                ],
            },
        }
        assert item.needs == {"custom-metrics"}
        chain = metric_chain(fleet_of(service, model(source="org/repo")))
        assert [rule["name"]["as"] for rule in chain.adapter_rules["custom"]] == [metric]
        assert not [p for p in chain.problems if p.severity == "error"]

    def test_the_autoscaler_owns_the_replicas(self) -> None:
        service = isvc(autoscaling={"minReplicas": 2, "maxReplicas": 5}, **GPUS)
        assert "replicas" not in objects(service, model())["Deployment"]["spec"]
        item = served(service, model())
        assert workload_of(item).replicas == 2
        assert (item.pods[0].pods, item.pods[0].max_pods) == (2, 5)

    def test_replicas_beside_it_are_told(self) -> None:
        service = isvc(autoscaling={"maxReplicas": 1}, replicas=1)
        assert problem(service, model(), severity="warning").path == "spec.replicas"

    @pytest.mark.parametrize(
        ("metric", "field"),
        [
            ({"type": "Pods", "name": "q"}, "targetAverageValue"),
            ({"type": "Pods", "name": "q", "targetAverageValue": "many"}, "targetAverageValue"),
            ({"type": "Pods", "name": "q", "targetAverageValue": "0"}, "targetAverageValue"),
            ({"type": "Pods", "name": "", "targetAverageValue": "1"}, "name"),
            ({"type": "Resource", "name": "memory"}, "targetAverageUtilization"),
            ({"type": "Resource", "name": "cpu", "targetAverageUtilization": 0}, "targetAverageUtilization"),
            ({"type": "Resource", "name": "q", "targetAverageUtilization": 5}, "name"),
        ],
    )
    def test_an_incomplete_metric_is_refused_at_its_path(self, metric: Object, field: str) -> None:
        good = {"type": "Pods", "name": "q", "targetAverageValue": "3"}
        found = problem(isvc(autoscaling={"maxReplicas": 1, "metrics": [good, metric]}), model())
        assert found.path == f"spec.autoscaling.metrics[1].{field}"

    def test_a_target_of_the_other_type_is_told(self) -> None:
        metric = {"type": "Pods", "name": "q", "targetAverageValue": "3", "targetAverageUtilization": 5}
        service = isvc(autoscaling={"maxReplicas": 1, "metrics": [metric]})
        found = problem(service, model(), severity="warning")
        assert found.path == "spec.autoscaling.metrics[0].targetAverageUtilization"

    @pytest.mark.parametrize("runtime", ["personaplex", "generic"])
    def test_a_server_without_a_known_metric_needs_one(self, runtime: str) -> None:
        service = isvc(runtime=runtime, image="example.com/x:1", autoscaling={"maxReplicas": 1})
        found = problem(service, model(source="org/repo"))
        assert found.path == "spec.autoscaling.metrics"
        assert "targetAverageValue" in found.reason

    def test_resource_metrics_need_the_metrics_server(self) -> None:
        metric = {"type": "Resource", "name": "cpu", "targetAverageUtilization": 5}
        assert served(isvc(autoscaling={"maxReplicas": 1, "metrics": [metric]}), model()).needs == {"metrics-server"}
