"""Random valid documents of Kthena's kinds, made from the tables of its fields.

They follow the tables and Kthena spec 1.4, not our types: a limit that a type gets wrong makes a document that it
refuses. What must fit other fields is put right in :mod:`.fitting`; documents to be refused are in :mod:`.faults`.
"""

from collections.abc import Callable
from random import Random
from typing import Any

from tests.families.kthena.api.samples import made
from tests.families.kthena.api.table import FIELDS, INT32, Row, inner_type, label
from tests.families.kthena.random import core
from tests.families.kthena.random.core import Object
from tests.families.kthena.random.fitting import fit

_NAMES = ("a", "1", "chat", "b-1", "x" * 20)
_TEXTS: dict[str, tuple[str, ...]] = {
    "ModelBoosterSpec.name": (*_NAMES, "x" * 64),
    "ModelBackend.name": _NAMES,
    "LoraAdapter.name": _NAMES,
    "ModelBackend.modelURI": ("hf://Qwen/Qwen3-8B", "s3://bucket/m", "pvc://a/b", "hf://é x\n", "s3://$(A)"),
    "ModelBackend.cacheURI": ("hostpath:///tmp/cache", "pvc://cache", "pvc:// "),
    "LoraAdapter.artifactURL": ("hf://a/b", "s3://bucket/a", "pvc://a"),
    "ModelWorker.image": ("", "vllm/vllm-openai:v0.20.0", "r.example.com:5000/a/b@sha256:" + "0" * 64, "a\tb"),
    "AutoscalingPolicyMetric.metricName": ("kthena:num_requests_waiting", "vllm:x", ""),
    "ModelServingSpec.schedulerName": ("volcano",),
    "Role.name": ("leader", "prefill", "decode", "a", "1", "x" * 12),
    "ModelServerSpec.model": ("", "Qwen/Qwen3-8B", "x" * 256),
}
_SHORT = ("0", "0s", "15s", "1m30s", "30m", "1800s", "+5s", ".5s", "1.s", "100ms", "1us", "2µs", "3μs", "4ns")
_LONG = (*_SHORT, "-1s", "-0", "1h", "2562047h")
_FREE = ("TrafficPolicy.timeout", "Retry.retryInterval")
_SHARES = (0, 1, 7, "0%", "1%", "25%", "100%")
_CORE: dict[str, Callable[[Random], Any]] = {
    "core/v1.EnvVar": core.env,
    "core/v1.EnvFromSource": core.env_from,
    "core/v1.ResourceRequirements": core.resources,
    "core/v1.Affinity": core.affinity,
    "core/v1.PodSpec": core.pod_spec,
    "core/v1.ObjectReference": core.reference,
    "core/v1.LocalObjectReference": lambda random: core.some(random, name=lambda: "policy"),
    "meta/v1.LabelSelector": core.selector,
}
_NOT_NEGATIVE = ("ModelServingSpec.replicas", "Role.replicas", "Role.workerReplicas")


def _integer(row: Row, random: Random) -> int:
    wide = INT32 if row["yaml_type"] == "int32" else 2**63
    low = int(row["minimum"]) if row["minimum"] else 0 if label(row) in _NOT_NEGATIVE else -wide
    high = int(row["maximum"]) if row["maximum"] else wide - 1
    near = max(low, min(high, random.randrange(6)))
    return random.choice((low, high, near, near, near))


def _scalar(row: Row, random: Random) -> Any:
    match row["yaml_type"]:
        case "enum":
            return random.choice(row["enum"].split("|"))
        case "int32" | "int64":
            return _integer(row, random)
        case "duration":
            return random.choice(_LONG if label(row) in _FREE else _SHORT)
        case "quantity":
            return random.choice(core.QUANTITIES)
        case "int_or_string":
            return random.choice(_SHARES)
        case "any":
            return core.any_object(random)
    return random.choice(_TEXTS[label(row)]) if label(row) in _TEXTS else core.word(random)


def _list(row: Row, random: Random, inner: str) -> list[Any]:
    low, high = int(row["min_items"] or 0), int(row["max_items"] or 4)
    count = random.randint(low, min(high, low + 3))
    if inner == "string":
        return [f"{core.word(random)}{index}" for index in range(count)]
    return [fields(inner, random) for _ in range(count)]


def _value(row: Row, random: Random) -> Any:
    written, inner = row["yaml_type"], inner_type(row["yaml_type"])
    if inner in _CORE:
        return _CORE[inner](random)
    if written.startswith("list["):
        return _list(row, random, inner)
    if written == "map[string]string":
        return core.labels(random)
    if written.startswith("map["):
        # What a map of numbers holds is fitted to the roles.
        return {key: fields(inner, random) for key in random.sample(("a", "B c", ""), 2)} if inner in FIELDS else {}
    return fields(inner, random) if inner in FIELDS else _scalar(row, random)


def fields(type_: str, random: Random) -> Object:
    """Return a value of a type of the tables: what it must have, and some of the rest."""
    chosen = [row for row in FIELDS[type_] if row["required"] == "yes" or random.random() < 0.4]
    return {row["field"]: _value(row, random) for row in chosen}


def document(kind: str, random: Random, mode: str = "") -> Object:
    """Return a valid document of a kind; the mode of a ModelBooster is ``none``, ``model`` or ``backend``."""
    metadata = core.some(random, labels=lambda: {"team": "a"}, annotations=lambda: {"note": core.word(random)})
    whole = made(kind, random.choice(("a", "b-1", "chat")), fields(f"{kind}Spec", random), **metadata)
    fit(whole, random, mode or random.choice(("none", "model", "backend")))
    return whole
