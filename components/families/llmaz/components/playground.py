"""A claimed model served by an engine.

Playground
├── Deployment or LeaderWorkerSet   <name>
├── Service                         <name>-lb
└── HorizontalPodAutoscaler         <name>-hpa, with replica bounds
"""

from typing import Any, Required

import pulumi

from ....fleet.rendered import Rendered
from ....serving.arguments import WorkloadArgs, claim, claimed_models, compact, metadata_of, options_of, resource_of
from ....serving.workload_component import WorkloadComponent, render_one


class PlaygroundArgs(WorkloadArgs, total=False):
    """Arguments of a Playground."""

    model: Required[dict[str, Any]]
    """The OpenModel to serve, in wire form: the ``manifest`` of an OpenModel component."""
    draft_model: dict[str, Any]
    """A second OpenModel that drafts tokens for speculative decoding, in wire form."""
    inference_flavors: list[str]
    """Flavors of the model to use, in order of preference. Default: all of them."""
    replicas: int
    """Replicas, where no autoscaler owns them. Default: 1."""
    backend_name: str
    """BackendRuntime to serve with. Default: vllm."""
    backend_runtime: dict[str, Any]
    """A BackendRuntime of your own in wire form, if backend_name is not a shipped one."""
    backend_version: str
    """Image tag, instead of the runtime's."""
    config_name: str
    """Recommended configuration of the runtime. Default: default, or speculative-decoding with a draft model."""
    args: list[str]
    """Engine arguments, after the recommended ones."""
    envs: list[dict[str, Any]]
    """Environment variables, by name over the runtime's."""
    limits: dict[str, str]
    """Resource limits, per key over the recommended ones. Accelerators belong into the model's flavors."""
    requests: dict[str, str]
    """Resource requests, per key over the recommended ones."""
    shared_memory_size: str
    """Size of /dev/shm."""
    min_replicas: int
    """Lower bound of the autoscaler. Setting a bound makes one."""
    max_replicas: int
    """Upper bound of the autoscaler. Default: no limit."""
    metrics: list[dict[str, Any]]
    """Metrics of the autoscaler (autoscaling/v2 MetricSpec)."""
    behavior: dict[str, Any]
    """Scaling behavior of the autoscaler (autoscaling/v2)."""


class Playground(WorkloadComponent):
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
    model, draft = claimed_models(name, args)
    spec = _spec(args, claim(model, draft, args.get("inference_flavors"), several=draft is not None))
    resource = resource_of("inference.llmaz.io/v1alpha1", "Playground", metadata_of(name, args), spec)
    referred = [value for value in (model, draft, args.get("backend_runtime")) if value]
    return render_one(resource, referred, options_of(args))


def _spec(args: PlaygroundArgs, claimed: dict[str, Any]) -> dict[str, Any]:
    elastic = compact(
        {
            "minReplicas": args.get("min_replicas"),
            "maxReplicas": args.get("max_replicas"),
            "scaleTrigger": _trigger(args),
        }
    )
    return compact(
        {
            "replicas": args.get("replicas"),
            **claimed,
            "backendRuntimeConfig": _backend(args),
            "elasticConfig": elastic,
        }
    )


def _backend(args: PlaygroundArgs) -> dict[str, Any]:
    own = args.get("backend_runtime")
    return compact(
        {
            "backendName": args.get("backend_name") or (own["metadata"]["name"] if own else None),
            "version": args.get("backend_version"),
            "configName": args.get("config_name"),
            "args": args.get("args"),
            "envs": args.get("envs"),
            "resources": compact({"limits": args.get("limits"), "requests": args.get("requests")}),
            "sharedMemorySize": args.get("shared_memory_size"),
        }
    )


def _trigger(args: PlaygroundArgs) -> dict[str, Any] | None:
    hpa = compact({"metrics": args.get("metrics"), "behavior": args.get("behavior")})
    return {"hpa": hpa} if hpa else None
