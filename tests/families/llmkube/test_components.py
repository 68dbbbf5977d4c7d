"""LLMKube's components in a program of anybody's: exact graphs, outputs, arguments that are refused."""

from collections.abc import Callable
from typing import Any

import pulumi
import pulumi_kubernetes
import pytest
from pulumi.runtime import mocks

from components.families.llmkube.types.inference_service import InferenceServiceSpec, ModelSpec
from components.resources.llmkube import InferenceService, InferenceServiceArgs, Model, ModelArgs
from components.resources.serving.arguments import InvalidArguments
from tests.recorded import Echo, deploy

PROVIDER = "pulumi:providers:kubernetes::cluster"
PARENT = "inference-platform:index:InferenceService::chat"
SOURCE = "https://example.com/m.gguf"
COMMON = {"name", "namespace", "realization", "release"}


def program(source: str = SOURCE, realization: str = "native", **args: Any) -> Callable[[], None]:
    def run() -> None:
        provider = pulumi_kubernetes.Provider("cluster", kubeconfig="k")
        options = pulumi.ResourceOptions(providers=[provider])
        model = Model("m1", {"source": source, "realization": realization}, options)
        given: Any = {"model": model.manifest, "realization": realization, **args}
        made = InferenceService("chat", given, options)
        for name in ("endpoint", "model", "workload_name", "namespace"):
            pulumi.export(name, getattr(made, name))

    return run


def test_every_field_of_the_contract_is_an_argument() -> None:
    own = {"service_account_name", "cache_claim", "cache_host_path", "shared", "model", "draft_model", "autoscaled"}
    own |= {"wait_until_ready", "ready_timeout", "instance_types"}
    fields = set(InferenceServiceSpec.model_fields) - {"model_ref"}
    assert set(InferenceServiceArgs.__annotations__) == fields | COMMON | own
    assert set(ModelArgs.__annotations__) == set(ModelSpec.model_fields) | COMMON


@pytest.mark.parametrize("preview", [False, True])
def test_a_service_comes_after_what_it_shares(preview: bool) -> None:
    shared = (
        "kubernetes:core/v1:PersistentVolumeClaim::chat-persistentvolumeclaim",
        "kubernetes:scheduling.k8s.io/v1:PriorityClass::chat-priorityclass",
    )
    recorded = deploy(program(), preview=preview)
    assert [(e.key, e.parent, e.provider, e.dependencies) for e in recorded.graph] == [
        (PARENT, "", "", ()),
        ("inference-platform:index:Model::m1", "", "", ()),
        ("kubernetes:apps/v1:Deployment::chat", PARENT, PROVIDER, shared),
        (shared[0], PARENT, PROVIDER, ()),
        ("kubernetes:core/v1:Service::chat-lb", PARENT, PROVIDER, ()),
        (shared[1], PARENT, PROVIDER, ()),
        (PROVIDER, "", "", ()),
    ]


def test_what_is_shared_can_be_made_elsewhere() -> None:
    kinds = {e.inputs["kind"] for e in deploy(program(shared=False)).graph if "kind" in e.inputs}
    assert kinds == {"Deployment", "Service"}


def test_outputs_say_where_the_model_answers() -> None:
    assert deploy(program(name="talk", endpoint={"port": 8000})).exports == {
        "endpoint": "http://talk.default.svc.cluster.local:8000/v1",
        "model": "m1",
        "workload_name": "talk",
        "namespace": "default",
    }


class Balanced(Echo):
    """A cloud that gives load balancers an address."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        id_, outputs = super().new_resource(args)
        if args.typ == "kubernetes:core/v1:Service":
            outputs = {**outputs, "status": {"loadBalancer": {"ingress": [{"ip": "10.0.0.7"}]}}}
        return id_, outputs


@pytest.mark.parametrize(
    ("kind", "url"),
    [
        ("LoadBalancer", "http://10.0.0.7:8080/v1"),
        ("NodePort", "http://chat.default.svc.cluster.local:8080/v1"),
        ("ClusterIP", "http://chat.default.svc.cluster.local:8080/v1"),
    ],
)
def test_a_load_balancer_has_the_endpoint(kind: str, url: str) -> None:
    assert deploy(program(endpoint={"type": kind}), mock=Balanced()).exports["endpoint"] == url


def test_without_an_address_the_endpoint_is_inside() -> None:
    exports = deploy(program(endpoint={"type": "LoadBalancer"})).exports
    assert exports["endpoint"] == "http://chat.default.svc.cluster.local:8080/v1"


def test_an_autoscaler_owns_the_replicas() -> None:
    metric = {"type": "Pods", "name": "llamacpp:requests_processing", "target_average_value": "2"}
    recorded = deploy(program(autoscaling={"min_replicas": 1, "max_replicas": 3.0, "metrics": [metric]}))
    assert recorded["chat-hpa"].dependencies == ("kubernetes:apps/v1:Deployment::chat",)
    assert "replicas" not in recorded["kubernetes:apps/v1:Deployment::chat"].inputs["spec"]


def test_a_draft_model_is_found() -> None:
    def run() -> None:
        draft = Model("draft", {"source": "org/small", "format": "safetensors"})
        main = Model("main", {"source": "org/large", "format": "safetensors"})
        InferenceService(
            "chat",
            {
                "model": main.manifest,
                "draft_model": draft.manifest,
                "runtime": "vllm",
                "skip_model_init": True,
                "resources": {"gpu": 1},
                "node_selector": {"node.kubernetes.io/instance-type": "g6.2xlarge"},
                "vllm_config": {"speculative": {"enabled": True, "model": "draft"}},
            },
        )

    pod = deploy(run)["kubernetes:apps/v1:Deployment::chat"].inputs["spec"]["template"]["spec"]
    args = pod["containers"][0]["args"]
    assert '"model": "org/small"' in args[args.index("--speculative-config") + 1]


def test_the_operator_gets_typed_resources() -> None:
    recorded = deploy(program(realization="operator", endpoint={"port": 8080}))
    group = "kubernetes:inference.llmkube.dev/v1alpha1"
    assert recorded[f"{group}:InferenceService::chat"].inputs["spec"]["modelRef"] == "m1"
    assert recorded[f"{group}:Model::m1"].inputs["spec"] == {"source": SOURCE}
    assert not recorded.of("kubernetes:apps/v1:Deployment")


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"replicas": 11}, "spec.replicas"),
        ({"runtime": "triton"}, "spec.runtime"),
        ({"model": "m1"}, "pass Model(...).manifest"),
        ({"model": None}, "must be the manifest of a Model, found nothing"),
        ({"draft_model": {}}, "draft_model: must be the manifest of a Model"),
        ({"autoscaling": {"min_replicas": 3, "max_replicas": 2}}, "spec.autoscaling"),
        ({"cache_type_k": "q9"}, "spec.cacheTypeK"),
        ({"realization": "helm"}, "chat: realization: must be 'native' or 'operator'"),
    ],
)
def test_bad_arguments_are_named(args: dict[str, Any], expected: str) -> None:
    def run() -> None:
        provider = pulumi_kubernetes.Provider("cluster", kubeconfig="k")
        options = pulumi.ResourceOptions(providers=[provider])
        given: Any = {"model": Model("m1", {"source": SOURCE}, options).manifest, **args}
        InferenceService("chat", given, options)

    with pytest.raises(InvalidArguments) as caught:
        deploy(run)
    assert expected in str(caught.value)
    assert caught.value.errors


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({}, "source"),
        ({"source": SOURCE, "format": "onnx"}, "spec.format"),
        ({"source": SOURCE, "sha256": "x"}, "sha256"),
    ],
)
def test_bad_models_are_named(args: dict[str, Any], expected: str) -> None:
    with pytest.raises(InvalidArguments, match=expected):
        deploy(lambda: _declare(args))


def _declare(args: Any) -> None:
    Model("m1", args)
