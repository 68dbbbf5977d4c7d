"""Random documents of Kthena's kinds with one thing wrong, and where: a field of the tables, or a rule (spec 1.4)."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.families.kthena.api.table import FIELDS, INT32, FieldPath, Row, inner_type, label
from tests.families.kthena.random.core import Object
from tests.families.kthena.random.documents import document
from tests.families.kthena.random.fitting import METRICS

ABSENT = object()


@dataclass(frozen=True, slots=True)
class Wrong:
    """A document that is valid but for one thing."""

    document: Object
    path: FieldPath


# -- fields

_NAMES = ("", "A", "-a", "a-", "a.b", "a_b", "é", "a\n")
_SOURCES = ("", "hf://", "HF://a", "http://a", "ms://a", "obs://a", "/a", " hf://a", "hf://\n")
_TEXTS: dict[str, tuple[str, ...]] = {
    "ModelBoosterSpec.name": (*_NAMES, "a" * 65),
    "ModelBackend.name": _NAMES,
    "LoraAdapter.name": _NAMES,
    "ModelBackend.modelURI": _SOURCES,
    "LoraAdapter.artifactURL": _SOURCES,
    "ModelBackend.cacheURI": ("", "/tmp", "hostpath://", "hostPath:///tmp", "hf://a", "pvc://\n"),
    "ModelWorker.image": (" ", "a b", "a ", "\t", "\u00a0", "\u2003\u2003"),
    "Role.name": ("", "a" * 13, "-a", "a-", "a.b", "a_b", "é", "A", "aB"),
    "ModelServingSpec.schedulerName": ("", "default-scheduler", "Volcano"),
    "ModelServerSpec.model": ("x" * 257,),
}
_DURATIONS = ("", "1", "1d", "1 s", "s", "1.2.3s", "--1s", "1S", "1s ", "٢s", "9" * 70 + "s", "9999999999999h", ".s")
_OUT_OF_BOUNDS = ("-1s", "-1ns", "30m1ns", "1h", "31m")
_SHARES = (-1, "-1%", "101%", "1", "%", "", "1.5%", "10%\n", "1000%")
_QUANTITIES = ("", "a", "1GB", "1 Gi", "-1", 0, "0", "-0.1", "1e", "1Gi\n")
_LOWEST = {"ModelServingSpec.replicas": 0, "Role.replicas": 0, "Role.workerReplicas": 0}
_LOWEST |= {"RollingUpdateConfiguration.partition": 0}


def bad_values(row: Row) -> list[tuple[FieldPath, Any]]:
    """Return values that a field must not take, each with where below the field the fault is."""
    typed, inner = row["yaml_type"], inner_type(row["yaml_type"])
    match typed:
        case "string":
            bad: list[Any] = [1, True, 0.5, [], {}, *_TEXTS.get(label(row), ())]
        case "enum":
            bad = [1, True, [], "", "other", row["enum"].split("|")[0].swapcase()]
        case "int32" | "int64":
            wide = INT32 if typed == "int32" else 2**63
            low = int(row["minimum"]) if row["minimum"] else _LOWEST.get(label(row), -wide)
            high = int(row["maximum"]) if row["maximum"] else wide - 1
            bad = [True, "1", 1.5, [], {}, low - 1, high + 1]
        case "duration":
            bounded = row["type"] not in ("TrafficPolicy", "Retry")
            bad = [30, 1.5, [], {}, *_DURATIONS, *(_OUT_OF_BOUNDS if bounded else ())]
        case "int_or_string":
            bad = [True, 1.5, [], {}, *_SHARES]
        case "quantity":
            bad = [True, [], {}, *_QUANTITIES]
        case "any":
            bad = ["--a b", 1, True, [], [{}]]
        case _ if typed.startswith("list["):
            items = [((0,), [1]), ((0,), [["a"]])]
            return [((), {}), ((), "a"), *(items if inner != "string" else [((0,), [1, "b"])])]
        case _ if typed.startswith("map["):
            return [((), []), ((), "a"), (("a",), {"a": [1]})]
        case _:
            return [((), []), ((), "a"), ((), 1), (("unknown",), {"unknown": 1})]
    return [((), value) for value in bad]


def places(value: Any, type_: str, above: FieldPath) -> Iterator[tuple[FieldPath, Row]]:
    """Yield every field that could be written in a value of a type."""
    for row in FIELDS[type_]:
        path = (*above, row["field"])
        yield path, row
        inner, written = inner_type(row["yaml_type"]), value.get(row["field"])
        if inner not in FIELDS or written is None:
            continue
        parts: Any = [((), written)]
        if row["yaml_type"].startswith("list["):
            parts = [((index,), item) for index, item in enumerate(written)]
        elif row["yaml_type"].startswith("map["):
            parts = [((key,), item) for key, item in written.items()]
        for step, part in parts:
            yield from places(part, inner, (*path, *step))


def at(value: Any, path: FieldPath) -> Any:
    for part in path:
        value = value[part]
    return value


def wrong_field(kind: str, random: Random) -> Wrong:
    """Return a document with one field missing or wrong."""
    whole = document(kind, random)
    path, row = random.choice(list(places(whole["spec"], f"{kind}Spec", ("spec",))))
    owner = at(whole, path[:-1])
    if row["required"] == "yes" and random.random() < 0.3:
        owner.pop(path[-1], None)
        return Wrong(whole, path)
    below, value = random.choice(bad_values(row))
    owner[path[-1]] = copy.deepcopy(value)
    return Wrong(whole, (*path, *below))


# -- rules

Break = Callable[[Object, Random], FieldPath]
"""Breaks one rule in the ``spec`` of a valid document; returns where, below the document."""


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


def _adapter(name: str, *, twice: bool) -> Break:
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
        ("", _adapter("a", twice=True)),  # V8
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
_NAMES_OF: dict[str, tuple[str, ...]] = {"ModelServing": ("a.b", "1a", "a" * 60)}
"""Names that only V11 refuses; what no object can be called is the API server's own matter."""


def wrong(kind: str, random: Random) -> Wrong:
    """Return a random document that is to be refused."""
    if random.random() < 0.5 or kind not in RULES:
        return wrong_field(kind, random)
    if kind in _NAMES_OF and random.random() < 0.2:
        whole = document(kind, random)
        whole["metadata"]["name"] = random.choice(_NAMES_OF[kind])
        return Wrong(whole, ("metadata", "name"))
    if kind == "ModelBooster" and random.random() < 0.05:  # V8
        whole = document(kind, random)
        path = _adapter(whole["metadata"]["name"], twice=False)(whole["spec"], random)
        return Wrong(whole, path)
    mode, breaks = random.choice(RULES[kind])
    whole = document(kind, random, mode)
    return Wrong(whole, breaks(whole["spec"], random))
