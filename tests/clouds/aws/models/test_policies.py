"""Policy documents, rule by rule."""

import json
from typing import Any

import pytest

from tests.clouds.aws.models.policies import IDENTITY, RESOURCE, TRUST, policy_problems
from workbench.engine.values import UNKNOWN

ALLOW: dict[str, Any] = {"Effect": "Allow", "Action": "ec2:Describe*", "Resource": "*"}
TAKE = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}


def document(*statements: Any, **changes: Any) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements), **changes})


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (IDENTITY, document(ALLOW)),
        (IDENTITY, document(Statement=ALLOW)),
        (
            IDENTITY,
            document({**ALLOW, "Sid": "Read1", "Resource": ["arn:aws:s3:::bucket/*", "arn:aws:eks:*:*:cluster/*"]}),
        ),
        (
            IDENTITY,
            document({**ALLOW, "Condition": {"ForAllValues:StringLikeIfExists": {"aws:TagKeys": ["a", "b"]}}}),
        ),
        (
            IDENTITY,
            document({**ALLOW, "Condition": {"Null": {"aws:RequestTag/a": "false"}, "Bool": {"aws:x": True}}}),
        ),
        (TRUST, document(TAKE)),
        (TRUST, document({**TAKE, "Principal": {"AWS": "arn:aws:iam::123456789012:root"}})),
        (TRUST, document({**TAKE, "Action": ["sts:AssumeRole", "sts:TagSession"]})),
        (RESOURCE, document({**ALLOW, "Principal": "*", "Action": "*"})),
        (RESOURCE, UNKNOWN),
    ],
)
def test_what_is_allowed(kind, text):
    assert policy_problems(kind, text) == []


@pytest.mark.parametrize(
    ("kind", "text", "problem"),
    [
        (IDENTITY, "[]", "allowed is an object"),
        (IDENTITY, document(), "Statement: is required"),
        (IDENTITY, document("x"), "found 'x', allowed is an object"),
        (IDENTITY, document(ALLOW, Version="2008-10-17"), "Version: found '2008-10-17'"),
        (IDENTITY, document(ALLOW, Statements=[]), "Statements is unknown"),
        (IDENTITY, document({**ALLOW, "Effect": "allow"}), "Effect: found 'allow'"),
        (IDENTITY, document({**ALLOW, "Conditions": {}}), "Conditions is unknown"),
        (IDENTITY, document({**ALLOW, "Sid": "read it"}), "Sid: found 'read it'"),
        (IDENTITY, document({**ALLOW, "Sid": "A"}, {**ALLOW, "Sid": "A"}), "Sid 'A' is there 2 times"),
        (IDENTITY, document({"Effect": "Allow", "Action": "ec2:Describe*"}), "Resource: exactly one of"),
        (IDENTITY, document({"Effect": "Allow", "Resource": "*"}), "Action: exactly one of"),
        (IDENTITY, document({**ALLOW, "NotAction": "a:b"}), "Action: exactly one of"),
        (IDENTITY, document({**ALLOW, "Action": []}), "Action: is empty"),
        (IDENTITY, document({**ALLOW, "Principal": "*"}), "Principal: is not allowed"),
        (IDENTITY, document({**ALLOW, "Resource": "bucket"}), "Resource: found 'bucket'"),
        (IDENTITY, document({**ALLOW, "Condition": {"StringEqual": {"a:b": "c"}}}), "'StringEqual' is no operator"),
        (IDENTITY, document({**ALLOW, "Condition": {"StringEquals": {"ab": "c"}}}), "found the key 'ab'"),
        (IDENTITY, document({**ALLOW, "Condition": {"StringEquals": "a"}}), "allowed is an object of keys"),
        (TRUST, document({**TAKE, "Resource": "*"}), "Resource: is not allowed"),
        (TRUST, document({**TAKE, "Principal": {"Service": "ec2"}}), "Principal.Service: found 'ec2'"),
        (TRUST, document({**TAKE, "Principal": {"Aws": "*"}}), "Principal.Aws: found '*'"),
        (TRUST, document({"Effect": "Allow", "Action": "sts:AssumeRole"}), "Principal: exactly one of"),
        (RESOURCE, document(ALLOW), "Principal: exactly one of"),
    ],
)
def test_what_is_forbidden(kind, text, problem):
    found = policy_problems(kind, text)
    assert any(problem in text for text in found), found


def test_a_policy_is_as_long_as_it_may_be_without_white_space():
    text = document(ALLOW)
    size = len(text.replace(" ", ""))
    assert policy_problems(IDENTITY, text, size) == []
    assert policy_problems(IDENTITY, text, size - 1) == [f"policy: has {size} characters, {size - 1} are allowed"]


@pytest.mark.parametrize("action", ["EC2:RunInstances", "ec2", "ec2:", "ec2:Run Instances", 1])
def test_no_actions(action):
    """Whether there is such an action is for ``authorization``."""
    (problem,) = policy_problems(IDENTITY, document({**ALLOW, "Action": [action]}))
    assert "allowed is service:Name" in problem
