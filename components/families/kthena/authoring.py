"""Describes a model on given nodes as a ModelBooster."""

from collections.abc import Iterator
from itertools import pairwise

from ...fleet.demand import INSTANCE_TYPE_LABEL
from ...fleet.objects import Object
from ..authoring import InexpressibleError, ModelDeployment, WeightsSource, as_object
from .kinds import MODEL_BOOSTER

_BACKENDS = {"vllm": "vLLM", "sglang": "SGLang"}


def author(deployment: ModelDeployment) -> tuple[Object, ...]:
    """Return a ModelBooster with one backend."""
    backend = _BACKENDS.get(deployment.engine)
    if backend is None:
        raise InexpressibleError(f"Kthena has no backend for {deployment.engine}; use {' or '.join(_BACKENDS)}")
    config: Object = {"tensor-parallel-size": deployment.tensor} if deployment.tensor > 1 else {}
    config |= {"pipeline-parallel-size": deployment.pods} if deployment.pods > 1 else {}
    config |= dict(_configured(deployment.args))
    memory = f"{deployment.memory_gib}Gi"
    worker = {
        "image": f"{deployment.repository}:{deployment.tag}",
        "replicas": 1,
        "pods": deployment.pods,
        "config": config,
        "resources": {
            "requests": {"cpu": str(deployment.cpu), "memory": memory},
            "limits": {deployment.accelerator_resource: str(deployment.tensor), "memory": memory},
        },
        "affinity": _affinity(deployment.instance_type),
    }
    spec = {
        "backends": [
            {
                "name": deployment.accelerator,
                "type": backend,
                **_source(deployment.weights),
                "minReplicas": deployment.replicas,
                "maxReplicas": deployment.replicas,
                "workers": [worker],
            }
        ]
    }
    return (as_object(MODEL_BOOSTER, deployment.name, spec),)


def _source(weights: WeightsSource) -> Object:
    if weights.scheme == "s3" and not weights.secret:
        raise InexpressibleError(
            f"{weights.uri} needs a Secret with ACCESS_KEY and SECRET_KEY; pass --weights-secret"
        )
    if weights.scheme == "s3":
        return {"modelURI": weights.uri, "envFrom": [{"secretRef": {"name": weights.secret}}]}
    if weights.scheme == "pvc":
        return {"modelURI": weights.uri, "cacheURI": f"pvc://{weights.uri.split('/')[2]}"}
    if weights.scheme != "hf":
        raise weights.unsupported("Kthena", "a Hugging Face repository, s3://BUCKET/PATH or pvc://CLAIM/FOLDER")
    return {"modelURI": weights.uri}


def _configured(args: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the flags of a command line as keys of ``config``; a switch has an empty value."""
    for word, following in pairwise((*args, "--")):
        if word.startswith("--"):
            name, equals, value = word.removeprefix("--").partition("=")
            yield name, value if equals else "" if following.startswith("--") else following


def _affinity(instance_type: str) -> Object:
    expression = {"key": INSTANCE_TYPE_LABEL, "operator": "In", "values": [instance_type]}
    terms = [{"matchExpressions": [expression]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
