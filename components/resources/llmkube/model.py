"""LLMKube's Model: weights and what they need.

Model
└── Model   <name>, with realization operator
"""

from typing import Required, TypedDict

import pulumi

from ...families.llmkube.types import ModelSpec
from ..serving.arguments import Arguments, model_by_argument, wire_names
from ..serving.declaration import Declaration
from .hardware_args import HardwareArgs, HostResourcesArgs


class ModelArgs(TypedDict, total=False):
    """Arguments of a Model."""

    name: str
    """Name of the model. Default: the component's name."""
    namespace: str
    """Namespace of the model, and of the services that serve it. Default: default."""
    source: Required[str]
    """Where the weights are: an http(s) URL, a Hugging Face repository, pvc://CLAIM/PATH, or a path on the node."""
    sha256: str
    """Checksum of the file, in hexadecimal digits."""
    refresh_policy: str
    """IfNotPresent or OnChange. Default: IfNotPresent."""
    format: str
    """gguf, mlx, safetensors, pytorch or custom. Default: gguf."""
    quantization: str
    """How the weights are quantized, such as Q4_K_M; informational."""
    hardware: HardwareArgs
    """What the model runs on. Default: CPUs."""
    resources: HostResourcesArgs
    """Host resources that it needs."""
    realization: str
    """native registers no Kubernetes object; operator creates the LLMKube resource. Default: native."""


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
        given = Arguments(name, args, ModelArgs, model_by_argument(ModelSpec))
        spec = wire_names(given.values, ModelSpec)
        declared = self.declare(name, "inference.llmkube.dev/v1alpha1", given, spec, opts, namespaced=True)
        self.model = pulumi.Output.from_input(declared)
        self.register_outputs({"manifest": self.manifest, "model": self.model})
