"""The ModelRoute of a booster (Kthena spec 2.7)."""

from collections.abc import Sequence

from .....fleet.objects import Object, new_object
from ...names import NETWORKING_API, backend_name
from ...types import ModelBooster
from ..setup import Part
from .labels import labels_of, metadata_of

_DEFAULT = "default"


def route_of(booster: ModelBooster, parts: Sequence[Part]) -> Object:
    """Return the ModelRoute: to all backends by the booster's name, and by an adapter's to those that have it."""
    model, namespace = booster.metadata.name, parts[0].namespace
    adapters = sorted({each.name for part in parts for each in part.backend.lora_adapters or ()})
    match = booster.spec.model_match.wire() if booster.spec.model_match else {}
    if len(parts) == 1:
        rules = [_rule(_DEFAULT, match, parts)]
    else:
        rules = [_rule(_DEFAULT, _of_model(match, model), parts)]
        rules += [_rule(each, _of_model(match, each), _with_adapter(each, parts)) for each in adapters]
    spec: Object = {"modelName": model, "rules": rules}
    if adapters:
        spec = {"modelName": model, "loraAdapters": adapters, "rules": rules}
    body = new_object(NETWORKING_API, "ModelRoute", model, namespace, spec)
    return {**body, "metadata": metadata_of(model, namespace, labels_of(model, namespace), spec)}


def _rule(name: str, match: Object, parts: Sequence[Part]) -> Object:
    targets = [
        {"modelServerName": backend_name(part.model, part.backend.name), "weight": part.backend.route_weight}
        for part in parts
    ]
    return {"name": name, **({"modelMatch": match} if match else {}), "targetModels": targets}


def _of_model(match: Object, model: str) -> Object:
    return {**match, "body": {"model": model}}


def _with_adapter(name: str, parts: Sequence[Part]) -> list[Part]:
    return [part for part in parts if any(each.name == name for each in part.backend.lora_adapters or ())]
