"""The ModelRoute of a booster (Kthena spec 2.7)."""

from collections.abc import Iterator, Sequence

from .....fleet.objects import Object, new_object
from ...names import NETWORKING_API
from ...routing.asked import AskedRule
from ...types import ModelBooster
from ..setup import Part
from .labels import labels_of, metadata_of

_DEFAULT = "default"
Targets = tuple[tuple[str, int], ...]
"""Names of ModelServers, and the weight of each."""


def route_of(booster: ModelBooster, parts: Sequence[Part]) -> Object:
    """Return the ModelRoute: to all backends by the booster's name, and by an adapter's to those that have it."""
    model, namespace = booster.metadata.name, parts[0].namespace
    adapters = adapter_names(parts)
    match = booster.spec.model_match.wire() if booster.spec.model_match else {}
    rules = [_written(name, match, asked, targets) for name, asked, targets in _rules(model, parts)]
    spec: Object = {"modelName": model, "rules": rules}
    if adapters:
        spec = {"modelName": model, "loraAdapters": adapters, "rules": rules}
    body = new_object(NETWORKING_API, "ModelRoute", model, namespace, spec)
    return {**body, "metadata": metadata_of(model, namespace, labels_of(model, namespace), spec)}


def adapter_names(parts: Sequence[Part]) -> list[str]:
    """Return the names of all adapters."""
    return sorted({each.name for part in parts for each in part.backend.lora_adapters or ()})


def asked_rules(booster: ModelBooster, parts: Sequence[Part]) -> tuple[AskedRule, ...]:
    """Return what the rules of the ModelRoute ask for, where it is not written."""
    rules = _rules(booster.metadata.name, parts)
    match = booster.spec.model_match
    return tuple(
        AskedRule.of(index, name, match, targets, asked) for index, (name, asked, targets) in enumerate(rules)
    )


def _rules(model: str, parts: Sequence[Part]) -> Iterator[tuple[str, str | None, Targets]]:
    """Yield each rule: its name, the model that it is for where it is for one, and what it leads to."""
    if len(parts) == 1:
        yield _DEFAULT, None, _targets(parts)
        return
    yield _DEFAULT, model, _targets(parts)
    for name in adapter_names(parts):
        yield name, name, _targets(_with_adapter(name, parts))


def _targets(parts: Sequence[Part]) -> Targets:
    return tuple((part.name, part.backend.route_weight) for part in parts)


def _written(name: str, match: Object, model: str | None, targets: Targets) -> Object:
    if model is not None:
        match = {**match, "body": {"model": model}}
    leading = [{"modelServerName": server, "weight": weight} for server, weight in targets]
    return {"name": name, **({"modelMatch": match} if match else {}), "targetModels": leading}


def _with_adapter(name: str, parts: Sequence[Part]) -> list[Part]:
    return [part for part in parts if any(each.name == name for each in part.backend.lora_adapters or ())]
