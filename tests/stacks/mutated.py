"""Stack files with one to three mistakes each, made of the shipped ones."""

import copy
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
KEY = "inference-platform:"
SECURE = {"secure": "v1:bm9uY2Utbm9uY2Ut:AAAA"}
SALT = "v1:c2FsdHNhbHQ=:v1:AAAA:AAAA"
VALUES: tuple[Any, ...] = (
    *(None, "", " ", "x", "[1]", '{"a": 1}', "true", "1e9", "null", "2026-01-01"),
    *(True, False, -1, 0, 3, 1.5, 10**12, [], {}, [1], ["x"], {"a": 1}, {"a": {"b": [1]}}, [[]], [{}]),
    SECURE,
    [SECURE],
    {"a": SECURE},
    "missing.yaml",
    "10.0.0.0/33",
    "us-east-9",
    "eu-west-1",
)
PRICES = (
    "missing.yaml",
    "prices.yaml",
    "broken.yaml",
    ".",
    "models.yaml",
    "a\0b",
    "x" * 300,
    SECURE,
    ["prices.yaml"],
    7,
)
FILES = {
    "models.yaml": """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: opt}
spec:
  familyName: opt
  source: {modelHub: {modelID: facebook/opt-125m}}
  inferenceConfig:
    flavors: [{name: a10g, limits: {nvidia.com/gpu: 1}, params: {INSTANCE-TYPE: g5.2xlarge}}]
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: opt}
spec: {modelClaim: {modelName: opt}}
""",
    "prices.yaml": "date: 2026-11-01\nregions: {us-east-1: {instances: {g5.2xlarge: {onDemand: 1.5}}}}\n",
    "broken.yaml": "date: soon\nregions: {us-east-1: {instances: {g5.2xlarge: {onDemand: -1}}, a: 1}}\n",
}
"""What the documents refer to."""


def documents(count: int, seed: int) -> Iterator[str]:
    """Yield stack files."""
    random = Random(seed)
    shipped = [
        yaml.safe_load((ROOT / f"Pulumi.{stack}.yaml").read_text()) for stack in ("local", "dev", "staging", "prod")
    ]
    declared = [key for key in yaml.safe_load((ROOT / "Pulumi.yaml").read_text())["config"] if key.startswith(KEY)]
    for number in range(count):
        document = copy.deepcopy(shipped[number % len(shipped)])
        config = document["config"]
        config[f"{KEY}models"] = ["models.yaml"]
        for _ in range(random.randint(1, 3)):
            _mutate(config, declared, random)
        if random.random() < 0.5:
            document["encryptionsalt"] = SALT
        yield yaml.safe_dump(document, sort_keys=False)


def _mutate(config: dict[str, Any], declared: list[str], random: Random) -> None:
    kind = random.randrange(6)
    if kind == 0:
        config[f"{KEY}prices"] = random.choice(PRICES)
    elif kind == 1:
        config[random.choice(declared)] = random.choice(VALUES)
    elif kind == 2:
        config[f"{KEY}{random.choice(('modelz', 'Cloud', 'network.zones', 'x'))}"] = random.choice(VALUES)
    elif kind == 3:
        config[f"{KEY}models"] = random.choice((["missing.yaml"], ["models.yaml", "modles.yaml"], [SECURE]))
    else:
        parent, key = random.choice([*_places(config)])
        if random.random() < 0.2 and isinstance(parent, dict):
            parent[f"{key}x"] = parent.pop(key)
        elif random.random() < 0.2:
            del parent[key]
        else:
            parent[key] = random.choice(VALUES)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a value, as the list or map and the key in it."""
    for key in [*value] if isinstance(value, dict) else range(len(value)):
        if str(key).startswith("pulumi:"):
            continue
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])
