"""Playgrounds of one model, and their edits as the messages of findings ask for them."""

import copy
import re
from typing import Any

from components.contract.findings.advice import split_message
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


def follow(problem: Problem, documents: list[Object]) -> list[Object]:
    """Return the documents after the first step of a message, taken literally."""
    edited = copy.deepcopy(documents)
    args: list[str] = edited[1]["spec"]["backendRuntimeConfig"]["args"]
    step = split_message(problem.reason).help
    if found := re.match(r"set (--\S+) to (\S+?)[;,]?( |$)", step):
        args[_value_of(args, found[1])] = found[2]
    elif found := re.match(r"add (--\S+)((?: (?!to\b|and\b|which\b)[^\s,]+)*)", step):
        args += [found[1], *found[2].split()]
    elif found := re.match(r"remove (--[^\s,]+)", step):
        place = args.index(found[1])
        has_value = place + 1 < len(args) and not args[place + 1].startswith("-")
        del args[place : place + 1 + has_value]
    elif "use " not in step:
        raise AssertionError(f"no step that can be taken literally: {step!r}")
    if found := re.search(r"(?:^|, and )use ([a-z0-9-]+\.[a-z0-9-]+)", step):
        edited[0]["spec"]["inferenceConfig"]["flavors"][0]["params"]["INSTANCE-TYPE"] = found[1]
    return edited


def _value_of(args: list[str], flag: str) -> int:
    return args.index(flag) + 1
