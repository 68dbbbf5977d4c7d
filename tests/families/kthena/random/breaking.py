"""Breaks each rule of Kthena that spans fields (spec 1.4) in the ``spec`` of a valid document."""

import copy
from collections.abc import Callable
from random import Random
from typing import Any

from tests.families.kthena.api.table import FieldPath
from tests.families.kthena.random.core import Object
from tests.families.kthena.random.fitting import METRICS

ABSENT = object()

Break = Callable[[Object, Random], FieldPath]
"""Breaks one rule in the ``spec`` of a valid document; returns where, below the document."""


def at(value: Any, path: FieldPath) -> Any:
    """Return what is at a path."""
    for part in path:
        value = value[part]
    return value


def _set(spec: Object, path: FieldPath, value: Any) -> FieldPath:
    owner = at(spec, path[:-1])
    if value is ABSENT:
        owner.pop(path[-1], None)
    else:
        owner[path[-1]] = value
    return ("spec", *path)


def _one_of(spec: Object, random: Random) -> FieldPath:
    return ("backends", random.randrange(len(spec["backends"])))


def _total(spec: Object, _random: Random) -> FieldPath:
    for backend in spec["backends"]:
        backend["maxReplicas"] = 1_000_000
    if len(spec["backends"]) == 1:
        spec["backends"].append({**spec["backends"][0], "name": "second"})
    return ("spec", "backends")


def _crossed(spec: Object, random: Random) -> FieldPath:
    place = _one_of(spec, random)
    at(spec, place)["maxReplicas"] = 3
    return _set(spec, (*place, "minReplicas"), 4)


def _stopped(spec: Object, _random: Random) -> FieldPath:
    index = next(i for i, backend in enumerate(spec["backends"]) if "autoscalingPolicy" in backend)
    return _set(spec, ("backends", index, "minReplicas"), 0)


def _uneven(spec: Object, random: Random) -> FieldPath:
    place = _one_of(spec, random)
    at(spec, place)["maxReplicas"] = 8
    return _set(spec, (*place, "minReplicas"), 7)


def _all_stopped(spec: Object, _random: Random) -> FieldPath:
    for backend in spec["backends"]:
        backend["minReplicas"] = 0
    return ("spec", "backends")


def _workers(spec: Object, random: Random) -> FieldPath:
    backend = at(spec, place := _one_of(spec, random))
    backend["type"] = random.choice(("vLLM", "SGLang", "MindIE", "vLLMDisaggregated", "MindIEDisaggregated"))
    backend["workers"] = [{"type": "prefill"}, {"type": "server"}]
    below: FieldPath = (1, "type") if backend["type"] == "MindIEDisaggregated" else ()
    return ("spec", *place, "workers", *below)


def adapter(name: str, *, twice: bool) -> Break:
    def broken(spec: Object, random: Random) -> FieldPath:
        adapters = [{"name": name, "artifactURL": "hf://a"}] * (1 + twice)
        return (*_set(spec, (*_one_of(spec, random), "loraAdapters"), adapters), int(twice), "name")

    return broken


def _twice(spec: Object, _random: Random) -> FieldPath:
    spec["backends"].append(copy.deepcopy(spec["backends"][0]))
    return ("spec", "backends", len(spec["backends"]) - 1, "name")


def _in_backend(field: str, *values: Any) -> Break:
    return lambda spec, random: _set(spec, (*_one_of(spec, random), field), random.choice(values))


def _partition(spec: Object, random: Random) -> FieldPath:
    groups = spec.get("replicas", 1)
    spec["rolloutStrategy"] = {"rollingUpdateConfiguration": {"partition": groups + random.randrange(3)}}
    return ("spec", "rolloutStrategy", "rollingUpdateConfiguration", "partition")


def _stuck(spec: Object, random: Random) -> FieldPath:
    spec["replicas"] = 4
    bounds = {"maxUnavailable": random.choice((0, "0%", "24%")), "maxSurge": random.choice((0, "0%"))}
    spec["rolloutStrategy"] = {"rollingUpdateConfiguration": bounds}
    return ("spec", "rolloutStrategy", "rollingUpdateConfiguration", "maxUnavailable")


def _gang(spec: Object, random: Random) -> FieldPath:
    role = random.choice(spec["template"]["roles"])
    name, least = random.choice(
        ((role["name"], -1), (role["name"], role.get("replicas", 1) + role["workerReplicas"] + 1), ("nobody", 0))
    )
    spec["template"]["gangPolicy"] = {"minRoleReplicas": {name: least}}
    return ("spec", "template", "gangPolicy", "minRoleReplicas", name)


def _same_role(spec: Object, _random: Random) -> FieldPath:
    roles = spec["template"]["roles"]
    spec["template"].pop("gangPolicy", None)
    roles[:] = [roles[0], copy.deepcopy(roles[0])]
    return ("spec", "template", "roles", 1, "name")


def _both_ways(spec: Object, _random: Random) -> FieldPath:
    way = {"target": {"targetRef": {}}, "minReplicas": 1, "maxReplicas": 1}
    spec |= {"scalingConfiguration": way, "optimizerConfiguration": {"params": [way]}}
    return ("spec",)


def _no_way(spec: Object, _random: Random) -> FieldPath:
    spec.pop("scalingConfiguration", None)
    spec.pop("optimizerConfiguration", None)
    return ("spec",)


def _bound(spec: Object, _random: Random) -> tuple[Object, FieldPath]:
    if "scalingConfiguration" in spec:
        return spec["scalingConfiguration"], ("spec", "scalingConfiguration")
    return spec["optimizerConfiguration"]["params"][0], ("spec", "optimizerConfiguration", "params", 0)


def _bounds(spec: Object, random: Random) -> FieldPath:
    bounded, place = _bound(spec, random)
    bounded |= {"minReplicas": 5, "maxReplicas": 4}
    return (*place, "minReplicas")


def _kind(spec: Object, random: Random) -> FieldPath:
    bounded, place = _bound(spec, random)
    bounded["target"]["targetRef"] = {"kind": random.choice(("Deployment", "", "modelserving"))}
    return (*place, "target", "targetRef", "kind")


def _nameless(spec: Object, random: Random) -> FieldPath:
    spec.pop("modelName", None)
    spec |= {"loraAdapters": []} | random.choice(({}, {"modelName": ""}))
    return ("spec",)


def _two_ways(spec: Object, random: Random) -> FieldPath:
    match = {"uri": dict.fromkeys(random.sample(("exact", "prefix", "regex"), random.choice((2, 3))), "a")}
    if "backends" in spec:
        return (*_set(spec, ("modelMatch",), match), "uri")
    spec["rules"] = [{"targetModels": [], "modelMatch": match}]
    return ("spec", "rules", 0, "modelMatch", "uri")


def _same_metric(spec: Object, _random: Random) -> FieldPath:
    return (*_set(spec, ("metrics",), METRICS * 2), 1, "metricName")


def _policy_within(spec: Object, random: Random) -> FieldPath:
    return _set(spec, (*_one_of(spec, random), "autoscalingPolicy"), {"metrics": METRICS})


RULES: dict[str, tuple[tuple[str, Break], ...]] = {
    "ModelBooster": (
        ("model", _in_backend("scaleToZeroGracePeriod", "30m1ns", "-1s", "1h")),  # V1
        ("", _crossed),  # V2
        ("", _total),
        ("none", _in_backend("scalingCost", 1)),  # V4
        ("backend", _in_backend("scaleToZeroGracePeriod", "30s")),
        ("none", lambda spec, _: _set(spec, ("costExpansionRatePercent",), 0)),
        ("backend", _stopped),
        ("none", _uneven),
        ("model", _in_backend("scalingCost", 0, ABSENT)),  # V5
        ("model", _all_stopped),
        ("model", _policy_within),  # V6
        ("", _workers),  # V7
        ("", adapter("a", twice=True)),  # V8
        ("", _twice),
        ("", _two_ways),
    ),
    "ModelServing": (("", _partition), ("", _stuck), ("", _gang), ("", _same_role)),  # V14, V15
    "AutoscalingPolicy": (("", _same_metric),),  # V9
    "AutoscalingPolicyBinding": (("", _both_ways), ("", _no_way), ("", _bounds), ("", _kind)),  # V10
    "ModelRoute": (
        ("", _nameless),  # V16
        ("", lambda spec, _: (*_set(spec, ("loraAdapters",), ["a", ""]), 1)),
        ("", _two_ways),
    ),
}
