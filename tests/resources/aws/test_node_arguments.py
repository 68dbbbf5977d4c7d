"""GpuNodeGroups and KarpenterPools in anybody's program: flavors or manifests in, checked as a stack's are."""

from typing import Any

import pulumi
import pytest
from pulumi.provider.experimental.component import ComponentProvider

from components import GpuNodeGroups, GpuNodeGroupsArgs, KarpenterPoolsArgs
from tests.recorded import deploy
from tests.resources.aws.aws_mock import Aws
from tests.resources.aws.node_arguments import (
    A10G,
    EMPTY,
    GROUP,
    L4,
    ONE,
    POOL,
    TAINT,
    by_type,
    groups,
    manifests,
    pools,
)


@pytest.mark.parametrize("preview", [False, True])
def test_ten_lines_with_two_flavors(preview: bool) -> None:
    def program() -> None:
        args: GpuNodeGroupsArgs = {
            "cluster_name": pulumi.Output.from_input("main"),
            "cluster_plain_name": "main",
            "region": "us-east-1",
            "version": "1.35",
            "vpc_id": "vpc-1",
            "subnets": {"us-east-1a": pulumi.Output.from_input("subnet-a"), "us-east-1b": "subnet-b"},
            "node_role_arn": "arn:aws:iam::123456789012:role/nodes",
            "cluster_security_group_id": "sg-1",
            "flavors": [
                {"name": "a10g", "limits": ONE, "params": {"INSTANCE-TYPE": "g5.2xlarge"}},
                {"name": "l4", "node_selector": {"team": "chat"}, "params": {"INSTANCE-TYPE": "g6.2xlarge"}},
            ],
            "types": {"g5.2xlarge": {"capacity": "spot", "spot_types": ["g5.4xlarge", "g5.8xlarge"], "max_nodes": 4}},
        }
        made = GpuNodeGroups("gpu", args)
        pulumi.export("names", made.names)
        pulumi.export("bounds", made.bounds)

    graph = deploy(program, preview=preview, mock=Aws())
    spot, l4 = by_type(graph)["g5.2xlarge"], by_type(graph)["g6.2xlarge"]
    assert (spot.name, spot.inputs["capacityType"]) == ("gpu-g5-2xlarge-spot", "SPOT")
    assert spot.inputs["instanceTypes"] == ["g5.2xlarge", "g5.4xlarge", "g5.8xlarge"]
    assert spot.inputs["labels"] == {"k8s.amazonaws.com/accelerator": "a10g"}
    if not preview:
        told = {each["name"]: (each["minSize"], each["maxSize"]) for each in graph.exports["bounds"]}
        assert told == {f"asg-{spot.name}": (0, 4), f"asg-{l4.name}": (0, 10)}
    assert (l4.inputs["capacityType"], l4.inputs["amiType"]) == ("ON_DEMAND", "AL2023_x86_64_NVIDIA")
    assert l4.inputs["labels"] == {"k8s.amazonaws.com/accelerator": "l4", "team": "chat"}
    for group in (spot, l4):
        assert group.inputs["taints"] == [TAINT]
        assert group.inputs["scalingConfig"] == EMPTY
        assert group.inputs["subnetIds"] == ["subnet-a", "subnet-b"]
        assert group.parent == "inference-platform:index:GpuNodeGroups::gpu"
    assert len(graph.of(GROUP)) == 2


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["gemma-elastic"], {"g6e.2xlarge": 1}),
        (["deepseek-two-flavors"], {"g6e.2xlarge": 1, "g5.2xlarge": 0}),
        (["llmkube-autoscaled"], {"g6.2xlarge": 1}),
        (["llmkube-tinyllama-cpu"], {"m7i.2xlarge": 1}),
    ],
    ids=str,
)
def test_manifests_of_a_family_give_the_nodes_that_they_need(names: list[str], expected: dict[str, int]) -> None:
    found = by_type(groups(manifests=manifests(*names)))
    assert {kind: group.inputs["scalingConfig"] for kind, group in found.items()} == dict.fromkeys(expected, EMPTY)
    kept = groups(manifests=manifests(*names), scale_to_zero=False)
    assert {kind: group.inputs["scalingConfig"] for kind, group in by_type(kept).items()} == dict.fromkeys(
        expected, EMPTY
    )
    least = {each["name"]: each["minSize"] for each in kept.exports["bounds"]}
    assert least == {f"asg-{group.name}": expected[kind] for kind, group in by_type(kept).items()}
    for group in found.values():
        gpu = "k8s.amazonaws.com/accelerator" in group.inputs["labels"]
        assert group.inputs.get("taints", []) == ([TAINT] if gpu else [])


def test_families_go_together_and_share_nodes() -> None:
    """A LeaderWorkerSet written by hand says nothing of nodes; it changes nothing."""
    container = {"name": "engine", "image": "vllm/vllm-openai:v0.11.0"}
    group = {"size": 2, "workerTemplate": {"spec": {"containers": [container]}}}
    by_hand = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "large", "namespace": "models"},
        "spec": {"replicas": 1, "leaderWorkerTemplate": group},
    }
    found = by_type(groups(manifests=[*manifests("deepseek-two-flavors", "llmkube-vllm-speculative"), by_hand]))
    assert set(found) == {"g6e.2xlarge", "g5.2xlarge"}


def test_manifests_and_flavors_lead_to_groups_of_one_name() -> None:
    """Who begins with flavors and has models later keeps the nodes."""
    wanted = {"g6e.2xlarge": "l40s", "g5.2xlarge": "a10g"}
    flavors = [{"name": n, "limits": ONE, "params": {"INSTANCE-TYPE": kind}} for kind, n in wanted.items()]
    of_models, of_flavors = groups(manifests=manifests("deepseek-two-flavors")), groups(flavors=flavors)
    names = [entry.inputs["nodeGroupName"] for entry in of_models.of(GROUP)]
    assert names == [entry.inputs["nodeGroupName"] for entry in of_flavors.of(GROUP)]
    assert of_models.exports["names"] == of_flavors.exports["names"]


class TestFlavors:
    def test_an_autoscaler_knows_their_empty_groups(self) -> None:
        tags = groups(flavors=[A10G]).of("aws:autoscaling/tag:Tag")
        found = {entry.inputs["tag"]["key"]: entry.inputs["tag"]["value"] for entry in tags}
        assert found["k8s.io/cluster-autoscaler/main"] == "owned"
        assert found["k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu"] == "1"

    @pytest.mark.parametrize(
        ("args", "sizes"),
        [
            ({}, (0, 0, 10)),
            ({"scale_to_zero": False}, (0, 1, 10)),
            ({"types": {"g5.2xlarge": {"min_nodes": 2, "max_nodes": 3}}}, (0, 2, 3)),
            ({"types": {"g5.2xlarge": {"min_nodes": 2.0, "max_nodes": 3.0}}}, (0, 2, 3)),
        ],
    )
    def test_sizes(self, args: dict[str, Any], sizes: tuple[int, int, int]) -> None:
        """Whole numbers of a remote caller are floats."""
        graph = groups(flavors=[A10G], **args)
        (group,), (told,) = graph.of(GROUP), graph.exports["bounds"]
        assert (group.inputs["scalingConfig"]["desiredSize"], told["minSize"], told["maxSize"]) == sizes

    def test_a_reservation_bounds_a_group(self) -> None:
        held = {"id": "cr-0a1b", "zone": "us-east-1b", "count": 3}
        graph = groups(flavors=[A10G], types={"g5.2xlarge": {"capacity": "odcr", "reservation": held}})
        (group,), (told,) = graph.of(GROUP), graph.exports["bounds"]
        assert (told["minSize"], told["maxSize"], group.inputs["subnetIds"]) == (0, 3, ["subnet-b"])

    def test_efa_follows_from_the_limits(self) -> None:
        limits = {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": "32"}
        graph = groups(
            flavors=[{"name": "h100", "limits": limits, "params": {"INSTANCE-TYPE": "p5.48xlarge"}}],
            zones=["us-east-1a"],
        )
        (template,) = graph.of("aws:ec2/launchTemplate:LaunchTemplate")
        assert len(template.inputs["networkInterfaces"]) == 33

    def test_the_first_weighs_most_with_karpenter(self) -> None:
        weights = {
            e.inputs["metadata"]["name"]: e.inputs["spec"]["weight"] for e in pools(flavors=[A10G, L4]).of(POOL)
        }
        assert weights == {"g5-2xlarge": 100, "g6-2xlarge": 90}


def test_pools_take_manifests_too() -> None:
    graph = pools(manifests=manifests("gemma-elastic"), labels={"team": "chat"}, ami_release="latest")
    (pool,), (class_,) = graph.of(POOL), graph.of("kubernetes:karpenter.k8s.aws/v1:EC2NodeClass")
    template = pool.inputs["spec"]["template"]
    assert template["metadata"]["labels"] == {"k8s.amazonaws.com/accelerator": "l40s", "team": "chat"}
    assert class_.inputs["spec"]["amiSelectorTerms"] == [{"alias": "al2023@latest"}]


def test_both_take_the_same_arguments_about_nodes() -> None:
    managed, karpenter = GpuNodeGroupsArgs.__annotations__, KarpenterPoolsArgs.__annotations__
    alone = {"cluster_name", "cluster_plain_name", "version", "node_role_arn", "endpoint", "certificate_authority",
             "service_cidr", "node_repair", "force_update"}  # fmt: skip
    assert set(managed) - set(karpenter) == alone
    assert set(karpenter) - set(managed) == {"node_role_name", "disruption", "general_pool"}
    assert all(managed[key] == karpenter[key] for key in managed.keys() & karpenter.keys())


def test_the_plugin_hands_over_names_and_numbers_of_other_languages() -> None:
    """They are in camelCase, numbers are floats, and what resources gave is an output still."""
    provider = ComponentProvider([GpuNodeGroups], "inference-platform", version="0.0.0")
    inputs: dict[str, Any] = {
        "clusterName": "main",
        "clusterPlainName": "main",
        "region": "us-east-1",
        "version": "1.35",
        "vpcId": "vpc-1",
        "nodeRoleArn": "arn:aws:iam::123456789012:role/nodes",
        "clusterSecurityGroupId": "sg-1",
        "diskGib": 100.0,
        "flavors": [
            {
                "name": "a10g",
                "limits": {"nvidia.com/gpu": 1.0},
                "nodeSelector": {"team": "chat"},
                "params": {"INSTANCE-TYPE": "g5g.xlarge"},
            }
        ],
        "types": {"g5g.xlarge": {"maxNodes": 2.0}},
    }

    def program() -> None:
        subnets = {"us-east-1a": pulumi.Output.from_input("subnet-a")}
        args: Any = provider.map_inputs({**inputs, "subnets": subnets}, provider._component_defs["GpuNodeGroups"])
        pulumi.export("bounds", GpuNodeGroups("gpu", args).bounds)

    graph = deploy(program, mock=Aws())
    (group,), (template,) = graph.of(GROUP), graph.of("aws:ec2/launchTemplate:LaunchTemplate")
    assert group.inputs["scalingConfig"] == EMPTY
    assert graph.exports["bounds"] == [{"name": f"asg-{group.name}", "minSize": 0, "maxSize": 2}]
    assert group.inputs["labels"]["team"] == "chat"
    assert group.inputs["subnetIds"] == ["subnet-a"]
    assert template.inputs["blockDeviceMappings"][0]["ebs"]["volumeSize"] == 100
