"""Random documents of Kthena's kinds with one thing wrong, and where: a field of the tables, or a rule (spec 1.4)."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.families.kthena.api.table import FIELDS, INT32, FieldPath, Row, inner_type, label
from tests.families.kthena.random.breaking import RULES, adapter, at
from tests.families.kthena.random.core import Object
from tests.families.kthena.random.documents import document


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
        path = adapter(whole["metadata"]["name"], twice=False)(whole["spec"], random)
        return Wrong(whole, path)
    mode, breaks = random.choice(RULES[kind])
    whole = document(kind, random, mode)
    return Wrong(whole, breaks(whole["spec"], random))
