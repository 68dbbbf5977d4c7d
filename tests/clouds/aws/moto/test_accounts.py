"""Accounts in memory: one at a time, in every thread."""

import threading

import boto3  # type: ignore[import-untyped]
from pulumi.runtime.mocks import MockResourceArgs

from tests.clouds.aws.moto.moto_cloud import MotoCloud
from tests.clouds.aws.moto.program import REGION, trust

ROLE = MockResourceArgs(
    "aws:iam/role:Role", "nodes", {"name": "nodes", "assumeRolePolicy": trust("ec2.amazonaws.com")}
)


def test_any_thread_may_register():
    with MotoCloud(REGION) as cloud:
        thread = threading.Thread(target=cloud.new_resource, args=(ROLE,))
        thread.start()
        thread.join()
        assert [made.id for made in cloud.created] == ["nodes"]


def test_a_new_account_is_empty_and_ends_the_one_before():
    first = MotoCloud(REGION)
    first.new_resource(ROLE)
    with MotoCloud("eu-central-1") as second:
        assert second.client("iam").list_roles()["Roles"] == []
        first.close()
        second.new_resource(ROLE)
        assert [made.id for made in second.created] == ["nodes"]


def test_the_region_decides_the_partition():
    with MotoCloud("cn-north-1") as cloud:
        cloud.new_resource(ROLE)
        assert cloud.created[0].outputs["arn"].startswith("arn:aws-cn:iam:")
        network = {"cidrBlock": "10.0.0.0/16"}
        _, outputs = cloud.new_resource(MockResourceArgs("aws:ec2/vpc:Vpc", "main", network))
        assert outputs["arn"].startswith("arn:aws-cn:ec2:cn-north-1:")
        assert cloud.destroy() == []


def test_nothing_of_it_stays_when_it_is_closed(monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "somebody")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody's")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with MotoCloud(REGION):
        assert boto3.Session().get_credentials().access_key != "somebody's"
    monkeypatch.delenv("AWS_PROFILE")
    assert boto3.Session().get_credentials().access_key == "somebody's"
