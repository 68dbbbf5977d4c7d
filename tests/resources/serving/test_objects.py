"""A registered object is, to the engine and the provider, what the typed class of the SDK registers."""

from collections.abc import Callable
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import pytest

from components.resources.serving.objects import kubernetes_object, kubernetes_token, provider_version
from tests.recorded import Entry, deploy
from workbench.engine.values import Secret

META = {"name": "x", "namespace": "n", "labels": {"a": "b"}}
POD = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "c", "image": "i", "args": ["--port", "8080"]}]},
}
CASES: list[tuple[str, str, dict[str, Any], Callable[..., Any]]] = [
    ("apps/v1", "Deployment", {"selector": {"matchLabels": {"a": "b"}}, "template": POD}, k8s.apps.v1.Deployment),
    ("v1", "Service", {"ports": [{"port": 8080, "targetPort": 9000}]}, k8s.core.v1.Service),
    ("v1", "Node", {"taints": [{"key": "k", "effect": "NoSchedule"}]}, k8s.core.v1.Node),
    (
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}},
        k8s.autoscaling.v2.HorizontalPodAutoscaler,
    ),
]


def recorded(program: Callable[[pulumi.ResourceOptions], Any]) -> Entry:
    def run() -> None:
        provider = k8s.Provider("p", kubeconfig="k")
        program(pulumi.ResourceOptions(provider=provider))

    return deploy(run)["x"]


@pytest.mark.parametrize(("api_version", "kind", "spec", "typed"), CASES, ids=[case[1] for case in CASES])
def test_token_and_inputs_are_those_of_the_typed_class(
    api_version: str, kind: str, spec: dict[str, Any], typed: Callable[..., Any]
) -> None:
    value = {"apiVersion": api_version, "kind": kind, "metadata": META, "spec": spec}
    ours = recorded(lambda opts: kubernetes_object(value, "x", opts))
    theirs = recorded(lambda opts: typed("x", metadata=META, spec=spec, opts=opts))
    assert (ours.type, ours.provider) == (theirs.type, theirs.provider)
    assert ours.inputs == theirs.inputs


def test_custom_resources_too() -> None:
    value = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": META,
        "spec": {"replicas": 1},
    }
    ours = recorded(lambda opts: kubernetes_object(value, "x", opts))
    theirs = recorded(
        lambda opts: k8s.apiextensions.CustomResource(
            "x", "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", metadata=META, spec={"replicas": 1}, opts=opts
        )
    )
    assert (ours.type, ours.inputs) == (theirs.type, theirs.inputs)


def test_the_core_group_has_a_name_in_tokens() -> None:
    assert kubernetes_token("v1", "Service") == "kubernetes:core/v1:Service"
    assert kubernetes_token("apps/v1", "Deployment") == "kubernetes:apps/v1:Deployment"


def test_the_plugin_version_is_the_installed_sdk() -> None:
    assert provider_version().count(".") == 2
    value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": META}
    options = pulumi.ResourceOptions()

    def program() -> None:
        kubernetes_object(value, "x", options)

    deploy(program)
    assert options.version == provider_version()


def test_data_of_secrets_is_secret_in_outputs() -> None:
    def program(options: pulumi.ResourceOptions) -> None:
        value = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": META,
            "stringData": {"t": pulumi.Output.secret("s")},
        }
        kubernetes_object(value, "x", options)

    entry = recorded(program)
    assert set(entry.registration.secret_outputs) == {"data", "stringData"}
    assert entry.inputs["stringData"] == {"t": Secret("s")}


def test_what_looks_like_a_secret_is_one_in_the_request() -> None:
    env = [{"name": "HF_TOKEN", "value": "abc"}, {"name": "PORT", "value": "8080"}]
    containers = [{"name": "c", "image": "i", "args": ["--api-key", "abc", "--port", "8080"], "env": env}]
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": {**POD, "spec": {"containers": containers}}}
    annotations = {"example.com/api-token": "abc", "a": "b"}
    value = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {**META, "annotations": annotations},
        "spec": spec,
    }
    inputs = recorded(lambda opts: kubernetes_object(value, "x", opts)).inputs
    (container,) = inputs["spec"]["template"]["spec"]["containers"]
    assert container["env"] == [{"name": "HF_TOKEN", "value": Secret("abc")}, env[1]]
    assert container["args"] == ["--api-key", Secret("abc"), "--port", "8080"]
    assert inputs["metadata"] == {**META, "annotations": {"example.com/api-token": Secret("abc"), "a": "b"}}
