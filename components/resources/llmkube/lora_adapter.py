"""LLMKube's LoRAAdapter: an adapter that is loaded into running pods.

LoRAAdapter
└── LoRAAdapter   <name>
"""

import pulumi

from .args import LoRAAdapterArgs
from .argument_maps import LORA_ADAPTER
from .operated_object import OperatedObject


class LoRAAdapter(OperatedObject):
    """Loads an adapter into the running pods of an InferenceService.

    Needs LLMKube's operator of release v0.9.6 or later. The object is created as it is written.
    """

    def __init__(self, name: str, args: LoRAAdapterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Check and register.

        Raises:
            InvalidArguments: the arguments contradict the contract.
        """
        self.create(name, "inference.llmkube.dev/v1alpha1", LORA_ADAPTER, LoRAAdapterArgs, args, opts)
        self.register_outputs({"manifest": self.manifest})
