"""An FSx for Lustre file system in one zone, with a folder per namespace."""

from collections.abc import Iterator

import pulumi
from pulumi_aws import ec2, fsx, vpc

from ....clouds.aws.words import LustreDeployment
from ..args import ModelStorageArgs
from .file_system import FileSystem
from .settings import FsxSettings

_PORTS = ((988, 988), (1018, 1023))
"""What Lustre's servers and clients say to each other, either way (FSx user guide, "File system access control with
Amazon VPC")."""
_VERSION = "2.15"
"""Of Lustre: recommended for new file systems, and what the kernels of new node images understand; the default of the
API is older (FSx API, CreateFileSystem, FileSystemTypeVersion)."""
_DEPLOYMENTS = {LustreDeployment.PERSISTENT_2: "PERSISTENT_2", LustreDeployment.SCRATCH_2: "SCRATCH_2"}


class FsxCache(FileSystem):
    """Registers a file system, where it is ours."""

    def __init__(self, name: str, args: ModelStorageArgs, wanted: FsxSettings, parent: pulumi.Resource) -> None:
        """Register the file system with what it takes to mount it.

        Args:
            name: Logical names begin with it.
            args: Arguments of the component.
            wanted: The file system.
            parent: The component.
        """
        super().__init__(name, args, parent)
        self._wanted = wanted
        self.dns_name: pulumi.Input[str] = wanted.dns_name or ""
        self.mount_name: pulumi.Input[str] = wanted.mount_name or ""
        if wanted.zone:
            self._file_system(wanted.zone)

    def folder(self, path: str) -> pulumi.Output[str]:
        """Return the mount name of a folder."""
        return pulumi.Output.concat(self.mount_name, "/", path)

    def _file_system(self, zone: str) -> None:
        wanted = self._wanted
        persistent = wanted.deployment == LustreDeployment.PERSISTENT_2
        group = self._group()
        self.ready += self._rules(group)
        system = fsx.LustreFileSystem(
            self._name,
            deployment_type=_DEPLOYMENTS[wanted.deployment],
            file_system_type_version=_VERSION,
            storage_capacity=wanted.capacity_gib,
            subnet_ids=self._args["subnets"][zone],
            security_group_ids=[group.id],
            per_unit_storage_throughput=wanted.throughput if persistent else None,
            kms_key_id=wanted.kms_key_arn,
            # What is lost can be loaded again: nobody pays for copies, the last one included.
            automatic_backup_retention_days=0 if persistent else None,
            skip_final_backup=True if persistent else None,
            tags=self._named(),
            # FSx refuses a group that keeps the servers from each other, and reads it only once.
            opts=self._child(*self.ready),
        )
        self.ready.append(system)
        self.dns_name, self.mount_name = system.dns_name, system.mount_name

    def _rules(self, group: ec2.SecurityGroup) -> Iterator[pulumi.Resource]:
        """Register who may speak to whom: the servers to each other, they to the nodes, and the nodes to them."""
        nodes = self._args["cluster_security_group_id"]
        ways = {
            "servers-in": (vpc.SecurityGroupIngressRule, group.id, group.id),
            "servers-out": (vpc.SecurityGroupEgressRule, group.id, group.id),
            "nodes-in": (vpc.SecurityGroupIngressRule, group.id, nodes),
            "nodes-out": (vpc.SecurityGroupEgressRule, group.id, nodes),
            "from-servers": (vpc.SecurityGroupIngressRule, nodes, group.id),
        }
        for way, (rule, of, other) in ways.items():
            for low, high in _PORTS:
                yield rule(
                    f"{self._name}-{way}-{low}",
                    security_group_id=of,
                    referenced_security_group_id=other,
                    ip_protocol="tcp",
                    from_port=low,
                    to_port=high,
                    description="Lustre",
                    tags=self._named(),
                    opts=self._child(),
                )
