"""What the resources of one component are called and tagged with."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi

from .roles import named


@dataclass(frozen=True, slots=True)
class Labels:
    """The beginning of every name in a component, and its tags.

    Attributes:
        name: Logical name of the component.
        cluster: Name of the cluster, with which the tag ``Name`` begins.
        stack: Tags of the stack.
        parent: The component.
    """

    name: str
    cluster: str
    stack: Mapping[str, str]
    parent: pulumi.Resource

    def called(self, suffix: str = "") -> str:
        """Return a logical name."""
        return f"{self.name}-{suffix}" if suffix else self.name

    def tags(self, suffix: str = "", **more: str) -> dict[str, str]:
        """Return the tags of a resource."""
        return named(f"{self.cluster}-{suffix}" if suffix else self.cluster, {**self.stack, **more})

    def child(self, *after: pulumi.Resource, protect: bool | None = None) -> pulumi.ResourceOptions:
        """Return the options of a resource that comes after others."""
        return pulumi.ResourceOptions(parent=self.parent, depends_on=list(after), protect=protect)
