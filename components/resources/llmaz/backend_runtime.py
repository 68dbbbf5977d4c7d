"""An inference engine and its recommended configurations.

BackendRuntime
└── BackendRuntime   <name>, with realization operator
"""

from typing import Any, Required, TypedDict

import pulumi

from ...families.llmaz.types import BackendRuntimeSpec
from ..serving.arguments import Arguments, model_by_argument, wire_names
from ..serving.declaration import Declaration
from .runtime_args import RecommendedConfigArgs


class BackendRuntimeArgs(TypedDict, total=False):
    """Arguments of a BackendRuntime."""

    name: str
    """Name of the runtime. Default: the component's name."""
    image: Required[str]
    """Image without its tag."""
    version: Required[str]
    """Image tag."""
    command: list[str]
    """Command of the container. Default: the image's."""
    envs: list[dict[str, Any]]
    """Environment variables."""
    lifecycle: dict[str, Any]
    """Lifecycle hooks of the container."""
    liveness_probe: dict[str, Any]
    """Liveness probe of the container."""
    readiness_probe: dict[str, Any]
    """Readiness probe of the container."""
    startup_probe: dict[str, Any]
    """Startup probe of the container."""
    recommended_configs: Required[list[RecommendedConfigArgs]]
    """Named configurations; a Playground uses the one named default unless it names another."""
    realization: str
    """native registers no Kubernetes object; operator creates the llmaz resource. Default: native."""


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
        given = Arguments(name, args, BackendRuntimeArgs, model_by_argument(BackendRuntimeSpec))
        spec = wire_names(given.values, BackendRuntimeSpec)
        declared = self.declare(name, "inference.llmaz.io/v1alpha1", given, spec, opts)
        self.runtime = pulumi.Output.from_input(declared)
        self.register_outputs({"manifest": self.manifest, "runtime": self.runtime})
