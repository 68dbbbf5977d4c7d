"""What Karpenter and the Cluster Autoscaler may do."""

import pytest

from tests.clouds.aws.facts.statements import MADE, OWNED, VALUES, actions, granting


def test_the_autoscaler_reads_what_the_specification_says() -> None:
    assert actions("cluster-autoscaler") == {
        *(f"autoscaling:Describe{what}" for what in ("AutoScalingGroups", "AutoScalingInstances", "Tags")),
        *(f"autoscaling:Describe{what}" for what in ("LaunchConfigurations", "ScalingActivities")),
        *(f"ec2:Describe{what}" for what in ("Images", "InstanceTypes", "LaunchTemplateVersions")),
        "ec2:GetInstanceTypesFromInstanceRequirements",
        "eks:DescribeNodegroup",
        "autoscaling:SetDesiredCapacity",
        "autoscaling:TerminateInstanceInAutoScalingGroup",
    }


@pytest.mark.parametrize("what", ["SetDesiredCapacity", "TerminateInstanceInAutoScalingGroup"])
def test_the_autoscaler_scales_groups_of_its_cluster_alone(what: str) -> None:
    ((resources, conditions),) = granting("cluster-autoscaler", f"autoscaling:{what}")
    assert conditions == {"StringEquals": {"aws:ResourceTag/k8s.io/cluster-autoscaler/demo": "owned"}}
    assert resources == ["arn:aws:autoscaling:us-east-1:*:autoScalingGroup:*:autoScalingGroupName/*"]


def test_karpenter_may_do_what_the_specification_says_and_read_zonal_shifts() -> None:
    describes = "CapacityReservations Images Instances InstanceStatus InstanceTypeOfferings InstanceTypes"
    describes += " LaunchTemplates PlacementGroups SecurityGroups SpotPriceHistory Subnets"
    changes = "RunInstances CreateFleet CreateLaunchTemplate CreateTags TerminateInstances DeleteLaunchTemplate"
    profiles = "Create Tag Delete Get"
    assert actions("karpenter-controller") == {
        *(f"ec2:Describe{what}" for what in describes.split()),
        *(f"ec2:{what}" for what in changes.split()),
        *(f"iam:{what}InstanceProfile" for what in profiles.split()),
        *("iam:AddRoleToInstanceProfile", "iam:RemoveRoleFromInstanceProfile", "iam:ListInstanceProfiles"),
        *("sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"),
        *("iam:PassRole", "eks:DescribeCluster", "pricing:GetProducts", "ssm:GetParameter"),
        "arc-zonal-shift:GetManagedResource",
    }


@pytest.mark.parametrize("what", ["RunInstances", "CreateFleet", "CreateLaunchTemplate"])
def test_karpenter_makes_instances_with_its_tags_alone(what: str) -> None:
    made = [
        conditions
        for resources, conditions in granting("karpenter-controller", f"ec2:{what}")
        if any(":instance/" in resource for resource in resources)
    ]
    assert made == [{"StringEquals": {MADE: "owned"}, "StringLike": {"aws:RequestTag/karpenter.sh/nodepool": "*"}}]


def test_karpenter_launches_from_its_own_templates_alone() -> None:
    conditions = [
        conditions["StringEquals"]
        for resources, conditions in granting("karpenter-controller", "ec2:RunInstances")
        if "arn:aws:ec2:us-east-1:*:launch-template/*" in resources
    ]
    assert {OWNED: "owned"} in conditions
    assert all(conditions)


@pytest.mark.parametrize("what", ["TerminateInstances", "DeleteLaunchTemplate"])
def test_karpenter_deletes_what_is_the_clusters_alone(what: str) -> None:
    ((_, conditions),) = granting("karpenter-controller", f"ec2:{what}")
    assert conditions == {
        "StringEquals": {OWNED: "owned"},
        "StringLike": {"aws:ResourceTag/karpenter.sh/nodepool": "*"},
    }


def test_karpenter_tags_while_it_launches_and_names_its_own() -> None:
    launching, naming = granting("karpenter-controller", "ec2:CreateTags")
    assert launching[1]["StringEquals"][MADE] == "owned"
    assert set(launching[1]["StringEquals"]["ec2:CreateAction"]) == {
        *("RunInstances", "CreateFleet", "CreateLaunchTemplate"),
    }
    assert naming[0] == ["arn:aws:ec2:us-east-1:*:instance/*"]
    assert naming[1]["StringEquals"] == {OWNED: "owned"}
    assert not any("cluster/" in key for key in naming[1]["ForAllValues:StringEquals"]["aws:TagKeys"])


def test_karpenter_passes_the_node_role_to_instances_alone() -> None:
    ((resources, conditions),) = granting("karpenter-controller", "iam:PassRole")
    assert resources == [VALUES["node_role_arn"]]
    services = conditions["StringEquals"]["iam:PassedToService"]
    assert services == ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"]


@pytest.mark.parametrize(
    ("what", "tags"),
    [
        ("CreateInstanceProfile", {"aws:RequestTag"}),
        ("TagInstanceProfile", {"aws:RequestTag", "aws:ResourceTag"}),
        ("AddRoleToInstanceProfile", {"aws:ResourceTag"}),
        ("RemoveRoleFromInstanceProfile", {"aws:ResourceTag"}),
        ("DeleteInstanceProfile", {"aws:ResourceTag"}),
    ],
)
def test_karpenter_changes_instance_profiles_of_its_cluster_and_region(what: str, tags: set[str]) -> None:
    ((_, conditions),) = granting("karpenter-controller", f"iam:{what}")
    assert conditions["StringEquals"] == {
        f"{tag}/{key}": value
        for tag in tags
        for key, value in (
            ("kubernetes.io/cluster/demo", "owned"),
            ("topology.kubernetes.io/region", "us-east-1"),
        )
    }
    assert set(conditions["StringLike"]) == {f"{tag}/karpenter.k8s.aws/ec2nodeclass" for tag in tags}


def test_karpenter_reads_its_queue_its_cluster_and_its_region() -> None:
    ((queues, _),) = granting("karpenter-controller", "sqs:ReceiveMessage")
    assert queues == [VALUES["queue_arn"]]
    ((clusters, _),) = granting("karpenter-controller", "eks:DescribeCluster")
    assert clusters == ["arn:aws:eks:us-east-1:*:cluster/demo"]
    for action in actions("karpenter-controller"):
        if action.startswith("ec2:Describe"):
            ((_, conditions),) = granting("karpenter-controller", action)
            assert conditions == {"StringEquals": {"aws:RequestedRegion": "us-east-1"}}, action
