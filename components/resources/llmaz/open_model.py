"""A model and its source.

OpenModel
└── OpenModel   <name>, with realization operator
"""

import pulumi

from ..serving.arguments import Arguments
from ..serving.declaration import Declaration
from .args import OpenModelArgs
from .argument_maps import OPEN_MODEL


class OpenModel(Declaration):
    """Declares a model for Playgrounds and Services, which take its ``manifest``.

    With realization native a model is only a declaration: it has no object in the cluster, so depend on the
    Playground that serves it, not on the model.
    """

    model: pulumi.Output[str]
    """Name of the model."""

    def __init__(self, name: str, args: OpenModelArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Check and register.

        Raises:
            InvalidArguments: the arguments contradict the contract.
        """
        arguments = Arguments(name, args, OpenModelArgs, OPEN_MODEL.models)
        declared = self.declare(name, "llmaz.io/v1alpha1", arguments, OPEN_MODEL.spec(arguments.values), opts)
        self.model = pulumi.Output.from_input(declared)
        self.register_outputs({"manifest": self.manifest, "model": self.model})
