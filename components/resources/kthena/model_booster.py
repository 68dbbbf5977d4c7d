"""Kthena's ModelBooster: a model, served by one or more backends.

ModelBooster
├── LeaderWorkerSet             <name>-<backend>, or one for each instance of a role
├── PodGroup                    <name>-<backend>-<ordinal>, for gangs
├── Service                     <name>-<backend>-<role>
├── HorizontalPodAutoscaler     <name>-<backend>-hpa, with a policy
├── ModelServer, ModelRoute     <name>-<backend>, <name>, for disaggregated prefill and decode
└── ModelBooster                <name>, with realization operator instead of all of these
"""

import pulumi

from ...families.kthena.names import WORKLOAD_API
from ...fleet.rendered import Rendered
from ..serving.arguments import Arguments
from ..serving.rendering_options import options_of
from ..serving.workload_component import render_one
from .args import ModelBoosterArgs
from .argument_maps import MODEL_BOOSTER
from .serving_component import ServingComponent


class ModelBooster(ServingComponent):
    """Serves a model with one or more backends: workloads of the engines, Services, and autoscalers with a policy.

    Does not create nodes, the LeaderWorkerSet controller, Volcano, a router or Secrets with access tokens.
    """

    def __init__(self, name: str, args: ModelBoosterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Render and register.

        Raises:
            InvalidArguments: the arguments contradict the contract, or a pod fits no node.
        """
        self.register(name, _render(name, args), opts)


def _render(name: str, args: ModelBoosterArgs) -> Rendered:
    arguments = Arguments(name, args, ModelBoosterArgs, MODEL_BOOSTER.models)
    options = options_of(arguments)
    metadata = {"name": arguments.get("name", name), "namespace": arguments.get("namespace", "default")}
    spec = MODEL_BOOSTER.spec(arguments.values)
    resource = arguments.resource(WORKLOAD_API, "ModelBooster", metadata, spec)
    return render_one(resource, [], options, waits=arguments.waits, types=arguments.types)
