"""Playgrounds of one model, and what is found in them."""

import copy
from typing import Any

from components.contract.problems import Problem, Severity
from components.families import objects
from components.plan.plan import plan

Object = dict[str, Any]


def playground(
    model: str, instance: str, backend: str, version: str, *args: str, gpus: int = 1, name: str = "m"
) -> list[Object]:
    """Return an OpenModel and its Playground, with arguments of the engine."""
    flavor: Object = {"name": "gpu", "limits": {"nvidia.com/gpu": gpus}, "params": {"INSTANCE-TYPE": instance}}
    config: Object = {"backendName": backend, "args": list(args)}
    if version:
        config["version"] = version
    return [
        {
            "apiVersion": "llmaz.io/v1alpha1",
            "kind": "OpenModel",
            "metadata": {"name": name},
            "spec": {
                "familyName": "x",
                "source": {"modelHub": {"modelID": model}},
                "inferenceConfig": {"flavors": [flavor]},
            },
        },
        {
            "apiVersion": "inference.llmaz.io/v1alpha1",
            "kind": "Playground",
            "metadata": {"name": name},
            "spec": {"replicas": 1, "modelClaim": {"modelName": name}, "backendRuntimeConfig": config},
        },
    ]


def problems(documents: list[Object]) -> list[Problem]:
    return [*plan(objects(copy.deepcopy(documents))).problems]


def errors(documents: list[Object]) -> set[str]:
    """Return the rules of the errors; the figures in their messages change with an edit."""
    return {each.rule for each in problems(documents) if each.severity is Severity.ERROR}
