"""Models in a few lines."""

from collections.abc import Sequence

import yaml

from tests.fleets import Object, open_model, playground


def flavor(instance_type: str, gpus: int = 1, name: str = "f", **params: str) -> Object:
    """A flavor of one instance type."""
    return {
        "name": name,
        "limits": {"nvidia.com/gpu": gpus},
        "params": {"INSTANCE-TYPE": instance_type, **params},
    }


def served(name: str, *flavors: Object, replicas: int = 1) -> list[Object]:
    """A model and what serves it."""
    return [
        open_model(f"{name}-weights", "example/of-unknown-shape", flavors=list(flavors)),
        playground(name, f"{name}-weights", replicas=replicas),
    ]


def written(models: Sequence[Sequence[Object]]) -> str:
    """Manifests as a file has them."""
    return yaml.safe_dump_all([body for model in models for body in model])
