"""Claimed models served by hand-written pod templates, on one or several nodes.

Service
├── Deployment or LeaderWorkerSet   <name>
└── Service                         <name>-lb
"""

from typing import Any, Required

import pulumi

from ...families.leaderworkerset.args import RolloutStrategyArgs, SubGroupPolicyArgs
from ...families.leaderworkerset.types import LeaderWorkerTemplate
from ...fleet.rendered import Rendered
from ..serving.arguments import Arguments, compact, wire_names
from ..serving.rendering_options import is_autoscaled, options_of
from ..serving.workload_component import ReferredComponent, render_one
from .workload_args import WorkloadArgs, claim, claimed_models, metadata_of


class ServiceArgs(WorkloadArgs, total=False):
    """Arguments of a Service."""

    model: Required[pulumi.Input[dict[str, Any]]]
    """The OpenModel to serve, in wire form: the ``manifest`` of an OpenModel component."""
    draft_model: pulumi.Input[dict[str, Any]]
    """A second OpenModel, the draft model for speculative decoding, in wire form."""
    inference_flavors: list[str]
    """Flavors of the model to use, in order of preference. Default: all of them."""
    worker_template: Required[dict[str, Any]]
    """Pod template of the workers; it must have a container named model-runner."""
    leader_template: dict[str, Any]
    """Pod template of the leader. Default: the worker template."""
    size: int
    """Pods of one replica, including the leader. Default: 1."""
    replicas: int
    """Replicas. Default: 1."""
    restart_policy: str
    """Default, RecreateGroupOnPodRestart, RecreateGroupAfterStart or None. Default: RecreateGroupOnPodRestart."""
    rollout_strategy: RolloutStrategyArgs
    """How a change of the pods rolls out. Default: one group at a time is unavailable."""
    sub_group_policy: SubGroupPolicyArgs
    """How a group is divided into subgroups. Default: not at all."""
    volume_claim_templates: list[dict[str, Any]]
    """Volume claims that each pod gets for itself."""
    persistent_volume_claim_retention_policy: dict[str, Any]
    """Retention policy of these claims, in wire form: whenDeleted and whenScaled, each Delete or Retain."""


class Service(ReferredComponent):
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
    given = Arguments(name, args, ServiceArgs)
    options = options_of(given)
    autoscaled = is_autoscaled(given, options)
    models = claimed_models(given)
    spec = compact(
        {
            **claim(models, given.get("inference_flavors"), several=True),
            "replicas": given.get("replicas"),
            "workloadTemplate": wire_names(given.values, LeaderWorkerTemplate),
            "rolloutStrategy": given.get("rollout_strategy"),
        }
    )
    resource = given.resource("inference.llmaz.io/v1alpha1", "Service", metadata_of(name, given), spec)
    return render_one(resource, models, options, autoscaled=autoscaled)
