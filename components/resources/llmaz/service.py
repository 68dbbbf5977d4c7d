"""Claimed models served by hand-written pod templates, on one or several nodes.

Service
├── Deployment or LeaderWorkerSet   <name>
└── Service                         <name>-lb
"""

import pulumi

from ...fleet.rendered import Rendered
from ..serving.arguments import Arguments, compact
from ..serving.rendering_options import is_autoscaled, options_of
from ..serving.workload_component import ReferencedComponent, render_one
from .args import ServiceArgs
from .argument_maps import SERVICE
from .workload_args import claim, claimed_models, metadata_of


class Service(ReferencedComponent):
    """Serves models with your own pod templates: a workload and a Service in front of it.

    Does not create nodes, the LeaderWorkerSet controller or Secrets with access tokens.
    """

    def __init__(self, name: str, args: ServiceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Render and register.

        Raises:
            InvalidArguments: the arguments contradict the contract, or a pod fits no node of its flavors.
        """
        self.register(name, _render(name, args), opts)


def _render(name: str, args: ServiceArgs) -> Rendered:
    arguments = Arguments(name, args, ServiceArgs, SERVICE.models)
    options = options_of(arguments)
    autoscaled = is_autoscaled(arguments, options)
    models = claimed_models(arguments)
    spec = compact(SERVICE.spec(arguments.values)) | claim(models, arguments.get("inference_flavors"), several=True)
    resource = arguments.resource("inference.llmaz.io/v1alpha1", "Service", metadata_of(name, arguments), spec)
    return render_one(resource, models, options, autoscaled=autoscaled, waits=arguments.waits, types=arguments.types)
