"""The base of components whose resource other components refer to, and that run no pods themselves."""

from typing import Any

import pulumi

from .arguments import Arguments
from .objects import kubernetes_object, token
from .rendering_options import options_of


class Declaration(pulumi.ComponentResource):
    """A resource for other components to refer to. With realization operator, also an object in the cluster."""

    manifest: dict[str, Any]
    """The resource in wire form, for the components that refer to it."""

    def declare(
        self,
        name: str,
        api_version: str,
        arguments: Arguments,
        spec: dict[str, Any],
        opts: pulumi.ResourceOptions | None,
        *,
        namespaced: bool = False,
    ) -> str:
        """Check the arguments, create the component, and return the resource's name.

        Raises:
            InvalidArguments: the arguments violate the contract.
        """
        kind = type(self).__name__
        options = options_of(arguments)
        metadata = {"name": arguments.get("name", name)}
        if namespaced:
            metadata["namespace"] = arguments.get("namespace", "default")
        checked = arguments.resource(api_version, kind, metadata, spec).resource
        pulumi.ComponentResource.__init__(self, token(kind), name, {}, opts)
        self.manifest = checked.wire()
        if not options.realization.is_native:
            kubernetes_object(self.manifest, name, pulumi.ResourceOptions(parent=self))
        return checked.metadata.name
