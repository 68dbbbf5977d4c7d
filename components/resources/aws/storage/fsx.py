"""An FSx for Lustre file system in one zone, with a folder per namespace."""

from collections.abc import Iterator

import pulumi
from pulumi_aws import ec2, fsx, vpc

from ....clouds.aws.words import LustreDeployment
from ..args import ModelStorageArgs
from .file_system import FileSystem
from .settings import FsxSettings

_PORTS = ((988, 988), (1018, 1023))
"""Ports between Lustre's servers and clients, in both directions (FSx user guide, "File system access control with
Amazon VPC")."""
_VERSION = "2.15"
"""Version of Lustre: recommended for new file systems and supported by the kernels of new AMIs; the default of the
API is older (FSx API, CreateFileSystem, FileSystemTypeVersion)."""
_DEPLOYMENTS = {LustreDeployment.PERSISTENT_2: "PERSISTENT_2", LustreDeployment.SCRATCH_2: "SCRATCH_2"}


class FsxCache(FileSystem):
    """Creates a file system, unless it exists."""

    def __init__(self, name: str, args: ModelStorageArgs, settings: FsxSettings, parent: pulumi.Resource) -> None:
        """Create the file system with its security group.

        Args:
            name: Prefix of logical names.
            args: Arguments of the component.
            settings: Settings of the file system.
            parent: The component.
        """
        super().__init__(name, args, parent)
        self._settings = settings
        self.dns_name: pulumi.Input[str] = settings.dns_name or ""
        self.mount_name: pulumi.Input[str] = settings.mount_name or ""
        if settings.zone:
            self._file_system(settings.zone)

    def folder(self, path: str) -> pulumi.Output[str]:
        """Return the mount name of a folder."""
        return pulumi.Output.concat(self.mount_name, "/", path)

    def _file_system(self, zone: str) -> None:
        settings = self._settings
        persistent = settings.deployment == LustreDeployment.PERSISTENT_2
        group = self._group()
        self.ready += self._rules(group)
        system = fsx.LustreFileSystem(
            self._name,
            deployment_type=_DEPLOYMENTS[settings.deployment],
            file_system_type_version=_VERSION,
            storage_capacity=settings.capacity_gib,
            subnet_ids=self._args["subnets"][zone],
            security_group_ids=[group.id],
            per_unit_storage_throughput=settings.throughput if persistent else None,
            kms_key_id=settings.kms_key_arn,
            # Weights can be loaded again, so that backups, including the final one, would only cost.
            automatic_backup_retention_days=0 if persistent else None,
            skip_final_backup=True if persistent else None,
            tags=self._named(),
            # FSx rejects a security group that blocks traffic among the servers, and checks it only at creation.
            opts=self._child(*self.ready),
        )
        self.ready.append(system)
        self.dns_name, self.mount_name = system.dns_name, system.mount_name

    def _rules(self, group: ec2.SecurityGroup) -> Iterator[pulumi.Resource]:
        """Allow traffic among the servers, and between servers and nodes."""
        nodes = self._args["cluster_security_group_id"]
        rules = {
            "servers-in": (vpc.SecurityGroupIngressRule, group.id, group.id),
            "servers-out": (vpc.SecurityGroupEgressRule, group.id, group.id),
            "nodes-in": (vpc.SecurityGroupIngressRule, group.id, nodes),
            "nodes-out": (vpc.SecurityGroupEgressRule, group.id, nodes),
            "from-servers": (vpc.SecurityGroupIngressRule, nodes, group.id),
        }
        for direction, (rule, of, other) in rules.items():
            for low, high in _PORTS:
                yield rule(
                    f"{self._name}-{direction}-{low}",
                    security_group_id=of,
                    referenced_security_group_id=other,
                    ip_protocol="tcp",
                    from_port=low,
                    to_port=high,
                    description="Lustre",
                    tags=self._named(),
                    opts=self._child(),
                )
