"""LLMKube's InferenceService: a model served by llama.cpp, vLLM, TGI, PersonaPlex or your own image.

InferenceService
├── PriorityClass             <name>-priorityclass, unless it is created elsewhere
├── PersistentVolumeClaim     <name>-persistentvolumeclaim, for the model cache, likewise
├── Deployment                <name>
├── Service                   <name>-lb
└── HorizontalPodAutoscaler   <name>-hpa, with autoscaling
"""

import pulumi

from ...fleet.rendered import Rendered
from ..serving.arguments import Arguments
from ..serving.rendering_options import is_autoscaled, options_of
from ..serving.workload_component import ReferencedComponent, render_one
from .args import InferenceServiceArgs
from .argument_maps import INFERENCE_SERVICE

_OF_PODS = frozenset({"tolerations", "image_pull_secrets", "priority_class_name", "pod_annotations", "pod_labels"})
"""Pod settings that are fields of this kind's spec, so the common options do not set them."""


class InferenceService(ReferencedComponent):
    """Serves a model: a Deployment of the runtime, a Service in front of it and, with bounds, an autoscaler.

    Does not create nodes or Secrets with access tokens.
    """

    def __init__(self, name: str, args: InferenceServiceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Render and register.

        Raises:
            InvalidArguments: the arguments contradict the contract, or a pod fits no node.
        """
        self.register(name, _render(name, args), opts, shared=bool(args.get("shared", True)))


def _render(name: str, args: InferenceServiceArgs) -> Rendered:
    arguments = Arguments(name, args, InferenceServiceArgs, INFERENCE_SERVICE.models)
    options = options_of(arguments, _OF_PODS)
    autoscaled = is_autoscaled(arguments, options, ("replicas", "autoscaling"), operated=False)
    referred = [
        arguments.manifest(key, "Model") for key in ("model", "draft_model") if key in ("model", *arguments.values)
    ]
    arguments.check()
    spec = {"modelRef": referred[0]["metadata"]["name"], **INFERENCE_SERVICE.spec(arguments.values)}
    metadata = {"name": arguments.get("name", name), "namespace": arguments.get("namespace", "default")}
    resource = arguments.resource("inference.llmkube.dev/v1alpha1", "InferenceService", metadata, spec)
    return render_one(
        resource, referred, options, autoscaled=autoscaled, waits=arguments.waits, types=arguments.types
    )
