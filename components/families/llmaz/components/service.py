"""Claimed models served by hand-written pod templates, on one or several nodes.

Service
├── Deployment or LeaderWorkerSet   <name>
└── Service                         <name>-lb
"""

from typing import Any, Required

import pulumi

from ....fleet.rendered import Rendered
from ....serving.arguments import WorkloadArgs, claim, claimed_models, compact, metadata_of, options_of, resource_of
from ....serving.workload_component import WorkloadComponent, render_one


class ServiceArgs(WorkloadArgs, total=False):
    """Arguments of a Service."""

    model: Required[dict[str, Any]]
    """The OpenModel to serve, in wire form: the ``manifest`` of an OpenModel component."""
    draft_model: dict[str, Any]
    """A second OpenModel that drafts tokens for speculative decoding, in wire form."""
    inference_flavors: list[str]
    """Flavors of the model to use, in order of preference. Default: all of them."""
    worker_template: Required[dict[str, Any]]
    """Pod template of the workers; with a container named model-runner."""
    leader_template: dict[str, Any]
    """Pod template of the leader. Default: the worker template."""
    size: int
    """Pods of one replica, the leader included. Default: 1."""
    replicas: int
    """Replicas. Default: 1."""
    restart_policy: str
    """RecreateGroupOnPodRestart, RecreateGroupAfterStart or None. Default: RecreateGroupOnPodRestart."""
    rollout_strategy: dict[str, Any]
    """Rollout strategy of the LeaderWorkerSet."""


class Service(WorkloadComponent):
    """Serves models with pod templates of your own: a workload and a Service in front of it.

    Does not create nodes, the LeaderWorkerSet controller or Secrets with access tokens.
    """

    def __init__(self, name: str, args: ServiceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Render and register.

        Raises:
            InvalidArguments: the arguments contradict the contract, or a pod fits no node of its flavors.
        """
        self.register(name, _render(name, args), opts)


def _render(name: str, args: ServiceArgs) -> Rendered:
    model, draft = claimed_models(name, args)
    spec = _spec(args, claim(model, draft, args.get("inference_flavors"), several=True))
    resource = resource_of("inference.llmaz.io/v1alpha1", "Service", metadata_of(name, args), spec)
    return render_one(resource, [model, *([draft] if draft else [])], options_of(args))


def _spec(args: ServiceArgs, claimed: dict[str, Any]) -> dict[str, Any]:
    template = {
        "size": args.get("size"),
        "leaderTemplate": args.get("leader_template"),
        "workerTemplate": args.get("worker_template"),
        "restartPolicy": args.get("restart_policy"),
    }
    return compact(
        {
            **claimed,
            "replicas": args.get("replicas"),
            "workloadTemplate": compact(template),
            "rolloutStrategy": args.get("rollout_strategy"),
        }
    )
