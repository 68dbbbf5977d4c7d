"""Kthena's ModelServer: pods that serve a model, for ModelRoutes.

ModelServer
└── ModelServer   <name>, with realization operator
"""

from typing import Required, TypedDict

import pulumi

from ...families.kthena.names import NETWORKING_API
from ...families.kthena.types.networking import ModelServerSpec
from ..serving.arguments import Arguments, model_by_argument, wire_names
from ..serving.declaration import Declaration
from .routing_args import KVConnectorArgs, TrafficPolicyArgs, WorkloadPortArgs, WorkloadSelectorArgs


class ModelServerArgs(TypedDict, total=False):
    """Arguments of a ModelServer."""

    name: str
    """Name of the ModelServer. Default: the component's name."""
    namespace: str
    """Namespace of the ModelServer, of its pods and of the routes to it. Default: default."""
    realization: str
    """native registers no Kubernetes object; operator creates the Kthena resource. Default: native."""
    model: str
    """Name by which the engine knows the model. Default: that of the request."""
    inference_engine: Required[str]
    """vLLM or SGLang."""
    workload_selector: Required[WorkloadSelectorArgs]
    """The pods that serve."""
    workload_port: WorkloadPortArgs
    """Where the pods listen."""
    traffic_policy: TrafficPolicyArgs
    """How requests are sent."""
    kv_connector: KVConnectorArgs
    """How the KV cache gets from prefill to decode."""


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
        given = Arguments(name, args, ModelServerArgs, model_by_argument(ModelServerSpec))
        spec = wire_names(given.values, ModelServerSpec)
        declared = self.declare(name, NETWORKING_API, given, spec, opts, namespaced=True)
        self.server = pulumi.Output.from_input(declared)
        self.register_outputs({"manifest": self.manifest, "server": self.server})
