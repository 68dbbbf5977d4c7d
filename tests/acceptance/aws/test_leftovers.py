"""What the acceptance test finds in an account: everything of its cluster, and nothing else."""

import datetime
import json
from pathlib import Path

import pytest
import yaml
from acceptance.leftovers import delete_keys, leftovers
from acceptance.project import STACK, TAG, AcceptanceProject

from stacks.environment import deploy
from stacks.settings import read
from tests.acceptance.aws.conftest import REGION
from tests.clouds.aws.moto.moto_cloud import MotoCloud
from tests.recorded import deploy as record
from tests.stacks.shipped import Clock

CLUSTER = "inference-acceptance-1"
LONG_AGO = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)


def found(account: MotoCloud, cluster: str = CLUSTER) -> list[str]:
    return [item.kind for item in leftovers(cluster, LONG_AGO, account.client)]


def test_all_of_the_stack_is_found_until_it_is_deleted(
    account: MotoCloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = AcceptanceProject.write(
        tmp_path / "run", CLUSTER, REGION, "g5.xlarge", ["us-east-1a", "us-east-1b"], "192.0.2.0/24"
    )
    monkeypatch.chdir(project.folder)
    stored = yaml.safe_load((project.folder / f"Pulumi.{STACK}.yaml").read_text())["config"]
    values = {key.removeprefix("inference-platform:"): value for key, value in stored.items()}
    config = {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}
    with monkeypatch.context() as patch:
        patch.setattr(datetime, "datetime", Clock)
        record(lambda: deploy(read()), config=config, mock=account)
    assert account.problems == []
    kinds = {"EKS cluster", "IAM role", "NAT gateway", "VPC", "address", "subnet", "launch template"}
    assert kinds <= set(found(account))
    assert found(account, "inference-acceptance-2") == []
    assert account.destroy() == []
    assert found(account) == []


@pytest.mark.parametrize(
    "tag",
    [
        (TAG, CLUSTER),
        (f"kubernetes.io/cluster/{CLUSTER}", "owned"),
        ("elbv2.k8s.aws/cluster", CLUSTER),
        ("eks:cluster-name", CLUSTER),
        ("cluster.k8s.amazonaws.com/name", CLUSTER),
        ("KubernetesCluster", CLUSTER),
    ],
)
def test_what_controllers_left_is_found_by_their_tags(account: MotoCloud, tag: tuple[str, str]) -> None:
    ec2 = account.client("ec2")
    tags = [{"Key": tag[0], "Value": tag[1]}]
    ec2.create_volume(
        AvailabilityZone="us-east-1a", Size=1, TagSpecifications=[{"ResourceType": "volume", "Tags": tags}]
    )
    group = ec2.create_security_group(GroupName="of-a-load-balancer", Description="test")["GroupId"]
    ec2.create_tags(Resources=[group], Tags=tags)
    assert found(account) == ["security group", "volume"]
    assert found(account, "another") == []


def test_a_load_balancer_and_a_log_group_are_found(account: MotoCloud) -> None:
    subnet = account.client("ec2").describe_subnets()["Subnets"][0]["SubnetId"]
    tags = [{"Key": "elbv2.k8s.aws/cluster", "Value": CLUSTER}]
    account.client("elbv2").create_load_balancer(Name="k8s-door", Subnets=[subnet], Type="network", Tags=tags)
    account.client("logs").create_log_group(logGroupName=f"/aws/eks/{CLUSTER}/cluster")
    account.client("logs").create_log_group(logGroupName=f"/aws/eks/{CLUSTER}-other/cluster")
    assert found(account) == ["elasticloadbalancing", "log group"]


def test_a_key_that_is_scheduled_for_deletion_is_not_left(account: MotoCloud) -> None:
    kms = account.client("kms")
    key = kms.create_key(Tags=[{"TagKey": TAG, "TagValue": CLUSTER}])["KeyMetadata"]["KeyId"]
    assert found(account) == ["kms"]
    kms.schedule_key_deletion(KeyId=key)
    assert found(account) == []


def test_the_key_that_a_destroy_keeps_is_deleted_with_the_run(account: MotoCloud) -> None:
    """A stack keeps the key of its cluster, because no edit of a setting may delete it."""
    kms = account.client("kms")
    key = kms.create_key(Tags=[{"TagKey": TAG, "TagValue": CLUSTER}])["KeyMetadata"]["Arn"]
    other = kms.create_key(Tags=[{"TagKey": TAG, "TagValue": f"{CLUSTER}-other"}])["KeyMetadata"]["KeyId"]
    assert delete_keys(CLUSTER, account.client) == [key]
    assert delete_keys(CLUSTER, account.client) == []
    assert found(account) == []
    assert kms.describe_key(KeyId=other)["KeyMetadata"]["KeyState"] == "Enabled"
