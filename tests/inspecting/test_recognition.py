"""What serves models, each once and under its owner."""

from typing import Any

import pytest

from components.fleet.objects import Object
from tests.inspecting.objects import an_object, container, deployment, group, live, pod, pod_template
from workbench.inspecting.formats import engines
from workbench.inspecting.inspection import inspect
from workbench.inspecting.recognition import ManagedBy, owner_of, serving_resources
from workbench.inspecting.snapshot import ClusterSnapshot

IDLE = container(name="idle", image="nginx:1.29", args=[])
PLAYGROUND = an_object("inference.llmaz.io/v1alpha1", "Playground", "chat", modelClaim={"modelName": "qwen"})
BOOSTER = an_object("workload.serving.volcano.sh/v1alpha1", "ModelBooster", "boosted")
SERVING = an_object("workload.serving.volcano.sh/v1alpha1", "ModelServing", "served")
LLMKUBE = an_object("inference.llmkube.dev/v1alpha1", "InferenceService", "local", modelRef="m")
KSERVE = an_object(
    "serving.kserve.io/v1beta1", "InferenceService", "predict", predictor={"model": {"storageUri": "u"}}
)
LLM = an_object(
    "serving.kserve.io/v1alpha1", "LLMInferenceService", "llm", template={"containers": [{"name": "main"}]}
)


def titles(*objects: Object) -> list[str]:
    found = serving_resources(ClusterSnapshot(objects))
    return [f"{each.identity[1]}/{each.identity[3]}" for each in found if each.is_known]


@pytest.mark.parametrize(
    "body",
    [
        deployment("a"),
        deployment("a", kind="StatefulSet", serviceName="a"),
        group("a"),
        deployment("a", IDLE, container()),
        PLAYGROUND,
        BOOSTER,
        SERVING,
        LLMKUBE,
        KSERVE,
        LLM,
        an_object("inference.llmaz.io/v1alpha1", "Service", "llmaz-service"),
        an_object("ray.io/v1", "RayCluster", "r", headGroupSpec={"template": pod_template("r")}),
    ],
    ids=lambda body: f"{body['kind']}-{body['apiVersion'].partition('/')[0]}",
)
def test_what_serves_is_found(body: Object) -> None:
    assert titles(live(body)) == [f"{body['kind']}/{body['metadata']['name']}"]


@pytest.mark.parametrize(
    "body",
    [
        deployment("a", IDLE),
        group("a", IDLE),
        deployment("a", kind="StatefulSet") | {"spec": {}},
        an_object("v1", "Service", "a", selector={}),
        an_object("llmaz.io/v1alpha1", "OpenModel", "a", ""),
        an_object("inference.llmkube.dev/v1alpha1", "Model", "a"),
        an_object("llmd.ai/v1alpha1", "VariantAutoscaling", "a"),
        an_object("networking.serving.volcano.sh/v1alpha1", "ModelRoute", "a"),
        an_object("serving.kserve.io/v1alpha1", "ServingRuntime", "a", containers=[container()]),
        an_object("example.com/v1", "Deployment", "a", template=pod_template("a")),
        an_object("example.com/v1", "InferenceService", "a"),
        an_object("ray.io/v1", "RayCluster", "r", headGroupSpec={"template": pod_template("r", IDLE)}),
        an_object("ray.io/v1", "RayCluster", "r", headGroupSpec={"template": "any"}),
    ],
    ids=lambda body: f"{body['kind']}-{body['apiVersion'].partition('/')[0]}",
)
def test_other_objects_are_not(body: Object) -> None:
    assert titles(live(body)) == []


def test_engine_in_an_init_container_does_not_serve() -> None:
    body = deployment("a", IDLE)
    body["spec"]["template"]["spec"]["initContainers"] = [container()]
    assert titles(body) == []


@pytest.mark.parametrize("top", [PLAYGROUND, SERVING, LLMKUBE, KSERVE, LLM, an_object("x.io/v1", "Other", "o")])
def test_what_is_owned_is_shown_under_its_owner(top: Object) -> None:
    owner = live(top)
    child = live(deployment("child"), owner)
    (found,) = serving_resources(ClusterSnapshot((owner, child)))
    if top["kind"] == "Other":
        assert found.identity[3] == "child"
        assert found.owner.text.startswith("Other/o")
    else:
        assert found.identity[3] == top["metadata"]["name"]
        assert [body["metadata"]["name"] for body in found.workloads] == ["child"]


def test_a_chain_of_owners_ends_at_the_top() -> None:
    top = live(BOOSTER)
    middle = live(SERVING, top)
    below = pod(middle, "p", "n")
    (found,) = serving_resources(ClusterSnapshot((below, middle, top)))
    assert (found.identity[1], [each["metadata"]["name"] for each in found.pods]) == ("ModelBooster", ["p"])


def test_pods_of_a_deployment_are_not_models() -> None:
    body = live(deployment("a"))
    between = live(an_object("apps/v1", "ReplicaSet", "a-1"), body)
    assert titles(body, between, pod(between, "a-1-x", "n")) == ["Deployment/a"]


def test_pods_of_a_group_are_not_models() -> None:
    body = live(group("a"))
    leaders = live(deployment("a", kind="StatefulSet"), body)
    leader = pod(leaders, "a-0", "n")
    workers = live(deployment("a-0", kind="StatefulSet"), leader)
    (found,) = serving_resources(ClusterSnapshot((body, leaders, leader, workers, pod(workers, "a-0-1", "n"))))
    assert (found.identity[1], len(found.workloads), len(found.pods)) == ("LeaderWorkerSet", 1, 2)


def test_pods_of_unread_kinds_are_one_model() -> None:
    """A DaemonSet is not read: its pods are, and are shown together."""
    owner = live(an_object("apps/v1", "DaemonSet", "everywhere"))
    pods = [pod(owner, f"everywhere-{number}", f"n{number}") for number in range(3)]
    (found,) = serving_resources(ClusterSnapshot(tuple(pods)))
    assert (found.identity[1:], len(found.pods), found.is_read) == (("DaemonSet", "models", "everywhere"), 3, False)


def test_what_only_holds_accelerators_is_listed_as_not_known() -> None:
    lone = live(an_object("v1", "Pod", "idle", containers=[IDLE]))
    over = live(an_object("v1", "Pod", "over", containers=[IDLE]), phase="Succeeded")
    web = live(deployment("web", container(image="nginx:1.29", args=[], resources={})))
    job = live(an_object("batch/v1", "Job", "train", template=pod_template("train", IDLE)))
    found = serving_resources(ClusterSnapshot((lone, over, web, job, live(deployment("a", IDLE)))))
    assert [(each.identity[1], each.is_known) for each in found] == [
        ("Deployment", False),
        ("Job", False),
        ("Pod", False),
    ]


def test_pods_without_an_owner_are_models() -> None:
    lone = live(an_object("v1", "Pod", "lone", containers=[container()]))
    idle = live(an_object("v1", "Pod", "idle", containers=[IDLE]))
    assert titles(lone, idle) == ["Pod/lone"]


def test_knative_between_kserve_and_its_deployment() -> None:
    """Knative's kinds are not read, so that the chain of owners is broken; the label of KServe is not."""
    top = live(KSERVE)
    revision = live(an_object("serving.knative.dev/v1", "Revision", "predict-predictor-00001"))
    child = deployment("predict-predictor-00001-deployment")
    child["metadata"]["labels"] = {"serving.kserve.io/inferenceservice": "predict"}
    (found,) = serving_resources(ClusterSnapshot((top, live(child, revision))))
    assert (found.identity[1], len(found.workloads)) == ("InferenceService", 1)


def test_two_kinds_of_one_name_are_two_models() -> None:
    assert titles(deployment("a"), deployment("a", kind="StatefulSet")) == ["Deployment/a", "StatefulSet/a"]


OWNERS: list[tuple[Any, Any, ManagedBy]] = [
    ({}, {"meta.helm.sh/release-name": "chat"}, ManagedBy("helm", "chat")),
    (
        {"app.kubernetes.io/managed-by": "Helm", "helm.sh/chart": "own-1.2.0"},
        {"meta.helm.sh/release-name": "chat"},
        ManagedBy("helm", "chat", "own-1.2.0"),
    ),
    ({"app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/instance": "chat"}, {}, ManagedBy("helm", "chat")),
    # vllm-project/production-stack, helm/templates/deployment-vllm-multi.yaml
    (
        {"helm-release-name": "vllm", "model": "opt", "app.kubernetes.io/managed-by": "Helm"},
        {"meta.helm.sh/release-name": "vllm"},
        ManagedBy("helm", "vllm", "vLLM production stack"),
    ),
    # llm-d-incubation/llm-d-modelservice, charts/llm-d-modelservice/templates/decode-deployment.yaml
    (
        {
            "llm-d.ai/role": "decode",
            "app.kubernetes.io/managed-by": "Helm",
            "helm.sh/chart": "llm-d-modelservice-v0.2",
        },
        {"meta.helm.sh/release-name": "ms"},
        ManagedBy("helm", "ms", "llm-d"),
    ),
    ({"app.kubernetes.io/managed-by": "kustomize"}, {}, ManagedBy("hand", "kubectl")),
    ({}, {}, ManagedBy("hand", "kubectl")),
]


@pytest.mark.parametrize(("labels", "annotations", "expected"), OWNERS)
def test_owners(labels: dict[str, str], annotations: dict[str, str], expected: ManagedBy) -> None:
    body = live(deployment("a"))
    body["metadata"] |= {"labels": labels, "annotations": annotations}
    assert owner_of(body) == expected


def test_the_writer_is_the_last_one_of_the_spec() -> None:
    body = live(deployment("a"))
    body["metadata"]["managedFields"] = [
        {"manager": "kubectl", "time": "2026-11-01T10:00:00Z", "fieldsV1": {"f:spec": {}}},
        {"manager": "argocd", "time": "2026-11-02T10:00:00Z", "fieldsV1": {"f:spec": {}}},
        {"manager": "scaler", "time": "2026-11-03T10:00:00Z", "subresource": "scale", "fieldsV1": {"f:spec": {}}},
        {"manager": "kube-controller-manager", "time": "2026-11-04T10:00:00Z", "fieldsV1": {"f:metadata": {}}},
    ]
    assert owner_of(body).text == "written by Argo CD"


def test_files_do_not_tell_who_wrote_an_object() -> None:
    assert owner_of(deployment("a")).text == "unknown"
    assert owner_of(PLAYGROUND, "llmaz").text == "llmaz operator"
    assert owner_of(live(PLAYGROUND), "llmaz").text == "llmaz operator (by hand (kubectl))"


def labelled(runtime: str, *containers: Object) -> Object:
    body = deployment("a", *containers)
    body["spec"]["template"]["metadata"]["labels"]["inference.llmkube.dev/runtime"] = runtime
    return body


PRIVATE = "registry.example.com/team/server:7"


@pytest.mark.parametrize(
    ("runtime", "name", "engine"),
    [
        ("vllm", "vllm", "vllm"),
        ("llamacpp", "llama-server", "llamacpp"),
        ("llamacpp-router", "llama-server", "llamacpp"),
        ("tgi", "tgi", "tgi"),
        ("sglang", "sglang", "sglang"),
    ],
)
def test_the_label_tells_the_engine_of_a_private_image(runtime: str, name: str, engine: str) -> None:
    body = labelled(runtime, IDLE, container(name=name, image=PRIVATE, args=["--port", "8000"]))
    assert titles(live(body)) == ["Deployment/a"]
    (model,) = inspect(ClusterSnapshot((live(body),))).models
    assert [part.engine for part in model.parts] == [engine]
    assert not any("no known engine" in reason for reason in model.unchecked)


@pytest.mark.parametrize(
    "body",
    [
        labelled("generic", container(name="inference-server", image=PRIVATE, args=[])),
        labelled("other", container(name="vllm", image=PRIVATE, args=[])),
        labelled("vllm", container(name="sidecar", image=PRIVATE, args=[])),
        labelled("vllm", container(name="vllm", image=PRIVATE, command=["sleep", "infinity"], args=[])),
        deployment("a", container(name="vllm", image=PRIVATE, args=[])),
    ],
)
def test_the_label_of_another_server_or_container_tells_nothing(body: Object) -> None:
    assert titles(live(body)) == []


def test_an_image_tells_more_than_the_label() -> None:
    body = labelled("tgi", container(name="tgi", image="vllm/vllm-openai:v0.9.0"))
    (model,) = inspect(ClusterSnapshot((live(body),))).models
    assert [part.engine for part in model.parts] == ["vllm"]


RUNTIME = an_object(
    "production-stack.vllm.ai/v1alpha1",
    "VLLMRuntime",
    "sample",
    model={"modelURL": "meta-llama/Llama-3.1-8B"},
    deploymentConfig={
        "replicas": 2,
        "resources": {"gpu": "1"},
        "image": {"name": "lmcache/vllm-openai:2025-05-27-v1"},
    },
)
OME = an_object(
    "ome.io/v1beta1",
    "InferenceService",
    "ome",
    model={"name": "llama-3-3-70b"},
    engine={
        "minReplicas": 1,
        "runner": {
            "name": "ome-container",
            "image": "lmsysorg/sglang:v0.4.6",
            "resources": {"limits": {"nvidia.com/gpu": 4}},
        },
    },
)
OLLAMA = an_object("ollama.ayaka.io/v1", "Model", "phi", image="phi", replicas=1)


@pytest.mark.parametrize(
    ("body", "engine", "model", "accelerators"),
    [
        (RUNTIME, "vllm", "meta-llama/Llama-3.1-8B", 2),
        (OME, "sglang", "llama-3-3-70b", 4),
        (OLLAMA, "ollama", "phi", 0),
    ],
)
def test_resources_of_further_operators(body: Object, engine: str, model: str, accelerators: int) -> None:
    (found,) = inspect(ClusterSnapshot((body,))).models
    assert (engines(found).split()[0], found.models, found.accelerators) == (engine, (model,), accelerators)


def runtime(name: str, priority: int, image: str = "kserve/huggingfaceserver:v0.15.0", **supported: Any) -> Object:
    formats = [{"name": "huggingface", "autoSelect": True, "priority": priority, **supported}]
    server = {"name": "kserve-container", "image": image, "args": ["--model_name={{.Name}}"]}
    body = an_object("serving.kserve.io/v1alpha1", "ClusterServingRuntime", name, "", containers=[server])
    return {**body, "spec": {**body["spec"], "supportedModelFormats": formats}}


def test_an_inference_service_without_a_runtime_gets_the_one_that_kserve_selects() -> None:
    predictor = {"model": {"modelFormat": {"name": "huggingface"}, "args": ["--model_id=a/b"]}}
    service = an_object("serving.kserve.io/v1beta1", "InferenceService", "llama", predictor=predictor)
    others = (runtime("low", 1, "x/low:1"), runtime("high", 2), runtime("manual", 3, "x/manual:1", autoSelect=False))
    (found,) = inspect(ClusterSnapshot((service, *others))).models
    assert [part.image for part in found.parts] == ["kserve/huggingfaceserver:v0.15.0"]
    assert found.models == ("llama",)
    (alone,) = inspect(ClusterSnapshot((service,))).models
    assert alone.models == ("a/b",)
