"""Short ways to write storage for weights, and to see what is refused."""

from typing import Any

import pulumi
import pytest

from components import ModelStorage
from components.resources.serving.arguments import InvalidArguments
from tests.recorded import Recorded, deploy
from tests.resources.aws.aws_mock import Aws, Planned

OWN_FSX = {"id": "fs-0123456789abcdef0", "dns_name": "fs.example", "mount_name": "abcdefgh"}
STORAGE = "inference-platform:index:ModelStorage::store"
SYSTEM = "aws:efs/fileSystem:FileSystem"
TARGET = "aws:efs/mountTarget:MountTarget"
POINT = "aws:efs/accessPoint:AccessPoint"
GROUP = "aws:ec2/securityGroup:SecurityGroup"
RULE = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
VOLUME = "kubernetes:core/v1:PersistentVolume"
KEY = "arn:aws:kms:us-east-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
BASE: dict[str, Any] = {"cluster_name": "demo", "region": "us-east-1", "namespaces": ["models", "research"]}
PLACE: dict[str, Any] = {
    "vpc_id": "vpc-0",
    "subnets": {"us-east-1a": "subnet-a", "us-east-1b": "subnet-b"},
    "cluster_security_group_id": "sg-cluster",
}


def storage(*, preview: bool = False, **args: Any) -> Recorded:
    def run() -> None:
        made = ModelStorage("store", {**BASE, **args})  # type: ignore[typeddict-item]
        pulumi.export("claim", made.claim)

    return deploy(run, preview=preview, mock=Planned() if preview else Aws())


def refused(**args: Any) -> dict[str, str]:
    with pytest.raises(InvalidArguments) as raised:
        storage(**args)
    return {error["property_path"]: error["reason"] for error in raised.value.errors or []}
