"""The schema that editors check stack files with: made from the settings, and of the same opinion."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema_rs
import pulumi
import pytest
import yaml

from stacks import PROJECT
from stacks.settings import declared_defaults, parse
from stacks.settings_schema import FILE, stack_schema
from tests.layers.modules import ROOT

SCHEMA = stack_schema(ROOT / "Pulumi.yaml")
VALIDATOR = jsonschema_rs.validator_for(SCHEMA)
STACKS = sorted(ROOT.glob("Pulumi.*.yaml"))
DEFAULTS = declared_defaults(ROOT / "Pulumi.yaml")
HERE = {"kubeconfig": "kubeconfig"}
ON_AWS: dict[str, Any] = {"cloud": "aws", "network": {"zones": ["us-east-1a", "us-east-1b"]}}
SEALED = {"secure": "v1:bm9uY2U=:c2VhbGVk"}


def stack(config: dict[str, Any]) -> dict[str, Any]:
    return {"config": {f"{PROJECT}:{key}": value for key, value in config.items()}}


def is_taken(config: dict[str, Any]) -> bool:
    try:
        parse({**DEFAULTS, **config}, "Pulumi.test.yaml")
    except pulumi.RunError:
        return False
    return True


def test_the_file_is_in_step_with_the_settings() -> None:
    assert json.loads(FILE.read_text()) == SCHEMA, "run make settings-schema"


@pytest.mark.parametrize("file", STACKS, ids=lambda file: file.name)
def test_every_stack_is_valid_and_names_its_schema(file: Any) -> None:
    text = file.read_text()
    first = text.partition("\n")[0]
    assert first == f"# yaml-language-server: $schema={FILE.relative_to(ROOT)}"
    assert [error.message for error in VALIDATOR.iter_errors(yaml.safe_load(text))] == []


def test_every_key_is_explained() -> None:
    sections = [SCHEMA["properties"]["config"], *SCHEMA["$defs"].values()]
    parts = [each for section in sections for each in section.get("properties", {}).items() if each[0] != "secure"]
    assert [key for key, part in parts if not part.get("description")] == []
    assert {key for key, _ in parts} >= {"inference-platform:models", "jwksUri", "spotTypes", "starts"}


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"kubeconfig": ""},
        {"cloud": "none"},
        {"cloud": "aws"},
        {"cloud": "aws", "network": {"zones": ["us-east-1a"]}},
        {"cloud": "aws", "network": {"privateSubnets": {"us-east-1a": "subnet-1"}}},
        {**ON_AWS, "network": {**ON_AWS["network"], "privateSubnets": {"us-east-1a": "subnet-1"}}},
        {**HERE, "modelz": []},
        {**HERE, "models": []},
        {**HERE, "models": "stacks/models"},
        {**HERE, "realization": "helm"},
        {**HERE, "namespace": "Models"},
        {**HERE, "simulatedNodes": "yes please"},
        {**HERE, "modelCache": {"claim": "a", "hostPath": "/b"}},
        {**HERE, "pods": {"serviceAccount": "a"}},
        {**HERE, "prerequisites": {"adapter": "datadog"}},
        {**HERE, "prerequisites": {"prometheusPort": 0}},
        {**HERE, "frontDoor": {"tls": {"kind": "ACM"}}},
        {**HERE, "frontDoor": {"auth": {"audiences": "models"}}},
        {**HERE, "hardening": {"priority": "high"}},
        {**ON_AWS, "region": "us-east"},
        {**ON_AWS, "cluster": {"version": 1.35}},
        {**ON_AWS, "cluster": {"logRetentionDays": 0}},
        {**ON_AWS, "gpuNodes": {"capacity": "odcr"}},
        {**ON_AWS, "gpuNodes": {"zones": ["us-east-1"]}},
        {**ON_AWS, "gpuNodes": {"types": {"p5.48xlarge": {"capacity": "reserved"}}}},
        {**ON_AWS, "gpuNodes": {"types": {"p5.48xlarge": {"reservation": {"id": "cr-0a1b"}}}}},
        {**ON_AWS, "gpuNodes": {"types": {"p5.48xlarge": {"amiId": "al2023"}}}},
        {
            **ON_AWS,
            "gpuNodes": {
                "types": {
                    "p5.48xlarge": {
                        "reservation": {"id": "cr-0", "zone": "us-east-1a", "count": 1, "ends": "2027-01-01T12:00:00"}
                    }
                }
            },
        },
    ],
    ids=str,
)
def test_what_is_wrong_is_refused_by_schema_and_settings(config: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(stack(config))
    assert not is_taken(config)


NUMBERS = (-5, 0, 1, 19, 20, 65, 450, 451, 16385, 65536)
TEXTS = ("", "a b", "1", "true", "us-east-1a", "2027-01-01T12:00:00", "2027-01-01T12:00:00Z")
VALUES: tuple[Any, ...] = (None, True, *NUMBERS, *TEXTS, [], ["a"], [1], {}, {"a": "b"}, {"a": 1})
"""Of every type, at and beyond the bounds of numbers, in and out of the forms of texts."""
NEEDED: dict[str, dict[str, Any]] = {
    "ReservationSettings": {"id": "cr-0a1b", "zone": "us-east-1a", "count": 1},
    "LoadSettings": {"requestsPerMinute": 1e6, "outputTokens": 100},
    "ClassSettings": {"name": "Premium", "models": {"chat": {"itlMs": 24}}},
    "TaintSettings": {"key": "team"},
    "BudgetSettings": {"nodes": "2"},
}
Put = Callable[[Any], Any]
"""Returns a part of the settings in which a value stands at a certain key."""


def every_key() -> Iterator[tuple[str, Put]]:
    for full, part in SCHEMA["properties"]["config"]["properties"].items():
        key = full.removeprefix(f"{PROJECT}:")
        yield key, within(key, lambda value: value)
        yield from ((f"{key}.{path}", within(key, put)) for path, put in below(part))


def within(key: str, put: Put, given: dict[str, Any] | None = None) -> Put:
    return lambda value: {**(given or {}), key: put(value)}


def one(put: Put) -> Put:
    return lambda value: [put(value)]


def below(part: dict[str, Any]) -> Iterator[tuple[str, Put]]:
    for each in (part, *part.get("anyOf", ())):
        name = each.get("$ref", "").rpartition("/")[2]
        for key, inner in SCHEMA["$defs"].get(name, {}).get("properties", {}).items() if name != "Secret" else ():
            yield key, within(key, lambda value: value, NEEDED.get(name))
            yield from ((f"{key}.{path}", within(key, put)) for path, put in below(inner))
        if isinstance(each.get("additionalProperties"), dict):
            yield from ((f"*.{path}", within("some", put)) for path, put in below(each["additionalProperties"]))
        if isinstance(each.get("items"), dict):
            yield from ((f"[].{path}", one(put)) for path, put in below(each["items"]))


@pytest.mark.parametrize(("path", "put"), [pytest.param(path, put, id=path) for path, put in every_key()])
def test_schema_and_settings_agree_on_every_key(path: str, put: Put) -> None:
    for value in VALUES:
        config = {**HERE, **put(value)}
        assert VALIDATOR.is_valid(stack(config)) == is_taken(config), (path, value)


@pytest.mark.parametrize(
    "config",
    [
        {"kubeconfig": SEALED},
        {**HERE, "cloud": SEALED},
        {**HERE, "protect": SEALED, "tags": SEALED},
        {**HERE, "tags": {"owner": SEALED}, "models": [SEALED]},
        {**ON_AWS, "network": SEALED},
        {**ON_AWS, "cluster": {"secretsKeyArn": SEALED, "adminRoleArns": [SEALED]}},
        {**HERE, "frontDoor": {"auth": {"issuer": SEALED, "kind": SEALED}, "internal": SEALED}},
    ],
)
def test_a_secret_may_stand_for_every_text(config: dict[str, Any]) -> None:
    whole = {**stack(config), "encryptionsalt": "v1:salt", "secretsprovider": "passphrase", "encryptedkey": "a"}
    assert [error.message for error in VALIDATOR.iter_errors(whole)] == []


def test_keys_of_other_projects_are_theirs() -> None:
    ours = stack(HERE)["config"]
    others = {"pulumi:disable-default-providers": ["aws"], "aws:region": "eu-west-1", "other:key": {"a": 1}}
    assert VALIDATOR.is_valid({"config": {**ours, **others}})
    assert not VALIDATOR.is_valid({"config": {**ours, "kubeconfig": "x"}})
    assert not VALIDATOR.is_valid({"config": ours, "conifg": {}})
