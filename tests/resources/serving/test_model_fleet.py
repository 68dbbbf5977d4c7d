"""ModelFleet in a program of anybody's: exact graphs, outputs, options, and several fleets beside each other."""

from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes
import pytest
from pulumi.runtime import mocks

from components.families import objects
from components.fleet.objects import key_of
from components.fleet.options import Options
from components.fleet.workloads import with_own_replicas
from components.plan.rendering import render_fleet
from components.resources.serving.arguments import whole_numbers
from components.resources.serving.fleet.args import ModelFleetArgs
from components.resources.serving.model_fleet import ModelFleet
from tests.fleets import open_model, playground
from tests.recorded import Echo, Entry, Recorded, deploy
from tests.resources.serving.manifests import CHAT, PROVIDER, SMALL, TEAM, as_file, fleet, in_namespace, program

FLEET = "inference-platform:index:ModelFleet::fleet"
CHAT_ITEM = "inference-platform:index:Playground::fleet-models/chat"
GGUF_ITEM = "inference-platform:index:InferenceService::fleet-team/gguf"
PRIORITY = "kubernetes:scheduling.k8s.io/v1:PriorityClass::fleet-llmkube-normal"
MODELS, TEAM_NAMESPACE = "kubernetes:core/v1:Namespace::fleet-models", "kubernetes:core/v1:Namespace::fleet-team"


def links(recorded: Recorded) -> list[tuple[str, str, str, tuple[str, ...]]]:
    return [(e.key, e.parent, e.provider, e.dependencies) for e in recorded.graph]


@pytest.mark.parametrize("preview", [False, True])
def test_the_graph_of_a_small_fleet(preview: bool) -> None:
    assert links(fleet(SMALL, preview=preview)) == [
        (GGUF_ITEM, FLEET, "", (TEAM_NAMESPACE, PRIORITY)),
        (FLEET, "", "", ()),
        (CHAT_ITEM, FLEET, "", (MODELS,)),
        ("kubernetes:apps/v1:Deployment::fleet-models/chat", CHAT_ITEM, PROVIDER, ()),
        ("kubernetes:apps/v1:Deployment::fleet-team/gguf", GGUF_ITEM, PROVIDER, ()),
        (MODELS, FLEET, PROVIDER, ()),
        (TEAM_NAMESPACE, FLEET, PROVIDER, ()),
        ("kubernetes:core/v1:Service::fleet-models/chat-lb", CHAT_ITEM, PROVIDER, ()),
        ("kubernetes:core/v1:Service::fleet-team/gguf-lb", GGUF_ITEM, PROVIDER, ()),
        (PRIORITY, FLEET, PROVIDER, ()),
        (PROVIDER, "", "", ()),
    ]


def of_kubernetes(recorded: Recorded) -> dict[tuple[str, str, str], Any]:
    entries = [e for e in recorded.graph if e.type.startswith("kubernetes:")]
    return {key_of(e.inputs): dict(e.inputs) for e in entries}


@pytest.mark.parametrize("preview", [False, True])
def test_inputs_are_what_rendering_says(preview: bool) -> None:
    """Each object is the rendered one, but for the annotation with which updates take replicas back."""
    rendered = render_fleet(objects(SMALL).resources, Options(namespace="models")).rendered
    expected = {key_of(body): whole_numbers(with_own_replicas(body)) for item in rendered for body in item.objects}
    for namespace in ("models", "team"):
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        expected["Namespace", "", namespace] = body
    assert of_kubernetes(fleet(SMALL, preview=preview)) == expected


def test_components_have_no_inputs_that_a_state_would_keep() -> None:
    assert [e.key for e in fleet(SMALL).graph if e.type.startswith("inference-platform:") and e.inputs] == []


@pytest.mark.parametrize("preview", [False, True])
def test_outputs_tell_where_models_answer_and_what_they_need(preview: bool) -> None:
    inside = {"url": "http://chat-lb.models.svc.cluster.local:8080/v1", "api": "openai", "model": "opt", "port": 8080}
    exports = fleet(SMALL, preview=preview).exports
    assert exports["endpoints"]["chat"] == inside
    assert exports["endpoints"]["team/gguf"]["url"] == "http://gguf.team.svc.cluster.local:8080/v1"
    assert exports["models"]["chat"] == {
        "kind": "Playground",
        "namespace": "models",
        "workload": "chat",
        "workloadKind": "Deployment",
        "replicas": 2,
        "model": "opt",
        "fit": "not checked: facebook/opt-125m: no context length is set, and the model's own is unknown; "
        "estimated from 125M parameters in its name, it needs at least 0.3 GiB of 19.8 GiB",
    }
    assert exports["models"]["team/gguf"]["kind"] == "InferenceService"
    assert exports["nodes"] == {
        "g5-2xlarge": {"instanceType": "g5.2xlarge", "nodes": 2, "accelerators": 1},
        "g6-2xlarge": {"instanceType": "g6.2xlarge", "nodes": 1, "accelerators": 1},
    }
    assert exports["prerequisites"] == {"nvidia-device-plugin": ["nodes g5-2xlarge", "nodes g6-2xlarge"]}


class Balanced(Echo):
    """A cloud that gives load balancers an address."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        id_, outputs = super().new_resource(args)
        if outputs.get("spec", {}).get("type") == "LoadBalancer":
            outputs = {**outputs, "status": {"loadBalancer": {"ingress": [{"hostname": "lb.example.com"}]}}}
        return id_, outputs


def test_an_endpoint_outside_is_the_address_that_the_cloud_gives() -> None:
    door = {"expose": "load-balancer", "internal": True}
    endpoint = fleet(CHAT, mock=Balanced(), front_door=door).exports["endpoints"]["chat"]
    assert endpoint == {
        "url": "http://lb.example.com:8080/v1",
        "api": "openai",
        "model": "opt",
        "port": 8080,
        "clusterUrl": "http://chat-lb.models.svc.cluster.local:8080/v1",
    }


def test_files_and_data_give_the_same(tmp_path: Path) -> None:
    file = as_file(tmp_path, SMALL)
    by_data, by_file = fleet(SMALL), deploy(program({"files": [file]}))
    both = deploy(program({"files": [as_file(tmp_path, CHAT)], "manifests": TEAM}))
    assert by_data.graph == by_file.graph == both.graph
    assert by_data.exports == by_file.exports == both.exports


def test_the_order_of_manifests_means_nothing() -> None:
    assert fleet(SMALL).graph == fleet(SMALL[::-1]).graph


def test_a_fleet_may_be_empty() -> None:
    recorded = fleet([])
    assert [e.key for e in recorded.graph] == [FLEET, PROVIDER]
    cost, others = recorded.exports["cost"], {k: v for k, v in recorded.exports.items() if k != "cost"}
    assert (cost["models"], cost["items"], cost["usdPerMonth"]) == ({}, [], {"now": 0, "min": 0, "max": 0})
    assert others == {"endpoints": {}, "models": {}, "nodes": {}, "prerequisites": {}}


def two_clusters(first: list[Any], second: list[Any]) -> Recorded:
    def run() -> None:
        for name, documents in (("east", first), ("west", second)):
            provider = pulumi_kubernetes.Provider(name, kubeconfig=name)
            args: ModelFleetArgs = {"manifests": documents}
            made = ModelFleet(f"{name}-models", args, pulumi.ResourceOptions(providers=[provider]))
            pulumi.export(name, made.endpoints)

    return deploy(run)


def test_two_fleets_on_two_clusters_do_not_meet() -> None:
    """The recorder refuses a URN that is there already, as the engine does."""
    recorded = two_clusters(SMALL, SMALL)
    for name, other in (("east", "west"), ("west", "east")):
        own = [e for e in recorded.graph if e.name.startswith(f"{name}-") and e.type.startswith("kubernetes:")]
        assert len(own) == 7
        assert {e.provider for e in own} == {f"pulumi:providers:kubernetes::{name}"}
        assert not [e.key for e in own if any(f"::{other}" in key for key in (*e.dependencies, e.parent))]
    assert recorded.exports["east"] == recorded.exports["west"]


def below(recorded: Recorded) -> list[Entry]:
    return [e for e in recorded.graph if e.parent]


class TestOptions:
    """What a caller asks of the fleet is asked of the component alone (style, rule 4)."""

    def test_children_do_not_get_them(self) -> None:
        def run() -> None:
            provider = pulumi_kubernetes.Provider("cluster", kubeconfig="k")
            options = pulumi.ResourceOptions(
                providers=[provider],
                aliases=[pulumi.Alias(name="before")],
                ignore_changes=["spec"],
                retain_on_delete=True,
                delete_before_replace=True,
                custom_timeouts=pulumi.CustomTimeouts(create="7h"),
                depends_on=[provider],
            )
            ModelFleet("fleet", {"manifests": SMALL}, options)

        recorded = deploy(run)
        assert recorded[FLEET].registration.aliases
        assert recorded[FLEET].dependencies == (PROVIDER,)
        for entry in below(recorded):
            said = entry.registration
            assert "before" not in {alias.name for alias in said.aliases}, entry.key
            assert not said.ignore_changes, entry.key
            assert not said.retain_on_delete, entry.key
            assert not said.delete_before_replace, entry.key
            assert said.timeouts.get("create") != "7h", entry.key
        assert {e.dependencies for e in below(recorded)} == {e.dependencies for e in below(fleet(SMALL))}

    def test_providers_come_from_whatever_the_fleet_is_part_of(self) -> None:
        class Site(pulumi.ComponentResource):
            def __init__(self) -> None:
                provider = pulumi_kubernetes.Provider("cluster", kubeconfig="k")
                super().__init__("test:index:Site", "site", {}, pulumi.ResourceOptions(providers=[provider]))
                args: ModelFleetArgs = {"manifests": SMALL}
                ModelFleet("fleet", args, pulumi.ResourceOptions(parent=self))

        def run() -> None:
            Site()

        recorded = deploy(run)
        assert recorded[FLEET].parent == "test:index:Site::site"
        kubernetes = [e for e in recorded.graph if e.type.startswith("kubernetes:")]
        assert {e.provider for e in kubernetes} == {PROVIDER}
        assert [(e.key, e.parent, e.inputs) for e in kubernetes] == [
            (e.key, e.parent, e.inputs) for e in fleet(SMALL).graph if e.type.startswith("kubernetes:")
        ]

    def test_protection_is_inherited(self) -> None:
        def run() -> None:
            provider = pulumi_kubernetes.Provider("cluster", kubeconfig="k")
            options = pulumi.ResourceOptions(providers=[provider], protect=True)
            ModelFleet("fleet", {"manifests": CHAT}, options)

        assert all(e.registration.protect for e in deploy(run).graph if e.parent)


def test_namespaces_that_exist_are_not_made() -> None:
    recorded = fleet([open_model("opt", "facebook/opt-125m"), in_namespace(playground("chat", "opt"), "default")])
    assert recorded.of("kubernetes:core/v1:Namespace") == []
    assert set(recorded.exports["models"]) == {"default/chat"}


def test_objects_of_equal_names_in_parts_are_told_apart() -> None:
    """a-b in namespace c, and b in c-a: their policies had one name once."""
    documents = [
        open_model("opt", "facebook/opt-125m", [{**CHAT[0]["spec"]["inferenceConfig"]["flavors"][0]}]),
        in_namespace(playground("a-b", "opt"), "c"),
        in_namespace(playground("b", "opt"), "c-a"),
    ]
    recorded = fleet(documents, hardening={"network_policies": True, "disruption_budgets": True})
    names = {e.name for e in recorded.of("kubernetes:networking.k8s.io/v1:NetworkPolicy")}
    assert {name.partition("networkpolicy-")[2] for name in names} >= {"c/a-b", "c-a/b"}
