"""LLMKube's Model: weights and what they need.

Model
└── Model   <name>, with realization operator
"""

import pulumi

from ..serving.arguments import Arguments
from ..serving.declaration import Declaration
from .args import ModelArgs
from .argument_maps import MODEL


class Model(Declaration):
    """Declares a model for InferenceServices, which take its ``manifest``.

    With realization native a model is only a declaration: it has no object in the cluster, so depend on the
    InferenceService that serves it, not on the model.
    """

    model: pulumi.Output[str]
    """Name of the model."""

    def __init__(self, name: str, args: ModelArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Check and register.

        Raises:
            InvalidArguments: the arguments contradict the contract.
        """
        arguments = Arguments(name, args, ModelArgs, MODEL.models)
        spec = MODEL.spec(arguments.values)
        declared = self.declare(name, "inference.llmkube.dev/v1alpha1", arguments, spec, opts, namespaced=True)
        self.model = pulumi.Output.from_input(declared)
        self.register_outputs({"manifest": self.manifest, "model": self.model})
