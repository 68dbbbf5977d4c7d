"""LLMKube spec 3, 4, 5.5 and 10: the objects of an InferenceService, and what refuses one."""

from collections.abc import Callable
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.api.load import Loaded, check, parse
from components.api.problems import Problem
from components.catalog.llmkube import llmkube
from components.catalog.runtimes import engine_of, engines
from components.planning.fit import fit
from components.planning.prerequisites import ClusterFacts, prerequisites
from components.render.fleet import render_fleet
from components.render.front_door import FrontDoor, front_door
from components.render.hardening import Hardening, harden
from components.render.metrics import metric_chain
from components.render.network_policies import Allowed, network_policies
from components.render.nodes import node_groups
from components.render.options import ModelCache, Options, PodOverrides
from components.render.types import Fleet, Rendered
from components.render.yamltext import dump_all
from tests.api import llmkube_documents
from tests.api.llmkube_samples import kind_of
from tests.render.support import errors, open_model, playground, warnings

Object = dict[str, Any]
API = "inference.llmkube.dev/v1alpha1"
HTTP = "https://example.com/m.gguf"
KEY = "608d0e1313135e5b"
G5 = {"node.kubernetes.io/instance-type": "g5.12xlarge"}
EXISTS = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
GPUS: Object = {"resources": {"gpu": 2}, "nodeSelector": G5}
UPSTREAM = llmkube().runtimes


def made(kind: str, name: str, spec: Object, namespace: str | None = "ns") -> Object:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec}


def isvc(name: str = "svc", namespace: str | None = "ns", model: str = "m1", **spec: Any) -> Object:
    """An InferenceService; further fields of its spec by their wire names."""
    return made("InferenceService", name, {"modelRef": model, **spec}, namespace)


def model(name: str = "m1", source: str = HTTP, namespace: str | None = "ns", **spec: Any) -> Object:
    """A Model; further fields of its spec by their wire names."""
    return made("Model", name, {"source": source, **spec}, namespace)


def gpu(count: int = 1, accelerator: str = "cuda", **fields: Any) -> Object:
    """Hardware of a Model."""
    return {"accelerator": accelerator, "gpu": {"count": count, **fields}}


def load(*documents: Object) -> list[Loaded]:
    found: list[Loaded] = []
    for number, document in enumerate(documents, 1):
        if document["apiVersion"] != API:
            found += parse(dump_all([document])).resources
            continue
        resource, problems = check(document, kind_of(document))
        assert resource is not None, problems
        found.append(Loaded(resource, "fleet.yaml", number))
    return found


def fleet_of(*documents: Object, **options: Any) -> Fleet:
    return render_fleet(load(*documents), Options(**options))


def served(*documents: Object, **options: Any) -> Rendered:
    """The only InferenceService of documents without an error."""
    fleet = fleet_of(*documents, **options)
    assert not errors(fleet), [str(p) for p in errors(fleet)]
    (item,) = [item for item in fleet.rendered if item.kind == "InferenceService"]
    return item


def objects(*documents: Object, **options: Any) -> dict[str, Object]:
    """The objects of the only InferenceService by kind; every one is valid."""
    bodies = served(*documents, **options).objects
    for body in bodies:
        kubernetes_validate.validate(body, "1.36", strict=True)
    return {body["kind"]: body for body in bodies}


def pod(*documents: Object, **options: Any) -> Object:
    spec: Object = objects(*documents, **options)["Deployment"]["spec"]["template"]["spec"]
    return spec


def container(*documents: Object, **options: Any) -> Object:
    (found,) = pod(*documents, **options)["containers"]
    return dict(found)


def problem(*documents: Object, severity: str = "error", **options: Any) -> Problem:
    """The only problem of a severity; what has an error is not rendered."""
    fleet = fleet_of(*documents, **options)
    found = errors(fleet) if severity == "error" else warnings(fleet)
    assert len(found) == 1, [str(p) for p in fleet.problems]
    rendered = [item for item in fleet.rendered if item.kind == "InferenceService"]
    assert bool(rendered) is (severity == "warning")
    return found[0]


def shared(fleet: Fleet) -> list[tuple[str, str, str]]:
    """What several may share, in order."""
    kinds = ("PriorityClass", "PersistentVolumeClaim")
    return [(i.kind, i.namespace, i.name) for i in fleet.rendered if i.kind in kinds]


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
    assert (item.workload_kind, item.workload_name, item.replicas, item.needs) == (
        "Deployment",
        "svc.a",
        1,
        frozenset(),
    )
    assert item.endpoint is not None
    assert item.endpoint.url == "http://svc-a.ns.svc.cluster.local:8080/v1"
    assert (item.endpoint.service, item.endpoint.port, item.endpoint.api) == ("svc-a", 8080, "openai")


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
        assert item.endpoint is not None
        assert item.endpoint.url == "http://svc-a.ns.svc.cluster.local:8080/x"
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


@pytest.mark.parametrize("edition", ["upstream", "current"])
@pytest.mark.parametrize("runtime", ["llamacpp", "vllm", "tgi"])
def test_default_images_hold_the_engine_and_current_ones_are_those_of_the_other_kinds(
    runtime: str, edition: str
) -> None:
    images = UPSTREAM[runtime].images[edition]
    for hardware, image in images.items():
        repository, _, tag = image.rpartition(":")
        engine = engine_of(repository)
        assert engine is not None, image
        assert engine.name == runtime
        assert hardware in ("cpu", *llmkube().resources)
        assert edition == "upstream" or tag not in ("latest", "server")
    plain = images.get("cpu", images["nvidia"])
    assert edition == "upstream" or plain == ":".join(engines()[runtime].current)


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


# -- nodes


class TestNodes:
    def test_the_selectors_instance_type_makes_a_node_group(self) -> None:
        fleet = fleet_of(isvc(replicas=2, **GPUS), model())
        (group,) = node_groups(fleet)
        assert (group.instance_type, group.nodes) == ("g5.12xlarge", 1)
        assert group.taints == ({"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"},)
        (demand,) = served(isvc(replicas=2, **GPUS), model()).pods
        assert (demand.pods, demand.surge_pods) == (2, 0)
        assert demand.requests == {"nvidia.com/gpu": 2}
        assert not [p for p in fit(fleet) if p.severity == "error"]

    @pytest.mark.parametrize(
        "selector",
        [
            G5,
            {"beta.kubernetes.io/instance-type": "g5.12xlarge"},
            {"karpenter.k8s.aws/instance-family": "g5", "karpenter.k8s.aws/instance-size": "12xlarge"},
        ],
    )
    def test_labels_of_eks_and_karpenter_name_it_too(self, selector: Object) -> None:
        item = served(isvc(resources={"gpu": 1}, nodeSelector=selector), model())
        assert item.pods[0].choices[0].instance_type == "g5.12xlarge"
        assert pod(isvc(resources={"gpu": 1}, nodeSelector=selector), model())["nodeSelector"] == selector

    def test_how_nodes_are_bought_and_where_goes_with_the_selector(self) -> None:
        selector = {**G5, "eks.amazonaws.com/capacityType": "SPOT", "topology.kubernetes.io/zone": "eu-west-1a"}
        (group,) = node_groups(fleet_of(isvc(resources={"gpu": 1}, nodeSelector=selector), model()))
        assert (group.capacity, group.zone) == ("spot", "eu-west-1a")

    def test_gpus_without_an_instance_type_are_a_warning_as_with_flavors(self) -> None:
        found = problem(isvc(resources={"gpu": 1}), model(), severity="warning")
        assert found.path == "spec.nodeSelector"
        assert "node.kubernetes.io/instance-type" in found.reason

    def test_a_pod_without_gpu_names_none_and_any_node_will_do(self) -> None:
        item = served(isvc(), model())
        assert not fleet_of(isvc(), model()).problems
        assert item.pods[0].choices == ()

    def test_more_gpus_than_the_type_has_do_not_fit(self) -> None:
        selector = {"node.kubernetes.io/instance-type": "g5.xlarge"}
        found = fit(fleet_of(isvc(resources={"gpu": 2}, nodeSelector=selector), model()))
        assert any("asks for 2 nvidia.com/gpu" in p.reason for p in found)

    def test_alternatives_of_the_environment_become_an_affinity(self) -> None:
        spec = pod(isvc(**GPUS), model(), alternatives={"g5.12xlarge": ("g6.12xlarge",)})
        assert "nodeSelector" not in spec
        node = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        assert node["nodeSelectorTerms"] == [
            {
                "matchExpressions": [
                    {
                        "key": "node.kubernetes.io/instance-type",
                        "operator": "In",
                        "values": ["g5.12xlarge", "g6.12xlarge"],
                    }
                ]
            }
        ]
        assert spec["tolerations"] == [EXISTS]

    def test_a_pod_without_gpu_on_a_gpu_node_tolerates_its_taint(self) -> None:
        assert pod(isvc(nodeSelector=G5), model())["tolerations"] == [EXISTS]

    def test_surge_of_pods_without_gpu_is_a_quarter_rounded_up(self) -> None:
        (demand,) = served(isvc(replicas=5), model(source="pvc://c/m.gguf")).pods
        assert (demand.pods, demand.surge_pods, demand.max_pods) == (5, 2, None)

    @pytest.mark.parametrize(("text", "good"), [("96Gi", True), ("97Gi", False)])
    def test_gpu_memory_is_held_against_the_nodes(self, text: str, good: bool) -> None:
        """Four GPUs that are sold with 24 GB each."""
        service = isvc(resources={"gpu": 4, "gpuMemory": text}, nodeSelector=G5)
        if good:
            assert not fleet_of(service, model()).problems
        else:
            assert problem(service, model()).path == "spec.resources.gpuMemory"


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
        assert item.replicas == 2
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


# -- what is refused or told


REFUSED: list[tuple[str, Object, Object, str]] = [
    ("bounds crossed", {"autoscaling": {"minReplicas": 3, "maxReplicas": 2}}, {}, "spec.autoscaling.maxReplicas"),
    ("stopped and scaled", {"autoscaling": {"maxReplicas": 1}, "replicas": 0}, {}, "spec.replicas"),
    ("cpu", {"resources": {"cpu": "two"}}, {}, "spec.resources.cpu"),
    ("memory", {"resources": {"memory": "4GB"}}, {}, "spec.resources.memory"),
    ("negative memory", {"resources": {"memory": "-1"}}, {}, "spec.resources.memory"),
    ("host memory", {"resources": {"hostMemory": "-"}}, {}, "spec.resources.hostMemory"),
    ("model cpu", {}, {"resources": {"cpu": "x"}}, "spec.modelRef"),
    ("gpu memory", {"resources": {"gpu": 1, "gpuMemory": "x"}, "nodeSelector": G5}, {}, "spec.resources.gpuMemory"),
    ("metal", {}, {"hardware": {"accelerator": "metal"}}, "spec.modelRef"),
    ("two vendors", {"nodeSelector": G5}, {"hardware": gpu(1, "cuda", vendor="intel")}, "spec.modelRef"),
    ("generic without image", {"runtime": "generic"}, {"source": "org/repo"}, "spec.image"),
    ("personaplex without image", {"runtime": "personaplex"}, {"source": "org/repo"}, "spec.image"),
    ("vllm without GPU", {"runtime": "vllm", "skipModelInit": True}, {"source": "org/repo"}, "spec.image"),
    ("repository for curl", {}, {"source": "org/repo"}, "spec.skipModelInit"),
    ("bare name for curl", {}, {"source": "gpt2"}, "spec.skipModelInit"),
    ("claim without file", {}, {"source": "pvc://claim"}, "spec.modelRef"),
    ("claim upwards", {}, {"source": "pvc://claim/../x"}, "spec.modelRef"),
    ("no host", {}, {"source": "http://"}, "spec.modelRef"),
    ("blank in address", {}, {"source": "https://example.com/a b"}, "spec.modelRef"),
    ("relative file", {}, {"source": "file://m.gguf"}, "spec.modelRef"),
    ("path without slash", {"endpoint": {"path": "v1"}}, {}, "spec.endpoint.path"),
    ("pod label", {"podLabels": {"a b": "c"}}, {}, "spec.podLabels[a b]"),
    ("node label", {"nodeSelector": {"a": "-"}}, {}, "spec.nodeSelector[a]"),
]


@pytest.mark.parametrize(("fields", "of_model", "path"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_what_cannot_run_is_refused_at_its_field(fields: Object, of_model: Object, path: str) -> None:
    found = problem(isvc(**fields), model(**of_model))
    assert found.path == path
    assert (found.kind, found.name) == ("InferenceService", "svc")


@pytest.mark.parametrize("name", ["1a", "x" * 64, "a.1"])
def test_the_name_must_be_one_of_a_service(name: str) -> None:
    fleet = fleet_of(isvc(name), model())
    assert [p.path for p in errors(fleet)] == ([] if name == "a.1" else ["metadata.name"])


def test_the_name_of_a_model_must_fit_a_label() -> None:
    name = ".".join(["x" * 40, "y" * 40])
    assert problem(isvc(model=name), model(name)).path == "spec.modelRef"


TOLD: list[tuple[str, Object, Object, str]] = [
    ("eviction", {"evictionProtection": True}, {}, "spec.evictionProtection"),
    ("both priorities", {"priority": "low", "priorityClassName": "mine"}, {}, "spec.priority"),
    ("both memories", {"resources": {"memory": "1Gi", "hostMemory": "2Gi"}}, {}, "spec.resources.memory"),
    ("GPU memory without GPU", {"resources": {"gpuMemory": "1Gi"}}, {}, "spec.resources.gpuMemory"),
    ("accelerator without GPU", {}, {"hardware": {"accelerator": "cuda"}}, "spec.modelRef"),
    ("memory of a Mac", {}, {"hardware": {"memoryBudget": "1Gi"}}, "spec.modelRef"),
    ("share of a Mac", {}, {"hardware": {"memoryFraction": 0.5}}, "spec.modelRef"),
    ("GPUs switched off", {"nodeSelector": G5}, {"hardware": gpu(1, enabled=False)}, "spec.modelRef"),
    ("pods of several nodes", {"replicas": 2}, {}, "spec.replicas"),
    ("scaled over nodes", {"autoscaling": {"maxReplicas": 2}}, {}, "spec.autoscaling.maxReplicas"),
    (
        "no init to skip",
        {"runtime": "generic", "image": "x/y:1", "skipModelInit": True},
        {"source": "a/b"},
        "spec.skipModelInit",
    ),
]


@pytest.mark.parametrize(("fields", "of_model", "path"), [t[1:] for t in TOLD], ids=[t[0] for t in TOLD])
def test_what_has_no_effect_or_hardly_the_meant_one_is_told(fields: Object, of_model: Object, path: str) -> None:
    assert problem(isvc(**fields), model(**of_model), severity="warning").path == path


def test_an_ordinary_service_is_told_nothing() -> None:
    assert not fleet_of(isvc(**GPUS), model()).problems


# -- models and the fleet


class TestFleet:
    def test_a_missing_model_is_named_with_those_there_are(self) -> None:
        found = problem(isvc(model="m2"), model())
        assert found.path == "spec.modelRef"
        assert "there are m1" in found.reason

    def test_a_model_of_another_namespace_is_not_the_services(self) -> None:
        found = problem(isvc(), model(namespace="other"))
        assert "it is in namespace other" in found.reason

    def test_a_namespace_that_nobody_names_is_that_of_the_environment(self) -> None:
        item = served(isvc(namespace=None), model(namespace="prod"), namespace="prod")
        assert item.namespace == "prod"

    def test_a_model_that_could_not_be_read_is_not_called_missing(self) -> None:
        unread = [Problem("f", 1, "Model", "m1", "spec.source", "is wrong")]
        fleet = render_fleet(load(isvc()), Options(), unread)
        assert fleet.problems == ()
        assert fleet.rendered == ()

    def test_a_native_model_is_no_object(self) -> None:
        assert fleet_of(model()).rendered == ()

    def test_what_services_share_is_made_once_and_first(self) -> None:
        fleet = fleet_of(
            isvc("b"),
            isvc("a", priority="high"),
            isvc("c", namespace="ns2"),
            isvc("d", namespace="ns3", skipModelInit=True, extraArgs=["-hf", "a/b"]),
            model(),
            model(namespace="ns2"),
            model(namespace="ns3", source="a/b"),
        )
        assert not errors(fleet)
        assert shared(fleet) == [
            ("PriorityClass", "", "llmkube-high"),
            ("PriorityClass", "", "llmkube-normal"),
            ("PersistentVolumeClaim", "ns", "llmkube-model-cache"),
            ("PersistentVolumeClaim", "ns2", "llmkube-model-cache"),
        ]
        assert [item.kind for item in fleet.rendered[4:]] == ["InferenceService"] * 4

    def test_the_claim_is_the_operators(self) -> None:
        (item,) = [i for i in fleet_of(isvc(), model()).rendered if i.kind == "PersistentVolumeClaim"]
        kubernetes_validate.validate(item.objects[0], "1.36", strict=True)
        assert item.objects[0] == {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": "llmkube-model-cache",
                "namespace": "ns",
                "labels": {
                    "app.kubernetes.io/name": "llmkube",
                    "app.kubernetes.io/component": "model-cache",
                    "app.kubernetes.io/managed-by": "llmkube-controller",
                },
            },
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "100Gi"}}},
        }

    def test_a_resource_is_found_by_its_source_and_not_what_it_shares(self) -> None:
        resources = load(isvc(), model())
        fleet = render_fleet(resources, Options())
        assert [item.kind for item in fleet.rendered if item.source is resources[0]] == ["InferenceService"]

    def test_what_is_refused_makes_nothing_for_others(self) -> None:
        fleet = fleet_of(isvc("bad", resources={"cpu": "x"}), model())
        assert fleet.rendered == ()

    @pytest.mark.parametrize("other", [isvc("a-b"), isvc("a.b")])
    def test_two_that_would_make_the_same_objects_are_refused(self, other: Object) -> None:
        fleet = fleet_of(isvc("a.b"), other, model())
        (found,) = errors(fleet)
        assert found.path == "metadata.name"

    @pytest.mark.parametrize("name", ["p", "p-lb"])
    def test_a_playground_and_a_service_cannot_make_the_same_objects(self, name: str) -> None:
        documents = [isvc(name, namespace="default"), model(namespace="default"), playground("p"), open_model("m")]
        (found,) = errors(fleet_of(*documents))
        assert found.path == "metadata.name"

    def test_models_of_one_name_in_two_namespaces_are_two(self) -> None:
        assert not errors(fleet_of(model(), model(namespace="other")))
        (found,) = errors(fleet_of(model(), model()))
        assert found.kind == "Model"

    @settings(deadline=None, max_examples=25)
    @given(st.permutations(range(6)))
    def test_the_order_of_documents_does_not_matter(self, order: list[int]) -> None:
        documents = [
            isvc("b", **GPUS),
            isvc("a", priority="low"),
            isvc("c", namespace="ns2", autoscaling={"maxReplicas": 2}),
            model(),
            model(namespace="ns2"),
            model("m2"),
        ]

        def text(listed: list[Object]) -> str:
            fleet = fleet_of(*listed)
            return dump_all(body for item in fleet.rendered for body in item.objects)

        assert text([documents[i] for i in order]) == text(documents)


# -- what the environment says


class TestOptions:
    def test_pods_get_what_the_environment_asks_for(self) -> None:
        overrides = PodOverrides(
            tolerations=({"key": "team", "operator": "Exists"},),
            service_account_name="reader",
            image_pull_secrets=("pull",),
            priority_class_name="shared",
            annotations={"a": "1"},
            labels={"team": "x"},
            node_selector={"pool": "gpu"},
        )
        template = objects(isvc(**GPUS), model(), overrides=overrides)["Deployment"]["spec"]["template"]
        spec = template["spec"]
        assert spec["tolerations"] == [EXISTS, {"key": "team", "operator": "Exists"}]
        assert (spec["serviceAccountName"], spec["imagePullSecrets"]) == ("reader", [{"name": "pull"}])
        assert spec["priorityClassName"] == "shared"
        assert template["metadata"]["annotations"] == {"a": "1"}
        assert template["metadata"]["labels"]["team"] == "x"
        assert spec["nodeSelector"] == {"pool": "gpu", **G5}

    def test_the_services_own_word_wins(self) -> None:
        overrides = PodOverrides(
            image_pull_secrets=("pull",),
            priority_class_name="shared",
            annotations={"a": "1"},
            labels={"team": "x", "app": "y"},
            node_selector={"node.kubernetes.io/instance-type": "g5.xlarge"},
        )
        service = isvc(
            imagePullSecrets=[{"name": "own"}],
            priority="normal",
            podAnnotations={"a": "2"},
            podLabels={"team": "z"},
            **GPUS,
        )
        template = objects(service, model(), overrides=overrides)["Deployment"]["spec"]["template"]
        assert template["spec"]["imagePullSecrets"] == [{"name": "own"}]
        assert template["spec"]["priorityClassName"] == "llmkube-normal"
        assert template["metadata"]["annotations"] == {"a": "2"}
        assert (template["metadata"]["labels"]["team"], template["metadata"]["labels"]["app"]) == ("z", "svc")
        assert template["spec"]["nodeSelector"] == G5

    def test_a_class_of_somebody_else_is_not_made_here(self) -> None:
        assert not [k for k, *_ in shared(fleet_of(isvc(priorityClassName="mine"), model())) if k == "PriorityClass"]
        named = fleet_of(isvc(priorityClassName="llmkube-low"), model())
        assert shared(named)[0] == ("PriorityClass", "", "llmkube-low")

    def test_the_edition_chooses_default_images(self) -> None:
        assert container(isvc(), model(), runtimes="current")["image"].startswith(
            "ghcr.io/ggml-org/llama.cpp:server-b"
        )

    def test_scheduler_and_grace_period(self) -> None:
        spec = pod(isvc(), model(), scheduler_name="mine", grace_seconds=7)
        assert (spec["schedulerName"], spec["terminationGracePeriodSeconds"]) == ("mine", 7)


# -- where clients find it


@pytest.mark.parametrize(
    ("path", "base"),
    [
        (None, "/v1"),
        ("/v1/chat/completions", "/v1"),
        ("/v1/embeddings", "/v1"),
        ("/openai/v1/completions", "/openai/v1"),
        ("/v1/", "/v1"),
        ("/", ""),
        ("", "/v1"),
    ],
)
def test_clients_are_given_the_base_of_the_api(path: str | None, base: str) -> None:
    endpoint = {"port": 80, **({} if path is None else {"path": path})}
    item = served(isvc(endpoint=endpoint, containerPort=8080), model())
    assert item.endpoint is not None
    assert item.endpoint.url == f"http://svc.ns.svc.cluster.local:80{base}"


@pytest.mark.parametrize(
    ("fields", "source", "name"),
    [
        ({}, HTTP, "m1"),
        ({"extraArgs": ["--alias", "chat"]}, HTTP, "chat"),
        ({"runtime": "vllm", "skipModelInit": True}, "org/repo", "org/repo"),
        ({"runtime": "vllm"}, "pvc://c/dir", "/model-source/dir"),
        (
            {"runtime": "vllm", "skipModelInit": True, "extraArgs": ["--served-model-name", "x"]},
            "org/repo",
            "x",
        ),
        ({"runtime": "vllm", "skipModelInit": True, "extraArgs": ["--served-model-name=x"]}, "org/repo", "x"),
        ({"runtime": "tgi"}, "org/repo", "m1"),
        ({"runtime": "generic"}, "org/repo", "m1"),
    ],
)
def test_clients_ask_for_the_name_that_the_server_knows(fields: Object, source: str, name: str) -> None:
    item = served(isvc(image="example.com/x:1", **fields), model(source=source))
    assert item.endpoint is not None
    assert item.endpoint.model == name


def test_replicas_0_is_a_service_at_rest() -> None:
    item = served(isvc(replicas=0), model())
    assert item.replicas == 0
    assert item.pods[0].pods == 0
    assert [body["kind"] for body in item.objects] == ["Deployment", "Service"]
    assert item.objects[0]["spec"]["replicas"] == 0


# -- what is built on the objects


class TestAround:
    def test_its_pods_are_scraped(self) -> None:
        chain = metric_chain(fleet_of(isvc("svc.a"), model()))
        (monitor,) = chain.monitors
        assert monitor["spec"]["selector"]["matchLabels"] == SELECTOR
        (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
        assert (endpoint["port"], endpoint["path"]) == ("http", "/metrics")
        assert chain.needs == {"prometheus"}

    def test_its_pods_are_closed_but_for_their_port(self) -> None:
        (policy,) = network_policies(fleet_of(isvc("svc.a", containerPort=9000), model()), Allowed())
        assert policy["spec"]["podSelector"]["matchLabels"] == SELECTOR
        assert {p["port"] for rule in policy["spec"]["ingress"] for p in rule["ports"]} == {9000}

    def test_it_can_be_hardened(self) -> None:
        hardening = Hardening(pod_security="restricted", disruption_budgets=True, topology_spread=True)
        bodies = harden(served(isvc(replicas=2), model()).objects, hardening)
        assert [body["kind"] for body in bodies] == ["Deployment", "Service", "PodDisruptionBudget"]
        spec = bodies[0]["spec"]["template"]["spec"]
        assert spec["containers"][0]["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["fsGroup"] == 102
        assert spec["topologySpreadConstraints"][0]["labelSelector"] == bodies[0]["spec"]["selector"]

    def test_a_gateway_routes_to_it(self) -> None:
        plan = front_door(
            fleet_of(isvc("svc.a", endpoint={"port": 80}), model()), FrontDoor(expose="gateway", internal=True)
        )
        (backend,) = [body for body in plan.objects if body["kind"] == "Backend"]
        assert backend["spec"]["endpoints"] == [{"fqdn": {"hostname": "svc-a.ns.svc.cluster.local", "port": 80}}]
        (route,) = [body for body in plan.objects if body["kind"] == "AIGatewayRoute"]
        assert route["spec"]["rules"][0]["matches"][0]["headers"][0]["value"] == "m1"

    def test_a_load_balancer_of_its_own_leads_to_the_same_pods(self) -> None:
        fleet = fleet_of(isvc("svc", containerPort=9000), model())
        (body,) = front_door(fleet, FrontDoor(expose="load-balancer", internal=True)).objects
        assert body["spec"]["selector"] == {"app": "svc", "inference.llmkube.dev/service": "svc"}
        assert body["spec"]["ports"][0]["targetPort"] == 9000

    def test_a_gateway_cannot_route_speech(self) -> None:
        service = isvc(runtime="personaplex", image="example.com/moshi:1")
        plan = front_door(fleet_of(service, model(source="org/repo")), FrontDoor(expose="gateway", internal=True))
        assert any("moshi" in found.reason for found in plan.problems)
        assert plan.objects == ()

    def test_its_autoscaler_needs_an_adapter(self) -> None:
        fleet = fleet_of(isvc(autoscaling={"maxReplicas": 1}), model())
        listed = prerequisites(fleet, (), ClusterFacts())
        assert "prometheus-adapter" in [each.chart.name for each in listed]


# -- the operator


class TestOperator:
    def rendered(self, *documents: Object, **options: Any) -> Fleet:
        return fleet_of(*documents, realization="operator", **options)

    def test_the_resources_are_handed_over_as_they_are_written(self) -> None:
        service, weights = isvc("svc.a", replicas=2, **GPUS, tolerations=[EXISTS]), model()
        service["spec"]["image"] = "example.com/x:1"
        fleet = self.rendered(service, weights)
        assert not fleet.problems or {p.severity for p in fleet.problems} == {"warning"}
        assert [body for item in fleet.rendered for body in item.objects] == [weights, service]
        assert [item.needs for item in fleet.rendered] == [{"llmkube"}, {"llmkube"}]
        item = fleet.rendered[1]
        assert item.endpoint is not None
        assert item.endpoint.service == "svc-a"
        assert item.pods[0].requests["nvidia.com/gpu"] == 2
        assert shared(fleet) == []

    @pytest.mark.parametrize(
        ("fields", "of_model", "path"),
        [
            ({"containerPort": 9000}, {}, "spec.endpoint.port"),
            ({"runtime": "vllm", "image": "x/y:1", "skipModelInit": True}, {"source": "a/b"}, "spec.endpoint.port"),
            ({"image": "x/y:1"}, {"hardware": gpu(1, "rocm")}, "spec.modelRef"),
            ({"image": "x/y:1", **GPUS}, {}, "spec.tolerations"),
            (
                {
                    "image": "x/y:1",
                    **GPUS,
                    "tolerations": [{"key": "nvidia.com/gpu", "operator": "Equal", "value": "present"}],
                },
                {},
                "spec.tolerations",
            ),
            (
                {
                    "runtime": "tgi",
                    "image": "x/y:1",
                    "endpoint": {"port": 8080},
                    "autoscaling": {"maxReplicas": 1},
                },
                {"source": "a/b"},
                "spec.autoscaling.metrics",
            ),
        ],
    )
    def test_what_the_operator_breaks_is_refused(self, fields: Object, of_model: Object, path: str) -> None:
        (found,) = errors(self.rendered(isvc(**fields), model(**of_model)))
        assert found.path == path

    @pytest.mark.parametrize(
        ("fields", "path"),
        [
            ({"nodeSelector": {"a": "b"}}, "spec.nodeSelector"),
            ({"tolerations": [{"operator": "Exists"}]}, "spec.tolerations"),
            ({**GPUS, "tolerations": [EXISTS]}, "spec.image"),
        ],
    )
    def test_what_it_drops_is_told(self, fields: Object, path: str) -> None:
        (found,) = warnings(self.rendered(isvc(**fields), model()))
        assert found.path == path

    @pytest.mark.parametrize(
        "option",
        [{"cache": ModelCache(claim="c")}, {"grace_seconds": 5}, {"runtimes": "current"}, {"scheduler_name": "x"}],
    )
    def test_options_that_it_cannot_be_told_are_refused(self, option: Object) -> None:
        (found,) = errors(self.rendered(isvc(), model(), **option))
        assert next(iter(option)) in found.reason

    def test_services_of_one_service_name_clash_there_too(self) -> None:
        (found,) = errors(self.rendered(isvc("a.b"), isvc("a-b"), model()))
        assert found.path == "metadata.name"


# -- any documents


def pairs() -> st.SearchStrategy[tuple[Object, Object]]:
    """A service and the Model that it serves."""

    def together(drawn: tuple[Object, Object]) -> tuple[Object, Object]:
        service, weights = drawn
        weights["metadata"]["name"] = service["spec"]["modelRef"]
        return service, weights

    return st.tuples(llmkube_documents.inference_services(), llmkube_documents.models()).map(together)


@settings(max_examples=1500, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(pairs(), st.sampled_from(["native", "operator"]), st.sampled_from([None, ModelCache(claim="c")]))
def test_any_document_is_rendered_or_refused_with_a_path(
    pair: tuple[Object, Object], realization: str, cache: ModelCache | None
) -> None:
    fleet = fleet_of(*pair, realization=realization, cache=cache)
    rendered = [item for item in fleet.rendered if item.kind == "InferenceService"]
    assert bool(rendered) is not bool(errors(fleet))
    for found in fleet.problems:
        assert found.path or "option" in found.reason
        assert found.reason
    for item in rendered:
        assert node_groups(fleet) is not None
        for body in item.objects:
            if body["apiVersion"] != API:
                kubernetes_validate.validate(body, "1.36", strict=True)
