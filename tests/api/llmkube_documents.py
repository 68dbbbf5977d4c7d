"""Random InferenceServices and Models of LLMKube, valid ones and wrong ones, made from the contract's table.

They follow ``data/llmkube_fields.csv`` and LLMKube spec 1.4, not our types: a limit that a type gets
wrong makes a document that it refuses, or one that it should have refused.
"""

import copy
import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import strategies as st

from tests.api.llmkube_samples import Document, made

Row = dict[str, str]
FieldPath = tuple[str | int, ...]

ROWS: list[Row] = list(
    csv.DictReader((Path(__file__).parent / "data/llmkube_fields.csv").read_text().splitlines()[1:])
)
FIELDS: dict[str, list[Row]] = {
    type_: [row for row in ROWS if row["type"] == type_] for type_ in {r["type"] for r in ROWS}
}
ABSENT = object()


def _name(random: Random) -> str:
    return random.choice(("a", "1", "chat", "qwen2-7b", "svc.a", "x" * 63))


def _word(random: Random) -> str:
    return random.choice(("a", "hf", "some-name", "", "A b", "é", "1", "true"))


def _words(random: Random) -> list[str]:
    return [_word(random) for _ in range(random.randrange(4))]


def _labels(random: Random) -> dict[str, str]:
    return {
        random.choice(("team", "example.com/role", "a_b")): random.choice(("", "a", "A-b_c.d"))
        for _ in range(random.randrange(3))
    }


def _some(random: Random, **fields: Callable[[], Any]) -> Document:
    return {name: make() for name, make in fields.items() if random.random() < 0.4}


def _secret_key(random: Random) -> Document:
    return {"key": _word(random), **_some(random, name=lambda: _word(random), optional=lambda: random.random() < 0.5)}


def _value_from(random: Random) -> Document:
    kind = random.choice(("configMapKeyRef", "secretKeyRef", "fieldRef", "resourceFieldRef"))
    if kind == "fieldRef":
        return {kind: {"fieldPath": "metadata.name", **_some(random, apiVersion=lambda: "v1")}}
    if kind == "resourceFieldRef":
        return {kind: {"resource": "limits.cpu", **_some(random, divisor=lambda: random.choice((1, "1m", "1Gi")))}}
    return {kind: _secret_key(random)}


def _env(random: Random) -> Document:
    name = random.choice(("A", "HF_TOKEN", "a.b"))
    return (
        {"name": name, "valueFrom": _value_from(random)}
        if random.random() < 0.3
        else {"name": name, **_some(random, value=lambda: _word(random))}
    )


def _toleration(random: Random) -> Document:
    return _some(
        random,
        key=lambda: "nvidia.com/gpu",
        operator=lambda: random.choice(("Exists", "Equal")),
        effect=lambda: random.choice(("", "NoSchedule", "NoExecute")),
        value=lambda: "present",
        tolerationSeconds=lambda: random.choice((0, 60, -(2**63), 2**63 - 1)),
    )


def _pod_security(random: Random) -> Document:
    return _some(
        random,
        fsGroup=lambda: 102,
        runAsUser=lambda: 1000,
        runAsNonRoot=lambda: True,
        supplementalGroups=lambda: [1, 1],
        seccompProfile=lambda: {"type": "Localhost", "localhostProfile": "p"},
        seLinuxOptions=lambda: _some(
            random, level=lambda: "s0", role=lambda: "r", type=lambda: "t", user=lambda: "u"
        ),
        sysctls=lambda: [{"name": "a", "value": "b"}],
        windowsOptions=lambda: {"hostProcess": False},
        fsGroupChangePolicy=lambda: "OnRootMismatch",
    )


def _security(random: Random) -> Document:
    return _some(
        random,
        allowPrivilegeEscalation=lambda: False,
        capabilities=lambda: _some(random, add=lambda: ["NET_ADMIN"], drop=lambda: ["ALL"]),
        privileged=lambda: False,
        readOnlyRootFilesystem=lambda: True,
        runAsGroup=lambda: 5,
        appArmorProfile=lambda: {"type": "RuntimeDefault"},
        procMount=lambda: "Default",
    )


def _probe(random: Random) -> Document:
    port = random.choice((8080, "http"))
    handler = random.choice(
        (
            {"exec": {"command": ["true"]}},
            {"grpc": {"port": 9000, **_some(random, service=lambda: "s")}},
            {"httpGet": {"port": port, **_some(random, path=lambda: "/", scheme=lambda: "HTTP", host=lambda: "h")}},
            {"tcpSocket": {"port": port, **_some(random, host=lambda: "h")}},
        )
    )
    numbers = _some(
        random,
        initialDelaySeconds=lambda: 1,
        periodSeconds=lambda: 10,
        timeoutSeconds=lambda: 5,
        failureThreshold=lambda: 3,
    )
    return {**handler, **numbers, **_some(random, terminationGracePeriodSeconds=lambda: 2**40)}


_CORE: dict[str, Callable[[Random], Any]] = {
    "core/v1.EnvVar": _env,
    "core/v1.LocalObjectReference": lambda random: _some(random, name=lambda: _word(random)),
    "core/v1.PodSecurityContext": _pod_security,
    "core/v1.Probe": _probe,
    "core/v1.SecretKeySelector": _secret_key,
    "core/v1.SecurityContext": _security,
    "core/v1.Toleration": _toleration,
}
_PATTERNED = {
    "factor": ("2", "2.0", "0.25", "00"),
    "sha256": ("0" * 64, "aF" * 32),
    "source": (
        "https://example.com/m.gguf",
        "http://",
        "file:///m.gguf",
        "pvc://claim/m.gguf",
        "/m.gguf",
        "org/repo",
        "a1",
        "https:// \n",
    ),
}
_BAD_PATTERNED = {
    "factor": ("", "-1", "2.", ".5", "1e3", "2\n", "٢", "2,0"),
    "sha256": ("", "0" * 63, "0" * 65, "g" * 64, "0" * 64 + "\n"),
    "source": ("", "a", "/", "/a b", "s3:/ /x", "-a", "org/repo\n", "/m\n", "ftp://x", "é/a", "org/é", "a b", "a:b"),
}
_QUANTITIES = ("cpu", "memory", "hostMemory", "gpuMemory", "memoryBudget", "targetAverageValue")
_INT32 = 2**31


def _integer(row: Row, random: Random) -> int:
    low, high = int(row["minimum"] or -_INT32), int(row["maximum"] or _INT32 - 1)
    return random.choice((low, high, random.randint(low, min(high, max(low, 4096)))))


def _number(row: Row, random: Random) -> float:
    low, high = float(row["minimum"] or 0), float(row["maximum"] or 1)
    return random.choice((low, high, low + (high - low) * random.random()))


def _scalar(row: Row, random: Random) -> Any:
    match row["yaml_type"]:
        case "enum":
            return random.choice(row["enum"].split("|"))
        case "bool":
            return random.random() < 0.5
        case "int32":
            return _integer(row, random)
        case "number":
            return _number(row, random)
        case "string" if row["pattern"]:
            return random.choice(_PATTERNED[row["field"]])
        case "string" if row["field"] in _QUANTITIES:
            return random.choice(("1", "500m", "2Gi", "1.5", "1e3"))
        case "string" if row["field"] in ("modelRef", "model"):
            return _name(random)
    return _word(random)


def _value(row: Row, random: Random, forced: FieldPath) -> Any:
    """Return a value for a field, with everything on a path in it."""
    wanted = row["yaml_type"]
    if wanted == "list[string]":
        return _words(random)
    if wanted == "map[string]string":
        return _labels(random)
    if wanted.startswith("list["):
        one = {**row, "yaml_type": wanted[5:-1]}
        rest = [_value(one, random, ()) for _ in range(random.randrange(3))]
        return [_value(one, random, forced[1:]), *rest] if forced else rest
    if wanted in _CORE:
        return _CORE[wanted](random)
    return fields(wanted, random, forced) if wanted in FIELDS else _scalar(row, random)


def fields(type_: str, random: Random, forced: FieldPath = ()) -> Document:
    """Return a valid value of a type of the contract; a path into it is there for certain."""
    chosen = [r for r in FIELDS[type_] if r["required"] == "yes" or r["field"] in forced[:1] or random.random() < 0.3]
    return {row["field"]: _value(row, random, forced[1:] if row["field"] in forced[:1] else ()) for row in chosen}


def document(kind: str, random: Random, forced: FieldPath = ("spec",)) -> Document:
    """Return a valid document of a kind."""
    metadata = _some(random, labels=lambda: _labels(random), annotations=lambda: {"note": _word(random)})
    return made(kind, _name(random), fields(f"{kind}.spec", random, forced[1:]), **metadata)


def inference_services() -> st.SearchStrategy[Document]:
    """Return random valid InferenceServices; whether their fields make sense together is another matter."""
    return st.randoms(use_true_random=False).map(lambda random: document("InferenceService", random))


def models() -> st.SearchStrategy[Document]:
    """Return random valid Models."""
    return st.randoms(use_true_random=False).map(lambda random: document("Model", random))


# -- with one thing wrong


@dataclass(frozen=True, slots=True)
class Wrong:
    """A document that is valid but for one field."""

    document: Document
    path: FieldPath


def paths(type_: str, above: FieldPath) -> Iterator[tuple[FieldPath, Row]]:
    """Yield every field below a type, lists through their first item."""
    for row in FIELDS[type_]:
        path = (*above, row["field"])
        yield path, row
        wanted = row["yaml_type"]
        if wanted in FIELDS:
            yield from paths(wanted, path)
        elif wanted.startswith("list[") and wanted[5:-1] in FIELDS:
            yield from paths(wanted[5:-1], (*path, 0))


def bad_values(row: Row) -> list[tuple[FieldPath, Any]]:
    """Return values that a field must not take, each with where below the field the fault is."""
    wanted = row["yaml_type"]
    bad: list[Any] = []
    match wanted:
        case "string":
            bad = [1, True, 0.5, [], {}, *_BAD_PATTERNED.get(row["field"] if row["pattern"] else "", ())]
        case "enum":
            bad = [1, True, [], "", "other", row["enum"].split("|")[0].swapcase() + "x"]
        case "bool":
            bad = [1, 0, "true", "", [], {}]
        case "int32":
            bad = [
                True,
                "1",
                1.5,
                [],
                {},
                int(row["minimum"] or -_INT32) - 1,
                int(row["maximum"] or _INT32 - 1) + 1,
                2**63,
            ]
        case "number":
            bad = [True, "0.5", [], {}]
            bad += [float(row["minimum"]) - 0.01, 0, -1, float(row["maximum"]) + 0.01, 1] if row["minimum"] else []
        case "list[string]":
            return [((), "a"), ((), {}), ((0,), [1]), ((0,), [None]), ((1,), ["a", {}])]
        case "map[string]string":
            return [((), []), ((), "a"), (("a",), {"a": 1}), (("a",), {"a": {}})]
        case _ if wanted.startswith("list["):
            return [
                ((), {}),
                ((), "a"),
                ((0,), ["a"]),
                ((0,), [1]),
                ((0, "unknown"), [_least(wanted[5:-1]) | {"unknown": 1}]),
            ]
        case _:
            return [((), []), ((), "a"), ((), 1), (("unknown",), _least(wanted) | {"unknown": 1})]
    return [((), value) for value in bad]


def _least(type_: str) -> Document:
    """Return what a type must hold."""
    core = {"core/v1.EnvVar": {"name": "A"}, "core/v1.SecretKeySelector": {"key": "k"}}
    return dict(core.get(type_, {})) if type_ not in FIELDS else fields(type_, _Never())


class _Never(Random):
    """Chooses nothing that may be left out, and always the first."""

    def random(self) -> float:
        return 1 - 2**-53

    def getrandbits(self, _count: int, /) -> int:
        return 0


def wrong(kind: str) -> st.SearchStrategy[Wrong]:
    """Return random documents of a kind with one field missing or wrong."""
    known = list(paths(f"{kind}.spec", ("spec",)))
    return st.tuples(st.sampled_from(known), st.randoms(use_true_random=False)).map(
        lambda drawn: _wrong(kind, *drawn)
    )


def _wrong(kind: str, field: tuple[FieldPath, Row], random: Random) -> Wrong:
    path, row = field
    if row["required"] == "yes" and random.random() < 0.3:
        return Wrong(with_value(kind, path, ABSENT, random), path)
    below, value = random.choice(bad_values(row))
    return Wrong(with_value(kind, path, value, random), (*path, *below))


def with_value(kind: str, path: FieldPath, value: Any, random: Random | None = None) -> Document:
    """Return a valid document of a kind, but for one field that is set or taken away."""
    whole = document(kind, random or Random(1), path)
    owner: Any = whole
    for part in path[:-1]:
        owner = owner[part]
    if value is ABSENT:
        del owner[path[-1]]
    else:
        owner[path[-1]] = copy.deepcopy(value)
    return whole
