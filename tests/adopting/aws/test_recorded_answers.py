"""Answers in the form of the API references of EKS, EC2, IAM and Auto Scaling, validated by their service models.

Unlike an emulator, they have every optional field, several pages, and each state of a resource. An answer that AWS
could not send fails the test: unknown members, wrong types, and values outside of an enumeration.
"""

import datetime
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse  # type: ignore[import-untyped]
from botocore.client import BaseClient  # type: ignore[import-untyped]
from botocore.exceptions import ClientError  # type: ignore[import-untyped]
from botocore.httpsession import URLLib3Session  # type: ignore[import-untyped]
from botocore.stub import Stubber  # type: ignore[import-untyped]

from workbench.adopting.aws.api import read_api
from workbench.adopting.aws.settings import aws_settings
from workbench.errors import WorkbenchError

Answer = dict[str, Any]
NAME, REGION, ACCOUNT = "prod", "us-east-1", "111122223333"
ACTIONS = json.loads((Path(__file__).parents[3] / "docs/adopt-aws-policy.json").read_text())["Statement"][0]["Action"]
WHEN = datetime.datetime(2026, 3, 2, 9, 30, tzinfo=datetime.UTC)
ROLE = f"arn:aws:iam::{ACCOUNT}:role/eks-nodes"
ISSUER = "https://oidc.eks.us-east-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE"

CLUSTER: Answer = {
    "name": NAME,
    "arn": f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/{NAME}",
    "createdAt": WHEN,
    "version": "1.35",
    "endpoint": "https://EXAMPLEENDPOINT.gr7.us-east-1.eks.amazonaws.com",
    "roleArn": f"arn:aws:iam::{ACCOUNT}:role/eks-cluster",
    "resourcesVpcConfig": {
        "subnetIds": ["subnet-0a", "subnet-0b"],
        "securityGroupIds": ["sg-0a"],
        "clusterSecurityGroupId": "sg-0c",
        "vpcId": "vpc-0a",
        "endpointPublicAccess": False,
        "endpointPrivateAccess": True,
        "publicAccessCidrs": [],
    },
    "kubernetesNetworkConfig": {"serviceIpv4Cidr": "10.100.0.0/16", "ipFamily": "ipv4"},
    "logging": {"clusterLogging": [{"types": ["api", "audit"], "enabled": True}]},
    "identity": {"oidc": {"issuer": ISSUER}},
    "status": "ACTIVE",
    "certificateAuthority": {"data": "Q0E="},
    "platformVersion": "eks.7",
    "tags": {"team": "ml"},
    "health": {"issues": []},
    "accessConfig": {"authenticationMode": "API"},
    "upgradePolicy": {"supportType": "EXTENDED"},
    "deletionProtection": True,
}
GROUP: Answer = {
    "nodegroupName": "a10g",
    "nodegroupArn": f"arn:aws:eks:{REGION}:{ACCOUNT}:nodegroup/{NAME}/a10g/0ab1",
    "clusterName": NAME,
    "version": "1.35",
    "releaseVersion": "1.35.6-20260714",
    "createdAt": WHEN,
    "modifiedAt": WHEN,
    "status": "ACTIVE",
    "capacityType": "ON_DEMAND",
    "scalingConfig": {"minSize": 1, "maxSize": 4, "desiredSize": 2},
    "instanceTypes": ["g5.2xlarge"],
    "subnets": ["subnet-0a", "subnet-0b"],
    "remoteAccess": {"ec2SshKey": "key", "sourceSecurityGroups": ["sg-0a"]},
    "amiType": "AL2023_x86_64_NVIDIA",
    "nodeRole": ROLE,
    "labels": {"pool": "chat"},
    "taints": [
        {"key": "nvidia.com/gpu", "effect": "NO_SCHEDULE"},
        {"key": "team", "value": "chat", "effect": "NO_EXECUTE"},
    ],
    "resources": {"autoScalingGroups": [{"name": "eks-a10g-0ab1"}], "remoteAccessSecurityGroup": "sg-0d"},
    "diskSize": 200,
    "health": {"issues": []},
    "updateConfig": {"maxUnavailable": 1, "updateStrategy": "DEFAULT"},
    "nodeRepairConfig": {"enabled": True},
    "tags": {"team": "ml"},
}
FROM_TEMPLATE: Answer = {
    **{
        key: value
        for key, value in GROUP.items()
        if key not in ("instanceTypes", "diskSize", "remoteAccess", "labels")
    },
    "nodegroupName": "held",
    "capacityType": "CAPACITY_BLOCK",
    "amiType": "CUSTOM",
    "taints": [],
    "subnets": ["subnet-0a"],
    "launchTemplate": {"name": "held", "version": "3", "id": "lt-0a"},
}
TEMPLATE: Answer = {
    "LaunchTemplateId": "lt-0a",
    "LaunchTemplateName": "held",
    "VersionNumber": 3,
    "CreateTime": WHEN,
    "CreatedBy": f"arn:aws:iam::{ACCOUNT}:root",
    "DefaultVersion": True,
    "LaunchTemplateData": {
        "ImageId": "ami-0a",
        "InstanceType": "p5.48xlarge",
        "EbsOptimized": True,
        "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 1},
        "InstanceMarketOptions": {"MarketType": "capacity-block"},
        "CapacityReservationSpecification": {"CapacityReservationTarget": {"CapacityReservationId": "cr-0a"}},
        "NetworkInterfaces": [{"DeviceIndex": 0, "InterfaceType": "efa", "NetworkCardIndex": 0}],
    },
}
BLOCK: Answer = {
    "CapacityReservationId": "cr-0a",
    "OwnerId": ACCOUNT,
    "CapacityReservationArn": f"arn:aws:ec2:{REGION}:{ACCOUNT}:capacity-reservation/cr-0a",
    "AvailabilityZoneId": "use1-az1",
    "AvailabilityZone": "us-east-1a",
    "InstanceType": "p5.48xlarge",
    "InstancePlatform": "Linux/UNIX",
    "Tenancy": "default",
    "TotalInstanceCount": 2,
    "AvailableInstanceCount": 2,
    "EbsOptimized": True,
    "EphemeralStorage": False,
    "State": "active",
    "StartDate": WHEN,
    "EndDate": WHEN + datetime.timedelta(days=7),
    "EndDateType": "limited",
    "InstanceMatchCriteria": "targeted",
    "CreateDate": WHEN,
    "Tags": [],
    "ReservationType": "capacity-block",
}


def subnet(id_: str, zone: str) -> Answer:
    return {
        "SubnetId": id_,
        "SubnetArn": f"arn:aws:ec2:{REGION}:{ACCOUNT}:subnet/{id_}",
        "VpcId": "vpc-0a",
        "OwnerId": ACCOUNT,
        "State": "available",
        "AvailabilityZone": zone,
        "AvailabilityZoneId": "use1-az1",
        "AvailableIpAddressCount": 8000,
        "CidrBlock": "10.0.0.0/19",
        "MapPublicIpOnLaunch": False,
        "DefaultForAz": False,
        "AssignIpv6AddressOnCreation": False,
        "Ipv6CidrBlockAssociationSet": [],
        "EnableDns64": False,
        "Tags": [{"Key": "kubernetes.io/role/internal-elb", "Value": "1"}],
    }


TABLE: Answer = {
    "RouteTableId": "rtb-0a",
    "VpcId": "vpc-0a",
    "OwnerId": ACCOUNT,
    "Associations": [
        {
            "Main": True,
            "RouteTableAssociationId": "rtbassoc-0a",
            "RouteTableId": "rtb-0a",
            "AssociationState": {"State": "associated"},
        }
    ],
    "PropagatingVgws": [],
    "Routes": [
        {
            "DestinationCidrBlock": "10.0.0.0/16",
            "GatewayId": "local",
            "Origin": "CreateRouteTable",
            "State": "active",
        },
        {"DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": "nat-0a", "Origin": "CreateRoute", "State": "active"},
    ],
    "Tags": [],
}
VPC: Answer = {
    "VpcId": "vpc-0a",
    "OwnerId": ACCOUNT,
    "State": "available",
    "CidrBlock": "10.0.0.0/16",
    "DhcpOptionsId": "dopt-0a",
    "InstanceTenancy": "default",
    "IsDefault": False,
    "CidrBlockAssociationSet": [
        {"AssociationId": "a", "CidrBlock": "10.0.0.0/16", "CidrBlockState": {"State": "associated"}},
        {"AssociationId": "b", "CidrBlock": "100.64.0.0/16", "CidrBlockState": {"State": "associated"}},
        {"AssociationId": "c", "CidrBlock": "10.1.0.0/16", "CidrBlockState": {"State": "disassociated"}},
    ],
}
NODES: Answer = {
    "AutoScalingGroupName": "eks-a10g-0ab1",
    "MinSize": 1,
    "MaxSize": 4,
    "DesiredCapacity": 2,
    "DefaultCooldown": 300,
    "AvailabilityZones": ["us-east-1a"],
    "HealthCheckType": "EC2",
    "CreatedTime": WHEN,
    "Tags": [
        {"Key": "eks:nodegroup-name", "Value": "a10g", "ResourceId": "eks-a10g-0ab1", "PropagateAtLaunch": True}
    ],
}


def account() -> dict[str, list[Answer]]:
    """The pages of each answer; DescribeNodegroup has one for each group, in the order of their names."""
    return {
        "eks:DescribeCluster": [{"cluster": CLUSTER}],
        "eks:ListNodegroups": [{"nodegroups": ["held"], "nextToken": "2"}, {"nodegroups": ["a10g"]}],
        "eks:DescribeNodegroup": [{"nodegroup": GROUP}, {"nodegroup": FROM_TEMPLATE}],
        "eks:ListFargateProfiles": [{"fargateProfileNames": ["coredns"]}],
        "eks:ListAddons": [{"addons": ["coredns"], "nextToken": "2"}, {"addons": ["eks-pod-identity-agent"]}],
        "ec2:DescribeVpcs": [{"Vpcs": [VPC]}],
        "ec2:DescribeSubnets": [
            {"Subnets": [subnet("subnet-0a", "us-east-1a")], "NextToken": "2"},
            {"Subnets": [subnet("subnet-0b", "us-east-1b")]},
        ],
        "ec2:DescribeRouteTables": [{"RouteTables": [TABLE]}],
        "ec2:DescribeLaunchTemplateVersions": [{"LaunchTemplateVersions": [TEMPLATE]}],
        "ec2:DescribeCapacityReservations": [
            {"CapacityReservations": [], "NextToken": "2"},
            {"CapacityReservations": [BLOCK]},
        ],
        "iam:ListOpenIDConnectProviders": [
            {"OpenIDConnectProviderList": [{"Arn": f"arn:aws:iam::{ACCOUNT}:oidc-provider/{ISSUER[8:]}"}]}
        ],
        "autoscaling:DescribeAutoScalingGroups": [{"AutoScalingGroups": [NODES]}],
    }


class Recorded:
    """Clients of boto3 that answer with recorded documents."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        answers: Mapping[str, list[Answer]],
        errors: Mapping[str, str] | None = None,
    ) -> None:
        self.made: set[str] = set()
        left = {action: iter(pages) for action, pages in answers.items()}
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "recorded")

        def call(client: Any, operation: str, params: Any) -> Any:
            action = f"{client.meta.service_model.service_name}:{operation}"
            self.made.add(action)
            if code := (errors or {}).get(action):
                raise ClientError({"Error": {"Code": code, "Message": "recorded"}}, operation)
            page = next(left[action])
            method = next(key for key, name in client.meta.method_to_api_mapping.items() if name == operation)
            Stubber(client).add_response(method, page, params)  # validates both
            shape = client.meta.service_model.operation_model(operation).output_shape
            assert [*outside_of_enumerations(page, shape, operation)] == []
            return page

        monkeypatch.setattr(BaseClient, "_make_api_call", call)


def outside_of_enumerations(value: Any, shape: Any, path: str) -> Iterator[str]:
    """Yield values that the service model does not list, which botocore does not check in answers."""
    if shape.type_name == "structure":
        for key, inner in value.items():
            yield from outside_of_enumerations(inner, shape.members[key], f"{path}.{key}")
    elif shape.type_name == "list":
        for item in value:
            yield from outside_of_enumerations(item, shape.member, path)
    elif getattr(shape, "enum", None) and value not in shape.enum:
        yield f"{path}: {value}"


def test_every_field_and_every_page(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = Recorded(monkeypatch, account())
    found = read_api(NAME, REGION, "")
    assert recorded.made == {*ACTIONS}
    assert (found.cluster.endpoint, found.cluster.authority) == (CLUSTER["endpoint"], "Q0E=")
    assert found.cluster.security_group == "sg-0c"
    assert found.vpc_ranges == ("10.0.0.0/16", "100.64.0.0/16")
    settings = aws_settings(found)
    assert settings.values["network"]["privateSubnets"] == {"us-east-1a": "subnet-0a", "us-east-1b": "subnet-0b"}
    assert settings.values["cluster"] == {"existing": True, "version": "1.35", "nodeRoleArn": ROLE}
    assert settings.values["gpuNodes"]["types"] == {
        "g5.2xlarge": {
            "existingGroups": ["a10g"],
            "capacity": "on-demand",
            "minNodes": 1,
            "maxNodes": 4,
            "labels": {"pool": "chat"},
            "taints": [{"key": "team", "value": "chat", "effect": "NoExecute"}],
        },
        "p5.48xlarge": {
            "existingGroups": ["held"],
            "capacity": "capacity-block",
            "reservation": {
                "id": "cr-0a",
                "zone": "us-east-1a",
                "count": 2,
                "starts": "2026-03-02T09:30:00+00:00",
                "ends": "2026-03-09T09:30:00+00:00",
            },
            "zones": ["us-east-1a"],
            "efa": True,
        },
    }
    assert "Fargate profile coredns" in [finding.subject for finding in settings.findings]


@pytest.mark.parametrize("action", ACTIONS)
def test_each_call_may_be_denied(action: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code = {"ec2": "UnauthorizedOperation", "eks": "AccessDeniedException"}.get(
        action.partition(":")[0], "AccessDenied"
    )
    answers = account()
    if action == "eks:DescribeCluster":  # without the VPC, nothing is in it
        answers |= {
            "ec2:DescribeVpcs": [{"Vpcs": []}],
            "ec2:DescribeSubnets": [{"Subnets": []}],
            "ec2:DescribeRouteTables": [{"RouteTables": []}],
        }
    Recorded(monkeypatch, answers, {action: code})
    with pytest.raises(WorkbenchError) as raised:
        read_api(NAME, REGION, "")
    assert str(raised.value).splitlines()[1:] == [f"  {action}"]


@pytest.mark.parametrize(
    ("status", "issues", "used", "reasons"),
    [
        ("ACTIVE", [], True, []),
        ("UPDATING", [], True, []),
        ("CREATING", [], True, ["its status is CREATING"]),
        (
            "DEGRADED",
            [{"code": "AsgInstanceLaunchFailures", "message": "InsufficientInstanceCapacity", "resourceIds": ["a"]}],
            True,
            ["its status is DEGRADED; AsgInstanceLaunchFailures: InsufficientInstanceCapacity"],
        ),
        ("DELETING", [], False, ["is being deleted"]),
        ("DELETE_FAILED", [], False, ["was being deleted, and could not be"]),
        ("CREATE_FAILED", [], False, ["could not be created"]),
    ],
)
def test_a_group_in_each_state(
    status: str, issues: list[Answer], reasons: list[str], monkeypatch: pytest.MonkeyPatch, *, used: bool
) -> None:
    group = {**GROUP, "status": status, "health": {"issues": issues}}
    answers: dict[str, list[Answer]] = {
        "eks:ListNodegroups": [{"nodegroups": ["a10g"]}],
        "eks:DescribeNodegroup": [{"nodegroup": group}],
    }
    Recorded(monkeypatch, {**account(), **answers})
    settings = aws_settings(read_api(NAME, REGION, ""))
    assert ("g5.2xlarge" in settings.values["gpuNodes"]["types"]) is used
    assert [each.reason for each in settings.findings if each.subject == "node group a10g"] == reasons


@pytest.mark.parametrize("status", ["CREATING", "DELETING", "FAILED"])
def test_a_cluster_that_is_not_there_yet(status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {key: CLUSTER[key] for key in ("name", "arn", "createdAt", "version")}
    Recorded(monkeypatch, {"eks:DescribeCluster": [{"cluster": {**cluster, "status": status}}]})
    with pytest.raises(WorkbenchError, match=f"cluster prod: its status is {status}, not ACTIVE"):
        read_api(NAME, REGION, "")


def test_an_empty_account(monkeypatch: pytest.MonkeyPatch) -> None:
    Recorded(monkeypatch, {}, {"eks:DescribeCluster": "ResourceNotFoundException"})
    with pytest.raises(WorkbenchError, match=r"^--aws: cluster prod: .*ResourceNotFoundException"):
        read_api(NAME, REGION, "")


def test_a_cluster_without_anything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    empty: dict[str, list[Answer]] = {
        "eks:ListNodegroups": [{"nodegroups": []}],
        "eks:ListFargateProfiles": [{"fargateProfileNames": []}],
        "eks:ListAddons": [{"addons": []}],
        "ec2:DescribeCapacityReservations": [{"CapacityReservations": []}],
        "iam:ListOpenIDConnectProviders": [{"OpenIDConnectProviderList": []}],
        "autoscaling:DescribeAutoScalingGroups": [{"AutoScalingGroups": []}],
    }
    Recorded(monkeypatch, {**account(), **empty})
    settings = aws_settings(read_api(NAME, REGION, ""))
    assert "gpuNodes" not in settings.values
    assert {"role of the nodes", "add-on eks-pod-identity-agent"} <= {each.subject for each in settings.findings}


@pytest.mark.parametrize(
    ("action", "answer"),
    [
        ("eks:DescribeCluster", {"cluster": {**CLUSTER, "unknown": "a"}}),
        ("eks:DescribeCluster", {"cluster": {**CLUSTER, "status": "RUNNING"}}),
        ("ec2:DescribeVpcs", {"Vpcs": [{**VPC, "IsDefault": "no"}]}),
    ],
)
def test_answers_that_aws_cannot_send_are_rejected(
    action: str, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    Recorded(monkeypatch, {**account(), action: [answer]})
    with pytest.raises((AssertionError, WorkbenchError), match=r"RUNNING|Unknown parameter|Invalid type"):
        read_api(NAME, REGION, "")


class Body:
    """The body of a response of botocore's HTTP session."""

    def __init__(self, text: str) -> None:
        self._text = text

    def stream(self) -> Iterator[bytes]:
        yield self._text.encode()


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        (["ThrottlingException", "ResourceNotFoundException"], "ResourceNotFoundException"),
        (["TooManyRequestsException"] * 20, "TooManyRequestsException"),
    ],
)
def test_throttled_calls_are_repeated(codes: list[str], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    left = iter(codes)
    requests: list[str] = []

    def send(_: URLLib3Session, request: Any) -> AWSResponse:
        requests.append(request.url)
        code = next(left)
        status = 429 if code == "TooManyRequestsException" else 400 if code == "ThrottlingException" else 404
        return AWSResponse(request.url, status, {"x-amzn-errortype": code}, Body(json.dumps({"message": "recorded"})))

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "recorded")
    monkeypatch.delenv("AWS_RETRY_MODE", raising=False)
    monkeypatch.delenv("AWS_MAX_ATTEMPTS", raising=False)
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    monkeypatch.setattr(URLLib3Session, "send", send)
    with pytest.raises(WorkbenchError, match=message):
        read_api(NAME, REGION, "")
    # How often depends on the retry mode of the SDK.
    assert len(requests) > 1
    assert {url.rpartition("/")[2] for url in requests} == {NAME}
