"""What the file systems that keep weights have in common: a security group of their own, tags, a parent."""

import pulumi
from pulumi_aws import ec2

from ..args import ModelStorageArgs
from ..parts.roles import named


class FileSystem:
    """Registers a file system below a component."""

    def __init__(self, name: str, args: ModelStorageArgs, parent: pulumi.Resource) -> None:
        """Remember where it belongs.

        Args:
            name: Logical names begin with it.
            args: Arguments of the component.
            parent: The component.
        """
        self._name, self._args, self._parent = name, args, parent
        self.ready: list[pulumi.Resource] = []
        """What must be there before a pod mounts it, and after."""

    def _group(self) -> ec2.SecurityGroup:
        return ec2.SecurityGroup(
            self._name,
            description=f"Model cache of the cluster {self._args['cluster_name']}",
            vpc_id=self._args["vpc_id"],
            tags=self._named(),
            opts=self._child(),
        )

    def _named(self, suffix: str = "") -> dict[str, str]:
        return named(f"{self._args['cluster_name']}-model-cache{suffix}", self._args.get("tags", {}))

    def _child(self, *after: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self._parent, depends_on=list(after))
