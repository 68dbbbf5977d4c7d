"""GpuNodeGroups and KarpenterPools in anybody's program: flavors or manifests in, checked as a stack's are."""

from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes
import pytest
import yaml
from pulumi.provider.experimental.component import ComponentProvider

from components import GpuNodeGroups, GpuNodeGroupsArgs, KarpenterPools, KarpenterPoolsArgs
from components.serving.arguments import InvalidArguments
from tests.aws.components.aws_mock import Aws
from tests.recorded import Entry, Recorded, deploy

GROUP = "aws:eks/nodeGroup:NodeGroup"
POOL = "kubernetes:karpenter.sh/v1:NodePool"
MODELS = Path(__file__).parents[3] / "stacks" / "models"
ONE: dict[str, Any] = {"nvidia.com/gpu": 1}
A10G: dict[str, Any] = {"name": "a10g", "limits": ONE, "params": {"INSTANCE-TYPE": "g5.2xlarge"}}
L4: dict[str, Any] = {"name": "l4", "limits": ONE, "params": {"INSTANCE-TYPE": "g6.2xlarge"}}
TAINT = {"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}
EMPTY = {"minSize": 0, "desiredSize": 0}
PLACE: dict[str, Any] = {
    "region": "us-east-1",
    "vpc_id": "vpc-1",
    "subnets": {"us-east-1a": "subnet-a", "us-east-1b": "subnet-b"},
    "cluster_security_group_id": "sg-1",
}
CLUSTER: dict[str, Any] = {
    **PLACE,
    "cluster_name": "main",
    "cluster_plain_name": "main",
    "version": "1.35",
    "node_role_arn": "arn:aws:iam::123456789012:role/nodes",
}


def manifests(*names: str) -> list[dict[str, Any]]:
    return [each for name in names for each in yaml.safe_load_all((MODELS / f"{name}.yaml").read_text())]


def groups(preview: bool = False, **args: Any) -> Recorded:
    def program() -> None:
        made = GpuNodeGroups("gpu", {**CLUSTER, **args})  # type: ignore[typeddict-item]
        pulumi.export("names", made.names)

    return deploy(program, preview=preview, mock=Aws())


def pools(**args: Any) -> Recorded:
    def program() -> None:
        provider = pulumi_kubernetes.Provider("cluster", kubeconfig="{}")
        options = pulumi.ResourceOptions(providers=[provider])
        KarpenterPools("gpu", {**PLACE, "node_role_name": "nodes", **args}, options)  # type: ignore[typeddict-item]

    return deploy(program, mock=Aws())


def by_type(graph: Recorded) -> dict[str, Entry]:
    return {entry.inputs["instanceTypes"][0]: entry for entry in graph.of(GROUP)}


def refusals(**args: Any) -> dict[str, list[str]]:
    with pytest.raises(InvalidArguments) as raised:
        groups(**args)
    found: dict[str, list[str]] = {}
    for error in raised.value.errors or []:
        found.setdefault(error["property_path"], []).append(error["reason"])
    return found


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
        pulumi.export("names", GpuNodeGroups("gpu", args).names)

    graph = deploy(program, preview=preview, mock=Aws())
    spot, l4 = by_type(graph)["g5.2xlarge"], by_type(graph)["g6.2xlarge"]
    assert (spot.name, spot.inputs["capacityType"]) == ("gpu-g5-2xlarge-spot", "SPOT")
    assert spot.inputs["instanceTypes"] == ["g5.2xlarge", "g5.4xlarge", "g5.8xlarge"]
    assert spot.inputs["labels"] == {"k8s.amazonaws.com/accelerator": "a10g"}
    assert spot.inputs["scalingConfig"] == {**EMPTY, "maxSize": 4}
    assert (l4.inputs["capacityType"], l4.inputs["amiType"]) == ("ON_DEMAND", "AL2023_x86_64_NVIDIA")
    assert l4.inputs["labels"] == {"k8s.amazonaws.com/accelerator": "l4", "team": "chat"}
    assert l4.inputs["scalingConfig"] == {**EMPTY, "maxSize": 10}
    for group in (spot, l4):
        assert group.inputs["taints"] == [TAINT]
        assert group.inputs["subnetIds"] == ["subnet-a", "subnet-b"]
        assert group.parent == "inference-platform:index:GpuNodeGroups::gpu"
    assert len(graph.of(GROUP)) == 2


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["gemma-elastic"], {"g6e.2xlarge": (0, 1)}),
        (["deepseek-two-flavors"], {"g6e.2xlarge": (0, 1), "g5.2xlarge": (0, 0)}),
        (["llmkube-autoscaled"], {"g6.2xlarge": (0, 1)}),
        (["llmkube-tinyllama-cpu"], {"m7i.2xlarge": (0, 1)}),
    ],
    ids=str,
)
def test_manifests_of_a_family_give_the_nodes_that_they_need(names: list[str], expected: dict[str, Any]) -> None:
    found = by_type(groups(manifests=manifests(*names)))
    sizes = {kind: group.inputs["scalingConfig"] for kind, group in found.items()}
    assert {kind: (size["minSize"], size["desiredSize"]) for kind, size in sizes.items()} == expected
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
    sizes = {kind: group.inputs["scalingConfig"]["desiredSize"] for kind, group in found.items()}
    assert sizes == {"g6e.2xlarge": 2, "g5.2xlarge": 0}


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
            ({"scale_to_zero": False}, (1, 1, 10)),
            ({"types": {"g5.2xlarge": {"min_nodes": 2, "max_nodes": 3}}}, (2, 2, 3)),
            ({"types": {"g5.2xlarge": {"min_nodes": 2.0, "max_nodes": 3.0}}}, (2, 2, 3)),
        ],
    )
    def test_sizes(self, args: dict[str, Any], sizes: tuple[int, int, int]) -> None:
        """Whole numbers of a remote caller are floats."""
        (group,) = groups(flavors=[A10G], **args).of(GROUP)
        assert tuple(group.inputs["scalingConfig"][key] for key in ("minSize", "desiredSize", "maxSize")) == sizes

    def test_a_reservation_bounds_a_group(self) -> None:
        held = {"id": "cr-0a1b", "zone": "us-east-1b", "count": 3}
        (group,) = groups(flavors=[A10G], types={"g5.2xlarge": {"capacity": "odcr", "reservation": held}}).of(GROUP)
        assert (group.inputs["scalingConfig"]["maxSize"], group.inputs["subnetIds"]) == (3, ["subnet-b"])

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


def changed(flavor: dict[str, Any], **changes: Any) -> list[dict[str, Any]]:
    return [{**flavor, **changes}]


OWN_IMAGE = {"types": {"g5.2xlarge": {"ami_id": "ami-0abc"}}}
FAULTS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "flavors", "is required unless manifests is set"),
    ({"flavors": [A10G], "manifests": [{}]}, "manifests", "cannot be combined with flavors"),
    ({"flavors": [A10G], "flavours": []}, "flavours", "did you mean 'flavors'"),
    ({"flavors": changed(A10G, limit={})}, "flavors[0].limit", "did you mean 'limits'"),
    ({"flavors": changed(A10G, params={})}, "flavors[0].params", "has no instance type"),
    ({"flavors": changed(A10G, params={"INSTANCE-TYPE": 5})}, "flavors[0].params[INSTANCE-TYPE]", "string"),
    ({"flavors": changed(A10G, limits={"nvidia.com/gpu": "x"})}, "flavors[0].limits[nvidia.com/gpu]", "quantity"),
    ({"flavors": [L4, *changed(A10G, limits={"nvidia.com/gpu": 8})]}, "flavors[1]", "g5.2xlarge has only 1"),
    ({"flavors": changed(A10G, params={"INSTANCE-TYPE": "g5.2xlage"})}, "flavors[0]", "did you mean g5.2xlarge"),
    ({"flavors": changed(A10G, params={"INSTANCE-TYPE": "p5e.48xlarge"})}, "flavors[0]", "is not offered in"),
    ({"flavors": changed(A10G, params={"INSTANCE-TYPE": "g7.2xlarge"})}, "flavors[0]", "types[g7.2xlarge].ami_id"),
    ({"flavors": changed(A10G, node_selector={"a b": "c"})}, "flavors[0]", "which is not a valid label"),
    ({"flavors": changed(A10G, node_selector={"x.k8s.io/a": "c"})}, "flavors[0]", "which EKS does not allow"),
    ({"flavors": [A10G], "capacity": "cheap"}, "capacity", "'on-demand' or 'spot'"),
    ({"flavors": [A10G], "image": "al2"}, "image", "'al2023' or 'bottlerocket'"),
    ({"flavors": [A10G], "region": "useast1"}, "region", "write a region such as us-east-1"),
    ({"flavors": [A10G], "subnets": {}}, "subnets", "at least 1"),
    ({"flavors": [A10G], "zones": ["us-east-1c"]}, "zones", "has no subnet"),
    ({"flavors": [A10G], "disk_gib": 1}, "disk_gib", "must be at least 20"),
    ({"flavors": [A10G], "node_role_arn": None}, "node_role_arn", "is required"),
    ({"flavors": [A10G], "cluster_plain_name": "-x"}, "cluster_plain_name", "EKS allows 1 to 100 letters"),
    ({"flavors": [A10G], "types": {"g5.2xlarge": {"spots": []}}}, "types[g5.2xlarge].spots", "'spot_types'"),
    ({"flavors": [A10G], "types": {"g5": {}}}, "types.g5", "unknown instance type 'g5'"),
    ({"flavors": [A10G], "types": {"g5.2xlarge": {"capacity": "odcr"}}}, "types[g5.2xlarge].reservation", "is req"),
    ({"flavors": [A10G], "types": {"g5.2xlarge": {"efa": True}}}, "types[g5.2xlarge].efa", "has no EFA"),
    ({"flavors": [A10G], **OWN_IMAGE}, "endpoint", "ami_id of g5.2xlarge"),
    ({"flavors": [A10G], **OWN_IMAGE}, "certificate_authority", "is required with an image of your own"),
    ({"flavors": [A10G], "realization": "cloud"}, "realization", "'native' or 'operator'"),
    ({"manifests": [{"kind": "Playground"}]}, "apiVersion", "is required"),
    ({"manifests": manifests("llama-405b-multinode"), "types": {"p5.48xlarge": {"max_nodes": 1}}}, "spec",
     "raise max_nodes under types in gpu"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("args", "path", "reason"), FAULTS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_is_wrong_is_said_at_the_argument(args: dict[str, Any], path: str, reason: str) -> None:
    found = refusals(**args)
    assert any(reason in each for each in found.get(path, [])), found


def test_everything_that_is_wrong_is_said_at_once_and_nothing_is_registered() -> None:
    found = refusals(flavors=[A10G], region="x", zones=["y"], image="z", disk_gib=1, tag={}, node_role_arn=None)
    assert set(found) == {"region", "zones", "zones[0]", "image", "disk_gib", "tag", "node_role_arn"}
    assert set(refusals(flavors=[*changed(A10G, limits={"nvidia.com/gpu": 2}), {"name": "x"}], **OWN_IMAGE)) == {
        "flavors[0]",
        "flavors[1].params",
        "endpoint",
        "certificate_authority",
    }


def test_karpenter_refuses_what_it_cannot_do() -> None:
    """aws-gpu spec 10: it does not place pods on a part of a GPU."""
    with pytest.raises(InvalidArguments, match=r"gpu: flavors\[0\]: Karpenter does not place pods on g6f.large"):
        pools(flavors=changed(A10G, params={"INSTANCE-TYPE": "g6f.large"}))


def test_pools_take_manifests_too() -> None:
    graph = pools(manifests=manifests("gemma-elastic"), labels={"team": "chat"}, ami_release="latest")
    (pool,), (class_,) = graph.of(POOL), graph.of("kubernetes:karpenter.k8s.aws/v1:EC2NodeClass")
    template = pool.inputs["spec"]["template"]
    assert template["metadata"]["labels"] == {"k8s.amazonaws.com/accelerator": "l40s", "team": "chat"}
    assert class_.inputs["spec"]["amiSelectorTerms"] == [{"alias": "al2023@latest"}]


def test_both_take_the_same_arguments_about_nodes() -> None:
    managed, karpenter = GpuNodeGroupsArgs.__annotations__, KarpenterPoolsArgs.__annotations__
    alone = {"cluster_name", "cluster_plain_name", "version", "node_role_arn", "endpoint", "certificate_authority",
             "service_cidr", "scale_to_zero", "imds_hop_limit", "node_repair"}  # fmt: skip
    assert set(managed) - set(karpenter) == alone
    assert set(karpenter) - set(managed) == {"node_role_name", "ami_release"}
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
        GpuNodeGroups("gpu", args)

    graph = deploy(program, mock=Aws())
    (group,), (template,) = graph.of(GROUP), graph.of("aws:ec2/launchTemplate:LaunchTemplate")
    assert group.inputs["scalingConfig"] == {**EMPTY, "maxSize": 2}
    assert group.inputs["labels"]["team"] == "chat"
    assert group.inputs["subnetIds"] == ["subnet-a"]
    assert template.inputs["blockDeviceMappings"][0]["ebs"]["volumeSize"] == 100
