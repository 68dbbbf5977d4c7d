"""Roles, and what they get in a cluster, as examples."""

from typing import Any

import pulumi
from pulumi.runtime import mocks

from components.resources.aws.args import ClusterArgs
from components.resources.aws.cluster import Cluster
from tests.recorded import Recorded, deploy
from tests.resources.aws.aws_mock import Aws

HOME, ABROAD = "123456789012", "210987654321"


def role(name: str, account: str = HOME) -> str:
    return f"arn:aws:iam::{account}:role/{name}"


def made(mock: mocks.Mocks | None = None, *, preview: bool = False, **changes: Any) -> Recorded:
    args: ClusterArgs = {
        "region": "us-east-1",
        "version": "1.35",
        "subnet_ids": ["subnet-a", "subnet-b"],
        "public_access_cidrs": ["203.0.113.0/24"],
        "tags": {"team": "a"},
    }
    args.update(changes)  # type: ignore[typeddict-item]

    def program() -> None:
        cluster = Cluster("main", args)
        pulumi.export("kubeconfig", cluster.kubeconfig)

    return deploy(program, mock=mock or Aws(), preview=preview)
