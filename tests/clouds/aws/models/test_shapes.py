"""Each kind of constraint in botocore's models, by real operations."""

import re

import pytest

from tests.clouds.aws.models.shapes import compiled, model, problems
from workbench.engine.values import UNKNOWN

ROLE = {"RoleName": "nodes", "AssumeRolePolicyDocument": "{}"}
GROUP = {"clusterName": "main", "nodegroupName": "gpu", "subnets": ["subnet-1"], "nodeRole": "arn:aws:iam::1:role/n"}
TEMPLATE = {"LaunchTemplateName": "gpu", "LaunchTemplateData": {}}


def test_what_is_allowed():
    assert problems("iam", "CreateRole", ROLE) == []
    assert problems("eks", "CreateNodegroup", GROUP) == []
    assert problems("ec2", "CreateLaunchTemplate", TEMPLATE) == []
    assert problems("kms", "CreateKey", {}) == []


def test_a_request_with_everything():
    group = {
        **GROUP,
        "scalingConfig": {"minSize": 0, "maxSize": 1, "desiredSize": 0},
        "updateConfig": {"maxUnavailable": 100, "updateStrategy": "MINIMAL"},
        "taints": [{"key": "nvidia.com/gpu", "value": "", "effect": "NO_SCHEDULE"}],
        "labels": {"a/b": "c"},
        "amiType": "AL2023_x86_64_NVIDIA",
        "capacityType": "CAPACITY_BLOCK",
        "launchTemplate": {"id": "lt-1", "version": "1"},
        "nodeRepairConfig": {"enabled": True},
        "tags": {"Name": "gpu"},
    }
    assert problems("eks", "CreateNodegroup", group) == []


@pytest.mark.parametrize(
    ("service", "operation", "params", "path", "words"),
    [
        ("iam", "CreateRole", {**ROLE, "Nmae": "x"}, "Nmae", "is unknown"),
        ("eks", "CreateNodegroup", {**GROUP, "scalingConfig": {"min": 0}}, "scalingConfig.min", "is unknown"),
        ("iam", "CreateRole", {"RoleName": "nodes"}, "AssumeRolePolicyDocument", "is required"),
        ("iam", "CreateRole", {**ROLE, "Tags": [{"Key": "a"}]}, "Tags[0].Value", "is required"),
        ("iam", "CreateRole", {**ROLE, "MaxSessionDuration": "3600"}, "MaxSessionDuration", "an? integer"),
        ("iam", "CreateRole", {**ROLE, "MaxSessionDuration": True}, "MaxSessionDuration", "an? integer"),
        ("ec2", "CreateLaunchTemplate", {**TEMPLATE, "DryRun": "true"}, "DryRun", "a boolean"),
        ("eks", "CreateNodegroup", {**GROUP, "subnets": "subnet-1"}, "subnets", "a list"),
        ("eks", "CreateNodegroup", {**GROUP, "labels": ["a"]}, "labels", "a map"),
        (
            "eks",
            "CreateNodegroup",
            {**GROUP, "amiType": "AL2023_NVIDIA"},
            "amiType",
            "allowed are .*AL2023_x86_64_NVIDIA",
        ),
        (
            *("eks", "CreateNodegroup", {**GROUP, "taints": [{"key": "gpu", "effect": "NoSchedule"}]}),
            *("taints[0].effect", "NO_SCHEDULE"),
        ),
        ("iam", "CreateRole", {**ROLE, "RoleName": "no spaces"}, "RoleName", "does not match"),
        ("eks", "CreateCluster", {"name": "-main"}, "name", "does not match"),
        (
            "logs",
            "CreateLogGroup",
            {"logGroupName": "a", "tags": {"a!": ""}},
            "tags['a!'] as a key",
            "does not match",
        ),
        ("iam", "CreateRole", {**ROLE, "RoleName": "n" * 65}, "RoleName", "length 65 is more than 64"),
        ("iam", "CreateRole", {**ROLE, "RoleName": ""}, "RoleName", "length 0 is less than 1"),
        ("kms", "CreateAlias", {"AliasName": "", "TargetKeyId": "k"}, "AliasName", "less than 1"),
        ("iam", "CreateRole", {**ROLE, "MaxSessionDuration": 60}, "MaxSessionDuration", "value 60 is less than 3600"),
        (
            *("eks", "CreateNodegroup", {**GROUP, "updateConfig": {"maxUnavailablePercentage": 101}}),
            *("updateConfig.maxUnavailablePercentage", "value 101 is more than 100"),
        ),
        (
            *("iam", "CreateRole", {**ROLE, "Tags": [{"Key": f"k{i}", "Value": ""} for i in range(51)]}),
            *("Tags", "length 51 is more than 50"),
        ),
        (
            *("eks", "CreateNodegroup", {**GROUP, "labels": {"a": "b" * 64}}),
            *("labels['a']", "length 64 is more than 63"),
        ),
        ("events", "PutTargets", {"Rule": "r", "Targets": []}, "Targets", "length 0 is less than 1"),
        (
            *("autoscaling", "PutScheduledUpdateGroupAction", {"StartTime": "tomorrow"}),
            *("StartTime", "allowed is a time"),
        ),
    ],
)
def test_what_is_forbidden(service, operation, params, path, words):
    found = [problem for problem in problems(service, operation, params) if problem.startswith(f"{path}: ")]
    assert any(re.search(words, problem) for problem in found), problems(service, operation, params)


def test_an_unknown_is_allowed_everywhere():
    assert problems("iam", "CreateRole", dict.fromkeys((*ROLE, "Tags", "MaxSessionDuration"), UNKNOWN)) == []
    assert problems("eks", "CreateNodegroup", {**GROUP, "subnets": [UNKNOWN], "scalingConfig": UNKNOWN}) == []


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        (r"[\p{L}\p{Z}\p{N}_.:/=+\-@]+", "Größe 1/二", "a*"),
        (r"[\u0020-\uD7FF\uE000-\uFFFD\uD800\uDC00-\uDBFF\uDFFF\r\n\t]*", "a\n🚀", "\x00"),
        (r"[\w+=,.@-]+", "a-b", "ä"),
        (r"[\w-_]*", "a-b", "a.b"),
    ],
)
def test_patterns_written_for_java(pattern, matching, other):
    assert compiled(pattern).fullmatch(matching)
    assert not compiled(pattern).fullmatch(other)


@pytest.mark.parametrize("service", ["autoscaling", "ec2", "eks", "events", "iam", "kms", "logs", "sqs"])
def test_every_pattern_of_the_services_in_use_is_understood(service):
    shapes = model(service)
    patterns = {shapes.shape_for(name).metadata.get("pattern") for name in shapes.shape_names} - {None}
    assert all(compiled(pattern) for pattern in patterns)


def test_a_pattern_that_is_not_understood_is_no_success():
    with pytest.raises(AssertionError, match="not understood"):
        compiled(r"[a-z&&[^b]]\p{Klingon}")
