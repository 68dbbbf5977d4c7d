"""The serving components in a program of anybody's: exact graphs, outputs, and arguments that are refused."""

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pulumi
import pulumi_kubernetes
import pytest

from components.families import parse
from components.fleet.autoscalers import Autoscaler
from components.fleet.objects import HPA, new_object
from components.fleet.options import Options
from components.plan.rendering import render_fleet
from components.resources.llmaz import BackendRuntime, OpenModel, Playground, Service
from components.resources.serving.arguments import InvalidArguments
from tests.families.program import registered
from tests.recorded import Recorded, deploy
from tests.toy.components import Pair
from tests.toy.family import FAMILY

PROVIDER = "pulumi:providers:kubernetes::cluster"
FLAVORS = [{"name": "a10g", "limits": {"nvidia.com/gpu": 1}, "params": {"INSTANCE-TYPE": "g5.2xlarge"}}]
MODEL: Mapping[str, Any] = {"family_name": "opt", "model_id": "facebook/opt-125m", "flavors": FLAVORS}
PODS = {
    "spec": {"containers": [{"name": "model-runner", "image": "vllm/vllm-openai:v0.7.3", "args": ["--port", "9000"]}]}
}


def program(kind: type[Any], model_args: Mapping[str, Any] = MODEL, **args: Any) -> Any:
    def run() -> None:
        provider = pulumi_kubernetes.Provider("cluster", kubeconfig="k")
        options = pulumi.ResourceOptions(providers=[provider])
        model = OpenModel("opt", {**model_args}, options)  # type: ignore[typeddict-item]
        made = kind("chat", {"model": model.manifest, **args}, options)
        for name in ("endpoint", "model", "workload_name", "namespace"):
            pulumi.export(name, getattr(made, name))

    return run


def graph(recorded: Recorded) -> list[tuple[str, str, str, tuple[str, ...]]]:
    return [(e.key, e.parent, e.provider, e.dependencies) for e in recorded.graph]


@pytest.mark.parametrize("preview", [False, True])
def test_a_playground_is_a_workload_and_a_service(preview: bool) -> None:
    parent = "inference-platform:index:Playground::chat"
    assert graph(deploy(program(Playground), preview=preview)) == [
        ("inference-platform:index:OpenModel::opt", "", "", ()),
        (parent, "", "", ()),
        ("kubernetes:apps/v1:Deployment::chat", parent, PROVIDER, ()),
        ("kubernetes:core/v1:Service::chat-lb", parent, PROVIDER, ()),
        (PROVIDER, "", "", ()),
    ]


def test_bounds_add_an_autoscaler_after_the_workload() -> None:
    metric = {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "average_utilization": 50.0}},
    }
    recorded = deploy(program(Playground, min_replicas=1, max_replicas=3, metrics=[metric]))
    scaler = recorded["chat-hpa"]
    assert scaler.dependencies == ("kubernetes:apps/v1:Deployment::chat",)
    assert scaler.inputs["spec"]["scaleTargetRef"]["name"] == "chat"
    assert "replicas" not in recorded["kubernetes:apps/v1:Deployment::chat"].inputs["spec"]


@pytest.mark.parametrize("preview", [False, True])
def test_a_service_over_several_pods_is_a_leader_worker_set(preview: bool) -> None:
    recorded = deploy(program(Service, worker_template=PODS, leader_template=PODS, size=2), preview=preview)
    parent = "inference-platform:index:Service::chat"
    assert graph(recorded)[1:4] == [
        (parent, "", "", ()),
        ("kubernetes:core/v1:Service::chat-lb", parent, PROVIDER, ()),
        ("kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet::chat", parent, PROVIDER, ()),
    ]


def test_outputs_say_where_the_model_answers() -> None:
    assert deploy(program(Playground, namespace="team", name="talk")).exports == {
        "endpoint": "http://talk-lb.team.svc.cluster.local:8080/v1",
        "model": "opt",
        "workload_name": "talk",
        "namespace": "team",
    }


def test_the_operator_gets_typed_resources() -> None:
    anywhere = {name: value for name, value in MODEL.items() if name != "flavors"}
    recorded = deploy(program(Playground, anywhere, realization="operator"))
    assert recorded["kubernetes:inference.llmaz.io/v1alpha1:Playground::chat"].inputs["spec"] == {
        "modelClaim": {"modelName": "opt"},
        "replicas": 1,
    }


def test_models_and_runtimes_are_objects_for_the_operator_alone() -> None:
    def run(realization: str) -> Recorded:
        def body() -> None:
            OpenModel("opt", {**MODEL, "realization": realization})  # type: ignore[typeddict-item]
            config = {"name": "default", "args": ["{{ .ModelPath }}"]}
            runtime = {"image": "i", "version": "1", "recommended_configs": [config], "realization": realization}
            BackendRuntime("own", runtime)  # type: ignore[arg-type]

        return deploy(body)

    assert [e.type for e in run("native").graph] == [
        "inference-platform:index:BackendRuntime",
        "inference-platform:index:OpenModel",
    ]
    assert {e.parent for e in run("operator").graph if e.type.startswith("kubernetes:")} == {
        "inference-platform:index:BackendRuntime::own",
        "inference-platform:index:OpenModel::opt",
    }


def test_pod_level_arguments_reach_the_pods() -> None:
    recorded = deploy(
        program(
            Playground,
            tolerations=[{"key": "team", "operator": "Exists"}],
            service_account_name="inference",
            image_pull_secrets=["registry"],
            priority_class_name="high",
            pod_annotations={"a": "b"},
            cache_claim="weights",
        )
    )
    template = recorded["kubernetes:apps/v1:Deployment::chat"].inputs["spec"]["template"]
    spec = template["spec"]
    assert {"key": "team", "operator": "Exists"} in spec["tolerations"]
    assert (spec["serviceAccountName"], spec["priorityClassName"]) == ("inference", "high")
    assert spec["imagePullSecrets"] == [{"name": "registry"}]
    assert template["metadata"]["annotations"]["a"] == "b"
    assert any(v.get("persistentVolumeClaim") == {"claimName": "weights"} for v in spec["volumes"])


def test_numbers_of_remote_callers_arrive_as_floats() -> None:
    recorded = deploy(program(Playground, replicas=3.0))
    replicas = recorded["kubernetes:apps/v1:Deployment::chat"].inputs["spec"]["replicas"]
    assert (replicas, type(replicas)) == (3, int)


def test_options_of_the_caller_stay_with_the_component() -> None:
    def run() -> None:
        provider = pulumi_kubernetes.Provider("cluster", kubeconfig="k")
        options = pulumi.ResourceOptions(
            providers=[provider],
            aliases=[pulumi.Alias(name="before")],
            ignore_changes=["spec"],
            retain_on_delete=True,
        )
        model = OpenModel("opt", {**MODEL})  # type: ignore[typeddict-item]
        Playground("chat", {"model": model.manifest}, options)

    for entry in deploy(run).graph:
        if entry.parent:
            assert not entry.registration.ignore_changes
            assert not entry.registration.retain_on_delete


@pytest.mark.parametrize(
    ("kind", "args", "expected"),
    [
        (Playground, {"replicas": -1}, "spec.replicas"),
        (Playground, {"min_replicas": 0, "max_replicas": 2}, "spec.elasticConfig.minReplicas"),
        (Playground, {"max_replicas": 2}, "scaleTrigger"),
        (Playground, {"backend_name": "vlm"}, "spec.backendRuntimeConfig.backendName"),
        (Playground, {"limits": {"cpu": "1 core"}}, "quantity"),
        (Playground, {"inference_flavors": ["h100"]}, "no flavor"),
        (
            Playground,
            {"workload": "statefulset"},
            "chat: workload: must be 'auto', 'lws' or 'deployment', found 'statefulset'",
        ),
        (
            Playground,
            {"realization": "helm"},
            "chat: realization: must be 'native' or 'operator', found 'helm'",
        ),
        (
            Playground,
            {"cache_claim": "a", "cache_host_path": "/b"},
            "chat: cache_claim: must be either a claim or a hostPath",
        ),
        (Playground, {"replica": 2}, "chat: replica: unknown argument; did you mean 'replicas'?"),
        (Playground, {"metrics": [{"pod": {}}]}, "chat: metrics[0].pod: unknown argument; did you mean 'pods'?"),
        (Playground, {"tolerations": "all"}, "chat: tolerations: must be a list"),
        (Playground, {"model": "opt"}, "pass OpenModel(...).manifest"),
        (Playground, {"draft_model": {"metadata": {}}}, "draft_model"),
        (Service, {}, "workloadTemplate"),
        (Service, {"worker_template": {"spec": {"containers": [{"name": "other"}]}}}, "model-runner"),
        (Service, {"worker_template": PODS, "size": 0}, "size"),
    ],
)
def test_bad_arguments_are_named_before_anything_is_registered(
    kind: type[Any], args: dict[str, Any], expected: str
) -> None:
    with pytest.raises(InvalidArguments) as caught:
        deploy(program(kind, **args))
    assert expected in str(caught.value)
    assert caught.value.errors


def test_an_output_cannot_decide_what_is_created() -> None:
    def run() -> None:
        later: Any = pulumi.Output.from_input("a")
        model = OpenModel("opt", {**MODEL})  # type: ignore[typeddict-item]
        Playground("chat", {"model": model.manifest, "args": ["--port", later], "replicas": later})

    with pytest.raises(InvalidArguments) as caught:
        deploy(run)
    assert [error["property_path"] for error in caught.value.errors or ()] == ["args[1]", "replicas"]
    assert "chat: replicas: must be a plain value, found an output of a resource" in str(caught.value)


def test_every_workload_comes_after_what_is_shared_and_every_autoscaler_after_its_own() -> None:
    """A resource of several workloads, as the toy's: each pod may mount the claim."""
    with registered(FAMILY):
        (item,) = render_fleet(parse(PAIR).resources, Options()).rendered
    claim = new_object("v1", "PersistentVolumeClaim", "cache", "default", {})
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "duo-second"}
    hpa = new_object("autoscaling/v2", HPA, "duo-second", "default", {"scaleTargetRef": target, "maxReplicas": 2})
    scaler = Autoscaler(hpa, lambda _: item.workloads[1].origin)
    budget = new_object("policy/v1", "PodDisruptionBudget", "elsewhere", "default", {})
    whole = replace(item, shared=(claim,), autoscalers=(scaler,), others=(budget,))
    recorded = deploy(lambda: Pair.__new__(Pair).register("duo", whole, None, shared=True))
    shared = "kubernetes:core/v1:PersistentVolumeClaim::duo-persistentvolumeclaim"
    first, second = (f"kubernetes:apps/v1:Deployment::duo-{stage}" for stage in ("first", "second"))
    assert {e.key: e.dependencies for e in recorded.graph if e.type.startswith("kubernetes:")} == {
        shared: (),
        first: (shared,),
        second: (shared,),
        "kubernetes:core/v1:Service::duo-first": (),
        "kubernetes:core/v1:Service::duo-second": (),
        "kubernetes:autoscaling/v2:HorizontalPodAutoscaler::duo-second-hpa": (second,),
        "kubernetes:policy/v1:PodDisruptionBudget::duo/elsewhere": (),
    }


PAIR = """\
apiVersion: toy.example/v1
kind: Pair
metadata: {name: duo}
spec: {weights: org/model, machine: g5.2xlarge}
"""


def _declare(args: Mapping[str, Any]) -> None:
    OpenModel("opt", {**args})  # type: ignore[typeddict-item]


def test_bad_models_are_refused_by_their_own_component() -> None:
    for args, expected in (
        ({"family_name": "opt"}, "spec.source"),
        ({"model_id": "a/b"}, "familyName"),
        ({"family_name": "opt", "uri": "ftp://x"}, "uri"),
        ({"family_name": "opt", "model_id": "a/b", "hub": "huggingface"}, "Huggingface"),
    ):
        with pytest.raises(InvalidArguments, match=expected):
            deploy(functools.partial(_declare, args))
