"""Kthena's components in a program that leaves the work to the operator: typed objects of the arguments."""

from collections.abc import Callable
from typing import Any

import pulumi
import pulumi_kubernetes
import pytest

from components.resources.kthena import (
    AutoscalingPolicy,
    AutoscalingPolicyBinding,
    ModelRoute,
    ModelServer,
    ModelServing,
)
from components.resources.serving.arguments import InvalidArguments
from tests.recorded import Recorded, deploy

WORKLOAD = "kubernetes:workload.serving.volcano.sh/v1alpha1"
NETWORKING = "kubernetes:networking.serving.volcano.sh/v1alpha1"
PROVIDER = "pulumi:providers:kubernetes::cluster"
OPERATED = {"realization": "operator", "namespace": "kthena-system"}
POD: dict[str, Any] = {
    "spec": {
        "schedulerName": "volcano",
        "containers": [{"name": "engine", "image": "vllm/vllm-openai:v0.11.0", "args": ["--model", "Qwen/Qwen3-8B"]}],
    }
}
ROLE: dict[str, Any] = {"name": "leader", "entry_template": POD, "worker_replicas": 0}
METRIC: dict[str, Any] = {"metric_name": "vllm:num_requests_waiting", "target_value": "5"}
BOUNDS: dict[str, Any] = {"min_replicas": 1, "max_replicas": 4}
TARGET: dict[str, Any] = {"target_ref": {"kind": "ModelServing", "name": "chat"}, "metric_endpoint": {"port": 8000}}


def options() -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions(providers=[pulumi_kubernetes.Provider("cluster", kubeconfig="k")])


def serving(opts: pulumi.ResourceOptions) -> ModelServing:
    given: Any = {**OPERATED, "template": {"roles": [ROLE], "restart_grace_period_seconds": 60}}
    return ModelServing("chat", given, opts)


def spec(recorded: Recorded, group: str, kind: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = recorded[f"{group}:{kind}::{name}"].inputs["spec"]
    return found


def test_a_serving_is_an_object_of_its_own_kind_and_a_service() -> None:
    def program() -> None:
        serving(options())

    recorded = deploy(program)
    parent = "inference-platform:index:ModelServing::chat"
    assert [(entry.key, entry.parent, entry.provider) for entry in recorded.graph] == [
        (parent, "", ""),
        ("kubernetes:core/v1:Service::chat-leader", parent, PROVIDER),
        (f"{WORKLOAD}:ModelServing::chat", parent, PROVIDER),
        (PROVIDER, "", ""),
    ]
    assert spec(recorded, WORKLOAD, "ModelServing", "chat") == {
        "schedulerName": "volcano",
        "replicas": 1,
        "template": {
            "restartGracePeriodSeconds": 60,
            "roles": [{"name": "leader", "entryTemplate": POD, "workerReplicas": 0}],
        },
    }


def test_a_binding_names_its_policy_and_takes_what_it_scales() -> None:
    def program() -> None:
        opts = options()
        policy = AutoscalingPolicy("busy", {**OPERATED, "metrics": [METRIC]}, opts)  # type: ignore[typeddict-item]
        given: Any = {
            **OPERATED,
            "policy": policy.manifest,
            "targets": [serving(opts).manifest],
            "scaling_configuration": {"target": TARGET, **BOUNDS},
        }
        AutoscalingPolicyBinding("chat-busy", given, opts)

    recorded = deploy(program)
    assert spec(recorded, WORKLOAD, "AutoscalingPolicy", "busy") == {
        "metrics": [{"metricName": "vllm:num_requests_waiting", "targetValue": "5"}]
    }
    assert spec(recorded, WORKLOAD, "AutoscalingPolicyBinding", "chat-busy") == {
        "policyRef": {"name": "busy"},
        "scalingConfiguration": {
            "target": {"targetRef": {"kind": "ModelServing", "name": "chat"}, "metricEndpoint": {"port": 8000}},
            "minReplicas": 1,
            "maxReplicas": 4,
        },
    }


def test_a_route_has_what_python_calls_otherwise() -> None:
    def program() -> None:
        opts = options()
        selector: Any = {"match_labels": {"modelserving.volcano.sh/name": "chat"}}
        server: Any = {"workload_selector": selector, "workload_port": {"port": 8000}, "inference_engine": "vLLM"}
        server |= OPERATED
        declared = ModelServer("chat", server, opts)
        given: Any = {
            **OPERATED,
            "servers": [declared.manifest],
            "servings": [serving(opts).manifest],
            "model_name": "qwen3-8b",
            "rules": [{"name": "default", "target_models": [{"model_server_name": "chat"}]}],
            "rate_limit": {
                "input_tokens_per_unit": 1000,
                "global_": {"redis": {"address": "redis:6379"}},
            },
        }
        ModelRoute("qwen", given, opts)

    recorded = deploy(program)
    assert spec(recorded, NETWORKING, "ModelServer", "chat") == {
        "inferenceEngine": "vLLM",
        "workloadSelector": {"matchLabels": {"modelserving.volcano.sh/name": "chat"}},
        "workloadPort": {"port": 8000},
    }
    assert spec(recorded, NETWORKING, "ModelRoute", "qwen") == {
        "modelName": "qwen3-8b",
        "rules": [{"name": "default", "targetModels": [{"modelServerName": "chat"}]}],
        "rateLimit": {"inputTokensPerUnit": 1000, "global": {"redis": {"address": "redis:6379"}}},
    }


def bound(**args: Any) -> Callable[[], None]:
    policy = {"apiVersion": "workload.serving.volcano.sh/v1alpha1", "kind": "AutoscalingPolicy"}
    given: Any = {
        "policy": {**policy, "metadata": {"name": "busy"}},
        "targets": [{"metadata": {"name": "chat"}}],
        **args,
    }

    def program() -> None:
        AutoscalingPolicyBinding("chat-busy", given)

    return program


@pytest.mark.parametrize(
    ("args", "path", "reason"),
    [
        ({"policy": None}, "policy", "must be the manifest of an AutoscalingPolicy, found nothing"),
        ({"policy": "busy"}, "policy", "must be the manifest of an AutoscalingPolicy, found str"),
        ({"targets": []}, "targets", "must be a list of manifests, found none; pass [ModelServing(...).manifest]"),
        ({"targets": {}}, "targets", "must be a list of manifests, found dict"),
        ({"targets": None}, "targets", "must be a list of manifests, found nothing"),
        ({"targets": [{"metadata": {}}]}, "targets[0]", "must be the manifest of a ModelServing, found dict"),
        ({"scaling_configuration": {"taget": {}}}, "scaling_configuration.taget", "did you mean 'target'?"),
        ({"realization": "helm"}, "realization", "must be 'native' or 'operator'"),
    ],
)
def test_what_a_binding_cannot_use_is_named(args: dict[str, Any], path: str, reason: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        deploy(bound(**args))
    errors = {error["property_path"]: error["reason"] for error in caught.value.errors or ()}
    assert reason in errors[path]


@pytest.mark.parametrize("release", ["v1.0.0", None])
def test_the_form_of_a_later_release_needs_that_release(release: str | None) -> None:
    def program() -> None:
        opts = options()
        target: Any = {
            "target_ref": {"kind": "ModelServing", "name": "chat"},
            "metric_sources": {"queue": {"prometheus": {"server_url": "http://p:9090", "query": "q", "auth": {}}}},
        }
        given: Any = {
            **OPERATED,
            "metrics": [{"name": "queue", "target_value": "5"}],
            "homogeneous_target": {"target": target, **BOUNDS},
            "targets": [serving(opts).manifest],
        }
        AutoscalingPolicy("busy", given | ({"release": release} if release else {}), opts)

    if release is None:
        with pytest.raises(InvalidArguments, match=r"spec.homogeneousTarget: unknown field of Kthena 97b99f41"):
            deploy(program)
        return
    assert spec(deploy(program), WORKLOAD, "AutoscalingPolicy", "busy") == {
        "metrics": [{"name": "queue", "targetValue": "5"}],
        "homogeneousTarget": {
            "target": {
                "targetRef": {"kind": "ModelServing", "name": "chat"},
                "metricSources": {
                    "queue": {"prometheus": {"serverURL": "http://p:9090", "query": "q", "auth": {}}},
                },
            },
            "minReplicas": 1,
            "maxReplicas": 4,
        },
    }
