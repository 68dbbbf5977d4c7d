"""The four sources give the same settings for the same cluster."""

import datetime
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-untyped]
import botocore.session  # type: ignore[import-untyped]
import pytest
import yaml

from tests.adopting.aws import one_cluster
from tests.clouds.aws.moto.moto_cloud import MotoCloud
from workbench.adopting.aws.api import read_api
from workbench.adopting.aws.cloudformation import read_cloudformation
from workbench.adopting.aws.eksctl import read_eksctl
from workbench.adopting.aws.inventory import Inventory
from workbench.adopting.aws.settings import aws_settings
from workbench.adopting.aws.terraform import read_terraform
from workbench.errors import WorkbenchError

ROOT = Path(__file__).parents[3]


def saved(folder: Path, name: str, document: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps(document) if name.endswith("json") else yaml.safe_dump(document))
    return path


@pytest.fixture
def cloud() -> Iterator[MotoCloud]:
    with MotoCloud(one_cluster.REGION) as made:
        yield made


class Calls:
    """The calls to AWS; answers those that moto does not emulate, and denies some."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        *,
        addons: list[str] | None = None,
        denied: str = "",
        reservations: list[dict[str, Any]] | None = None,
    ) -> None:
        from botocore.client import BaseClient  # type: ignore[import-untyped]
        from botocore.exceptions import ClientError  # type: ignore[import-untyped]

        self.made: set[str] = set()
        original = BaseClient._make_api_call

        def call(client: Any, operation: str, params: Any) -> Any:
            action = f"{client.meta.service_model.service_name}:{operation}"
            self.made.add(action)
            if denied and action in denied.split():
                code = "UnauthorizedOperation" if action.startswith("ec2") else "AccessDeniedException"
                raise ClientError({"Error": {"Code": code, "Message": "not authorized"}}, operation)
            if operation == "ListAddons":
                return {"addons": addons or []}
            if operation == "DescribeCapacityReservations":
                return {"CapacityReservations": reservations or []}
            answer = original(client, operation, params)
            if operation == "DescribeCluster":
                # AWS adds the VPC of the subnets (EKS API reference, VpcConfigResponse), moto does not.
                config = answer["cluster"]["resourcesVpcConfig"]
                ec2 = boto3.client("ec2", one_cluster.REGION)
                subnets = original(ec2, "DescribeSubnets", {"SubnetIds": config["subnetIds"]})
                config["vpcId"] = subnets["Subnets"][0]["VpcId"]
            return answer

        monkeypatch.setattr(BaseClient, "_make_api_call", call)


def by_files(folder: Path, ids: one_cluster.Ids) -> dict[str, Inventory]:
    parts = one_cluster.cloudformation(ids)
    stack = [saved(folder, f"cf{n}.{'yaml' if n == 0 else 'json'}", part) for n, part in enumerate(parts)]
    return {
        "terraform": read_terraform(saved(folder, "state.json", one_cluster.terraform(ids)), ""),
        "eksctl": read_eksctl(saved(folder, "cluster.yaml", one_cluster.eksctl(ids)), ""),
        "cloudformation": read_cloudformation(stack, ""),
    }


def test_the_same_cluster_gives_the_same_settings(
    tmp_path: Path, cloud: MotoCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = one_cluster.create(cloud.client)
    Calls(monkeypatch)
    inventories = {"api": read_api(one_cluster.NAME, one_cluster.REGION, ""), **by_files(tmp_path, ids)}
    wanted = one_cluster.expected(ids)
    assert {source: aws_settings(found).values for source, found in inventories.items()} == dict.fromkeys(
        inventories, wanted
    )
    for source, found in inventories.items():
        subjects = [finding.subject for finding in aws_settings(found).findings]
        assert "node group system" in subjects, source


def test_the_documented_policy_allows_exactly_the_calls(cloud: MotoCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = one_cluster.create(cloud.client)
    template = cloud.client("ec2").create_launch_template(
        LaunchTemplateName="own", LaunchTemplateData={"InstanceType": "g5.xlarge"}
    )["LaunchTemplate"]
    cloud.client("eks").create_nodegroup(
        clusterName=one_cluster.NAME,
        nodegroupName="own",
        subnets=[ids["private-a"]],
        nodeRole=ids["role"],
        launchTemplate={"id": template["LaunchTemplateId"], "version": "1"},
    )
    calls = Calls(monkeypatch)
    read_api(one_cluster.NAME, one_cluster.REGION, "")
    (statement,) = json.loads((ROOT / "docs/adopt-aws-policy.json").read_text())["Statement"]
    services = {action.partition(":")[0] for action in statement["Action"]}
    assert statement["Effect"] == "Allow"
    assert sorted(calls.made) == statement["Action"]
    models = {service: botocore.session.get_session().get_service_model(service) for service in services}
    for action in statement["Action"]:
        service, _, operation = action.partition(":")
        assert operation in models[service].operation_names
        assert operation.startswith(("Describe", "List"))


def test_each_missing_permission_is_named_once(cloud: MotoCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    one_cluster.create(cloud.client)
    Calls(monkeypatch, denied="eks:DescribeNodegroup ec2:DescribeSubnets iam:ListOpenIDConnectProviders")
    with pytest.raises(WorkbenchError) as raised:
        read_api(one_cluster.NAME, one_cluster.REGION, "")
    assert str(raised.value).splitlines() == [
        "--aws: cluster prod: missing permissions, listed in docs/adopt-aws-policy.json:",
        "  ec2:DescribeSubnets",
        "  eks:DescribeNodegroup",
        "  iam:ListOpenIDConnectProviders",
    ]


def test_an_unknown_cluster_is_an_error(cloud: MotoCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    Calls(monkeypatch)
    with pytest.raises(WorkbenchError, match=r"^--aws: cluster absent: .*ResourceNotFoundException"):
        read_api("absent", one_cluster.REGION, "")


def test_without_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "absent"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "absent"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(WorkbenchError, match="Unable to locate credentials"):
        read_api("prod", "us-east-1", "")
    with pytest.raises(WorkbenchError, match=r"profile .*somebody"):
        read_api("prod", "us-east-1", "somebody")


def test_identity_of_pods(tmp_path: Path, cloud: MotoCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the Pod Identity agent, the OIDC provider with the issuer of the cluster is named."""
    one_cluster.create(cloud.client)
    eks, iam = cloud.client("eks"), cloud.client("iam")
    issuer = eks.describe_cluster(name=one_cluster.NAME)["cluster"]["identity"]["oidc"]["issuer"]
    iam.create_open_id_connect_provider(Url="https://other.example.com", ThumbprintList=["0" * 40])
    arn = iam.create_open_id_connect_provider(Url=issuer, ThumbprintList=["0" * 40])["OpenIDConnectProviderArn"]
    Calls(monkeypatch)
    found = aws_settings(read_api(one_cluster.NAME, one_cluster.REGION, ""))
    assert found.values["cluster"]["oidcProviderArn"] == arn
    Calls(monkeypatch, addons=["eks-pod-identity-agent", "metrics-server"])
    found = aws_settings(read_api(one_cluster.NAME, one_cluster.REGION, ""))
    assert "oidcProviderArn" not in found.values["cluster"]
    assert found.values["prerequisites"] == {"install": False, "present": ["metrics-server"]}


HELD = {
    "InstanceType": "p5.48xlarge",
    "AvailabilityZone": "us-east-1a",
    "TotalInstanceCount": 2,
    "State": "active",
    "InstanceMatchCriteria": "targeted",
}
BLOCK = {
    **HELD,
    "State": "scheduled",
    "ReservationType": "capacity-block",
    "StartDate": datetime.datetime(2027, 1, 11, 11, 30, tzinfo=datetime.UTC),
    "EndDate": datetime.datetime(2027, 1, 18, 11, 30, tzinfo=datetime.UTC),
}


def test_reservations(cloud: MotoCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers in the form of the EC2 API reference, DescribeCapacityReservations."""
    ids = one_cluster.create(cloud.client)
    target = {"CapacityReservationTarget": {"CapacityReservationId": "cr-0a"}}
    data = {"CapacityReservationSpecification": target}
    ec2 = cloud.client("ec2")
    made = ec2.create_launch_template(LaunchTemplateName="held", LaunchTemplateData=data)["LaunchTemplate"]
    cloud.client("eks").create_nodegroup(
        clusterName=one_cluster.NAME,
        nodegroupName="held",
        instanceTypes=["p4d.24xlarge"],  # with a type in the template EKS returns none, moto its default
        scalingConfig={"minSize": 0, "maxSize": 2, "desiredSize": 1},
        subnets=[ids["private-a"]],
        nodeRole=ids["role"],
        launchTemplate={"id": made["LaunchTemplateId"], "version": "1"},
    )
    reservations = [
        {**HELD, "CapacityReservationId": "cr-0a", "InstanceType": "p4d.24xlarge"},
        {**BLOCK, "CapacityReservationId": "cr-0b"},
        {**HELD, "CapacityReservationId": "cr-0c", "InstanceType": "g6e.xlarge", "InstanceMatchCriteria": "open"},
        {**HELD, "CapacityReservationId": "cr-0d", "InstanceType": "m7i.large"},
        {**HELD, "CapacityReservationId": "cr-0e", "State": "expired"},
        {**HELD, "CapacityReservationId": "cr-0f", "InstanceType": "g5.2xlarge"},
        {**HELD, "CapacityReservationId": "cr-10", "InstanceType": "g6e.48xlarge", "AvailabilityZone": "us-east-1f"},
    ]
    Calls(monkeypatch, reservations=reservations)
    found = aws_settings(read_api(one_cluster.NAME, one_cluster.REGION, ""))
    types = found.values["gpuNodes"]["types"]
    assert types["p4d.24xlarge"] == {
        "existingGroups": ["held"],
        "capacity": "odcr",
        "reservation": {"id": "cr-0a", "zone": "us-east-1a", "count": 2},
        "zones": ["us-east-1a"],
        "maxNodes": 2,
    }
    times = {"starts": "2027-01-11T11:30:00+00:00", "ends": "2027-01-18T11:30:00+00:00"}
    assert types["p5.48xlarge"] == {
        "capacity": "capacity-block",
        "reservation": {"id": "cr-0b", "zone": "us-east-1a", "count": 2, **times},
    }
    reasons = {finding.subject: finding.reason for finding in found.findings if "reservation" in finding.subject}
    assert {subject: reason.split(":")[0].split(",")[0] for subject, reason in reasons.items()} == {
        "capacity reservation cr-0c": "is open",
        "capacity reservation cr-0d": "is for m7i.large",
        "capacity reservation cr-0f": "no node group names it",
        "capacity reservation cr-10": "is in us-east-1f",
    }
