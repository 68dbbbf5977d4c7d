"""The manifests of a way to serve a model."""

import re
from decimal import Decimal

from ...contract.quantity import GIB
from ...families import authors
from ...families.authoring import ModelDeployment, WeightsSource
from ...fleet.objects import Object
from .options import FitOption
from .question import FitQuestion

_MOST_NAME = 40
"""Longest name, so that the names of pods and Services that derive from it are valid."""
_HALF = 2
"""A pod requests this fraction of its share of a node, so that the pods of the cluster itself have room."""


def families() -> tuple[str, ...]:
    """Return the families that manifests can be written in."""
    return tuple(authors())


def manifests_of(family: str, question: FitQuestion, option: FitOption, weights: WeightsSource) -> tuple[Object, ...]:
    """Return the manifests of an option.

    Raises:
        InexpressibleError: The family cannot describe it; the message is for users.
    """
    return authors()[family].author(_deployment(question, option, weights))


def _deployment(question: FitQuestion, option: FitOption, weights: WeightsSource) -> ModelDeployment:
    node, serving = option.node, question.serving
    share = Decimal(option.per_node) / node.accelerators / _HALF
    return ModelDeployment(
        name=_name(question.model),
        weights=weights,
        engine=serving.engine.name,
        repository=serving.repository,
        tag=serving.tag,
        args=question.flags,
        replicas=option.replicas,
        tensor=option.per_node,
        pods=option.spread,
        instance_type=node.name,
        accelerator=re.sub(r"[^a-z0-9]+", "-", node.accelerator.lower()),
        accelerator_resource=node.accelerator_resource or "",
        cpu=Decimal(max(1, int(node.allocatable_cpu * share))),
        memory_gib=max(1, int(node.allocatable_memory * share / GIB)),
    )


def _name(model: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", model.rpartition("/")[2].lower().removesuffix(".gguf")).strip("-")
    return (name if name[:1].isalpha() else f"model-{name}")[:_MOST_NAME].strip("-")
