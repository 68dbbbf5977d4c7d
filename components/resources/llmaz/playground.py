"""A claimed model served by an engine.

Playground
├── Deployment or LeaderWorkerSet   <name>
├── Service                         <name>-lb
└── HorizontalPodAutoscaler         <name>-hpa, with replica bounds
"""

from typing import Any

import pulumi

from ...fleet.rendered import Rendered
from ..serving.arguments import Arguments
from ..serving.rendering_options import is_autoscaled, options_of
from ..serving.workload_component import ReferencedComponent, render_one
from .args import PlaygroundArgs
from .argument_maps import PLAYGROUND
from .workload_args import claim, claimed_models, metadata_of


class Playground(ReferencedComponent):
    """Serves a model: a workload of the engine, a Service in front of it and, with bounds, an autoscaler.

    Does not create nodes, the LeaderWorkerSet controller or Secrets with access tokens.
    """

    def __init__(self, name: str, args: PlaygroundArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Render and register.

        Raises:
            InvalidArguments: the arguments contradict the contract, or a pod fits no node of its flavors.
        """
        self.register(name, _render(name, args), opts)


def _render(name: str, args: PlaygroundArgs) -> Rendered:
    arguments = Arguments(name, args, PlaygroundArgs, PLAYGROUND.models)
    options = options_of(arguments)
    autoscaled = is_autoscaled(arguments, options, ("replicas", "min_replicas", "max_replicas"))
    own = [arguments.manifest("backend_runtime", "BackendRuntime")] if "backend_runtime" in arguments.values else []
    models = claimed_models(arguments)
    spec = PLAYGROUND.spec(
        {**arguments.values, "backend_name": arguments.get("backend_name") or next(map(_name, own), None)}
    )
    spec.pop("modelClaim", None)  # built below, because it also needs the names of the models
    spec |= claim(models, arguments.get("inference_flavors"), several=len(models) > 1)
    resource = arguments.resource("inference.llmaz.io/v1alpha1", "Playground", metadata_of(name, arguments), spec)
    return render_one(
        resource, [*models, *own], options, autoscaled=autoscaled, waits=arguments.waits, types=arguments.types
    )


def _name(manifest: dict[str, Any]) -> str:
    return str(manifest["metadata"]["name"])
