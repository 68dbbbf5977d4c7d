"""Describes a model on given nodes as a Model and an InferenceService."""

from ...fleet.objects import Object
from ..authoring import InexpressibleError, ModelDeployment

_API = "inference.llmkube.dev/v1alpha1"
_ENGINES = ("vllm",)
"""Engines that load a repository by its name, and have all of their flags in ``extraArgs``."""
_MOST_GPUS = 8


def author(deployment: ModelDeployment) -> tuple[Object, ...]:
    """Return a Model and the InferenceService that serves it."""
    if deployment.engine not in _ENGINES:
        raise InexpressibleError(
            f"manifests of LLMKube are written for {', '.join(_ENGINES)} only, found {deployment.engine}"
        )
    if deployment.pods > 1:
        raise InexpressibleError(
            f"a replica of LLMKube is one pod, and this one needs {deployment.pods}; use larger nodes, or llmaz"
        )
    if deployment.tensor > _MOST_GPUS:
        raise InexpressibleError(f"a pod of LLMKube has at most {_MOST_GPUS} GPUs, and this one {deployment.tensor}")
    model = {
        "source": deployment.model,
        "format": "safetensors",
        "hardware": {"accelerator": "cuda", "gpu": {"enabled": True, "count": deployment.tensor, "vendor": "nvidia"}},
    }
    service: Object = {
        "modelRef": deployment.name,
        "runtime": deployment.engine,
        "image": f"{deployment.repository}:{deployment.tag}",
        "skipModelInit": True,
        "replicas": deployment.replicas,
    }
    if deployment.tensor > 1:
        service["vllmConfig"] = {"tensorParallelSize": deployment.tensor}
    service |= {
        "extraArgs": list(deployment.args),
        "resources": {"cpu": str(deployment.cpu), "memory": f"{deployment.memory_gib}Gi"},
        "nodeSelector": {"node.kubernetes.io/instance-type": deployment.instance_type},
        "endpoint": {},
    }
    return (_object("Model", deployment.name, model), _object("InferenceService", deployment.name, service))


def _object(kind: str, name: str, spec: Object) -> Object:
    return {"apiVersion": _API, "kind": kind, "metadata": {"name": name}, "spec": spec}
