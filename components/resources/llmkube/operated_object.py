"""The base of components whose object only LLMKube's operator can handle."""

from collections.abc import Mapping
from typing import Any

import pulumi

from ..serving.arguments import Arguments
from ..serving.mapped_arguments import ArgumentMap
from ..serving.objects import kubernetes_object, token


class OperatedObject(pulumi.ComponentResource):
    """An object of the operator, without a native form."""

    manifest: dict[str, Any]
    """The resource in wire form."""

    def create(
        self,
        name: str,
        api_version: str,
        arguments: ArgumentMap,
        args_type: type,
        args: Mapping[str, Any],
        opts: pulumi.ResourceOptions | None,
    ) -> None:
        """Check the arguments, and create the component and its object.

        Raises:
            InvalidArguments: the arguments violate the contract.
        """
        kind = type(self).__name__
        given = Arguments(name, args, args_type, arguments.models)
        metadata = {"name": given.get("name", name)}
        if "namespace" in args_type.__annotations__:
            metadata["namespace"] = given.get("namespace", "default")
        checked = given.resource(api_version, kind, metadata, arguments.spec(given.values)).resource
        pulumi.ComponentResource.__init__(self, token(kind), name, {}, opts)
        self.manifest = checked.wire()
        kubernetes_object(self.manifest, name, pulumi.ResourceOptions(parent=self))
