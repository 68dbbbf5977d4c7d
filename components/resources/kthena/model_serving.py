"""Kthena's ModelServing: serving groups of pods in roles.

ModelServing
├── LeaderWorkerSet   <name>, or <name>-<group>-<role>-<instance> for each instance of a role
├── PodGroup          <name>-<group>, for gangs
├── Service           <name>-<role>, and one for each entry pod
└── ModelServing      <name>, with realization operator instead of all of these
"""

import pulumi

from ...families.kthena.names import WORKLOAD_API
from ...fleet.rendered import Rendered
from ..serving.arguments import Arguments
from ..serving.rendering_options import is_autoscaled, options_of
from ..serving.workload_component import render_one
from .args import ModelServingArgs
from .argument_maps import MODEL_SERVING
from .serving_component import ServingComponent


class ModelServing(ServingComponent):
    """Serves a model from your own pod templates: LeaderWorkerSets for the roles, and a Service for each role.

    Does not create nodes, the LeaderWorkerSet controller, Volcano or Secrets with access tokens.
    """

    def __init__(self, name: str, args: ModelServingArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Render and register.

        Raises:
            InvalidArguments: the arguments contradict the contract, or a pod fits no node.
        """
        self.register(name, _render(name, args), opts)


def _render(name: str, args: ModelServingArgs) -> Rendered:
    arguments = Arguments(name, args, ModelServingArgs, MODEL_SERVING.models)
    options = options_of(arguments)
    autoscaled = is_autoscaled(arguments, options)
    metadata = {"name": arguments.get("name", name), "namespace": arguments.get("namespace", "default")}
    spec = {"schedulerName": "volcano", **MODEL_SERVING.spec(arguments.values)}
    resource = arguments.resource(WORKLOAD_API, "ModelServing", metadata, spec)
    return render_one(resource, [], options, autoscaled=autoscaled, waits=arguments.waits, types=arguments.types)
