"""Describes a model on given nodes as a Model and an InferenceService."""

from ...fleet.objects import Object
from ..authoring import InexpressibleError, ModelDeployment, WeightsSource

_API = "inference.llmkube.dev/v1alpha1"
_ENGINES = ("vllm", "llamacpp")
"""Engines that have all of their flags in ``extraArgs``."""
_GGUF_ENGINE = "llamacpp"
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
    is_gguf = deployment.engine == _GGUF_ENGINE
    model = {
        **_source(deployment.weights, is_gguf=is_gguf),
        "format": "gguf" if is_gguf else "safetensors",
        "hardware": {"accelerator": "cuda", "gpu": {"enabled": True, "count": deployment.tensor, "vendor": "nvidia"}},
    }
    service: Object = {
        "modelRef": deployment.name,
        "runtime": deployment.engine,
        "image": f"{deployment.repository}:{deployment.tag}",
        "replicas": deployment.replicas,
    }
    if deployment.weights.repository and not deployment.weights.files:
        service["skipModelInit"] = True  # the server fetches the repository itself
    if deployment.tensor > 1 and not is_gguf:
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


def _source(weights: WeightsSource, *, is_gguf: bool) -> Object:
    if weights.repository and len(weights.files) == 1:
        return {"source": f"https://huggingface.co/{weights.repository}/resolve/main/{weights.files[0]}"}
    if weights.files:
        raise InexpressibleError(
            f"manifests of LLMKube are written for models of one file, and this one has {len(weights.files)}; merge "
            "them with llama-gguf-split --merge"
        )
    if weights.repository:
        return {"source": weights.repository}
    if weights.scheme == "pvc" or (is_gguf and weights.scheme in ("http", "https")):
        return {"source": weights.uri}
    files = ", https://HOST/FILE" if is_gguf else ""
    raise weights.unsupported("LLMKube", f"a Hugging Face repository{files} or pvc://CLAIM/PATH")
