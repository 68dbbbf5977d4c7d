"""Kthena's ModelServer: the pods that ModelRoutes send requests to.

ModelServer
└── ModelServer   <name>, with realization operator
"""

import pulumi

from ...families.kthena.names import NETWORKING_API
from ..serving.arguments import Arguments
from ..serving.declaration import Declaration
from .args import ModelServerArgs
from .argument_maps import MODEL_SERVER


class ModelServer(Declaration):
    """Declares the pods that ModelRoutes send requests to; ModelRoutes take its ``manifest``.

    With realization native it creates no Kubernetes object: depend on the route instead.
    """

    server: pulumi.Output[str]
    """Name of the ModelServer."""

    def __init__(self, name: str, args: ModelServerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Check and register.

        Raises:
            InvalidArguments: the arguments contradict the contract.
        """
        arguments = Arguments(name, args, ModelServerArgs, MODEL_SERVER.models)
        spec = MODEL_SERVER.spec(arguments.values)
        declared = self.declare(name, NETWORKING_API, arguments, spec, opts, namespaced=True)
        self.server = pulumi.Output.from_input(declared)
        self.register_outputs({"manifest": self.manifest, "server": self.server})
