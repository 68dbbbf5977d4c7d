"""The requests of file systems."""

from collections.abc import Mapping
from typing import Any

from tests.clouds.aws.requests.network import OWNED, groups_exist, subnets_exist
from tests.clouds.aws.requests.plan import (
    From,
    Given,
    Lookup,
    Plan,
    Planner,
    Request,
    Text,
    drop_empty,
    key_values,
    known,
    lookup,
)

_TOKEN = Text("{region}-token")
"""What the provider makes unique, so that a request that is sent again makes nothing twice."""


def _efs(operation: str, **params: Any) -> Request:
    return Request("efs", operation, params)


def _tags(given: Given) -> dict[str, Any]:
    return {"Tags": key_values(given.get("tags"))} if "tags" in given else {}


def _system_exists(id_: Any) -> list[Lookup]:
    return [lookup("efs", "DescribeFileSystems", "FileSystems", FileSystemId=id_)] if id_ else []


def efs_file_system(given: Given) -> Plan:
    made = From("FileSystemId")
    mode, rate = given.get("throughputMode", "bursting"), given.get("provisionedThroughputInMibps")
    key = given.get("kmsKeyId")
    members = given.members(Encrypted="encrypted", PerformanceMode="performanceMode")
    problems = []
    if known(mode, rate) and (mode == "provisioned") != (rate is not None):
        problems.append(f"throughput mode: found {mode!r} with the rate {rate!r}; provisioned wants one, others none")
    if key is not None and known(members.get("Encrypted")) and not members.get("Encrypted"):
        problems.append("a file system with a key must be encrypted")
    return Plan(
        create=_efs(
            "CreateFileSystem",
            CreationToken=_TOKEN,
            ThroughputMode=mode,
            **members,
            **drop_empty({"KmsKeyId": key, "ProvisionedThroughputInMibps": rate}),
            **_tags(given),
        ),
        id=made,
        outputs={"arn": From("FileSystemArn"), **OWNED},
        find=_system_exists(made)[0],
        delete=[_efs("DeleteFileSystem", FileSystemId=made)],
        problems=problems,
    )


def mount_target(given: Given) -> Plan:
    made = From("MountTargetId")
    (system,) = given.id("fileSystemId")
    groups, subnet = given.get("securityGroups"), given.get("subnetId")
    return Plan(
        create=_efs(
            "CreateMountTarget", FileSystemId=system, SubnetId=subnet, **drop_empty({"SecurityGroups": groups})
        ),
        id=made,
        outputs={
            "availabilityZoneName": From("AvailabilityZoneName"),
            "networkInterfaceId": From("NetworkInterfaceId"),
        },
        find=lookup("efs", "DescribeMountTargets", "MountTargets", MountTargetId=made),
        delete=[_efs("DeleteMountTarget", MountTargetId=made)],
        needs=[*_system_exists(system), *subnets_exist([subnet] if subnet else None), *groups_exist(groups)],
    )


def access_point(given: Given) -> Plan:
    made = From("AccessPointId")
    (system,) = given.id("fileSystemId")
    user = given.block("posixUser", lambda block: block.members(Uid="uid", Gid="gid", SecondaryGids="secondaryGids"))
    return Plan(
        create=_efs(
            "CreateAccessPoint",
            ClientToken=_TOKEN,
            FileSystemId=system,
            **drop_empty({"PosixUser": user, "RootDirectory": given.block("rootDirectory", _root_directory)}),
            **_tags(given),
        ),
        id=made,
        outputs={"arn": From("AccessPointArn")},
        find=lookup("efs", "DescribeAccessPoints", "AccessPoints", AccessPointId=made),
        delete=[_efs("DeleteAccessPoint", AccessPointId=made)],
        needs=_system_exists(system),
    )


def _root_directory(given: Given) -> dict[str, Any]:
    info = given.block(
        "creationInfo",
        lambda block: block.members(OwnerUid="ownerUid", OwnerGid="ownerGid", Permissions="permissions"),
    )
    return {**given.members(Path="path"), **drop_empty({"CreationInfo": info})}


def lustre_file_system(given: Given) -> Plan:
    made = From("FileSystem.FileSystemId")
    subnet, groups = given.get("subnetIds"), given.get("securityGroupIds")
    lustre = {
        "DeploymentType": given.get("deploymentType", "SCRATCH_1"),
        **given.members(
            PerUnitStorageThroughput="perUnitStorageThroughput",
            AutomaticBackupRetentionDays="automaticBackupRetentionDays",
            DataCompressionType="dataCompressionType",
        ),
    }
    members = {
        "FileSystemType": "LUSTRE",
        "StorageType": given.get("storageType", "SSD"),
        "SubnetIds": [subnet],
        "LustreConfiguration": lustre,
        **given.members(
            StorageCapacity="storageCapacity", FileSystemTypeVersion="fileSystemTypeVersion", KmsKeyId="kmsKeyId"
        ),
        **drop_empty({"SecurityGroupIds": groups}),
    }
    # What becomes of the data when it is deleted.
    given.no_request("skipFinalBackup")
    names = {"dnsName": From("FileSystem.DNSName"), "mountName": "abcdefgh"}
    return Plan(
        create=Request("fsx", "CreateFileSystem", {"ClientRequestToken": _TOKEN, **members, **_tags(given)}),
        id=made,
        outputs={"arn": From("FileSystem.ResourceARN"), **names},
        find=lookup("fsx", "DescribeFileSystems", "FileSystems", FileSystemIds=[made]),
        delete=[Request("fsx", "DeleteFileSystem", {"FileSystemId": made})],
        needs=[*subnets_exist([subnet] if subnet else None), *groups_exist(groups)],
        problems=_lustre_problems(members, lustre),
    )


def _lustre_problems(members: Mapping[str, Any], lustre: Mapping[str, Any]) -> list[str]:
    """FSx API, CreateFileSystem: StorageCapacity, and the members of CreateFileSystemLustreConfiguration."""
    found = []
    capacity, key, deployment = members.get("StorageCapacity"), members.get("KmsKeyId"), lustre["DeploymentType"]
    if isinstance(capacity, int) and capacity not in (1200, 2400) and (capacity <= 0 or capacity % 2400):
        found.append(f"storage capacity: found {capacity}, allowed are 1200 and multiples of 2400")
    rate = lustre.get("PerUnitStorageThroughput")
    if known(deployment, rate) and deployment == "PERSISTENT_2" and rate not in (125, 250, 500, 1000):
        found.append(f"throughput: found {rate!r}, allowed with PERSISTENT_2 are 125, 250, 500 and 1000")
    persistent_alone = [rate, key, lustre.get("AutomaticBackupRetentionDays")]
    if known(deployment) and deployment == "SCRATCH_2" and any(each is not None for each in persistent_alone):
        found.append("SCRATCH_2 takes no throughput, key or backups")
    return found


KINDS: Mapping[str, Planner] = {
    "aws:fsx/lustreFileSystem:LustreFileSystem": lustre_file_system,
    "aws:efs/fileSystem:FileSystem": efs_file_system,
    "aws:efs/mountTarget:MountTarget": mount_target,
    "aws:efs/accessPoint:AccessPoint": access_point,
}
