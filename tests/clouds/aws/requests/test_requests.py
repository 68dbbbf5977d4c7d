"""What is checked without moto: entries of a preview, with their unknowns and secrets."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.clouds.aws.moto.program import everything, trust
from tests.clouds.aws.requests.kinds import KINDS, check_entry
from tests.recorded import Recorded, deploy
from tests.resources.aws.aws_mock import Planned
from workbench.engine.values import UNKNOWN, Secret

ROLE = "aws:iam/role:Role"


@pytest.fixture(scope="module")
def previewed() -> Recorded:
    return deploy(everything, preview=True, mock=Planned())


def test_a_preview_of_everything_has_no_problems(previewed):
    graph = previewed.graph
    assert {entry.type for entry in graph} == set(KINDS)
    assert [problem for entry in graph for problem in check_entry(entry.type, entry.inputs, entry.name)] == []
    assert any(UNKNOWN in entry.inputs.values() for entry in graph)


def test_what_is_not_of_aws_has_no_problems():
    assert check_entry("kubernetes:core/v1:ConfigMap", {"anything": 1}) == []


@pytest.mark.parametrize("type_", KINDS)
def test_an_unknown_may_stand_for_any_block(type_, previewed):
    entry = previewed.of(type_)[0]
    for name in entry.inputs:
        assert check_entry(type_, {**entry.inputs, name: UNKNOWN}, entry.name) == []
        assert check_entry(type_, {**entry.inputs, name: Secret(entry.inputs[name])}, entry.name) == []


def _with_one_wrong(value: Any) -> Iterator[Any]:
    """Return the value again and again, each time with something else in it of a wrong kind."""
    if value is UNKNOWN:
        return
    yield [7] if isinstance(value, int) else 7
    if isinstance(value, dict):
        yield from ({**value, key: wrong} for key, inner in value.items() for wrong in _with_one_wrong(inner))
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from ([*value[:index], wrong, *value[index + 1 :]] for wrong in _with_one_wrong(inner))


@pytest.mark.parametrize("type_", KINDS)
def test_a_wrong_kind_of_value_is_told_wherever_it_is(type_, previewed):
    for entry in previewed.of(type_):
        for name, value in entry.inputs.items():
            for wrong in _with_one_wrong(value):
                assert check_entry(type_, {**entry.inputs, name: wrong}, entry.name), (name, wrong)


def test_what_is_known_is_checked_among_unknowns_and_secrets():
    inputs = {"assumeRolePolicy": UNKNOWN, "name": Secret("my nodes"), "maxSessionDuration": Secret(60)}
    found = check_entry(ROLE, inputs)
    assert len(found) == 2, found


def test_a_name_is_made_of_the_logical_one_if_that_is_known():
    inputs = {"assumeRolePolicy": trust("ec2.amazonaws.com")}
    assert check_entry(ROLE, inputs) == []
    assert check_entry(ROLE, inputs, "n" * 56) == []
    assert "length 65 is more than 64" in check_entry(ROLE, inputs, "n" * 57)[0]
    assert "length 66 is more than 64" in check_entry(ROLE, inputs | {"namePrefix": "n" * 40})[0]


@pytest.mark.parametrize(
    ("type_", "inputs", "problem"),
    [
        ("aws:kms/key:Key", {"deletionWindowInDays": 3}, "deletion window: found 3"),
        ("aws:kms/key:Key", {"rotationPeriodInDays": 90}, "a rotation period wants rotation"),
        ("aws:kms/key:Key", {"enableKeyRotation": True, "rotationPeriodInDays": 30}, "value 30 is less than 90"),
        ("aws:cloudwatch/logGroup:LogGroup", {"retentionInDays": 10}, "retention: found 10"),
        ("aws:cloudwatch/logGroup:LogGroup", {"logGroupClass": "CHEAP"}, "logGroupClass: found 'CHEAP'"),
        ("aws:cloudwatch/eventRule:EventRule", {"eventPattern": '{"source": "aws.ec2"}'}, "allowed are lists and"),
        ("aws:ec2/eip:Eip", {"domain": "classic"}, "Domain: found 'classic'"),
        ("aws:ec2/vpc:Vpc", {"enableDnsSupport": "yes"}, "EnableDnsSupport.Value: found 'yes'"),
        ("aws:ec2/securityGroup:SecurityGroup", {"name": "sg-main"}, "security group name: found 'sg-main'"),
        ("aws:ec2/placementGroup:PlacementGroup", {"strategy": "near"}, "Strategy: found 'near'"),
        ("aws:eks/addon:Addon", {"configurationValues": "a: b"}, "configuration values are not JSON"),
        ("aws:eks/addon:Addon", {"resolveConflictsOnCreate": "PRESERVE"}, "conflicts on create: found 'PRESERVE'"),
        ("aws:eks/addon:Addon", {"resolveConflictsOnUpdate": "KEEP"}, "resolveConflicts: found 'KEEP'"),
        ("aws:eks/accessEntry:AccessEntry", {"type": "LINUX"}, "access entry type: found 'LINUX'"),
        ("aws:eks/accessEntry:AccessEntry", {"kubernetesGroups": ["system:masters"]}, "'system:masters' is reserved"),
        ("aws:eks/accessPolicyAssociation:AccessPolicyAssociation", {"accessScope": {"type": "pod"}}, "found 'pod'"),
        ("aws:eks/cluster:Cluster", {"accessConfig": {"authenticationMode": "IAM"}}, "found 'IAM', allowed are"),
        ("aws:eks/cluster:Cluster", {"enabledClusterLogTypes": ["logs"]}, "found 'logs', allowed are"),
        ("aws:eks/cluster:Cluster", {"upgradePolicy": {"supportType": "BASIC"}}, "found 'BASIC', allowed are"),
        ("aws:eks/cluster:Cluster", {"version": "1.35.1"}, "Kubernetes version: found '1.35.1'"),
        ("aws:eks/cluster:Cluster", {"encryptionConfig": {"resources": ["pods"]}}, "allowed is ['secrets']"),
        ("aws:autoscaling/schedule:Schedule", {"startTime": "2035-01-31T11:30:00+00:00"}, "schedule time: found"),
        ("aws:autoscaling/tag:Tag", {"tag": {"key": "k" * 129, "value": ""}}, "length 129 is more than 128"),
        ("aws:efs/fileSystem:FileSystem", {"throughputMode": "provisioned"}, "provisioned wants one, others none"),
        ("aws:efs/fileSystem:FileSystem", {"throughputMode": "fast"}, "found 'fast', allowed are"),
        ("aws:efs/fileSystem:FileSystem", {"kmsKeyId": "k", "encrypted": False}, "must be encrypted"),
        ("aws:efs/mountTarget:MountTarget", {"subnetId": "net"}, "SubnetId: found 'net'"),
        ("aws:efs/accessPoint:AccessPoint", {"rootDirectory": {"path": "models"}}, "RootDirectory.Path: found"),
        ("aws:efs/accessPoint:AccessPoint", {"posixUser": {"uid": -1, "gid": 0}}, "PosixUser.Uid"),
        ("aws:fsx/lustreFileSystem:LustreFileSystem", {"storageCapacity": 3600}, "storage capacity: found 3600"),
        ("aws:fsx/lustreFileSystem:LustreFileSystem", {"deploymentType": "PERSISTENT_3"}, "found 'PERSISTENT_3'"),
        (
            "aws:fsx/lustreFileSystem:LustreFileSystem",
            {"deploymentType": "PERSISTENT_2", "perUnitStorageThroughput": 200},
            "throughput: found 200",
        ),
        (
            "aws:fsx/lustreFileSystem:LustreFileSystem",
            {"deploymentType": "SCRATCH_2", "automaticBackupRetentionDays": 0},
            "SCRATCH_2 takes no throughput, key or backups",
        ),
        ("aws:sqs/queue:Queue", {"name": "a.b"}, "queue name: found 'a.b'"),
        (
            "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
            {"ipProtocol": "tcp", "cidrIpv4": "10.0.0.0/8"},
            "protocol tcp wants fromPort and toPort",
        ),
        ("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule", {"ipProtocol": "-1"}, "exactly one source"),
        ("aws:ec2/route:Route", {"routeTableId": "rtb-1"}, "a route has exactly one target"),
    ],
)
def test_what_is_wrong_is_told(type_, inputs, problem):
    found = check_entry(type_, inputs)
    assert any(problem in text for text in found), found


@pytest.mark.parametrize("type_", KINDS)
def test_what_is_missing_is_told(type_):
    """Every type has something that it cannot do without, but for those that a name suffices for."""
    sufficient = {
        "aws:ec2/internetGateway:InternetGateway",
        "aws:ec2/eip:Eip",
        "aws:ec2/launchTemplate:LaunchTemplate",
        "aws:ec2/placementGroup:PlacementGroup",
        "aws:ec2/securityGroup:SecurityGroup",
        "aws:ec2/vpc:Vpc",
        "aws:efs/fileSystem:FileSystem",
        "aws:iam/instanceProfile:InstanceProfile",
        "aws:kms/key:Key",
        "aws:cloudwatch/logGroup:LogGroup",
        "aws:cloudwatch/eventRule:EventRule",
        "aws:sqs/queue:Queue",
    }
    assert bool(check_entry(type_, {})) != (type_ in sufficient)
