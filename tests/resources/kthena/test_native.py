"""Kthena's components in a program of anybody's: exact graphs, outputs, and names that last."""

from collections.abc import Callable
from typing import Any

import pulumi
import pulumi_kubernetes
import pytest

from components.resources.kthena import (
    AutoscalingPolicy,
    AutoscalingPolicyBinding,
    ModelBooster,
    ModelRoute,
    ModelServer,
    ModelServing,
)
from components.resources.serving.arguments import InvalidArguments
from tests.recorded import deploy

PROVIDER = "pulumi:providers:kubernetes::cluster"
LWS = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"
SERVICE = "kubernetes:core/v1:Service"
HPA = "kubernetes:autoscaling/v2:HorizontalPodAutoscaler"
GANG = "kubernetes:scheduling.volcano.sh/v1beta1:PodGroup"
BOOSTER = "inference-platform:index:ModelBooster::qwen"
BINDING = "inference-platform:index:AutoscalingPolicyBinding::chat-busy"
METRIC: Any = {"metric_name": "vllm:num_requests_waiting", "target_value": "5"}
POLICY: Any = {"metrics": [METRIC]}


def backend(name: str, instance: str = "g6e.2xlarge", **fields: Any) -> Any:
    wanted = [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": [instance]}]
    required = {"nodeSelectorTerms": [{"matchExpressions": wanted}]}
    worker = {
        "image": "vllm/vllm-openai:v0.20.0",
        "replicas": 1,
        "pods": 1,
        "config": {"max-model-len": 8192},
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}},
    }
    common = {"type": "vLLM", "model_uri": "hf://Qwen/Qwen3-8B", "min_replicas": 1, "max_replicas": 1}
    return {"name": name, **common, "workers": [worker], **fields}


def options() -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions(providers=[pulumi_kubernetes.Provider("cluster", kubeconfig="k")])


def booster(*backends: Any, **args: Any) -> Callable[[], None]:
    def run() -> None:
        given: Any = {"backends": [*backends], **args}
        component = ModelBooster("qwen", given, options())
        for name in ("endpoint", "urls", "model", "workload_name", "namespace"):
            pulumi.export(name, getattr(component, name))
        pulumi.export("manifest", component.manifest["kind"])

    return run


@pytest.mark.parametrize("preview", [False, True])
def test_a_booster_is_a_set_and_a_service_for_each_backend(preview: bool) -> None:
    scaled = backend("large", max_replicas=3, autoscaling_policy=POLICY)
    recorded = deploy(booster(scaled, backend("small", "g5.2xlarge")), preview=preview)
    assert [(entry.key, entry.parent, entry.provider, entry.dependencies) for entry in recorded.graph] == [
        (BOOSTER, "", "", ()),
        (f"{HPA}::qwen-large-hpa", BOOSTER, PROVIDER, (f"{LWS}::qwen-large",)),
        (f"{SERVICE}::qwen-large-leader", BOOSTER, PROVIDER, ()),
        (f"{SERVICE}::qwen-small-leader", BOOSTER, PROVIDER, ()),
        (f"{LWS}::qwen-large", BOOSTER, PROVIDER, ()),
        (f"{LWS}::qwen-small", BOOSTER, PROVIDER, ()),
        (PROVIDER, "", "", ()),
    ]
    assert "replicas" not in recorded[f"{LWS}::qwen-large"].inputs["spec"]
    assert recorded[f"{LWS}::qwen-small"].inputs["spec"]["replicas"] == 1


def test_outputs_say_where_the_model_answers() -> None:
    exports = deploy(booster(backend("large"), namespace="models")).exports
    url = "http://qwen-large-leader.models.svc.cluster.local:8000/v1"
    assert exports == {
        "endpoint": url,
        "urls": {"qwen": url},
        "model": "qwen",
        "workload_name": "qwen-large",
        "namespace": "models",
        "manifest": "ModelBooster",
    }


def test_names_stay_when_another_backend_comes_or_goes() -> None:
    one = {entry.key for entry in deploy(booster(backend("a"))).graph}
    both = {entry.key for entry in deploy(booster(backend("b", "g5.2xlarge"), backend("a"))).graph}
    assert one < both
    assert {key.rpartition("::")[2] for key in both - one} == {"qwen-b", "qwen-b-leader"}


def role(name: str, **fields: Any) -> Any:
    container = {
        "name": "engine",
        "image": "vllm/vllm-openai:v0.20.0",
        "args": ["--model", "Qwen/Qwen3-8B", "--served-model-name", "chat"],
        "ports": [{"name": "http", "containerPort": 8000}],
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
    }
    selector = {"node.kubernetes.io/instance-type": "g6e.2xlarge"}
    pod = {"spec": {"nodeSelector": selector, "containers": [container]}}
    return {"name": name, "entry_template": pod, "worker_replicas": 0, **fields}


def test_a_gang_comes_with_its_group() -> None:
    def run() -> None:
        roles = [role("a", replicas=2), role("b")]
        template: Any = {"roles": roles, "gang_policy": {"min_role_replicas": {"a": 1, "b": 1}}}
        ModelServing("chat", {"template": template}, options())

    parent = "inference-platform:index:ModelServing::chat"
    found = {entry.key for entry in deploy(run).graph if entry.parent == parent}
    assert found == {
        *(f"{LWS}::chat-0-{instance}" for instance in ("a-0", "a-1", "b-0")),
        *(f"{SERVICE}::chat-{name}" for name in "ab"),
        f"{GANG}::chat-0",
    }


def test_a_binding_is_an_autoscaler() -> None:
    def run() -> None:
        opts = options()
        serving = ModelServing("chat", {"template": {"roles": [role("leader")]}}, opts)
        target: Any = {"target_ref": {"name": "chat"}, "metric_endpoint": {"port": 8000}}
        given: Any = {
            "policy": AutoscalingPolicy("busy", POLICY, opts).manifest,
            "targets": [serving.manifest],
            "scaling_configuration": {"target": target, "min_replicas": 1, "max_replicas": 4},
        }
        pulumi.export("autoscalers", AutoscalingPolicyBinding("chat-busy", given, opts).autoscalers)

    recorded = deploy(run)
    (found,) = (entry for entry in recorded.graph if entry.parent == BINDING)
    assert (found.key, found.provider) == (f"{HPA}::chat-busy-hpa", PROVIDER)
    spec = found.inputs["spec"]
    assert (spec["minReplicas"], spec["maxReplicas"]) == (1, 4)
    assert spec["scaleTargetRef"] == {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "name": "chat",
    }
    assert recorded.exports == {"autoscalers": ["chat-busy"]}


def test_a_route_is_an_endpoint_alone() -> None:
    def run() -> None:
        opts = options()
        serving = ModelServing("chat", {"template": {"roles": [role("leader")]}}, opts)
        selector: Any = {"match_labels": {"modelserving.volcano.sh/name": "chat"}}
        server: Any = {"inference_engine": "vLLM", "workload_selector": selector, "workload_port": {"port": 8000}}
        given: Any = {
            "servers": [ModelServer("chat", server, opts).manifest],
            "servings": [serving.manifest],
            "model_name": "chat",
            "rules": [{"target_models": [{"model_server_name": "chat"}]}],
        }
        route = ModelRoute("talk", given, opts)
        pulumi.export("endpoint", route.endpoint)
        pulumi.export("model", route.model)

    recorded = deploy(run)
    assert not [e for e in recorded.graph if e.parent == "inference-platform:index:ModelRoute::talk"]
    assert recorded.exports == {
        "endpoint": "http://chat-leader.default.svc.cluster.local:8000/v1",
        "model": "chat",
    }


@pytest.mark.parametrize(
    ("args", "path"),
    [
        ({"backends": []}, "spec.backends"),
        ({"backends": [backend("a", min_replicas=2)]}, "spec.backends[0].minReplicas"),
        ({"backends": [backend("A")]}, "spec.backends[0].name"),
        ({"backends": [backend("a", "g6e.3xlarge")]}, "spec.backends[0].workers[0].affinity"),
        ({"backends": [{**backend("a"), "worker": 1}]}, "backends[0].worker"),
    ],
)
def test_what_a_booster_cannot_be_is_named(args: Any, path: str) -> None:
    def run() -> None:
        ModelBooster("qwen", args)

    with pytest.raises(InvalidArguments) as caught:
        deploy(run)
    assert any(path in error["property_path"] for error in caught.value.errors or ()), caught.value


def targeted(**args: Any) -> Callable[[], None]:
    """A policy of v1.0.0, which names its target itself."""

    def run() -> None:
        opts = options()
        serving = ModelServing("chat", {"template": {"roles": [role("leader")]}}, opts)
        source = {"vllm:num_requests_waiting": {"pod": {"port": 8000}}}
        target = {"target_ref": {"name": "chat"}, "metric_sources": source}
        given: Any = {
            "metrics": [{"name": "vllm:num_requests_waiting", "target_value": "5"}],
            "homogeneous_target": {"target": target, "min_replicas": 1, "max_replicas": 4},
            "targets": [serving.manifest],
            **args,
        }
        given = {key: value for key, value in given.items() if value is not None}
        policy = AutoscalingPolicy("busy", given, opts)
        pulumi.export("autoscalers", policy.autoscalers)
        pulumi.export("policy", policy.policy)

    return run


@pytest.mark.parametrize("release", [None, "v1.0.0"])
def test_a_policy_with_a_target_is_an_autoscaler(release: str | None) -> None:
    recorded = deploy(targeted(release=release))
    (found,) = (e for e in recorded.graph if e.parent == "inference-platform:index:AutoscalingPolicy::busy")
    assert (found.key, found.provider) == (f"{HPA}::busy-hpa", PROVIDER)
    spec = found.inputs["spec"]
    assert (spec["minReplicas"], spec["maxReplicas"], spec["scaleTargetRef"]["name"]) == (1, 4, "chat")
    assert recorded.exports == {"autoscalers": ["busy"], "policy": "busy"}


@pytest.mark.parametrize(
    ("args", "path", "reason"),
    [
        ({"targets": None}, "targets", "must be a list of manifests, found nothing"),
        ({"homogeneous_target": None}, "targets", "has no effect without homogeneous_target"),
        ({"release": "v0.4.0"}, "spec.homogeneousTarget", "v1.0.0 has it"),
        ({"release": "v9.9.9"}, "release", "must be a release of Kthena: 97b99f41, v0.1.0"),
    ],
)
def test_a_policy_is_refused_with_the_argument(args: dict[str, Any], path: str, reason: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        deploy(targeted(**args))
    errors = {error["property_path"]: error["reason"] for error in caught.value.errors or ()}
    assert reason in errors[path]
