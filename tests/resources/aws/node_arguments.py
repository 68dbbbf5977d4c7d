"""Arguments of components that make nodes, and what comes of them."""

from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes
import pytest
import yaml

from components import GpuNodeGroups, KarpenterPools
from components.resources.serving.arguments import InvalidArguments
from tests.recorded import Entry, Recorded, deploy
from tests.resources.aws.aws_mock import Aws

GROUP = "aws:eks/nodeGroup:NodeGroup"
POOL = "kubernetes:karpenter.sh/v1:NodePool"
MODELS = Path(__file__).parents[3] / "stacks" / "models"
ONE: dict[str, Any] = {"nvidia.com/gpu": 1}
A10G: dict[str, Any] = {"name": "a10g", "limits": ONE, "params": {"INSTANCE-TYPE": "g5.2xlarge"}}
L4: dict[str, Any] = {"name": "l4", "limits": ONE, "params": {"INSTANCE-TYPE": "g6.2xlarge"}}
TAINT = {"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}
EMPTY = {"minSize": 0, "desiredSize": 0, "maxSize": 450}
PLACE: dict[str, Any] = {
    "region": "us-east-1",
    "vpc_id": "vpc-1",
    "subnets": {"us-east-1a": "subnet-a", "us-east-1b": "subnet-b"},
    "cluster_security_group_id": "sg-1",
}
CLUSTER: dict[str, Any] = {
    **PLACE,
    "cluster_name": "main",
    "cluster_plain_name": "main",
    "version": "1.35",
    "node_role_arn": "arn:aws:iam::123456789012:role/nodes",
}


def manifests(*names: str) -> list[dict[str, Any]]:
    return [each for name in names for each in yaml.safe_load_all((MODELS / f"{name}.yaml").read_text())]


def groups(preview: bool = False, **args: Any) -> Recorded:
    def program() -> None:
        made = GpuNodeGroups("gpu", {**CLUSTER, **args})  # type: ignore[typeddict-item]
        pulumi.export("names", made.names)
        pulumi.export("bounds", made.bounds)

    return deploy(program, preview=preview, mock=Aws())


def pools(**args: Any) -> Recorded:
    def program() -> None:
        provider = pulumi_kubernetes.Provider("cluster", kubeconfig="{}")
        options = pulumi.ResourceOptions(providers=[provider])
        KarpenterPools("gpu", {**PLACE, "node_role_name": "nodes", **args}, options)  # type: ignore[typeddict-item]

    return deploy(program, mock=Aws())


def by_type(graph: Recorded) -> dict[str, Entry]:
    return {entry.inputs["instanceTypes"][0]: entry for entry in graph.of(GROUP)}


def refusals(**args: Any) -> dict[str, list[str]]:
    with pytest.raises(InvalidArguments) as raised:
        groups(**args)
    found: dict[str, list[str]] = {}
    for error in raised.value.errors or []:
        found.setdefault(error["property_path"], []).append(error["reason"])
    return found


def changed(flavor: dict[str, Any], **changes: Any) -> list[dict[str, Any]]:
    return [{**flavor, **changes}]
