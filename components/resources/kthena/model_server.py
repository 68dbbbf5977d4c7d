"""Kthena's ModelServer: pods that serve a model, for ModelRoutes.

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
    """Declares pods that serve a model for ModelRoutes, which take its ``manifest``.

    With realization native it is only a declaration: it has no object in the cluster, so depend on the route, not on
    the server.
    """

    server: pulumi.Output[str]
    """Name of the ModelServer."""

    def __init__(self, name: str, args: ModelServerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Check and register.

        Raises:
            InvalidArguments: the arguments contradict the contract.
        """
        given = Arguments(name, args, ModelServerArgs, MODEL_SERVER.models)
        spec = MODEL_SERVER.spec(given.values)
        declared = self.declare(name, NETWORKING_API, given, spec, opts, namespaced=True)
        self.server = pulumi.Output.from_input(declared)
        self.register_outputs({"manifest": self.manifest, "server": self.server})
