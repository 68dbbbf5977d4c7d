"""LLMKube's GPUQuota: limits of the services of some namespaces.

GPUQuota
└── GPUQuota   <name>
"""

import pulumi

from .args import GPUQuotaArgs
from .argument_maps import GPU_QUOTA
from .operated_object import OperatedObject


class GPUQuota(OperatedObject):
    """Limits the GPUs of the InferenceServices of some namespaces.

    Needs LLMKube's operator of release v0.9.6 or later. The object is created as it is written.
    """

    def __init__(self, name: str, args: GPUQuotaArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Check and register.

        Raises:
            InvalidArguments: the arguments contradict the contract.
        """
        self.create(name, "inference.llmkube.dev/v1alpha1", GPU_QUOTA, GPUQuotaArgs, args, opts)
        self.register_outputs({"manifest": self.manifest})
