"""LLMKube's ModelPool: services that share GPUs, of which one runs at a time.

ModelPool
└── ModelPool   <name>
"""

import pulumi

from .args import ModelPoolArgs
from .argument_maps import MODEL_POOL
from .operated_object import OperatedObject


class ModelPool(OperatedObject):
    """Lets InferenceServices share GPUs, of which one runs at a time.

    Needs LLMKube's operator of release v0.9.16 or later. The object is created as it is written.
    """

    def __init__(self, name: str, args: ModelPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Check and register.

        Raises:
            InvalidArguments: the arguments contradict the contract.
        """
        self.create(name, "inference.llmkube.dev/v1alpha1", MODEL_POOL, ModelPoolArgs, args, opts)
        self.register_outputs({"manifest": self.manifest})
