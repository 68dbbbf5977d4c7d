"""What AWS would refuse, and what the harness cannot do."""

from collections.abc import Callable
from typing import Any

import pytest
from pulumi_aws import ec2, eks, iam, kms, sqs

from tests.clouds.aws.moto import moto_cloud
from tests.clouds.aws.moto.moto_cloud import UNSUPPORTED, NotSupportedError
from tests.clouds.aws.moto.program import REGION, allow, trust
from tests.clouds.aws.moto.test_moto_cloud import carried_out
from tests.clouds.aws.requests.kinds import plan_of


def _role(**arguments: Any) -> Callable[[], Any]:
    given = {"assume_role_policy": trust("ec2.amazonaws.com"), **arguments}
    return lambda: iam.Role("nodes", **given)


def _policy(text: str) -> Callable[[], Any]:
    return lambda: iam.Policy("models", policy=text)


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        (_role(max_session_duration=60), "nodes: aws:iam/role:Role: CreateRole: MaxSessionDuration: found 60"),
        (_role(name="my nodes"), "RoleName: found 'my nodes', which does not match"),
        (_role(name="n" * 65), "its length 65 is more than 64"),
        (_role(assume_role_policy=allow("ec2:RunInstances")), "Resource: is not allowed in this kind of policy"),
        (_role(tags={"aws:owner": "me"}), "tags: found the key 'aws:owner'"),
        (_policy(allow("ec2:DescribeInstanceType")), "found 'ec2:DescribeInstanceType', which is not in"),
        (_policy("{"), "policy is not JSON"),
        (lambda: iam.Role("n" * 60, assume_role_policy=trust("ec2.amazonaws.com")), "its length 68 is more than 64"),
        (
            lambda: iam.RolePolicyAttachment(
                "nodes", role="nodes", policy_arn="arn:aws:iam::aws:policy/AmazonEKSNodes"
            ),
            "GetPolicy finds no {'PolicyArn': 'arn:aws:iam::aws:policy/AmazonEKSNodes'}",
        ),
        (lambda: ec2.Vpc("main", cidr_block="10.0.0.0/8"), "InvalidVpc.Range"),
        (lambda: ec2.Subnet("a", vpc_id="vpc-1", cidr_block="10.0.0.0/24"), "InvalidVpcID.NotFound"),
        (lambda: ec2.LaunchTemplate("a", instance_type="p5.49xlarge"), "InstanceType: found 'p5.49xlarge'"),
        (lambda: ec2.LaunchTemplate("a", name="my template"), "launch template name: found 'my template'"),
        (lambda: ec2.LaunchTemplate("a", user_data="#!/bin/sh"), "user data is not base64"),
        (
            lambda: ec2.LaunchTemplate(
                "a",
                block_device_mappings=[
                    {"device_name": "/dev/xvda", "ebs": {"volume_type": "gp3", "volume_size": 80, "throughput": 1000}}
                ],
            ),
            "gp3 cannot have 1000 MiB/s and 3000 IOPS on 80 GiB",
        ),
        (
            lambda: ec2.LaunchTemplate("a", network_interfaces=[{"interface_type": "eaf"}]),
            "interface type: found 'eaf', allowed are interface, efa, efa-only",
        ),
        (lambda: kms.Alias("a", name="secrets", target_key_id="k"), "alias: found 'secrets'"),
        (lambda: sqs.Queue("a", message_retention_seconds=5), "MessageRetentionPeriod: found 5"),
    ],
)
def test_what_is_wrong_is_told(cloud, program, problem):
    found = carried_out(cloud, program)
    assert len([text for text in found if problem in text]) == 1, found


def _cluster_and_nodes(template: dict[str, Any] | None = None, **arguments: Any) -> Callable[[], Any]:
    """Return a program with a node group that is right but for what is given."""

    def program() -> None:
        network = ec2.Vpc("main", cidr_block="10.0.0.0/16")
        subnets = [
            ec2.Subnet(
                zone, vpc_id=network.id, cidr_block=f"10.0.{index}.0/24", availability_zone=f"{REGION}{zone}"
            ).id
            for index, zone in enumerate("ab")
        ]
        role = iam.Role("any", assume_role_policy=trust("eks.amazonaws.com"))
        cluster = eks.Cluster("main", role_arn=role.arn, vpc_config={"subnet_ids": subnets})
        launch = None if template is None else {"id": ec2.LaunchTemplate("gpu", **template).id, "version": "1"}
        given = {
            "scaling_config": {"min_size": 0, "desired_size": 0, "max_size": 1},
            "launch_template": launch,
            "node_role_arn": role.arn,
            "subnet_ids": subnets,
            **arguments,
        }
        eks.NodeGroup("gpu", cluster_name=cluster.name, **given)

    return program


BLOCK = {
    "instance_type": "p5.48xlarge",
    "instance_market_options": {"market_type": "capacity-block"},
    "capacity_reservation_specification": {"capacity_reservation_target": {"capacity_reservation_id": "cr-1"}},
}


@pytest.mark.parametrize(
    ("template", "arguments", "problem"),
    [
        (None, {"ami_type": "AL2023_NVIDIA"}, "amiType: found 'AL2023_NVIDIA'"),
        (None, {"capacity_type": "RESERVED"}, "capacityType: found 'RESERVED'"),
        (None, {"node_group_name": "g" * 64}, "node group name: found"),
        (None, {"instance_types": ["p5.49xlarge"]}, "instance type: 'p5.49xlarge' does not exist"),
        (None, {"labels": {"model": "m" * 64}}, "length 64 is more than 63"),
        (None, {"scaling_config": {"min_size": 2, "desired_size": 1, "max_size": 3}}, "minSize <= desiredSize"),
        (None, {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}, "taints[0].effect: found 'NoSchedule'"),
        (None, {"update_config": {"update_strategy": "MINIMAL"}}, "exactly one of maxUnavailable and"),
        (None, {"subnet_ids": ["subnet-1"]}, "DescribeSubnets finds no"),
        (None, {"node_role_arn": "arn:aws:iam::123456789012:role/none"}, "GetRole finds no"),
        (None, {"launch_template": {"id": "lt-1", "version": "1"}}, "DescribeLaunchTemplateVersions finds no"),
        ({}, {"disk_size": 100}, "diskSize belongs in the launch template"),
        ({"instance_type": "g6.xlarge"}, {"instance_types": ["g6.xlarge"]}, "the instance type is in the launch"),
        ({"image_id": "ami-1"}, {"version": "1.35"}, "version is decided by the image"),
        ({"image_id": "ami-1"}, {"release_version": "1.35.6-20260714"}, "releaseVersion is decided by the image"),
        (None, {"version": "1.35", "release_version": "1.34.9-20260714"}, "is not one of Kubernetes 1.35"),
        ({"iam_instance_profile": {"name": "nodes"}}, {}, "may not have an instance profile"),
        ({}, {"capacity_type": "CAPACITY_BLOCK"}, "its launch template is not for a Capacity Block"),
        (BLOCK | {"instance_type": None}, {"capacity_type": "CAPACITY_BLOCK"}, "has no instance type"),
    ],
)
def test_what_is_wrong_with_a_node_group_is_told(cloud, template, arguments, problem):
    found = carried_out(cloud, _cluster_and_nodes(template, **arguments))
    assert any(problem in text for text in found), found


@pytest.mark.parametrize(
    ("template", "arguments"),
    [
        (None, {"ami_type": "AL2023_x86_64_NVIDIA", "instance_types": ["g6.xlarge"], "disk_size": 100}),
        ({}, {"instance_types": ["g6.xlarge"], "version": "1.35"}),
        (BLOCK, {"capacity_type": "CAPACITY_BLOCK", "update_config": {"max_unavailable": 1}}),
    ],
)
def test_what_is_right_with_a_node_group(cloud, template, arguments):
    assert carried_out(cloud, _cluster_and_nodes(template, **arguments)) == []
    assert cloud.destroy() == []


def test_a_problem_is_told_once_and_not_again_for_what_depends_on_it(cloud):
    def program():
        network = ec2.Vpc("main", cidr_block="10.0.0.0/8")
        group = ec2.SecurityGroup("main", vpc_id=network.id)
        ec2.LaunchTemplate("main", vpc_security_group_ids=[group.id])

    (problem,) = carried_out(cloud, program)
    assert problem.startswith("main: aws:ec2/vpc:Vpc: ")
    assert cloud.created == []


def test_an_input_without_a_request_is_a_mistake_of_the_harness(cloud):
    with pytest.raises(AssertionError, match=r"aws:ec2/vpc:Vpc: no request is known for ipv4IpamPoolId"):
        carried_out(cloud, lambda: ec2.Vpc("main", ipv4_ipam_pool_id="pool"))
    with pytest.raises(AssertionError, match=r"LaunchTemplate.metadataOptions: no request is known for httpToken"):
        plan_of("aws:ec2/launchTemplate:LaunchTemplate", {"metadataOptions": {"httpToken": "required"}})


def test_a_type_without_requests_is_a_mistake_of_the_harness(cloud):
    with pytest.raises(AssertionError, match="aws:ec2/keyPair:KeyPair: no request is known for this type"):
        carried_out(cloud, lambda: ec2.KeyPair("main", public_key="ssh-ed25519 A"))


UNSUPPORTED_INPUTS: dict[str, dict[str, Any]] = {
    "aws:ec2/placementGroup:PlacementGroup": {"name": "gpu", "strategy": "cluster"},
    "aws:ecr/pullThroughCacheRule:PullThroughCacheRule": {
        "ecrRepositoryPrefix": "quay",
        "upstreamRegistryUrl": "quay.io",
    },
    "aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate": {
        "prefix": "quay",
        "appliedFors": ["PULL_THROUGH_CACHE"],
    },
    "aws:eks/accessEntry:AccessEntry": {"clusterName": "main", "principalArn": "arn:aws:iam::1:role/r"},
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": {
        "clusterName": "main",
        "principalArn": "arn:aws:iam::1:role/r",
        "policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy",
        "accessScope": {"type": "cluster"},
    },
    "aws:eks/addon:Addon": {"clusterName": "main", "addonName": "vpc-cni"},
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": {
        "clusterName": "main",
        "namespace": "kube-system",
        "serviceAccount": "autoscaler",
        "roleArn": "arn:aws:iam::1:role/r",
    },
}


@pytest.mark.parametrize("type_", UNSUPPORTED)
def test_what_moto_does_not_support_is_still_so(cloud, type_):
    request = plan_of(type_, UNSUPPORTED_INPUTS[type_]).create
    with pytest.raises(NotSupportedError, match=request.operation):
        cloud.send(request)


def test_a_new_gap_of_moto_is_no_success(cloud, monkeypatch):
    monkeypatch.setattr(moto_cloud, "UNSUPPORTED", {})
    with pytest.raises(NotSupportedError, match="ec2 CreatePlacementGroup"):
        carried_out(cloud, lambda: ec2.PlacementGroup("gpu", strategy="cluster"))


def test_what_cannot_be_deleted_is_told(cloud):
    carried_out(cloud, _role(name="nodes"))
    policy = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
    cloud.client("iam").attach_role_policy(RoleName="nodes", PolicyArn=policy)
    refused, left = cloud.destroy()
    assert "DeleteConflict" in refused
    assert left == "aws:iam/role:Role::nodes: is still there"
    cloud.client("iam").detach_role_policy(RoleName="nodes", PolicyArn=policy)
    assert cloud.destroy() == []
