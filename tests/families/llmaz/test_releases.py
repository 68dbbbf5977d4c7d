"""Every field of every release of llmaz: where it exists, its type, and its constraints."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from components.contract.checking import check
from components.contract.kinds import Kind
from components.contract.schema.crds import crd
from components.families.llmaz.kinds import (
    BACKEND_RUNTIME,
    OPEN_MODEL,
    PLAYGROUND,
    RELEASES,
    SERVICE,
)
from tests.fleets import Object, open_model, playground, runtime, service

ROWS = list(csv.DictReader((Path(__file__).parent / "data/releases.csv").read_text().splitlines()[1:]))
KINDS = {kind.kind: kind for kind in (OPEN_MODEL, BACKEND_RUNTIME, PLAYGROUND, SERVICE)}
EMBEDDED = ("leaderTemplate", "workerTemplate")
"""Pod templates are Kubernetes' own type here; llmaz repeats their metadata."""
STRICTER = {
    # Upstream accepts an object without them, from which nothing could be served (contract of 79d833c).
    "OpenModel spec",
    "OpenModel spec.source.modelHub.modelID",
    "BackendRuntime spec",
    "Playground spec",
    "Playground spec.modelClaim.modelName",
    "Playground spec.modelClaims.models",
    "Service spec",
    "Service spec.modelClaims",
    "Service spec.modelClaims.models",
    "*.scaleTrigger.hpa",
    "*.scaleTriggers[].hpa",
    "*.subGroupPolicy.subGroupSize",
}
"""Fields that are required here although the schema of upstream does not require them."""
LOOSER = {"*.rolloutStrategy.type"}
"""Required by upstream's schema, and defaulted before that is checked."""


def schemas(release: str) -> dict[str, Any]:
    """Return every path of the kinds in a release with its schema and whether it is required."""
    found: dict[str, Any] = {}

    def walk(kind: str, path: str, schema: dict[str, Any], *, required: bool) -> None:
        found[f"{kind} {path}"] = (schema, required)
        for name, inner in schema.get("properties", {}).items():
            walk(kind, f"{path}.{name}", inner, required=name in schema.get("required", ()))
        if "items" in schema:
            walk(kind, f"{path}[]", schema["items"], required=False)
        if isinstance(schema.get("additionalProperties"), dict):
            walk(kind, f"{path}{{}}", schema["additionalProperties"], required=False)

    for kind in KINDS.values():
        version = crd(kind.at(release))["spec"]["versions"][0]
        root = version["schema"]["openAPIV3Schema"]
        walk(kind.kind, "spec", root["properties"]["spec"], required="spec" in root.get("required", ()))
    return found


SCHEMAS = {release: schemas(release) for release in RELEASES.names}


def expected(release: str) -> dict[str, dict[str, str]]:
    names = RELEASES.names
    position = names.index(release)
    return {
        f"{row['kind']} {row['path']}": row
        for row in ROWS
        if names.index(row["since"]) <= position <= names.index(row["until"] or names[-1])
    }


def is_listed(key: str, listed: set[str]) -> bool:
    return key in listed or any(key.endswith(entry.removeprefix("*")) for entry in listed if entry.startswith("*"))


def is_opaque(row: dict[str, str]) -> bool:
    """Whether a field is of a type of Kubernetes, below which the table has nothing."""
    return row["type"][0].isupper()


def is_inside(path: str, parts: tuple[str, ...]) -> bool:
    return any(f".{part}." in path for part in parts)


def test_the_table_is_complete() -> None:
    assert len(ROWS) == 214
    assert {row["since"] for row in ROWS} | {row["until"] for row in ROWS if row["until"]} <= set(RELEASES.names)


@pytest.mark.parametrize("release", RELEASES.names)
def test_a_release_has_exactly_its_fields(release: str) -> None:
    rows = expected(release)
    opaque = tuple(key for key, row in rows.items() if is_opaque(row))
    there = {
        key
        for key in SCHEMAS[release]
        if not is_inside(key, EMBEDDED) and not any(key.startswith((f"{o}.", f"{o}[", f"{o}{{")) for o in opaque)
    }
    wanted = {key for key in rows if not is_inside(key, EMBEDDED)}
    assert there - wanted == set()
    assert wanted - there == set()


@pytest.mark.parametrize("release", RELEASES.names)
def test_fields_have_the_types_and_constraints_of_the_release(release: str) -> None:
    faults = []
    for key, row in expected(release).items():
        if is_inside(key, EMBEDDED):
            continue
        schema, required = SCHEMAS[release][key]
        wanted = row["required"] == "yes"
        if required != wanted and not is_listed(key, STRICTER if required else LOOSER):
            faults.append(f"{key}: required is {required}")
        kind = "int-or-string" if schema.get("x-kubernetes-int-or-string") else schema.get("type")
        if not is_opaque(row) and kind != row["type"]:
            faults.append(f"{key}: type is {kind}, not {row['type']}")
        constraints = json.loads(row["constraints"] or "{}")
        constraints.pop("pattern", None)  # another spelling of the same grammar of quantities
        constraints.pop("format", None) if row["type"] != "string" else None
        faults += [
            f"{key}: {name} is {schema.get(name)}, not {value}"
            for name, value in constraints.items()
            if schema.get(name) != value
        ]
        if "default" in schema and "default" not in constraints:
            faults.append(f"{key}: has the default {schema['default']}")
        if "enum" in schema and "enum" not in constraints:
            faults.append(f"{key}: has the values {schema['enum']}")
    assert faults == []


# -- an object of each form, in each release

OLD_PLAYGROUND: dict[str, Any] = {
    "backendRuntimeConfig": {"name": "vllm", "args": {"name": "default", "flags": ["--seed", "7"]}}
}
CONFIGS = [{"name": "default", "args": ["-m"]}]
POD = {"spec": {"containers": [{"name": "model-runner", "image": "example.com/e:v1"}]}}
HPA: Object = {"hpa": {}}
OBJECTS: dict[str, tuple[Object, list[str]]] = {
    "flavor with requests": (open_model(flavors=[{"name": "f", "requests": {"cpu": 1}}]), ["v0.1.0"]),
    "flavor with limits": (open_model(flavors=[{"name": "f", "limits": {"cpu": 1}}]), RELEASES.names[1:]),
    "args as a map": (playground(**OLD_PLAYGROUND), ["v0.1.0"]),
    "args as a list": (playground(backendRuntimeConfig={"args": ["-x"]}), RELEASES.names[1:]),
    "trigger by reference": (
        playground(elasticConfig={"maxReplicas": 2, "scaleTriggerRef": {"name": "a"}}),
        ["v0.1.0"],
    ),
    "trigger of the backend": (playground(backendRuntimeConfig={"scaleTrigger": HPA}), ["v0.1.1"]),
    "trigger": (
        playground(elasticConfig={"maxReplicas": 2, "scaleTrigger": HPA}),
        ["v0.1.0", *RELEASES.names[2:]],
    ),
    "no upper bound": (playground(elasticConfig={"minReplicas": 2}), RELEASES.names[:3]),
    "no upper bound, lower one": (playground(elasticConfig={"maxReplicas": 2}), RELEASES.names),
    "runtime of v0.1.0": (
        {
            **runtime(),
            "spec": {
                "image": "i",
                "version": "v",
                "commands": ["c"],
                "args": [{"name": "default", "flags": ["-m"]}],
                "resources": {},
                "scaleTriggers": [{"name": "a", "hpa": {}}],
            },
        },
        ["v0.1.0"],
    ),
    "commands and configurations": (runtime(commands=["c"], recommendedConfigs=CONFIGS), ["v0.1.1"]),
    "command": (runtime(command=["c"]), RELEASES.names[2:]),
    "hook": (runtime(lifecycle={"preStop": {"exec": {"command": ["a"]}}}), RELEASES.names[2:]),
    "signal": (runtime(lifecycle={"stopSignal": "SIGTERM"}), ["3c13ff3"]),
    "owner": ({**open_model(), "spec": {**open_model()["spec"], "ownedBy": "a"}}, ["3c13ff3"]),
    "whole set": (service(workloadTemplate={"leaderWorkerTemplate": {"workerTemplate": POD}}), RELEASES.names[:2]),
    "fields of a set": (service(workloadTemplate={"workerTemplate": POD}), RELEASES.names[2:]),
    "kinds of subgroups": (
        service(
            workloadTemplate={
                "workerTemplate": POD,
                "size": 3,
                "subGroupPolicy": {"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"},
            }
        ),
        ["3c13ff3"],
    ),
    "partition, which no release has": (
        service(rolloutStrategy={"rollingUpdateConfiguration": {"partition": 1}}),
        [],
    ),
    "claims, which no release has": (
        service(workloadTemplate={"workerTemplate": POD, "volumeClaimTemplates": []}),
        [],
    ),
    "restarts, which no release has": (
        service(workloadTemplate={"workerTemplate": POD, "restartPolicy": "RecreateGroupAfterStart"}),
        [],
    ),
}


def kind_of(document: Object) -> Kind:
    return KINDS[document["kind"]]


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_is_accepted_in_its_releases_and_without_one(name: str) -> None:
    document, releases = OBJECTS[name]
    kind = kind_of(document)
    resource, problems = check(document, kind)
    assert resource is not None, problems
    assert resource.wire() == document
    accepted = [release for release in RELEASES.names if not check(document, kind.at(release))[1]]
    assert accepted == releases


MIXED: dict[str, tuple[Object, str, str]] = {
    "requests and limits": (
        open_model(flavors=[{"name": "f", "requests": {"cpu": 1}, "limits": {"cpu": 1}}]),
        "spec.inferenceConfig.flavors.0.requests",
        "requests and limits are one setting",
    ),
    "two names of a backend": (
        playground(backendRuntimeConfig={"name": "vllm", "backendName": "tgi"}),
        "spec.backendRuntimeConfig.name",
        "name and backendName are one setting",
    ),
    "two commands": (
        runtime(commands=["a"], command=["b"]),
        "spec.commands",
        "commands and command are one setting",
    ),
    "args and configurations": (
        runtime(args=[{"flags": ["a"]}]),
        "spec.args",
        "args and recommendedConfigs are one setting",
    ),
    "two triggers": (
        playground(elasticConfig={"scaleTriggerRef": {"name": "a"}, "scaleTrigger": HPA}),
        "spec.elasticConfig.scaleTriggerRef",
        "scaleTriggerRef and scaleTrigger are one setting",
    ),
    "triggers in two places": (
        playground(elasticConfig={"scaleTrigger": HPA}, backendRuntimeConfig={"scaleTrigger": HPA}),
        "spec.backendRuntimeConfig.scaleTrigger",
        "elasticConfig has a trigger too",
    ),
    "two names of a configuration": (
        playground(backendRuntimeConfig={"configName": "a", "args": {"flags": []}}),
        "spec.backendRuntimeConfig.configName",
        "args is a map with the name",
    ),
    "both forms of a template": (
        service(workloadTemplate={"workerTemplate": POD, "leaderWorkerTemplate": {"workerTemplate": POD}}),
        "spec.workloadTemplate.workerTemplate",
        "is in leaderWorkerTemplate",
    ),
    "neither form of a template": (
        service(workloadTemplate={"size": 1}),
        "spec.workloadTemplate.workerTemplate",
        "is required",
    ),
    "old fields beside the new form": (
        service(workloadTemplate={"workerTemplate": POD, "replicas": 2}),
        "spec.workloadTemplate.replicas",
        "only in releases that have leaderWorkerTemplate",
    ),
    "an unknown key of the map of arguments": (
        playground(backendRuntimeConfig={"args": {"flag": []}}),
        "spec.backendRuntimeConfig.args.flag",
        "unknown field",
    ),
    "an argument that is a number": (
        playground(backendRuntimeConfig={"args": ["--port", 8080]}),
        "spec.backendRuntimeConfig.args.1",
        "must be a string, found 8080; put it in quotes",
    ),
}


@pytest.mark.parametrize("name", MIXED)
def test_a_mixture_is_refused_at_the_field(name: str) -> None:
    document, path, words = MIXED[name]
    resource, problems = check(document, kind_of(document))
    assert resource is None
    assert [(".".join(map(str, found)), words in reason) for found, reason in problems] == [(path, True)]


def test_a_field_of_another_release_is_not_called_wrong() -> None:
    _, problems = check(playground(**OLD_PLAYGROUND), PLAYGROUND.at("v0.1.4"))
    reasons = dict(problems)
    name = reasons[("spec", "backendRuntimeConfig", "name")]
    assert "unknown field of llmaz v0.1.4; v0.1.0 has it" in name
    assert "workbench migrate" in name


def test_a_field_of_no_release_names_the_way_out() -> None:
    document, _ = OBJECTS["partition, which no release has"]
    _, ((_, reason),) = check(document, SERVICE.at("v0.1.4"))
    assert reason == (
        "unknown field of llmaz v0.1.4; no release has it, only realization 'native' supports it; remove it, or do "
        "not set releases.llmaz, a component's argument release, or --release llmaz=RELEASE"
    )


def test_the_releases_are_those_of_the_repository() -> None:
    assert RELEASES.contract == "79d833c"
    assert [release.operator for release in RELEASES.releases] == [
        "0.0.6",
        "0.0.7",
        "",
        "0.0.8",
        "0.0.9",
        "0.0.10",
        "",
    ]
    assert [release.date for release in RELEASES.releases] == sorted(release.date for release in RELEASES.releases)
