"""GpuNodeGroups: one managed node group per need, told to EKS, EC2 and the autoscaler without contradiction."""

import base64
import datetime
from dataclasses import replace
from typing import Any

import pulumi
import pytest

from components.clouds.aws.nodes.launch import Boot
from components.fleet.nodes.policy import Capacity, TypePolicy
from components.resources.aws.gpu_node_groups import GpuNodeGroups
from tests.clouds.aws.environments import BLOCK, HELD, NOW, environment, flavor, one, planned
from tests.recorded import Recorded, deploy
from tests.resources.aws.aws_mock import Aws

COMPONENT = "inference-platform:index:GpuNodeGroups::nodes"
GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
TAG = "aws:autoscaling/tag:Tag"
KEY = "arn:aws:kms:us-east-1:123456789012:key/0a1b"
P5 = {"nvidia.com/gpu": 8}


def made(*flavors: Any, args: dict[str, Any] | None = None, replicas: int = 1, **changes: Any) -> Recorded:
    where = environment(**changes)
    groups = planned(one(*flavors, where=where, replicas=replicas), where)

    def program() -> None:
        nodes = GpuNodeGroups.of(
            "nodes",
            groups,
            {
                "cluster_name": "main",
                "cluster_plain_name": "main",
                "region": "us-east-1",
                "vpc_id": "vpc-1",
                "subnets": {"us-east-1a": "subnet-a", "us-east-1b": "subnet-b"},
                "node_role_arn": "arn:aws:iam::123456789012:role/nodes",
                "cluster_security_group_id": "sg-cluster",
                "version": "1.35",
                "endpoint": "https://api",
                "certificate_authority": "Q0E=",
                "tags": {"team": "a"},
                **(args or {}),  # type: ignore[typeddict-item]
            },
        )
        pulumi.export("names", nodes.names)
        pulumi.export("bounds", nodes.bounds)

    return deploy(program, mock=Aws())


class TestGroup:
    def test_one_g5(self) -> None:
        graph = made(flavor("g5.xlarge", pool="a"), replicas=2)
        (group,) = graph.of(GROUP)
        assert group.name.startswith("nodes-g5-xlarge-a-")
        found = group.inputs
        assert found["instanceTypes"] == ["g5.xlarge"]
        assert (found["amiType"], found["capacityType"], found["version"]) == (
            "AL2023_x86_64_NVIDIA",
            "ON_DEMAND",
            "1.35",
        )
        assert found["releaseVersion"] == "1.35.6-20260714"
        assert "forceUpdateVersion" not in found
        assert found["scalingConfig"] == {"minSize": 0, "desiredSize": 0, "maxSize": 450}
        assert found["subnetIds"] == ["subnet-a", "subnet-b"]
        assert found["labels"] == {"k8s.amazonaws.com/accelerator": "a10g", "pool": "a"}
        assert found["taints"] == [{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}]
        assert found["updateConfig"] == {"maxUnavailable": 1, "updateStrategy": "DEFAULT"}
        assert found["launchTemplate"] == {"id": f"{group.name}-id", "version": "1"}
        assert not {"diskSize", "remoteAccess"} & set(found)  # refused beside a launch template (aws-gpu spec 7)
        assert group.parent == COMPONENT

    def test_a_disruption_budget_can_be_overridden(self) -> None:
        (group,) = made(flavor("g5.xlarge"), force_update=True, ami_release="latest").of(GROUP)
        assert group.inputs["forceUpdateVersion"] is True
        assert "releaseVersion" not in group.inputs

    def test_the_autoscaler_owns_the_size(self) -> None:
        """A change of one bound would send the others too, as they were once (the provider's node_group.go)."""
        group = made(flavor("g5.xlarge"))[f"{GROUP}::nodes-g5-xlarge"]
        assert group.registration.ignore_changes == ("scalingConfig",)

    @pytest.mark.parametrize(
        "change",
        [
            {"args": {"node_role_arn": "arn:aws:iam::123456789012:role/others"}},
            {"args": {"subnets": {"us-east-1a": "subnet-c", "us-east-1b": "subnet-b"}}},
            {"types": {"g5.xlarge": TypePolicy(alternatives=("g5.2xlarge",))}},
            {"types": {"g5.xlarge": TypePolicy(zones=("us-east-1a",))}},
            {"image": "bottlerocket"},
        ],
        ids=str,
    )
    def test_what_eks_cannot_change_in_place_gives_the_new_group_another_name(self, change: dict[str, Any]) -> None:
        """The new one is made first; under the same name EKS would refuse it."""
        name = f"{GROUP}::nodes-g5-xlarge"
        before, after = made(flavor("g5.xlarge"))[name], made(flavor("g5.xlarge"), **change)[name]
        assert before.inputs["nodeGroupName"] != after.inputs["nodeGroupName"]
        assert after.registration.delete_before_replace is False

    @pytest.mark.parametrize("change", [{"replicas": 5}, {"args": {"version": "1.36"}}, {"scale_to_zero": False}])
    def test_what_can_change_in_place_does_not(self, change: dict[str, Any]) -> None:
        name = f"{GROUP}::nodes-g5-xlarge"
        before, after = made(flavor("g5.xlarge"))[name], made(flavor("g5.xlarge"), **change)[name]
        assert before.inputs["nodeGroupName"] == after.inputs["nodeGroupName"]
        assert len(before.inputs["nodeGroupName"]) <= 63

    def test_bounds_are_told_by_the_name_of_the_auto_scaling_group(self) -> None:
        types = {"g5.xlarge": TypePolicy(min_nodes=1, max_nodes=4)}
        graph = made(flavor("g5.xlarge"), flavor("g6.xlarge", name="b"), types=types)
        assert graph.exports["bounds"] == [
            {"name": "asg-nodes-g5-xlarge", "minSize": 1, "maxSize": 4, "priority": 20},
            {"name": "asg-nodes-g6-xlarge", "minSize": 0, "maxSize": 1},
        ]

    def test_its_launch_template(self) -> None:
        found = made(flavor("g5.xlarge"))[f"{TEMPLATE}::nodes-g5-xlarge"].inputs
        assert found["metadataOptions"] == {
            "httpEndpoint": "enabled",
            "httpTokens": "required",
            "httpPutResponseHopLimit": 1,
        }
        (disk,) = found["blockDeviceMappings"]
        assert disk["deviceName"] == "/dev/xvda"
        assert disk["ebs"] == {
            "volumeSize": 80,
            "volumeType": "gp3",
            "encrypted": "true",
            "deleteOnTermination": "true",
        }
        assert b"RAID0" in base64.b64decode(found["userData"])
        assert {spec["resourceType"] for spec in found["tagSpecifications"]} == {
            "instance",
            "volume",
            "network-interface",
        }
        assert all(spec["tags"]["team"] == "a" for spec in found["tagSpecifications"])
        # Subnets, profile and type are the node group's (aws-gpu spec 7).
        assert not {"iamInstanceProfile", "instanceType", "imageId", "networkInterfaces"} & set(found)

    def test_its_disk_as_the_settings_say(self) -> None:
        boot = Boot(disk_gib=300, throughput=1000, kms_key=KEY)
        (template,) = made(flavor("g5g.xlarge"), boot=boot).of(TEMPLATE)
        (disk,) = template.inputs["blockDeviceMappings"]
        assert disk["ebs"] == {
            "volumeSize": 300,
            "volumeType": "gp3",
            "throughput": 1000,
            "iops": 4000,
            "encrypted": "true",
            "kmsKeyId": KEY,
            "deleteOnTermination": "true",
        }

    def test_pods_may_be_let_to_the_metadata(self) -> None:
        found = made(flavor("g5.xlarge"), args={"imds_hop_limit": 2})[f"{TEMPLATE}::nodes-g5-xlarge"].inputs
        assert found["metadataOptions"]["httpPutResponseHopLimit"] == 2

    def test_an_image_of_ones_own_says_what_eks_would(self) -> None:
        """With an ImageId neither amiType nor version may be set, and EKS adds no user data (aws-gpu spec 6, 7)."""
        graph = made(flavor("g7.2xlarge"), types={"g7.2xlarge": TypePolicy(ami_id="ami-0abc")})
        group, template = graph[f"{GROUP}::nodes-g7-2xlarge"].inputs, graph[f"{TEMPLATE}::nodes-g7-2xlarge"].inputs
        assert not {"amiType", "version", "releaseVersion"} & set(group)
        assert template["imageId"] == "ami-0abc"
        data = base64.b64decode(template["userData"]).decode()
        for words in ("name: main", "apiServerEndpoint: https://api", "certificateAuthority: Q0E=", "172.20.0.0/16"):
            assert words in data


class TestReserved:
    def test_a_capacity_block(self) -> None:
        """aws-gpu spec 4: market type, reservation and instance type are in the template."""
        rule = TypePolicy(capacity=Capacity.CAPACITY_BLOCK, reservation=BLOCK)
        graph = made(flavor("p5.48xlarge", P5), types={"p5.48xlarge": rule})
        (group,), (template,) = graph.of(GROUP), graph.of(TEMPLATE)
        assert group.inputs["capacityType"] == "CAPACITY_BLOCK"
        assert "instanceTypes" not in group.inputs
        assert group.inputs["subnetIds"] == ["subnet-b"]
        assert group.inputs["updateConfig"]["updateStrategy"] == "MINIMAL"
        assert template.inputs["instanceType"] == "p5.48xlarge"
        assert template.inputs["instanceMarketOptions"] == {"marketType": "capacity-block"}
        target = template.inputs["capacityReservationSpecification"]["capacityReservationTarget"]
        assert target == {"capacityReservationId": "cr-0a1b"}
        assert group.name == "nodes-p5-48xlarge-capacity-block-0a1b"
        (begin,) = graph.of("aws:autoscaling/schedule:Schedule")  # EKS schedules the end itself
        assert begin.inputs["startTime"] == "2026-11-22T12:00:00Z"
        assert begin.inputs["endTime"] == "2026-11-29T11:15:00Z"
        # EKS's action is due at minute 20: two at one moment would be refused.
        assert begin.inputs["recurrence"] == "2,7,12,17,22,27,32,37,42,47,52,57 * * * *"
        assert begin.registration.delete_before_replace
        assert begin.registration.ignore_changes == ("startTime",)
        assert group.registration.ignore_changes == ("scalingConfig",)
        assert template.registration.ignore_changes == ()
        # All that is paid for; -1 leaves the bounds as EKS has them.
        assert (begin.inputs["minSize"], begin.inputs["desiredCapacity"], begin.inputs["maxSize"]) == (-1, 2, -1)
        assert begin.inputs["autoscalingGroupName"] == f"asg-{group.name}"
        assert group.inputs["scalingConfig"]["desiredSize"] == 0

    def test_nothing_of_a_block_that_runs_is_updated(self) -> None:
        running = replace(BLOCK, starts=NOW - datetime.timedelta(hours=1))
        later = replace(BLOCK, id="cr-0c2d")
        rule = TypePolicy(Capacity.CAPACITY_BLOCK, running, (later,))
        graph = made(flavor("p5.48xlarge", P5), types={"p5.48xlarge": rule})
        name = "nodes-p5-48xlarge-capacity-block"
        kept = graph[f"{GROUP}::{name}-0a1b"].registration.ignore_changes
        assert set(kept) == {
            *("scalingConfig", "launchTemplate", "version", "releaseVersion"),
            *("amiType", "nodeGroupName"),
        }
        # In stacks of earlier releases a type had one group for all its blocks.
        for kind in (GROUP, TEMPLATE):
            assert [alias.name for alias in graph[f"{kind}::{name}-0a1b"].registration.aliases] == [name]
            assert graph[f"{kind}::{name}-0c2d"].registration.aliases == ()
        assert {"userData", "tagSpecifications", "blockDeviceMappings"} <= set(
            graph[f"{TEMPLATE}::{name}-0a1b"].registration.ignore_changes
        )
        assert graph[f"{GROUP}::{name}-0c2d"].registration.ignore_changes == ("scalingConfig",)
        starts = {
            entry.name: entry.inputs.get("startTime") for entry in graph.of("aws:autoscaling/schedule:Schedule")
        }
        assert starts == {f"{name}-0a1b-begin": None, f"{name}-0c2d-begin": "2026-11-22T12:00:00Z"}

    def test_nothing_hands_a_capacity_block_to_the_autoscaler(self) -> None:
        rule = TypePolicy(capacity=Capacity.CAPACITY_BLOCK, reservation=BLOCK)
        graph = made(flavor("p5.48xlarge", P5), types={"p5.48xlarge": rule})
        assert graph.of(TAG) == []
        assert graph.exports["bounds"] == []

    @pytest.mark.parametrize(
        ("id_", "key"),
        [
            ("cr-0a1b", "capacityReservationId"),
            ("arn:aws:resource-groups:us-east-1:123456789012:group/p5", "capacityReservationResourceGroupArn"),
        ],
    )
    def test_on_demand_reservations_by_id_or_group(self, id_: str, key: str) -> None:
        rule = TypePolicy(capacity=Capacity.ODCR, reservation=replace(HELD, id=id_))
        (template,) = made(flavor("p5.48xlarge", P5), types={"p5.48xlarge": rule}).of(TEMPLATE)
        target = template.inputs["capacityReservationSpecification"]["capacityReservationTarget"]
        assert target == {key: id_}
        assert not {"instanceMarketOptions", "instanceType"} & set(template.inputs)

    def test_a_replacement_waits_until_the_reserved_nodes_are_free(self) -> None:
        rule = TypePolicy(capacity=Capacity.ODCR, reservation=HELD)
        (held,) = made(flavor("p5.48xlarge", P5), types={"p5.48xlarge": rule}).of(GROUP)
        (free,) = made(flavor("g5.xlarge")).of(GROUP)
        assert (held.registration.delete_before_replace, free.registration.delete_before_replace) == (True, False)


class TestEfa:
    def test_interfaces_and_their_security_group(self) -> None:
        rule = TypePolicy(efa=True, zones=("us-east-1a",), placement_group=True)
        graph = made(flavor("p5.48xlarge", P5), types={"p5.48xlarge": rule})
        (template,) = graph.of(TEMPLATE)
        interfaces = template.inputs["networkInterfaces"]
        assert len(interfaces) == 33
        assert [i["interfaceType"] for i in interfaces] == ["interface"] + ["efa-only"] * 32
        assert all(i["securityGroups"] == ["sg-cluster", "nodes-efa-id"] for i in interfaces)
        assert not any("associatePublicIpAddress" in i or "subnetId" in i for i in interfaces)
        assert template.inputs["placement"] == {"groupName": "nodes-p5-48xlarge"}
        assert graph["aws:ec2/placementGroup:PlacementGroup::nodes-p5-48xlarge"].inputs["strategy"] == "cluster"
        for type_ in ("SecurityGroupIngressRule", "SecurityGroupEgressRule"):
            (found,) = graph.of(f"aws:vpc/{type_[0].lower()}{type_[1:]}:{type_}")
            assert (found.inputs["ipProtocol"], found.inputs["referencedSecurityGroupId"]) == ("-1", "nodes-efa-id")

    def test_without_efa_there_is_no_such_group(self) -> None:
        graph = made(flavor("g5.xlarge"))
        assert graph.of("aws:ec2/securityGroup:SecurityGroup") == []


class TestAutoscaler:
    def test_it_is_told_what_eks_does_not_hand_on(self) -> None:
        graph = made(flavor("g5.12xlarge", {"nvidia.com/gpu": 4}, pool="a"))
        tags = {e.inputs["tag"]["key"]: e.inputs["tag"]["value"] for e in graph.of(TAG)}
        template = "k8s.io/cluster-autoscaler/node-template"
        assert tags == {
            "k8s.io/cluster-autoscaler/enabled": "true",
            "k8s.io/cluster-autoscaler/main": "owned",
            "inference-platform/autoscaled": "true",
            f"{template}/label/k8s.amazonaws.com/accelerator": "a10g",
            f"{template}/label/node.kubernetes.io/instance-type": "g5.12xlarge",
            f"{template}/label/pool": "a",
            f"{template}/taint/nvidia.com/gpu": "true:NoSchedule",
            f"{template}/resources/nvidia.com/gpu": "4",
        }
        (group,) = graph.of(GROUP)
        for entry in graph.of(TAG):
            assert entry.inputs["autoscalingGroupName"] == f"asg-{group.name}"
            assert entry.inputs["tag"]["propagateAtLaunch"] is False
            assert group.key in entry.dependencies

    def test_it_is_told_of_neuron(self) -> None:
        graph = made(flavor("inf2.48xlarge", {"aws.amazon.com/neuron": 12}))
        tags = {e.inputs["tag"]["key"]: e.inputs["tag"]["value"] for e in graph.of(TAG)}
        template = "k8s.io/cluster-autoscaler/node-template"
        assert tags[f"{template}/resources/aws.amazon.com/neuron"] == "12"
        assert tags[f"{template}/taint/aws.amazon.com/neuron"] == "true:NoSchedule"


def test_everything_has_a_parent_the_tags_and_a_name_in_the_outputs() -> None:
    rule = TypePolicy(efa=True, zones=("us-east-1a",), placement_group=True)
    graph = made(flavor("p5.48xlarge", P5), flavor("g5.xlarge", P5, name="b"), types={"p5.48xlarge": rule})
    assert {entry.parent for entry in graph.graph if entry.key != COMPONENT} == {COMPONENT}
    for entry in graph.graph:
        if entry.key != COMPONENT and entry.type != TAG:
            assert entry.inputs["tags"]["team"] == "a", entry.key
    assert graph.exports["names"] == [entry.inputs["nodeGroupName"] for entry in graph.of(GROUP)]


def test_the_same_models_give_the_same_groups() -> None:
    assert made(flavor("g5.xlarge")).graph == made(flavor("g5.xlarge")).graph
