"""An EFS file system that every node can mount, with a folder per namespace."""

from collections.abc import Mapping

import pulumi
from pulumi_aws import efs, vpc

from ....clouds.aws.words import Throughput
from ..args import ModelStorageArgs
from .args import access_path
from .file_system import FileSystem
from .settings import EfsSettings

NFS = 2049
_FOLDER_MODE = "0750"


class EfsCache(FileSystem):
    """Creates a file system, unless it exists, and access to it."""

    def __init__(self, name: str, args: ModelStorageArgs, settings: EfsSettings, parent: pulumi.Resource) -> None:
        """Create the file system with its mount targets.

        Args:
            name: Prefix of logical names.
            args: Arguments of the component.
            settings: Settings of the file system.
            parent: The component.
        """
        super().__init__(name, args, parent)
        self._settings = settings
        self.id: pulumi.Input[str] = settings.id or self._file_system()

    def handles(self) -> Mapping[str, pulumi.Output[str]]:
        """Create an access point per namespace; return volume handles by namespace."""
        return {namespace: self._access_point(namespace) for namespace in self._args["namespaces"]}

    def _file_system(self) -> pulumi.Output[str]:
        settings = self._settings
        system = efs.FileSystem(
            self._name,
            encrypted=True,
            kms_key_id=settings.kms_key_arn,
            throughput_mode=settings.throughput.value,
            provisioned_throughput_in_mibps=settings.mibps if settings.throughput == Throughput.PROVISIONED else None,
            tags=self._named(),
            opts=self._child(),
        )
        group = self._group()
        # Source: EFS user guide, "Using VPC security groups".
        rule = vpc.SecurityGroupIngressRule(
            self._name,
            security_group_id=group.id,
            referenced_security_group_id=self._args["cluster_security_group_id"],
            ip_protocol="tcp",
            from_port=NFS,
            to_port=NFS,
            description="NFS from the nodes",
            tags=self._named(),
            opts=self._child(),
        )
        self.ready.append(rule)
        for zone, subnet in self._args["subnets"].items():
            self.ready.append(
                efs.MountTarget(
                    f"{self._name}-{zone}",
                    file_system_id=system.id,
                    subnet_id=subnet,
                    security_groups=[group.id],
                    opts=self._child(rule),
                )
            )
        return system.id

    def _access_point(self, namespace: str) -> pulumi.Output[str]:
        # The access point enforces its own user for all requests, so that pods that run as different non-root users
        # can read and write the same files (EFS user guide, "Enforcing a user identity").
        uid, gid = self._settings.uid, self._settings.gid
        point = efs.AccessPoint(
            f"{self._name}-{namespace}",
            file_system_id=self.id,
            posix_user={"uid": uid, "gid": gid},
            root_directory={
                "path": access_path(self._args, namespace),
                "creation_info": {"owner_uid": uid, "owner_gid": gid, "permissions": _FOLDER_MODE},
            },
            tags=self._named(f"-{namespace}"),
            opts=self._child(),
        )
        return pulumi.Output.concat(self.id, "::", point.id)
