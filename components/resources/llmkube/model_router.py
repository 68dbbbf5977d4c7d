"""LLMKube's ModelRouter: rules by which requests reach services and cloud providers.

ModelRouter
└── ModelRouter   <name>
"""

import pulumi

from .args import ModelRouterArgs
from .argument_maps import MODEL_ROUTER
from .operated_object import OperatedObject


class ModelRouter(OperatedObject):
    """Forwards requests to InferenceServices and cloud providers, by rules.

    Needs LLMKube's operator of release v0.8.7 or later. The object is created as it is written.
    """

    def __init__(self, name: str, args: ModelRouterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Check and register.

        Raises:
            InvalidArguments: the arguments contradict the contract.
        """
        self.create(name, "inference.llmkube.dev/v1alpha1", MODEL_ROUTER, ModelRouterArgs, args, opts)
        self.register_outputs({"manifest": self.manifest})
