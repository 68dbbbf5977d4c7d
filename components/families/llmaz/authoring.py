"""Describes a model on given nodes as an OpenModel with one flavor, and a Playground."""

from ...fleet.objects import Object
from ..authoring import InexpressibleError, ModelDeployment, WeightsSource, as_object
from .kinds import OPEN_MODEL, PLAYGROUND
from .shipped import shipped_names


def author(deployment: ModelDeployment) -> tuple[Object, ...]:
    """Return an OpenModel and the Playground that serves it."""
    if deployment.engine not in shipped_names():
        raise InexpressibleError(f"llmaz has no runtime for {deployment.engine}; use {', '.join(shipped_names())}")
    params = {"INSTANCE-TYPE": deployment.instance_type}
    params |= {"TP": str(deployment.tensor)} if deployment.tensor > 1 or deployment.pods > 1 else {}
    params |= {"PP": str(deployment.pods)} if deployment.pods > 1 else {}
    flavor = {
        "name": deployment.accelerator,
        "limits": {deployment.accelerator_resource: deployment.tensor},
        "params": params,
    }
    model = {
        "familyName": deployment.name,
        "source": _source(deployment.weights),
        "inferenceConfig": {"flavors": [flavor]},
    }
    memory = f"{deployment.memory_gib}Gi"
    # No limit of CPUs: it would throttle the engine on an otherwise idle node.
    resources = {"requests": {"cpu": str(deployment.cpu), "memory": memory}, "limits": {"memory": memory}}
    runtime = {
        "backendName": deployment.engine,
        "version": deployment.tag,
        "args": list(deployment.args),
        "resources": resources,
    }
    playground = {
        "replicas": deployment.replicas,
        "modelClaim": {"modelName": deployment.name},
        "backendRuntimeConfig": runtime,
    }
    return (
        as_object(OPEN_MODEL, deployment.name, model),
        as_object(PLAYGROUND, deployment.name, playground),
    )


def _source(weights: WeightsSource) -> Object:
    if len(weights.files) > 1:
        raise InexpressibleError(
            f"llmaz loads one file, and the model has {len(weights.files)}; merge them with llama-gguf-split --merge"
        )
    if weights.repository:
        file = {"filename": weights.files[0]} if weights.files else {}
        return {"modelHub": {"modelID": weights.repository, **file}}
    if weights.scheme != "oss":  # the model loader fetches s3:// and gcs:// in no release
        raise weights.unsupported("llmaz", "a Hugging Face repository, or oss://BUCKET.ENDPOINT/PATH")
    return {"uri": weights.uri}
