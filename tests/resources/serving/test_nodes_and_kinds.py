"""Simulated nodes and custom resource definitions."""

import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pulumi
import pulumi_kubernetes
import pytest

from components.contract.quantity import parse_quantity
from components.fleet.nodes.groups import NodeGroupDemand
from components.resources.prerequisites.custom_resources import CustomResources
from components.resources.serving.args import FlavorArgs, SimulatedNodesArgs
from components.resources.serving.arguments import InvalidArguments
from components.resources.serving.simulated_nodes import SimulatedNodes, node_object, simulated_count
from tests.recorded import deploy

TAINT = {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}
GROUP = NodeGroupDemand(
    name="g5-12xlarge",
    instance_type="g5.12xlarge",
    nodes=1,
    labels={"node.kubernetes.io/instance-type": "g5.12xlarge", "pool": "gpu"},
    taints=(TAINT,),
    max_nodes=1,
)


def test_a_node_offers_what_the_instance_type_has_less_what_the_system_keeps() -> None:
    node = node_object(GROUP, 3)
    offered = node["status"]["allocatable"]
    assert node["metadata"]["name"] == "g5-12xlarge-3"
    assert node["metadata"]["annotations"] == {"kwok.x-k8s.io/node": "fake"}
    assert node["metadata"]["labels"].items() >= GROUP.labels.items()
    assert node["spec"]["taints"] == [TAINT]
    assert offered["nvidia.com/gpu"] == "4"
    assert 47 < parse_quantity(offered["cpu"]) < 48
    assert Decimal(169) < parse_quantity(offered["memory"]) / 2**30 < Decimal(170)


@pytest.mark.parametrize(
    ("labels", "places"),
    [
        ({}, [("local-1", "local-1a"), ("local-1", "local-1b"), ("local-1", "local-1c"), ("local-1", "local-1a")]),
        ({"zone": "us-east-1d"}, [("us-east-1", "us-east-1d")] * 4),
        ({"region": "eu-west-1"}, [("eu-west-1", f"eu-west-1{letter}") for letter in "abca"]),
        ({"zone": "z9", "region": "mine"}, [("mine", "z9")] * 4),
    ],
)
def test_nodes_are_spread_over_zones_unless_their_group_names_one(
    labels: dict[str, str], places: list[tuple[str, str]]
) -> None:
    group = replace(GROUP, labels={**GROUP.labels, **{f"topology.kubernetes.io/{k}": v for k, v in labels.items()}})
    nodes = [node_object(group, index)["metadata"]["labels"] for index in range(4)]
    assert [(n["topology.kubernetes.io/region"], n["topology.kubernetes.io/zone"]) for n in nodes] == places
    assert all(node["pool"] == "gpu" for node in nodes)


def test_an_unknown_instance_type_is_named() -> None:
    unknown = NodeGroupDemand("x", "x9.huge", 1, {}, ())
    with pytest.raises(ValueError, match=r"x9\.huge"):
        node_object(unknown, 0)


@pytest.mark.parametrize(
    ("nodes", "most", "expected"), [(0, 0, 8), (1, 1, 8), (7, 9, 16), (8, 8, 8), (9, 9, 16), (3, 99999, 16)]
)
def test_there_is_room_to_grow_in_steps(nodes: int, most: int, expected: int) -> None:
    assert simulated_count(NodeGroupDemand("x", "g5.xlarge", nodes, {}, (), max_nodes=most)) == expected


MODELS: list[dict[str, Any]] = [
    {
        "apiVersion": "llmaz.io/v1alpha1",
        "kind": "OpenModel",
        "metadata": {"name": "opt"},
        "spec": {
            "familyName": "opt",
            "source": {"modelHub": {"modelID": "facebook/opt-125m"}},
            "inferenceConfig": {
                "flavors": [
                    {"name": "a10g", "limits": {"nvidia.com/gpu": 4.0}, "params": {"INSTANCE-TYPE": "g5.12xlarge"}}
                ]
            },
        },
    },
    {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "Playground",
        "metadata": {"name": "opt"},
        "spec": {"modelClaim": {"modelName": "opt"}},
    },
]


@pytest.mark.parametrize("preview", [False, True])
def test_nodes_are_children_of_their_component(preview: bool) -> None:
    def program() -> None:
        provider = pulumi_kubernetes.Provider("cluster", kubeconfig="k")
        made = SimulatedNodes("nodes", {"manifests": MODELS}, pulumi.ResourceOptions(providers=[provider]))
        pulumi.export("nodes", made.nodes)

    recorded = deploy(program, preview=preview)
    nodes = recorded.of("kubernetes:core/v1:Node")
    assert [node.name for node in nodes] == [f"nodes-g5-12xlarge-{index}" for index in range(8)]
    assert nodes[0].inputs["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "g5.12xlarge"
    assert {(n.parent, n.provider) for n in nodes} == {
        ("inference-platform:index:SimulatedNodes::nodes", "pulumi:providers:kubernetes::cluster")
    }
    assert recorded.exports == {"nodes": 8}


def test_pods_reach_all_nodes_through_the_last_few() -> None:
    last: list[str] = []

    def program() -> None:
        provider = pulumi_kubernetes.Provider("cluster", kubeconfig="k")
        options = pulumi.ResourceOptions(providers=[provider])
        made = SimulatedNodes.of("n", [replace(GROUP, nodes=600, max_nodes=600)], options)
        last.extend(node._name for node in made.last_of_group[GROUP.name])

    nodes = {node.name: node for node in deploy(program).of("kubernetes:core/v1:Node")}
    needs = {name: [key.rpartition("::")[2] for key in node.dependencies] for name, node in nodes.items()}
    reached, waiting = set[str](), last
    while waiting:
        reached |= {*waiting}
        waiting = [need for name in waiting for need in needs[name]]
    assert reached == {*nodes}
    assert len(nodes) == 600
    assert max(map(len, (last, *needs.values()))) == 16
    # A smaller group loses its last nodes: pods that go with them depend on them through nodes that go, too.
    assert all(int(need.rpartition("-")[2]) < int(name.rpartition("-")[2]) for name in nodes for need in needs[name])


def test_flavors_are_enough() -> None:
    flavors: list[FlavorArgs] = [
        {"name": "a10g", "limits": {"nvidia.com/gpu": 1}, "params": {"INSTANCE-TYPE": "g5.xlarge"}},
        {"name": "l4", "node_selector": {"team": "chat"}, "params": {"INSTANCE-TYPE": "g6.xlarge"}},
    ]
    nodes = deploy(lambda: _simulated({"flavors": flavors})).of("kubernetes:core/v1:Node")
    labels = [node.inputs["metadata"]["labels"] for node in nodes]
    assert [each.get("team") for each in labels] == [None] * 8 + ["chat"] * 8
    assert all(node.inputs["spec"]["taints"] == [TAINT] for node in nodes)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({}, "nodes: flavors: is required unless manifests is set"),
        ({"flavors": [{"name": "x", "params": {"INSTANCE-TYPE": "g5"}}]}, "nodes: flavors[0]: INSTANCE-TYPE 'g5'"),
        ({"flavors": [{"name": "x"}]}, "nodes: flavors[0].params: has no instance type"),
    ],
)
def test_what_is_wrong_with_flavors_is_reported(args: SimulatedNodesArgs, expected: str) -> None:
    with pytest.raises(InvalidArguments) as raised:
        deploy(lambda: _simulated(args))
    assert expected in str(raised.value)


def _simulated(args: SimulatedNodesArgs) -> None:
    provider = pulumi_kubernetes.Provider("cluster", kubeconfig="k")
    SimulatedNodes("nodes", args, pulumi.ResourceOptions(providers=[provider]))


@pytest.mark.parametrize("preview", [False, True])
def test_definitions_are_children_of_their_component(preview: bool) -> None:
    def program() -> None:
        CustomResources("kinds", {"kinds": ["LeaderWorkerSet"]})

    recorded = deploy(program, preview=preview)
    definition = recorded["kinds-leaderworkersets"]
    assert definition.parent == "inference-platform:index:CustomResources::kinds"
    assert definition.inputs["metadata"]["name"] == "leaderworkersets.leaderworkerset.x-k8s.io"


def test_definitions_of_a_release() -> None:
    def program() -> None:
        CustomResources("kinds", {"kinds": ["ModelServing"], "releases": {"kthena": "v0.3.0"}})

    (version,) = deploy(program)["kinds-modelservings"].inputs["spec"]["versions"]
    assert "plugins" in version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    assert version["subresources"]["scale"] == {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.labelSelector",
    }


@pytest.mark.parametrize(
    ("releases", "expected"),
    [
        ({"kthena": "v9"}, "releases.kthena: must be one of 97b99f41, v0.1.0"),
        ({"x": "v1"}, "releases.x: unknown family"),
        ({"kthena": "v1.0.0"}, "kinds[0]: Kthena v1.0.0 has no kind AutoscalingPolicyBinding; 97b99f41 to v0.4.0"),
    ],
)
def test_releases_that_do_not_exist_or_lack_a_kind(releases: dict[str, str], expected: str) -> None:
    def program() -> None:
        CustomResources("kinds", {"kinds": ["AutoscalingPolicyBinding"], "releases": releases})

    with pytest.raises(InvalidArguments, match=re.escape(expected)):
        deploy(program)


def test_objects_that_belong_to_no_family_have_definitions_too() -> None:
    def program() -> None:
        CustomResources("kinds", {"kinds": ["PodGroup"]})

    recorded = deploy(program)
    assert recorded["kinds-podgroups"].inputs["spec"]["group"] == "scheduling.volcano.sh"
