"""Existing node groups that a program owns: GpuNodeGroups imports them under their own names."""

from typing import Any

import pytest

from components.clouds.aws.nodes.owned import FixedProperties
from tests.resources.aws.node_arguments import A10G, GROUP, L4, groups, pools, refusals

ROLE = "arn:aws:iam::123456789012:role/other"
PROPERTIES = FixedProperties(
    ami_type="AL2023_x86_64_NVIDIA",
    capacity_type="ON_DEMAND",
    disk_gib=100,
    instance_types=("g5.2xlarge",),
    launch_template_id="",
    node_role_arn=ROLE,
    ssh_key="",
    ssh_security_groups=(),
    subnets=("subnet-a", "subnet-c"),
    size=(1, 4, 3),
)


def owned(name: str = "a10g", **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "labels": {"pool": "chat"},
        "tags": {"team": "search"},
        "fixed": {
            "ami_type": "AL2023_x86_64_NVIDIA",
            "capacity_type": "ON_DEMAND",
            "disk_gib": 100,
            "instance_types": ["g5.2xlarge"],
            "node_role_arn": ROLE,
            "subnets": ["subnet-c", "subnet-a"],
            "size": {"min": 1, "max": 4, "desired": 3},
            "checksum": PROPERTIES.checksum,
            **changes,
        },
    }


@pytest.mark.parametrize("preview", [False, True])
def test_a_group_is_imported_beside_those_that_are_created(preview: bool) -> None:
    types = {"g5.2xlarge": {"owned_groups": [owned()], "labels": {"pool": "chat"}}}
    graph = groups(preview, flavors=[A10G, L4], types=types, tags={"env": "prod", "team": "none"})
    entries = {entry.name: entry for entry in graph.of(GROUP)}
    assert entries.keys() == {"gpu-owned-a10g", "gpu-g6-2xlarge"}
    entry = entries["gpu-owned-a10g"]
    assert entry.inputs == {
        "clusterName": "main",
        "nodeGroupName": "a10g",
        "nodeRoleArn": ROLE,
        "subnetIds": ["subnet-a", "subnet-c"],
        "amiType": "AL2023_x86_64_NVIDIA",
        "capacityType": "ON_DEMAND",
        "diskSize": 100,
        "instanceTypes": ["g5.2xlarge"],
        "scalingConfig": {"minSize": 1, "maxSize": 4, "desiredSize": 3},
        "labels": {"pool": "chat"},
        "tags": {"env": "prod", "team": "search"},
    }
    registration = entry.registration
    assert (registration.import_id, registration.retain_on_delete) == ("main:a10g", True)
    assert registration.ignore_changes == ("scalingConfig",)
    assert entries["gpu-g6-2xlarge"].registration.import_id == ""
    assert all("a10g" not in tag.name for tag in graph.of("aws:autoscaling/tag:Tag"))
    if not preview:
        assert "a10g" in graph.exports["names"]


def test_groups_that_no_model_uses_stay_owned() -> None:
    """A group that left the program would leave the stack."""
    graph = groups(flavors=[L4], types={"g5.2xlarge": {"owned_groups": [owned()]}})
    assert {entry.name for entry in graph.of(GROUP)} == {"gpu-owned-a10g", "gpu-g6-2xlarge"}


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"subnets": ["subnet-a"]}, "subnets"),
        ({"disk_gib": 200}, "disk_gib"),
        ({"instance_types": []}, "instance_types"),
        ({"launch_template_id": "lt-1"}, "launch_template_id"),
        ({"size": {"min": 1, "max": 5, "desired": 3}}, "size"),
    ],
)
def test_an_edit_of_what_eks_cannot_change_is_an_error(changes: dict[str, Any], key: str) -> None:
    group = {**owned(**changes), **({"launch_template_version": "1"} if "launch_template_id" in changes else {})}
    found = refusals(flavors=[A10G], types={"g5.2xlarge": {"owned_groups": [group]}})
    ((path, reasons),) = found.items()
    assert path == f"types[g5.2xlarge].owned_groups[0].fixed.{key}"
    assert "was another value when a10g was adopted" in reasons[0]


def test_the_order_of_subnets_does_not_matter() -> None:
    group = owned(subnets=["subnet-a", "subnet-c"])
    assert groups(flavors=[A10G], types={"g5.2xlarge": {"owned_groups": [group]}}).of(GROUP)


def test_a_type_has_its_own_groups_only() -> None:
    found = refusals(flavors=[L4], types={"g6.2xlarge": {"owned_groups": [owned(), owned()]}})
    path, wrong_type = "types[g6.2xlarge].owned_groups[0]", "begins with g5.2xlarge; move the group to the settings"
    assert found[f"{path}.fixed.instance_types"] == [f"{wrong_type} of that type"]
    assert found[f"{path}.name"] == ["a10g is listed more than once; remove one of them"]


def test_karpenter_has_no_node_groups() -> None:
    with pytest.raises(Exception, match=r"owned_groups\[0\]: a10g is a managed node group"):
        pools(flavors=[A10G], types={"g5.2xlarge": {"owned_groups": [owned()]}})
