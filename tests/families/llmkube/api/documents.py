"""Random valid InferenceServices and Models of LLMKube, made from the contract's table.

They follow ``data/contract.csv`` and LLMKube spec 1.4, not our types: a limit that a type gets
wrong makes a document that it refuses. Those that it has to refuse are in :mod:`.wrong`.
"""

import csv
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import strategies as st

from tests.families.llmkube.api.samples import Document, made

Row = dict[str, str]
FieldPath = tuple[str | int, ...]

ROWS: list[Row] = list(csv.DictReader((Path(__file__).parents[1] / "data/contract.csv").read_text().splitlines()[1:]))
FIELDS: dict[str, list[Row]] = {
    type_: [row for row in ROWS if row["type"] == type_] for type_ in {r["type"] for r in ROWS}
}
INT32 = 2**31


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
_QUANTITIES = ("cpu", "memory", "hostMemory", "gpuMemory", "memoryBudget", "targetAverageValue")


def _integer(row: Row, random: Random) -> int:
    low, high = int(row["minimum"] or -INT32), int(row["maximum"] or INT32 - 1)
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
