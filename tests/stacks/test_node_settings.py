"""Settings of nodes, through the whole program: what reaches AWS and Karpenter, and what is refused."""

import base64
from typing import Any

import pulumi
import pytest

from tests.recorded import Recorded
from tests.stacks.shipped import run, settings_of

pytestmark = pytest.mark.usefixtures("here")

GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
CLASS = "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"
KEY = "arn:aws:kms:us-east-1:123456789012:key/0a1b"
MODELS = ["stacks/models/qwen-chat.yaml"]


def dev(provisioner: str, cluster: dict[str, Any] | None = None, **gpu_nodes: Any) -> Recorded:
    shipped = settings_of("dev")
    nodes = {"quotas": {}, "provisioner": provisioner, **gpu_nodes}
    return run("dev", models=MODELS, gpuNodes=nodes, cluster={**shipped["cluster"], **(cluster or {})})


def refused(provisioner: str, **gpu_nodes: Any) -> str:
    with pytest.raises(pulumi.RunError) as caught:
        dev(provisioner, **gpu_nodes)
    return str(caught.value)


def templates(graph: Recorded) -> list[Any]:
    return [entry.inputs for entry in graph.of(TEMPLATE) if entry.name.startswith("nodes-")]


def classes(graph: Recorded) -> list[Any]:
    return [entry.inputs["spec"] for entry in graph.of(CLASS)]


@pytest.mark.parametrize(
    ("provisioner", "role"),
    [("managed", "cluster-node"), ("karpenter", "cluster-node"), ("karpenter", "karpenter-node")],
)
def test_policies_of_nodes_reach_every_role(provisioner: str, role: str) -> None:
    graph = dev(provisioner, {"nodePolicies": ["CloudWatchAgentServerPolicy"]})
    attached = graph.of("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
    assert "arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy" in {
        entry.inputs["policyArn"] for entry in attached if entry.inputs["role"] == role
    }


def test_with_karpenter_a_role_of_ones_own_is_that_of_the_system_nodes_alone() -> None:
    role = "arn:aws:iam::123456789012:role/nodes"
    graph = dev("karpenter", {"nodePolicies": ["CloudWatchAgentServerPolicy"], "nodeRoleArn": role})
    attached = graph.of("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
    assert {e.inputs["role"] for e in attached if "CloudWatchAgent" in e.inputs["policyArn"]} == {"karpenter-node"}


def test_disks_and_user_data_of_node_groups() -> None:
    script = "#!/bin/sh\necho hello\n"
    graph = dev("managed", diskThroughput=500, diskKmsKeyArn=KEY, userData=script, fastImagePull=True)
    for template in templates(graph):
        ebs = template["blockDeviceMappings"][0]["ebs"]
        assert (ebs["throughput"], ebs["kmsKeyId"]) == (500, KEY)
        text = base64.b64decode(template["userData"]).decode()
        assert script in text
        assert "FastImagePull: true" in text
    assert templates(graph)


def test_disks_and_user_data_of_pools() -> None:
    script = "#!/bin/sh\necho hello\n"
    graph = dev("karpenter", diskThroughput=1500, diskKmsKeyArn=KEY, userData=script, fastImagePull=True)
    for spec in classes(graph):
        ebs = spec["blockDeviceMappings"][0]["ebs"]
        assert (ebs["throughput"], ebs["iops"], ebs["kmsKeyID"]) == (1500, 6000, KEY)
        assert script in spec["userData"]
        assert "FastImagePull: true" in spec["userData"]
    assert classes(graph)


def test_a_new_version_of_the_cluster_moves_everything() -> None:
    """A preview of the upgrade has a change for each node group and for each add-on that differs."""

    def releases(version: str) -> dict[str, Any]:
        graph = dev("managed", {"version": version})
        groups = {entry.key: entry.inputs["releaseVersion"] for entry in graph.of(GROUP)}
        addons = {entry.key: entry.inputs["addonVersion"] for entry in graph.of("aws:eks/addon:Addon")}
        return groups | addons

    before, after = releases("1.34"), releases("1.35")
    assert before.keys() == after.keys()
    moved = {key for key in before if before[key] != after[key]}
    assert {key for key in before if key.startswith(GROUP)} <= moved
    assert any(key.endswith("kube-proxy") for key in moved)


@pytest.mark.parametrize("provisioner", ["managed", "karpenter"])
def test_taints_of_nodes_are_tolerated_by_the_models_of_every_family(provisioner: str) -> None:
    taint = {"key": "example.com/team", "value": "chat", "effect": "NoSchedule"}
    models = ["stacks/models/qwen-chat.yaml", "stacks/models/mistral-tgi.yaml"]
    shipped = settings_of("dev")["cluster"]
    nodes = {"provisioner": provisioner, "taints": [taint], "labels": {"stage": "test"}}
    graph = run("dev", models=models, gpuNodes=nodes, cluster=shipped)
    pods = [
        entry.inputs["spec"]["template"]["spec"]
        for entry in graph.of("kubernetes:apps/v1:Deployment")
        if entry.inputs["metadata"]["namespace"] == "models"
    ]
    assert len(pods) >= len(models)
    wanted = {"key": "example.com/team", "operator": "Equal", "value": "chat", "effect": "NoSchedule"}
    assert all(wanted in pod["tolerations"] for pod in pods)
    if provisioner == "managed":
        groups = [entry.inputs for entry in graph.of(GROUP) if entry.name.startswith("nodes-")]
        assert all({**taint, "effect": "NO_SCHEDULE"} in group["taints"] for group in groups)
        assert all(group["labels"]["stage"] == "test" for group in groups)
    else:
        pools = [entry.inputs["spec"]["template"] for entry in graph.of("kubernetes:karpenter.sh/v1:NodePool")]
        assert all(taint in pool["spec"]["taints"] for pool in pools)
        assert all(pool["metadata"]["labels"]["stage"] == "test" for pool in pools)


def test_pods_that_an_operator_makes_do_not_tolerate_them() -> None:
    with pytest.raises(pulumi.RunError) as caught:
        run("dev", realization="operator", gpuNodes={"taints": [{"key": "team"}]})
    assert "gpuNodes.taints: is set, but pods that an operator creates do not tolerate further taints" in str(
        caught.value
    )


@pytest.mark.parametrize(
    ("provisioner", "settings", "expected"),
    [
        (
            "managed",
            {"amiRelease": "v20260714"},
            "gpuNodes.amiRelease: must be latest, or a release of al2023 such as",
        ),
        ("karpenter", {"forceUpdate": True}, "gpuNodes.forceUpdate: has no effect with Karpenter"),
        ("managed", {"diskThroughput": 1500}, "gpuNodes.diskThroughput: must be at most 1000 MiB/s, found 1500"),
        (
            "managed",
            {"labels": {"kubernetes.io/x": "y"}},
            "gpuNodes.labels: has the label kubernetes.io/x, which EKS",
        ),
        (
            "managed",
            {"taints": [{"key": "a", "effect": "No"}]},
            "gpuNodes.taints.0.effect: must be 'NoSchedule', 'PreferNoSchedule' or",
        ),
        ("managed", {"diskThroughput": 100}, "gpuNodes.diskThroughput: must be at least 125"),
        ("karpenter", {"userData": "echo"}, "gpuNodes.userData: must be a NodeConfig"),
        (
            "karpenter",
            {"fastImagePull": True, "image": "bottlerocket", "amiRelease": "1.43.0-0abcdef0"},
            "gpuNodes.fastImagePull: requires Bottlerocket 1.44",
        ),
    ],
)
def test_what_is_refused(provisioner: str, settings: dict[str, Any], expected: str) -> None:
    assert expected in refused(provisioner, **settings)
