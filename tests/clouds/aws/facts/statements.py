"""Statements of the policies, with values filled in."""

import re
from collections.abc import Iterator
from typing import Any

from components.clouds.aws.facts.iam import (
    Document,
    placeholders,
    policy,
)

VALUES = {
    "partition": "aws",
    "region": "us-east-1",
    "cluster": "demo",
    "node_role_arn": "arn:aws:iam::123456789012:role/node",
    "queue_arn": "arn:aws:sqs:us-east-1:123456789012:demo",
    "bucket": "models",
    "prefix": "llama/",
    "zone": "Z0123456789ABCDEFGHIJ",
    "host": "models.example.com",
    "key_arn": "arn:aws:kms:us-east-1:123456789012:key/0123abcd-01ab-23cd-45ef-0123456789ab",
}
READS = re.compile(r"[a-z0-9-]+:(Describe|Get|List)\w+")
OWNED = "aws:ResourceTag/kubernetes.io/cluster/demo"
MADE = "aws:RequestTag/kubernetes.io/cluster/demo"
BALANCED = "elbv2.k8s.aws/cluster"


def filled(name: str) -> Document:
    return policy(name, **{key: VALUES[key] for key in placeholders(name)})


def statements(name: str) -> Iterator[tuple[set[str], list[str], dict[str, Any]]]:
    for one in filled(name)["Statement"]:
        yield set(one["Action"]), one["Resource"], one.get("Condition", {})


def granting(name: str, action: str) -> list[tuple[list[str], dict[str, Any]]]:
    return [(resources, conditions) for actions, resources, conditions in statements(name) if action in actions]


def actions(name: str) -> set[str]:
    return {action for granted, _, _ in statements(name) for action in granted}
