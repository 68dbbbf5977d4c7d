"""Kthena's ModelBooster: a model, served by one or more backends.

ModelBooster
├── LeaderWorkerSet             <name>-<backend>, or one for each instance of a role
├── PodGroup                    <name>-<backend>-<ordinal>, for gangs
├── Service                     <name>-<backend>-<role>
├── HorizontalPodAutoscaler     <name>-<backend>-hpa, with a policy
├── ModelServer, ModelRoute     <name>-<backend>, <name>, for prefill and decode apart
└── ModelBooster                <name>, with realization operator instead of all of these
"""

from typing import Any, Required

import pulumi

from ...families.kthena.names import WORKLOAD_API
from ...families.kthena.types.model_booster import ModelBoosterSpec
from ...fleet.rendered import Rendered
from ..serving.arguments import Arguments, model_by_argument, wire_names
from ..serving.rendering_options import options_of
from ..serving.workload_component import render_one
from .autoscaling_args import AutoscalingPolicySpecArgs
from .booster_args import ModelBackendArgs
from .routing_args import ModelMatchArgs
from .serving_component import ServingArgs, ServingComponent


class ModelBoosterArgs(ServingArgs, total=False):
    """Arguments of a ModelBooster. All are plain: they decide which objects there are."""

    model_name: str
    """Name that the resource itself gives its model (spec.name); without effect."""
    owner: str
    """Who owns the model; without effect."""
    backends: Required[list[ModelBackendArgs]]
    """The ways to run the model, each with a name of its own."""
    autoscaling_policy: AutoscalingPolicySpecArgs
    """What all backends together scale on, the cheapest first."""
    cost_expansion_rate_percent: int
    """How fast the blocks grow in which replicas are taken from one backend before the next, 0 to 1000; only with
    autoscaling_policy. Default: 200."""
    model_match: ModelMatchArgs
    """Which requests for the model are answered. Default: all."""


class ModelBooster(ServingComponent):
    """Serves a model with one or more backends: workloads of the engine, Services in front of them, autoscalers.

    Does not create nodes, the LeaderWorkerSet controller, Volcano, a router or Secrets with access tokens.
    """

    def __init__(self, name: str, args: ModelBoosterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Render and register.

        Raises:
            InvalidArguments: the arguments contradict the contract, or a pod fits no node.
        """
        self.register(name, _render(name, args), opts)


def _render(name: str, args: ModelBoosterArgs) -> Rendered:
    given = Arguments(name, args, ModelBoosterArgs, model_by_argument(ModelBoosterSpec))
    options = options_of(given)
    # The contract has a name of its own, which is not that of the object.
    fields: dict[str, Any] = {**given.values, "name": given.get("model_name")}
    metadata = {"name": given.get("name", name), "namespace": given.get("namespace", "default")}
    spec = wire_names(fields, ModelBoosterSpec)
    return render_one(given.resource(WORKLOAD_API, "ModelBooster", metadata, spec), [], options)
