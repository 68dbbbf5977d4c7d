"""Kthena's ModelServing: serving groups, whose roles serve together.

ModelServing
├── LeaderWorkerSet   <name>, or <name>-<group>-<role>-<instance> for each instance of a role
├── PodGroup          <name>-<group>, for gangs
├── Service           <name>-<role>, and one for each entry pod
└── ModelServing      <name>, with realization operator instead of all of these
"""

from typing import Required

import pulumi

from ...families.kthena.names import WORKLOAD_API
from ...families.kthena.types.model_serving import ModelServingSpec
from ...fleet.rendered import Rendered
from ..serving.arguments import Arguments, model_by_argument, wire_names
from ..serving.rendering_options import is_autoscaled, options_of
from ..serving.workload_component import render_one
from .serving_args import ServingGroupArgs, ServingRolloutStrategyArgs, TopologySpreadConstraintArgs
from .serving_component import ServingArgs, ServingComponent


class ModelServingArgs(ServingArgs, total=False):
    """Arguments of a ModelServing. All are plain: they decide which objects there are."""

    replicas: int
    """Serving groups, if there is no autoscaler. Default: 1."""
    autoscaled: bool
    """Whether an autoscaler of another component, owns the replicas. Default: false."""
    scheduler_name: str
    """volcano, the only one that Kthena takes. Default: volcano."""
    template: Required[ServingGroupArgs]
    """The roles of a serving group."""
    rollout_strategy: ServingRolloutStrategyArgs
    """How a change of the pods rolls out. Default: one group at a time is unavailable."""
    recovery_policy: str
    """What is made anew after a failure: RoleRecreate, ServingGroupRecreate or None. Default: RoleRecreate."""
    topology_spread_constraints: list[TopologySpreadConstraintArgs]
    """How groups are spread."""


class ModelServing(ServingComponent):
    """Serves with your own pod templates, in roles: LeaderWorkerSets, and a Service in front of each role.

    Does not create nodes, the LeaderWorkerSet controller, Volcano or Secrets with access tokens.
    """

    def __init__(self, name: str, args: ModelServingArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Render and register.

        Raises:
            InvalidArguments: the arguments contradict the contract, or a pod fits no node.
        """
        self.register(name, _render(name, args), opts)


def _render(name: str, args: ModelServingArgs) -> Rendered:
    given = Arguments(name, args, ModelServingArgs, model_by_argument(ModelServingSpec))
    options = options_of(given)
    autoscaled = is_autoscaled(given, options)
    metadata = {"name": given.get("name", name), "namespace": given.get("namespace", "default")}
    spec = {"schedulerName": "volcano", **wire_names(given.values, ModelServingSpec)}
    resource = given.resource(WORKLOAD_API, "ModelServing", metadata, spec)
    return render_one(resource, [], options, autoscaled=autoscaled)
