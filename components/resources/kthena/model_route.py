"""Kthena's ModelRoute: routes requests for a model to ModelServers.

ModelRoute
├── Service                   <name>-lb, where it has one of its own
├── ModelRoute, ModelServer   <name>, <server>, for disaggregated prefill and decode
└── ModelRoute                <name>, with realization operator instead of all of these
"""

import pulumi

from ...families.kthena.names import NETWORKING_API
from ...fleet.rendered import Rendered
from ..serving.arguments import Arguments
from ..serving.rendering_options import options_of
from ..serving.workload_component import WorkloadComponent, render_one
from .args import ModelRouteArgs
from .argument_maps import MODEL_ROUTE


class ModelRoute(WorkloadComponent):
    """Routes requests for a model to the pods of ModelServers.

    Does not create the pods, the ModelServers or a router.
    """

    def __init__(self, name: str, args: ModelRouteArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Render and register.

        Raises:
            InvalidArguments: the arguments contradict the contract, or a rule names a missing ModelServer.
        """
        self.register(name, _render(name, args), opts)


def _render(name: str, args: ModelRouteArgs) -> Rendered:
    arguments = Arguments(name, args, ModelRouteArgs, MODEL_ROUTE.models)
    options = options_of(arguments)
    referred = arguments.manifests("servers", "ModelServer")
    if "servings" in arguments.values:
        referred += arguments.manifests("servings", "ModelServing")
    arguments.check()
    spec = MODEL_ROUTE.spec(arguments.values)
    metadata = {"name": arguments.get("name", name), "namespace": arguments.get("namespace", "default")}
    return render_one(
        arguments.resource(NETWORKING_API, "ModelRoute", metadata, spec), referred, options, types=arguments.types
    )
