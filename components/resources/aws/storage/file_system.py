"""Base of the file systems for weights: security group, tags and parent."""

import pulumi
from pulumi_aws import ec2

from ..args import ModelStorageArgs
from ..parts.common import named


class FileSystem:
    """Creates a file system below a component."""

    def __init__(self, name: str, args: ModelStorageArgs, parent: pulumi.Resource) -> None:
        """Store the context.

        Args:
            name: Prefix of logical names.
            args: Arguments of the component.
            parent: The component.
        """
        self._name, self._args, self._parent = name, args, parent
        self.ready: list[pulumi.Resource] = []
        """Resources that must exist while pods mount the file system."""

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
