"""A claimed model served by an engine.

Playground
├── Deployment or LeaderWorkerSet   <name>
├── Service                         <name>-lb
└── HorizontalPodAutoscaler         <name>-hpa, with replica bounds
"""

from typing import Any, Required

import pulumi

from ...fleet.rendered import Rendered
from ..serving.arguments import Arguments, compact
from ..serving.autoscaling_args import MetricSpecArgs, ScalingBehaviorArgs
from ..serving.rendering_options import is_autoscaled, options_of
from ..serving.workload_component import ReferredComponent, render_one
from .workload_args import WorkloadArgs, claim, claimed_models, metadata_of


class PlaygroundArgs(WorkloadArgs, total=False):
    """Arguments of a Playground."""

    model: Required[pulumi.Input[dict[str, Any]]]
    """The OpenModel to serve, in wire form: the ``manifest`` of an OpenModel component."""
    draft_model: pulumi.Input[dict[str, Any]]
    """A second OpenModel, the draft model for speculative decoding, in wire form."""
    inference_flavors: list[str]
    """Flavors of the model to use, in order of preference. Default: all of them."""
    replicas: int
    """Replicas, if there is no autoscaler. Default: 1."""
    backend_name: str
    """BackendRuntime to serve with. Default: vllm."""
    backend_runtime: pulumi.Input[dict[str, Any]]
    """Your own BackendRuntime in wire form, if backend_name is not a shipped one."""
    backend_version: str
    """Image tag, instead of the runtime's."""
    config_name: str
    """Recommended configuration of the runtime. Default: default, or speculative-decoding with a draft model."""
    args: list[str]
    """Engine arguments, after the recommended ones."""
    envs: list[dict[str, Any]]
    """Environment variables; they override those of the runtime by name."""
    limits: dict[str, Any]
    """Resource limits; they override the recommended ones by key. Accelerators belong in the model's flavors."""
    requests: dict[str, Any]
    """Resource requests; they override the recommended ones by key."""
    shared_memory_size: str
    """Size of /dev/shm."""
    min_replicas: int
    """Lower bound of the autoscaler. Setting a bound creates one."""
    max_replicas: int
    """Upper bound of the autoscaler. Default: no limit."""
    metrics: list[MetricSpecArgs]
    """Metrics of the autoscaler."""
    behavior: ScalingBehaviorArgs
    """Scaling behavior of the autoscaler."""


class Playground(ReferredComponent):
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
    given = Arguments(name, args, PlaygroundArgs)
    options = options_of(given)
    autoscaled = is_autoscaled(given, options, ("replicas", "min_replicas", "max_replicas"))
    own = [given.manifest("backend_runtime", "BackendRuntime")] if "backend_runtime" in given.values else []
    models = claimed_models(given)
    claimed = claim(models, given.get("inference_flavors"), several=len(models) > 1)
    spec = compact(
        {
            "replicas": given.get("replicas"),
            **claimed,
            "backendRuntimeConfig": _backend(given, own),
            "elasticConfig": _elastic(given),
        }
    )
    resource = given.resource("inference.llmaz.io/v1alpha1", "Playground", metadata_of(name, given), spec)
    return render_one(resource, [*models, *own], options, autoscaled=autoscaled)


def _backend(given: Arguments, own: list[dict[str, Any]]) -> dict[str, Any]:
    return compact(
        {
            "backendName": given.get("backend_name") or next((runtime["metadata"]["name"] for runtime in own), None),
            "version": given.get("backend_version"),
            "configName": given.get("config_name"),
            "args": given.get("args"),
            "envs": given.get("envs"),
            "resources": compact({"limits": given.get("limits"), "requests": given.get("requests")}),
            "sharedMemorySize": given.get("shared_memory_size"),
        }
    )


def _elastic(given: Arguments) -> dict[str, Any]:
    hpa = compact({"metrics": given.get("metrics"), "behavior": given.get("behavior")})
    return compact(
        {
            "minReplicas": given.get("min_replicas"),
            "maxReplicas": given.get("max_replicas"),
            "scaleTrigger": {"hpa": hpa} if hpa else None,
        }
    )
