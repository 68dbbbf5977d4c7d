"""Describes a model on given nodes as an OpenModel with one flavor, and a Playground."""

from ...fleet.objects import Object
from ..authoring import InexpressibleError, ModelDeployment, as_object
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
        "source": {"modelHub": {"modelID": deployment.model}},
        "inferenceConfig": {"flavors": [flavor]},
    }
    resources = {"cpu": str(deployment.cpu), "memory": f"{deployment.memory_gib}Gi"}
    runtime = {
        "backendName": deployment.engine,
        "version": deployment.tag,
        "args": list(deployment.args),
        "resources": {"requests": resources, "limits": resources},
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
