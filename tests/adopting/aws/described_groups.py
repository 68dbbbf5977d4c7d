"""Answers of DescribeNodegroup for groups of several origins, in the form of the EKS API reference (Nodegroup).

What each tool sets follows eksctl's documentation ("EKS managed nodegroups", its labels and tags), the variables of
terraform-aws-modules/eks (submodule eks-managed-node-group), the CloudFormation page of AWS::EKS::Nodegroup, and the
defaults of CreateNodegroup, with which the console creates a group.
"""

from collections.abc import Mapping
from typing import Any

from tests.adopting.aws.one_cluster import ACCOUNT, NAME, PRIVATE, REGION, Ids

_NVIDIA = {"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}
Described = dict[str, Any]


def _group(ids: Ids, name: str, **properties: Any) -> Described:
    """A group with the defaults of CreateNodegroup."""
    return {
        "nodegroupName": name,
        "nodegroupArn": f"arn:aws:eks:{REGION}:{ACCOUNT}:nodegroup/{NAME}/{name}/0a1b",
        "clusterName": NAME,
        "version": "1.35",
        "releaseVersion": "1.35.2-20260401",
        "status": "ACTIVE",
        "capacityType": "ON_DEMAND",
        "scalingConfig": {"minSize": 1, "maxSize": 4, "desiredSize": 2},
        "instanceTypes": ["g5.2xlarge"],
        "subnets": [ids[subnet] for subnet in PRIVATE],
        "amiType": "AL2023_x86_64_NVIDIA",
        "nodeRole": ids["role"],
        "labels": {},
        "resources": {"autoScalingGroups": [{"name": f"eks-{name}-0a1b"}]},
        "diskSize": 20,
        "health": {"issues": []},
        "updateConfig": {"maxUnavailable": 1},
        "nodeRepairConfig": {"enabled": False},
        "tags": {},
        **properties,
    }


def _template(name: str, version: str) -> dict[str, Any]:
    """A launch template, with which EKS reports no disk."""
    return {"launchTemplate": {"id": f"lt-{name}", "name": name, "version": version}, "diskSize": None}


def groups(ids: Ids) -> dict[str, Described]:
    """Groups by name."""
    stack = "eksctl-prod-nodegroup-eksctl-gpu"
    rows = [
        _group(
            ids,
            "eksctl-gpu",
            instanceTypes=["g6.xlarge"],
            labels={
                "alpha.eksctl.io/cluster-name": NAME,
                "alpha.eksctl.io/nodegroup-name": "eksctl-gpu",
                "pool": "chat",
            },
            tags={
                "alpha.eksctl.io/cluster-name": NAME,
                "alpha.eksctl.io/nodegroup-name": "eksctl-gpu",
                "alpha.eksctl.io/nodegroup-type": "managed",
                "aws:cloudformation:logical-id": "ManagedNodeGroup",
                "aws:cloudformation:stack-name": stack,
                "eksctl.cluster.k8s.io/v1alpha1/cluster-name": NAME,
            },
            **_template("eksctl-prod-nodegroup-eksctl-gpu", "1"),
        ),
        _group(
            ids,
            "terraform-20260301120000000100000001",
            instanceTypes=["g6e.xlarge"],
            labels={"pool": "chat"},
            taints=[_NVIDIA, {"key": "team", "value": "chat", "effect": "NO_SCHEDULE"}],
            tags={"Name": "terraform", "Terraform": "true"},
            updateConfig={"maxUnavailablePercentage": 33},
            subnets=[ids[PRIVATE[1]], ids[PRIVATE[0]]],
            **_template("terraform-20260301115900000000000001", "7"),
        ),
        _group(
            ids,
            "cloudformation",
            instanceTypes=["g5.xlarge"],
            diskSize=200,
            remoteAccess={"ec2SshKey": "operators", "sourceSecurityGroups": ["sg-2", "sg-1"]},
            resources={"autoScalingGroups": [{"name": "eks-cf"}], "remoteAccessSecurityGroup": "sg-0"},
            tags={"aws:cloudformation:stack-name": "nodes", "team": "search"},
            taints=[{"key": "nvidia.com/gpu", "effect": "NO_SCHEDULE"}],
        ),
        _group(ids, "console"),
        _group(ids, "console-2", scalingConfig={"minSize": 0, "maxSize": 8, "desiredSize": 7}),
        _group(
            ids,
            "spot",
            capacityType="SPOT",
            instanceTypes=["g4dn.xlarge", "g4dn.2xlarge", "g4dn.4xlarge"],
            subnets=[ids[PRIVATE[0]]],
            updateConfig={"maxUnavailable": 2, "updateStrategy": "MINIMAL"},
            nodeRepairConfig={"enabled": True, "maxParallelNodesRepairedCount": 1},
        ),
        _group(
            ids,
            "reserved",
            instanceTypes=None,
            amiType="CUSTOM",
            releaseVersion="ami-0123456789abcdef0",
            subnets=[ids[PRIVATE[0]]],
            launchTemplate={"id": "lt-reserved", "name": "reserved", "version": "2"},
            diskSize=None,
        ),
    ]
    return {row["nodegroupName"]: row for row in rows}


TEMPLATES: Mapping[str, Mapping[str, Any]] = {
    "lt-reserved": {
        "InstanceType": "p4d.24xlarge",
        "ImageId": "ami-0123456789abcdef0",
        "CapacityReservationSpecification": {"CapacityReservationTarget": {"CapacityReservationId": "cr-0a"}},
    },
}
RESERVATIONS = [
    {
        "CapacityReservationId": "cr-0a",
        "InstanceType": "p4d.24xlarge",
        "AvailabilityZone": "us-east-1a",
        "TotalInstanceCount": 4,
        "State": "active",
        "InstanceMatchCriteria": "targeted",
    }
]
