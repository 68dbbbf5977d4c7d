"""An inference engine and its recommended configurations.

BackendRuntime
└── BackendRuntime   <name>, with realization operator
"""

import pulumi

from ..serving.arguments import Arguments
from ..serving.declaration import Declaration
from .args import BackendRuntimeArgs
from .argument_maps import BACKEND_RUNTIME


class BackendRuntime(Declaration):
    """Declares an engine for Playgrounds, which take its ``manifest``.

    With realization native a runtime is only a declaration: it has no object in the cluster.
    """

    runtime: pulumi.Output[str]
    """Name of the runtime."""

    def __init__(self, name: str, args: BackendRuntimeArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Check and register.

        Raises:
            InvalidArguments: the arguments contradict the contract.
        """
        arguments = Arguments(name, args, BackendRuntimeArgs, BACKEND_RUNTIME.models)
        spec = BACKEND_RUNTIME.spec(arguments.values)
        declared = self.declare(name, "inference.llmaz.io/v1alpha1", arguments, spec, opts)
        self.runtime = pulumi.Output.from_input(declared)
        self.register_outputs({"manifest": self.manifest, "runtime": self.runtime})
