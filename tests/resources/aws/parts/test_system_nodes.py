"""The nodes of a cluster's own pods: how many, who scales them, and what comes before they go."""

from typing import Any

import pytest

from tests.resources.aws.test_cluster import NODES, made


def test_they_are_untainted_and_say_nothing_to_pods() -> None:
    graph = made()
    group = graph[f"{NODES}::main-system"].inputs
    assert "taints" not in group
    assert group["amiType"] == "AL2023_x86_64_STANDARD"
    assert group["scalingConfig"] == {"minSize": 2, "desiredSize": 2, "maxSize": 2}
    metadata = graph["aws:ec2/launchTemplate:LaunchTemplate::main-system"].inputs["metadataOptions"]
    assert metadata == {"httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": 1}


def test_their_fixed_number_is_changed_as_a_whole() -> None:
    """EKS refuses a least above the wanted size; with all three equal nobody else moves it."""
    group = made(system_nodes=5)[f"{NODES}::main-system"]
    assert group.inputs["scalingConfig"] == {"minSize": 5, "desiredSize": 5, "maxSize": 5}
    assert group.registration.ignore_changes == ()
    assert made(system_nodes=5).of("aws:autoscaling/tag:Tag") == []


def test_they_scale_on_request() -> None:
    graph = made(system_nodes=3, system_nodes_max=8)
    group = graph[f"{NODES}::main-system"]
    assert group.inputs["scalingConfig"] == {"minSize": 0, "desiredSize": 3, "maxSize": 450}
    assert group.registration.ignore_changes == ("scalingConfig",)
    tags = [entry.inputs["tag"] for entry in graph.of("aws:autoscaling/tag:Tag")]
    assert {tag["key"]: tag["value"] for tag in tags} == {
        "k8s.io/cluster-autoscaler/enabled": "true",
        "k8s.io/cluster-autoscaler/main": "owned",
        "inference-platform/autoscaled": "true",
    }
    assert graph.exports["bounds"] == [{"name": "asg-main-system", "minSize": 3, "maxSize": 8}]
    assert made(system_nodes=3).exports["bounds"] == []


@pytest.mark.parametrize(
    "change",
    [
        {"system_instance_types": ["m7i.xlarge"]},
        {"image": "bottlerocket"},
        {"subnet_ids": ["subnet-1", "subnet-3"]},
        {"node_role_arn": "arn:aws:iam::123456789012:role/others"},
        {"system_nodes_max": 8},
    ],
    ids=str,
)
def test_a_replacement_is_there_before_the_old_nodes_go(change: dict[str, Any]) -> None:
    """The first four cannot be changed in place (the provider's node_group.go), the last would not reach EKS."""
    before, after = made()[f"{NODES}::main-system"], made(**change)[f"{NODES}::main-system"]
    assert before.inputs["nodeGroupName"].startswith("system-")
    assert before.inputs["nodeGroupName"] != after.inputs["nodeGroupName"]
    # Left out, the provider's rule holds: what has a name of its own goes first.
    assert after.registration.delete_before_replace is False


@pytest.mark.parametrize("change", [{"system_nodes": 5}, {"version": "1.34"}, {"tags": {"team": "b"}}], ids=str)
def test_what_can_be_changed_in_place_is(change: dict[str, Any]) -> None:
    before, after = made()[f"{NODES}::main-system"], made(**change)[f"{NODES}::main-system"]
    assert before.inputs["nodeGroupName"] == after.inputs["nodeGroupName"]


def test_architecture_decides_the_image() -> None:
    group = made(system_instance_types=["m7g.large", "m7g.xlarge"])[f"{NODES}::main-system"].inputs
    assert group["amiType"] == "AL2023_ARM_64_STANDARD"


def test_their_release_is_pinned_for_the_version() -> None:
    group = made()[f"{NODES}::main-system"].inputs
    assert (group["version"], group["releaseVersion"]) == ("1.35", "1.35.6-20260714")
    assert "forceUpdateVersion" not in group
    assert made(version="1.34")[f"{NODES}::main-system"].inputs["releaseVersion"] == "1.34.9-20260714"
    group = made(image="bottlerocket", force_update=True)[f"{NODES}::main-system"].inputs
    assert (group["releaseVersion"], group["forceUpdateVersion"]) == ("1.66.0-1ad6b4a4", True)


def test_their_newest_release_on_request() -> None:
    assert "releaseVersion" not in made(system_ami_release="latest")[f"{NODES}::main-system"].inputs


def test_a_role_of_ones_own_is_used() -> None:
    graph = made(node_role_arn="arn:aws:iam::123456789012:role/nodes")
    assert graph[f"{NODES}::main-system"].inputs["nodeRoleArn"] == "arn:aws:iam::123456789012:role/nodes"
    assert not [entry for entry in graph.of("aws:iam/role:Role") if entry.name == "main-node"]


def test_their_disks_have_a_key_of_ones_own() -> None:
    arn = "arn:aws:kms:us-east-1:123456789012:key/0a1b"
    template = made(disk_kms_key_arn=arn)["aws:ec2/launchTemplate:LaunchTemplate::main-system"]
    assert template.inputs["blockDeviceMappings"][0]["ebs"]["kmsKeyId"] == arn
